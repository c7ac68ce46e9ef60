/* lanes_integer: integer arithmetic. */
#include "lanes/lanes_internal.h"

#define BINARY(T, t, expression)                        \
    EACH_LANE {                                         \
        T a = READ_##t(s[0], l), b = READ_##t(s[1], l); \
        WRITE_##t(&d[0], l, expression);                \
    }                                                   \
    return 1

/* For operations that depend on the sign: every integer type is computed as its own type. */
#define BY_TYPE(expression)                           \
    switch (type) {                                   \
    case TYPE_U16: BINARY(uint16_t, u16, expression); \
    case TYPE_S16: BINARY(int16_t, s16, expression);  \
    case TYPE_U32: BINARY(uint32_t, u32, expression); \
    case TYPE_S32: BINARY(int32_t, s32, expression);  \
    case TYPE_U64: BINARY(uint64_t, u64, expression); \
    case TYPE_S64: BINARY(int64_t, s64, expression);  \
    default: return 0;                                \
    }

/* For operations that do not depend on the sign: computed unsigned, so that overflow wraps. */
#define BY_WIDTH(expression)                   \
    switch (type_bytes(type)) {                \
    case 2: BINARY(uint32_t, u16, expression); \
    case 4: BINARY(uint32_t, u32, expression); \
    case 8: BINARY(uint64_t, u64, expression); \
    default: return 0;                         \
    }

static inline int32_t clamp_s32(int64_t v) {
    return v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : (int32_t)v;
}

static inline uint64_t high_u64(uint64_t a, uint64_t b) {
    uint64_t a0 = (uint32_t)a, a1 = a >> 32, b0 = (uint32_t)b, b1 = b >> 32;
    uint64_t middle = a1 * b0 + (a0 * b0 >> 32), low = a0 * b1 + (uint32_t)middle;
    return a1 * b1 + (middle >> 32) + (low >> 32);
}
static inline uint64_t high_s64(uint64_t a, uint64_t b) {
    return high_u64(a, b) - ((int64_t)a < 0 ? b : 0) - ((int64_t)b < 0 ? a : 0);
}

/* mul and mad: the low half, the high half, or all of the product. `plus` adds the third source. */
#define PRODUCT_16(T, READ)                                                                                    \
    EACH_LANE {                                                                                                \
        uint32_t p = (uint32_t)((T)READ(s[0], l) * (T)READ(s[1], l));                                          \
        if (variant == VARIANT_WIDE)                                                                           \
            d->word[0][l] = p + (plus ? s[2]->word[0][l] : 0);                                                 \
        else                                                                                                   \
            d->word[0][l] = (uint16_t)((variant == VARIANT_HI ? p >> 16 : p) + (plus ? s[2]->word[0][l] : 0)); \
    }                                                                                                          \
    return 1
#define PRODUCT_32(T, READ)                                                                            \
    if (variant == VARIANT_LO) {                                                                       \
        EACH_LANE d->word[0][l] = s[0]->word[0][l] * s[1]->word[0][l] + (plus ? s[2]->word[0][l] : 0); \
    } else if (variant == VARIANT_HI) {                                                                \
        EACH_LANE {                                                                                    \
            uint64_t p = (uint64_t)((T)READ(s[0], l) * (T)READ(s[1], l));                              \
            d->word[0][l] = (uint32_t)(p >> 32) + (plus ? s[2]->word[0][l] : 0);                       \
        }                                                                                              \
    } else {                                                                                           \
        EACH_LANE {                                                                                    \
            uint64_t p = (uint64_t)((T)READ(s[0], l) * (T)READ(s[1], l));                              \
            set_lane64(d, l, p + (plus ? lane64(s[2], l) : 0));                                        \
        }                                                                                              \
    }                                                                                                  \
    return 1
#define PRODUCT_64(HIGH)                                                                               \
    EACH_LANE {                                                                                        \
        uint64_t a = lane64(s[0], l), b = lane64(s[1], l);                                             \
        set_lane64(d, l, (variant == VARIANT_HI ? HIGH(a, b) : a * b) + (plus ? lane64(s[2], l) : 0)); \
    }                                                                                                  \
    return 1

static inline int product(uint32_t type, uint32_t variant, int plus, const lanes_operand *const *s,
                          lanes_operand *restrict d) {
    switch (type) {
    case TYPE_U16: PRODUCT_16(uint32_t, READ_u16);
    case TYPE_S16: PRODUCT_16(int32_t, READ_s16);
    case TYPE_U32: PRODUCT_32(uint64_t, READ_u32);
    case TYPE_S32: PRODUCT_32(int64_t, READ_s32);
    case TYPE_U64: PRODUCT_64(high_u64);
    case TYPE_S64: PRODUCT_64(high_s64);
    default: return 0;
    }
}

/* add, sub and mad with carry in (the last source) and carry out (the last destination). The sign does not matter.
 * Borrow is the carry of a subtraction. */
