/* lanes_compare: set, setp, selp, slct, testp, isspacep. */
#include "lanes/lanes_internal.h"

#define FLAGS(T, t, expression)                             \
    {                                                       \
        EACH_LANE {                                         \
            T a = READ_##t(s[0], l), b = READ_##t(s[1], l); \
            flags[l] = (uint8_t)(expression);               \
        }                                                   \
        break;                                              \
    }
#define BY_OPERATOR(T, t)                               \
    switch (i->compare) {                               \
    case COMPARE_EQ: FLAGS(T, t, a == b)                \
    case COMPARE_NE: FLAGS(T, t, (a < b) | (a > b))     \
    case COMPARE_LT: FLAGS(T, t, a < b)                 \
    case COMPARE_LE: FLAGS(T, t, a <= b)                \
    case COMPARE_GT: FLAGS(T, t, a > b)                 \
    case COMPARE_GE: FLAGS(T, t, a >= b)                \
    case COMPARE_EQU: FLAGS(T, t, !((a < b) | (a > b))) \
    case COMPARE_NEU: FLAGS(T, t, a != b)               \
    case COMPARE_LTU: FLAGS(T, t, !(a >= b))            \
    case COMPARE_LEU: FLAGS(T, t, !(a > b))             \
    case COMPARE_GTU: FLAGS(T, t, !(a <= b))            \
    case COMPARE_GEU: FLAGS(T, t, !(a < b))             \
    case COMPARE_NUM: FLAGS(T, t, (a == a) & (b == b))  \
    default: FLAGS(T, t, (a != a) | (b != b))           \
    }                                                   \
    break

/* part: 0 for the lower half of a pair, 1 for the upper. */
static uint32_t compare(const instruction *i, uint32_t type, uint32_t part, const lanes_operand *const *s) {
    uint8_t flags[LANES];
    lanes_operand copy[2];
    const lanes_operand *const copies[2] = {&copy[0], &copy[1]};
    if (type == TYPE_F32 && (i->flags & FLAG_FTZ)) {
        for (uint32_t k = 0; k < 2; k++) EACH_LANE copy[k].word[0][l] = flush_bits(s[k]->word[0][l]);
        s = copies;
    } else if (type_is_half(type)) {
        double values[LANES];
        for (uint32_t k = 0; k < 2; k++) {
            lanes_half_values(i, type, part, s[k], values);
            EACH_LANE set_lane64(&copy[k], l, f64_bits(values[l]));
        }
        s = copies;
    }
    switch (integer_type(type)) {
    case TYPE_U16: BY_OPERATOR(uint16_t, u16);
    case TYPE_S16: BY_OPERATOR(int16_t, s16);
    case TYPE_U32: BY_OPERATOR(uint32_t, u32);
    case TYPE_S32: BY_OPERATOR(int32_t, s32);
    case TYPE_U64: BY_OPERATOR(uint64_t, u64);
    case TYPE_S64: BY_OPERATOR(int64_t, s64);
    case TYPE_F32: BY_OPERATOR(float, f32);
    default: BY_OPERATOR(double, f64);
    }
    return pack_flags(flags);
}

/* Returns set's value for true: 1.0, or all ones. */
static uint32_t set_true(uint32_t type) {
    switch (type) {
    case TYPE_F32: return 0x3f800000u;
    case TYPE_F16: return 0x3c00;
    case TYPE_F16X2: return 0x3c003c00;
    case TYPE_BF16: return 0x3f80;
    case TYPE_BF16X2: return 0x3f803f80;
    default: return type_bytes(type) == 2 ? 0xffff : UINT32_MAX;
    }
}

static uint32_t combine(const instruction *i, uint32_t result, const lanes_operand *const *s) {
    switch (i->variant) {
    case VARIANT_AND: return result & s[2]->word[0][0];
    case VARIANT_OR: return result | s[2]->word[0][0];
    case VARIANT_XOR: return result ^ s[2]->word[0][0];
    default: return result;
    }
}

