/* lanes_convert: cvt and cvta. cvt goes in two steps that meet in 64-bit integers or in double, both of which hold
 * every source exactly. */
#include <math.h>
#include "lanes/lanes_internal.h"

static double half_to_double(uint32_t bits) {
    uint32_t exponent = bits >> 10 & 31, fraction = bits & 1023;
    double value;
    if (exponent == 31)
        value = fraction ? bits_f64(NAN_F64) : (double)INFINITY;
    else
        value = exponent ? ldexp(1024.0 + fraction, (int)exponent - 25) : ldexp((double)fraction, -24);
    return bits & 0x8000 ? -value : value;
}

static uint32_t double_to_half(double value, uint32_t rounding) {
    uint32_t sign = f64_bits(value) >> 63 ? 0x8000 : 0;
    double size = fabs(value), scaled, whole;
    int exponent;
    if (value != value) return 0x7fff;
    if (size == (double)INFINITY) return sign | 0x7c00;
    if (size == 0) return sign;
    frexp(size, &exponent); /* size = m * 2^exponent, m in [0.5, 1) */
    int quantum = exponent - 11 < -24 ? -24 : exponent - 11;
    scaled = ldexp(size, -quantum);
    whole = floor(scaled);
    double rest = scaled - whole;
    int up = 0;
    if (rounding == ROUND_RP)
        up = rest > 0 && !sign;
    else if (rounding == ROUND_RM)
        up = rest > 0 && sign;
    else if (rounding != ROUND_RZ)
        up = rest > 0.5 || (rest == 0.5 && fmod(whole, 2.0) == 1.0);
    double result = ldexp(whole + up, quantum);
    if (result >= 65536.0 || (result > 65504.0)) {
        int stays = rounding == ROUND_RZ || (rounding == ROUND_RP && sign) || (rounding == ROUND_RM && !sign);
        return sign | (stays ? 0x7bff : 0x7c00);
    }
    if (result < 6.103515625e-05) return sign | (uint32_t)ldexp(result, 24);
    frexp(result, &exponent);
    return sign | (uint32_t)(exponent + 14) << 10 | ((uint32_t)ldexp(result, 11 - exponent) & 1023);
}

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
static void extend_sources(uint32_t type, const lanes_operand *s, uint64_t v[LANES]) {
    switch (type) {
    case TYPE_U8: EACH_LANE v[l] = (uint8_t)s->word[0][l]; break;
    case TYPE_S8: EACH_LANE v[l] = (uint64_t)(int64_t)(int8_t)s->word[0][l]; break;
    case TYPE_U16: EACH_LANE v[l] = (uint16_t)s->word[0][l]; break;
    case TYPE_S16: EACH_LANE v[l] = (uint64_t)(int64_t)(int16_t)s->word[0][l]; break;
    case TYPE_U32: EACH_LANE v[l] = s->word[0][l]; break;
    case TYPE_S32: EACH_LANE v[l] = (uint64_t)(int64_t)(int32_t)s->word[0][l]; break;
    default: EACH_LANE v[l] = lane64(s, l); break;
    }
}

/* Lowest and highest value of an integer type, as signed and unsigned 64-bit. */
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

/* Writes 64-bit results into the destination's register: extended to its width, which may be more than the type's. */
static void write_integers(const instruction *i, uint64_t v[LANES], lanes_operand *d) {
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

static void integers_to_float(const instruction *i, const uint64_t v[LANES], lanes_operand *d) {
    int is_signed = type_is_signed(i->source_type);
    if (i->type == TYPE_F16) {
        EACH_LANE d->word[0][l] = double_to_half(is_signed ? (double)(int64_t)v[l] : (double)v[l], i->rounding);
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

/* NaN gives 0, or the sign bit alone where either side is 64 bits wide; everything else is clamped. */
static void floats_to_integers(const instruction *i, const double v[LANES], lanes_operand *d) {
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

static void floats_to_floats(const instruction *i, double v[LANES], lanes_operand *d) {
    if (i->rounding >= ROUND_RNI) EACH_LANE v[l] = to_integral(v[l], i->rounding);
    if (i->flags & FLAG_SATURATE) EACH_LANE v[l] = v[l] > 0.0 ? (v[l] < 1.0 ? v[l] : 1.0) : 0.0;
    if (i->type == TYPE_F64) {
        EACH_LANE WRITE_f64(d, l, v[l]);
    } else if (i->type == TYPE_F16) {
        EACH_LANE d->word[0][l] = double_to_half(v[l], i->rounding);
    } else if (i->rounding > ROUND_RN && i->rounding < ROUND_RNI) {
        EACH_LANE WRITE_f32(d, l, lanes_directed_to_f32(v[l], i->rounding));
    } else
        EACH_LANE WRITE_f32(d, l, (float)v[l]);
    if (i->type != TYPE_F64 && i->destinations[0].words == 2) memset(d->word[1], 0, sizeof d->word[1]);
}

static int convert(const instruction *i, const lanes_operand *s, lanes_operand *d) {
    uint64_t integers[LANES];
    double reals[LANES];
    uint32_t from = i->source_type, to = i->type;
    if (!type_is_float(from)) {
        if (from == TYPE_S32 && to == TYPE_F32 && i->rounding <= ROUND_RN) { /* the most common one */
            EACH_LANE d->word[0][l] = f32_bits((float)(int32_t)s->word[0][l]);
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
    if (from == TYPE_F16) {
        EACH_LANE reals[l] = half_to_double(s->word[0][l] & 0xffff);
    } else if (from == TYPE_F32) {
        if (i->flags & FLAG_FTZ)
            EACH_LANE reals[l] = (double)bits_f32(flush_bits(s->word[0][l]));
        else
            EACH_LANE reals[l] = (double)READ_f32(s, l);
    } else
        EACH_LANE reals[l] = READ_f64(s, l);
    if (type_is_float(to)) {
        floats_to_floats(i, reals, d);
        if (to == TYPE_F32 && (i->flags & FLAG_FTZ)) EACH_LANE d->word[0][l] = flush_bits(d->word[0][l]);
    } else
        floats_to_integers(i, reals, d);
    return 1;
}

int lanes_convert(const instruction *i, const lanes_operand *s, lanes_operand *d) {
    if (i->opcode == OPCODE_CVT) return convert(i, s, d);
    if (i->opcode == OPCODE_CVTA) {
        uint64_t base = i->space == SPACE_SHARED  ? GENERIC_SHARED_BASE
                        : i->space == SPACE_LOCAL ? GENERIC_LOCAL_BASE
                        : i->space == SPACE_PARAM ? GENERIC_PARAM_BASE
                                                  : 0;
        if (i->variant == VARIANT_TO) base = 0 - base;
        EACH_LANE set_lane64(d, l, (type_bytes(i->type) == 8 ? lane64(s, l) : s->word[0][l]) + base);
        return 1;
    }
    return 0;
}