static int with_carry(const instruction *i, uint32_t active, const lanes_operand *const *s, lanes_operand *restrict d) {
    int reads = i->opcode == OPCODE_ADDC || i->opcode == OPCODE_SUBC || i->opcode == OPCODE_MADC;
    int subtracts = i->opcode == OPCODE_SUB || i->opcode == OPCODE_SUBC,
        multiplies = i->opcode == OPCODE_MAD || i->opcode == OPCODE_MADC;
    int wide = type_bytes(i->type) == 8;
    uint32_t carries = reads ? s[i->source_count - 1]->word[0][0] : 0, out = 0;
    lanes_operand left;
    const lanes_operand *a = s[0], *b = s[1];
    if (multiplies) {
        product(i->type, i->variant, 0, s, &left);
        a = &left;
        b = s[2];
    }
    EACH_LANE {
        uint64_t in = carries >> l & 1, x = wide ? lane64(a, l) : a->word[0][l],
                 y = wide ? lane64(b, l) : b->word[0][l], r, c;
        if (wide) {
            if (subtracts) {
                r = x - y - in;
                c = x < y || (x == y && in);
            } else {
                r = x + y + in;
                c = r < x || (r == x && in);
            }
            set_lane64(&d[0], l, r);
        } else {
            r = subtracts ? x - y - in : x + y + in;
            c = r >> 32 & 1;
            d[0].word[0][l] = (uint32_t)r;
        }
        out |= (uint32_t)c << l;
    }
    if (i->flags & FLAG_CARRY_OUT) d[i->destination_count - 1].word[0][0] = out & active;
    return 1;
}

static int divide(uint32_t type, int remainder, const lanes_operand *const *s, lanes_operand *restrict d) {
    /* Division by zero gives all ones, and the dividend as remainder, as on the GPU. The most negative number divided
     * by -1 wraps to itself. */
    if (!remainder) switch (type) {
        case TYPE_U16: BINARY(uint32_t, u16, b ? a / b : 0xffffu);
        case TYPE_S16: BINARY(int32_t, s16, b ? a / b : -1);
        case TYPE_U32: BINARY(uint32_t, u32, b ? a / b : UINT32_MAX);
        case TYPE_S32: BINARY(int64_t, s32, b ? a / b : -1);
        case TYPE_U64: BINARY(uint64_t, u64, b ? a / b : UINT64_MAX);
        case TYPE_S64: BINARY(int64_t, s64, b == 0 ? UINT64_MAX : b == -1 ? 0 - (uint64_t)a : (uint64_t)(a / b));
        default: return 0;
        }
    switch (type) {
    case TYPE_U16: BINARY(uint32_t, u16, b ? a % b : a);
    case TYPE_S16: BINARY(int32_t, s16, b ? a % b : a);
    case TYPE_U32: BINARY(uint32_t, u32, b ? a % b : a);
    case TYPE_S32: BINARY(int64_t, s32, b ? a % b : a);
    case TYPE_U64: BINARY(uint64_t, u64, b ? a % b : a);
    case TYPE_S64: BINARY(int64_t, s64, b == 0 ? a : b == -1 ? 0 : a % b);
    default: return 0;
    }
}

static int multiply24(const instruction *i, const lanes_operand *const *s, lanes_operand *restrict d) {
    int plus = i->opcode == OPCODE_MAD24, high = i->variant == VARIANT_HI, is_signed = i->type == TYPE_S32;
    EACH_LANE {
        int64_t a = s[0]->word[0][l] & 0xffffffu, b = s[1]->word[0][l] & 0xffffffu;
        if (is_signed) {
            a = (a ^ 0x800000) - 0x800000;
            b = (b ^ 0x800000) - 0x800000;
        }
        uint32_t p = high ? (uint32_t)((uint64_t)(a * b) >> 16) : (uint32_t)(uint64_t)(a * b);
        if (plus && (i->flags & FLAG_SATURATE) && is_signed)
            d->word[0][l] = (uint32_t)clamp_s32((int64_t)(int32_t)p + (int32_t)s[2]->word[0][l]);
        else
            d->word[0][l] = p + (plus ? s[2]->word[0][l] : 0);
    }
    return 1;
}

static int dot_product(const instruction *i, const lanes_operand *const *s, lanes_operand *restrict d) {
    int signed_a = i->type == TYPE_S32, signed_b = i->source_type == TYPE_S32, pairs = i->opcode == OPCODE_DP2A;
    EACH_LANE {
        uint32_t a = s[0]->word[0][l], b = s[1]->word[0][l], sum = s[2]->word[0][l];
        if (pairs && i->variant == VARIANT_HI) b >>= 16;
        for (uint32_t k = 0; k < (pairs ? 2u : 4u); k++) {
            uint32_t x = pairs ? (a >> (16 * k) & 0xffffu) : (a >> (8 * k) & 0xffu), y = b >> (8 * k) & 0xffu;
            int32_t p = signed_a ? (pairs ? (int32_t)(int16_t)x : (int32_t)(int8_t)x) : (int32_t)x;
            int32_t q = signed_b ? (int32_t)(int8_t)y : (int32_t)y;
            sum += (uint32_t)(p * q);
        }
        d->word[0][l] = sum;
    }
    return 1;
}