static uint32_t test_property(const instruction *i, const lanes_operand *const *s) {
    uint32_t mask = 0;
    EACH_LANE {
        uint64_t bits = i->type == TYPE_F32 ? s[0]->word[0][l] : lane64(s[0], l), shift = i->type == TYPE_F32 ? 23 : 52;
        uint64_t top = i->type == TYPE_F32 ? 0xff : 0x7ff, exponent = bits >> shift & top,
                 fraction = bits & ((UINT64_C(1) << shift) - 1);
        uint64_t holds;
        switch (i->variant) {
        case VARIANT_FINITE: holds = exponent != top; break;
        case VARIANT_INFINITE: holds = exponent == top && !fraction; break;
        case VARIANT_NUMBER: holds = exponent != top || !fraction; break;
        case VARIANT_NOTANUMBER: holds = exponent == top && fraction; break;
        case VARIANT_NORMAL: holds = exponent != top && exponent; break;
        default: holds = !exponent && fraction;
        }
        mask |= (uint32_t)holds << l;
    }
    return mask;
}

int lanes_compare(const instruction *i, uint32_t active, const lanes_operand *const *s, lanes_operand *restrict d) {
    switch (i->opcode) {
    case OPCODE_SETP: {
        uint32_t result = compare(i, i->type, 0, s);
        d[0].word[0][0] = combine(i, result, s) & active;
        if (i->destination_count > 1) /* p|q: q is the complement, or the result of the upper half of a pair */
            d[1].word[0][0] = combine(i, type_is_packed(i->type) ? compare(i, i->type, 1, s) : ~result, s) & active;
        return 1;
    }
    case OPCODE_SET: {
        uint32_t result = combine(i, compare(i, i->source_type, 0, s), s), yes = set_true(i->type);
        EACH_LANE d->word[0][l] = result >> l & 1 ? yes : 0;
        if (type_bytes(i->type) == 8) EACH_LANE d->word[1][l] = d->word[0][l];
        if (type_is_packed(i->source_type)) {
            uint32_t upper = combine(i, compare(i, i->source_type, 1, s), s), half = yes & 0xffff;
            EACH_LANE d->word[0][l] = (result >> l & 1 ? half : 0) | (upper >> l & 1 ? half << 16 : 0);
        }
        return 1;
    }
    case OPCODE_SELP:
        EACH_LANE {
            uint32_t first = 0u - (s[2]->word[0][0] >> l & 1);
            d->word[0][l] = (s[0]->word[0][l] & first) | (s[1]->word[0][l] & ~first);
        }
        if (type_bytes(i->type) == 8) EACH_LANE {
                uint32_t first = 0u - (s[2]->word[0][0] >> l & 1);
                d->word[1][l] = (s[0]->word[1][l] & first) | (s[1]->word[1][l] & ~first);
            }
        return 1;
    case OPCODE_SLCT:
        EACH_LANE {
            uint32_t c = s[2]->word[0][l];
            if (i->source_type == TYPE_F32 && (i->flags & FLAG_FTZ)) c = flush_bits(c);
            int first = i->source_type == TYPE_F32 ? bits_f32(c) >= 0.0f : (int32_t)c >= 0;
            set_lane64(d, l, lane64(first ? s[0] : s[1], l));
        }
        return 1;
    case OPCODE_TESTP: d->word[0][0] = test_property(i, s) & active; return 1;
    case OPCODE_PAGE_ENTERED: {
        uint64_t addresses[LANES];
        uint32_t mask = 0;
        lanes_address(i, active, s[0], addresses);
        EACH_LANE mask |= (uint32_t)((addresses[l] & (lane64(s[1], 0) - 1)) < lane64(s[2], 0)) << l;
        d[0].word[0][0] = mask & active;
        return 1;
    }
    case OPCODE_ISSPACEP: {
        uint32_t mask = 0;
        EACH_LANE {
            uint64_t offset, space = generic_space(lane64(s[0], l), &offset);
            mask |= (uint32_t)(space == i->space) << l;
        }
        d->word[0][0] = mask & active;
        return 1;
    }
    default: return 0;
    }
}
