/* lanes_convert: cvt and cvta. cvt has two steps. Between them the value is a 64-bit integer or a double, which hold
 * every source exactly. */
#include <math.h>
#include "lanes/lanes_internal.h"

static double to_integral(double v, uint32_t rounding) {
    switch (rounding) {
    case ROUND_RN:
    case ROUND_RNI: return rint(v);
    case ROUND_RM:
    case ROUND_RMI: return floor(v);
    case ROUND_RP:
    case ROUND_RPI: return ceil(v);
    default: return trunc(v);
    }
}

/* Sign- or zero-extends the source to 64 bits. */
static void extend_sources(uint32_t type, const lanes_operand *const *s, uint64_t v[LANES]) {
    switch (type) {
    case TYPE_U8: EACH_LANE v[l] = (uint8_t)s[0]->word[0][l]; break;
    case TYPE_S8: EACH_LANE v[l] = (uint64_t)(int64_t)(int8_t)s[0]->word[0][l]; break;
    case TYPE_U16: EACH_LANE v[l] = (uint16_t)s[0]->word[0][l]; break;
    case TYPE_S16: EACH_LANE v[l] = (uint64_t)(int64_t)(int16_t)s[0]->word[0][l]; break;
    case TYPE_U32: EACH_LANE v[l] = s[0]->word[0][l]; break;
    case TYPE_S32: EACH_LANE v[l] = (uint64_t)(int64_t)(int32_t)s[0]->word[0][l]; break;
    default: EACH_LANE v[l] = lane64(s[0], l); break;
    }
}

/* The lowest and highest value of an integer type, as signed and unsigned 64-bit integers. */
static int64_t lowest(uint32_t type) {
    return type_is_signed(type) ? (int64_t)(UINT64_MAX << (type_bytes(type) * 8 - 1)) : 0;
}
static uint64_t highest(uint32_t type) {
    return UINT64_MAX >> (64 - type_bytes(type) * 8 + (type_is_signed(type) ? 1 : 0));
}

static void saturate_integers(uint32_t from, uint32_t to, uint64_t v[LANES]) {
    int64_t low = lowest(to);
    uint64_t high = highest(to);
    EACH_LANE {
        if (type_is_signed(from)) {
            int64_t x = (int64_t)v[l];
            if (x < low)
                x = low;
            else if (x > 0 && (uint64_t)x > high)
                x = (int64_t)high;
            v[l] = (uint64_t)x;
        } else if (v[l] > high)
            v[l] = high;
    }
}

/* Writes 64-bit results into the destination's register. The results are extended to the register's width, which may
 * exceed the type's width. */
static void write_integers(const instruction *i, uint64_t v[LANES], lanes_operand *restrict d) {
    uint32_t keep = i->destinations[0].bytes == 2 ? 0xffff : i->destinations[0].bytes == 1 ? 0xff : UINT32_MAX;
    switch (i->type) {
    case TYPE_U8: EACH_LANE v[l] = (uint8_t)v[l]; break;
    case TYPE_S8: EACH_LANE v[l] = (uint64_t)(int64_t)(int8_t)v[l]; break;
    case TYPE_U16: EACH_LANE v[l] = (uint16_t)v[l]; break;
    case TYPE_S16: EACH_LANE v[l] = (uint64_t)(int64_t)(int16_t)v[l]; break;
    case TYPE_U32: EACH_LANE v[l] = (uint32_t)v[l]; break;
    case TYPE_S32: EACH_LANE v[l] = (uint64_t)(int64_t)(int32_t)v[l]; break;
    default: break;
    }
    EACH_LANE d->word[0][l] = (uint32_t)v[l] & keep;
    EACH_LANE d->word[1][l] = (uint32_t)(v[l] >> 32);
}

static void integers_to_float(const instruction *i, const uint64_t v[LANES], lanes_operand *restrict d) {
    int is_signed = type_is_signed(i->source_type);
    if (type_is_half(i->type)) {
        EACH_LANE d->word[0][l] =
            half_from_double(i->type, is_signed ? (double)(int64_t)v[l] : (double)v[l], i->rounding);
    } else if (i->rounding > ROUND_RN) {
        lanes_directed_integers(v, is_signed, i->rounding, i->type, d);
    } else if (i->type == TYPE_F32) {
        if (is_signed)
            EACH_LANE WRITE_f32(d, l, (float)(int64_t)v[l]);
        else
            EACH_LANE WRITE_f32(d, l, (float)v[l]);
    } else {
        if (is_signed)
            EACH_LANE WRITE_f64(d, l, (double)(int64_t)v[l]);
        else
            EACH_LANE WRITE_f64(d, l, (double)v[l]);
    }
}

/* Converts to integers. NaN becomes 0, or the sign bit alone where either side is 64 bits wide. All other values are
 * clamped. */