/* vabsdiff4: |a - b| of the four bytes of a register, packed, or added to the third source. */
static int absolute_differences(const instruction *i, const lanes_operand *const *s, lanes_operand *restrict d) {
    EACH_LANE {
        uint32_t sum = s[2]->word[0][l], bytes = 0;
        for (uint32_t k = 0; k < 32; k += 8) {
            const uint32_t a = s[0]->word[0][l] >> k & 0xff, b = s[1]->word[0][l] >> k & 0xff;
            const int32_t difference =
                i->source_type == TYPE_S32 ? (int32_t)(int8_t)a - (int32_t)(int8_t)b : (int32_t)a - (int32_t)b;
            const uint32_t size = (uint32_t)(difference < 0 ? -difference : difference);
            sum += size;
            bytes |= size << k;
        }
        d->word[0][l] = i->variant == VARIANT_ADD ? sum : bytes;
    }
    return 1;
}

/* sad: |a - b| + c. */
static int difference_and_sum(uint32_t type, const lanes_operand *const *s, lanes_operand *restrict d) {
    switch (type) {
    case TYPE_U16: BINARY(uint16_t, u16, (a > b ? a - b : b - a) + READ_u16(s[2], l));
    case TYPE_S16: BINARY(int32_t, s16, (a > b ? a - b : b - a) + READ_s16(s[2], l));
    case TYPE_U32: BINARY(uint32_t, u32, (a > b ? a - b : b - a) + READ_u32(s[2], l));
    case TYPE_S32: BINARY(int64_t, s32, (a > b ? a - b : b - a) + READ_s32(s[2], l));
    case TYPE_U64: BINARY(uint64_t, u64, (a > b ? a - b : b - a) + READ_u64(s[2], l));
    case TYPE_S64:
        BINARY(int64_t, s64, (a > b ? (uint64_t)a - (uint64_t)b : (uint64_t)b - (uint64_t)a) + READ_u64(s[2], l));
    default: return 0;
    }
}

/* neg (`always`) and abs, which negates negative values only. */
static int negate(uint32_t type, int always, const lanes_operand *const *s, lanes_operand *restrict d) {
    switch (type_bytes(type)) {
    case 2:
        EACH_LANE {
            int32_t a = READ_s16(s[0], l);
            WRITE_u16(d, l, always || a < 0 ? -a : a);
        }
        return 1;
    case 4:
        EACH_LANE {
            uint32_t a = s[0]->word[0][l];
            d->word[0][l] = always || (int32_t)a < 0 ? 0u - a : a;
        }
        return 1;
    default:
        EACH_LANE {
            uint64_t a = lane64(s[0], l);
            set_lane64(d, l, always || (int64_t)a < 0 ? 0u - a : a);
        }
        return 1;
    }
}

int lanes_integer(const instruction *i, uint32_t active, const lanes_operand *const *s, lanes_operand *restrict d) {
    uint32_t type = integer_type(i->type);
    if (type_is_float(type) || type == TYPE_PRED) return 0;
    if (i->flags & FLAG_CARRY_OUT) return with_carry(i, active, s, d);
    switch (i->opcode) {
    case OPCODE_ADD:
        if (i->flags & FLAG_SATURATE && type == TYPE_S32) { BINARY(int64_t, s32, clamp_s32(a + b)); }
        BY_WIDTH(a + b)
    case OPCODE_SUB:
        if (i->flags & FLAG_SATURATE && type == TYPE_S32) { BINARY(int64_t, s32, clamp_s32(a - b)); }
        BY_WIDTH(a - b)
    case OPCODE_MUL: return product(type, i->variant, 0, s, d);
    case OPCODE_MAD:
        if (i->flags & FLAG_SATURATE && type == TYPE_S32 && i->variant == VARIANT_HI) {
            EACH_LANE d->word[0][l] =
                (uint32_t)clamp_s32(((int64_t)READ_s32(s[0], l) * READ_s32(s[1], l) >> 32) + READ_s32(s[2], l));
            return 1;
        }
        return product(type, i->variant, 1, s, d);
    case OPCODE_ADDC:
    case OPCODE_SUBC:
    case OPCODE_MADC: return with_carry(i, active, s, d);
    case OPCODE_MUL24:
    case OPCODE_MAD24: return multiply24(i, s, d);
    case OPCODE_DP4A:
    case OPCODE_DP2A: return dot_product(i, s, d);
    case OPCODE_VABSDIFF4: return absolute_differences(i, s, d);
    case OPCODE_SAD: return difference_and_sum(type, s, d);
    case OPCODE_DIV: return divide(type, 0, s, d);
    case OPCODE_REM: return divide(type, 1, s, d);
    case OPCODE_MIN: BY_TYPE(a < b ? a : b)
    case OPCODE_MAX: BY_TYPE(a > b ? a : b)
    case OPCODE_NEG: return negate(type, 1, s, d);
    case OPCODE_ABS: return negate(type, 0, s, d);
    default: return 0;
    }
}