static void floats_to_integers(const instruction *i, const double v[LANES], lanes_operand *restrict d) {
    uint64_t result[LANES], high = highest(i->type), width = type_bytes(i->type) * 8;
    int is_signed = type_is_signed(i->type);
    double above = ldexp(1.0, (int)width - (is_signed ? 1 : 0)), below = is_signed ? -above : 0.0;
    uint64_t nan = i->source_type == TYPE_F64 || width == 64 ? UINT64_C(1) << (width - 1) : 0;
    EACH_LANE {
        double x = to_integral(v[l], i->rounding);
        if (x != x)
            result[l] = nan;
        else if (x >= above)
            result[l] = high;
        else if (x <= below)
            result[l] = (uint64_t)lowest(i->type);
        else
            result[l] = is_signed ? (uint64_t)(int64_t)x : (uint64_t)x;
    }
    write_integers(i, result, d);
}

static void floats_to_floats(const instruction *i, double v[LANES], lanes_operand *restrict d) {
    if (i->rounding >= ROUND_RNI && i->rounding <= ROUND_RPI) EACH_LANE v[l] = to_integral(v[l], i->rounding);
    if (i->flags & FLAG_SATURATE) EACH_LANE v[l] = v[l] > 0.0 ? (v[l] < 1.0 ? v[l] : 1.0) : 0.0;
    if (i->flags & FLAG_RELU) EACH_LANE v[l] = v[l] <= 0.0 ? 0.0 : v[l];
    if (i->type == TYPE_F64) {
        EACH_LANE WRITE_f64(d, l, v[l]);
    } else if (type_is_half(i->type)) {
        EACH_LANE d->word[0][l] = half_from_double(i->type, v[l], i->rounding);
    } else if (i->type == TYPE_TF32) {
        EACH_LANE d->word[0][l] = v[l] == v[l] ? small_from_double(v[l], 10, 8, i->rounding) << 13 : NAN_F32;
    } else if (i->rounding > ROUND_RN && i->rounding < ROUND_RNI) {
        EACH_LANE WRITE_f32(d, l, lanes_directed_to_f32(v[l], i->rounding));
    } else
        EACH_LANE WRITE_f32(d, l, (float)v[l]);
    if (i->type != TYPE_F64 && i->destinations[0].words == 2) memset(d->word[1], 0, sizeof d->word[1]);
}

static int convert(const instruction *i, const lanes_operand *const *s, lanes_operand *restrict d) {
    uint64_t integers[LANES];
    double reals[LANES];
    uint32_t from = i->source_type, to = i->type;
    if (!type_is_float(from)) {
        if (from == TYPE_S32 && to == TYPE_F32 && i->rounding <= ROUND_RN) { /* the most frequent conversion */
            EACH_LANE d->word[0][l] = f32_bits((float)(int32_t)s[0]->word[0][l]);
        } else {
            extend_sources(from, s, integers);
            if (type_is_float(to))
                integers_to_float(i, integers, d);
            else {
                if (i->flags & FLAG_SATURATE) saturate_integers(from, to, integers);
                write_integers(i, integers, d);
            }
        }
        if (to == TYPE_F32 && (i->flags & FLAG_SATURATE))
            EACH_LANE d->word[0][l] =
                bits_f32(d->word[0][l]) > 0 ? (bits_f32(d->word[0][l]) < 1 ? d->word[0][l] : 0x3f800000u) : 0;
        return 1;
    }
    if (type_is_packed(to)) { /* the first number belongs to the upper half */
        instruction one = *i;
        lanes_operand upper;
        one.type = to == TYPE_F16X2 ? TYPE_F16 : TYPE_BF16;
        convert(&one, &s[0], &upper);
        convert(&one, &s[1], d);
        EACH_LANE d->word[0][l] = (d->word[0][l] & 0xffff) | upper.word[0][l] << 16;
        return 1;
    }
    if (type_is_half(from)) {
        EACH_LANE reals[l] = half_to_double(from, s[0]->word[0][l] & 0xffff);
    } else if (from == TYPE_F32) {
        if (i->flags & FLAG_FTZ)
            EACH_LANE reals[l] = (double)bits_f32(flush_bits(s[0]->word[0][l]));
        else
            EACH_LANE reals[l] = (double)READ_f32(s[0], l);
    } else
        EACH_LANE reals[l] = READ_f64(s[0], l);
    if (type_is_float(to)) {
        floats_to_floats(i, reals, d);
        if (to == TYPE_F32 && (i->flags & FLAG_FTZ)) EACH_LANE d->word[0][l] = flush_bits(d->word[0][l]);
    } else
        floats_to_integers(i, reals, d);
    return 1;
}

int lanes_convert(const instruction *i, const lanes_operand *const *s, lanes_operand *restrict d) {
    if (i->opcode == OPCODE_CVT) return convert(i, s, d);
    if (i->opcode == OPCODE_CVTA) {
        uint64_t base = i->space == SPACE_SHARED  ? GENERIC_SHARED_BASE
                        : i->space == SPACE_LOCAL ? GENERIC_LOCAL_BASE
                        : i->space == SPACE_PARAM ? GENERIC_PARAM_BASE
                                                  : 0;
        if (i->variant == VARIANT_TO) base = 0 - base;
        EACH_LANE set_lane64(d, l, (type_bytes(i->type) == 8 ? lane64(s[0], l) : s[0]->word[0][l]) + base);
        return 1;
    }
    return 0;
}
