/* lanes_bits: logic, shifts, fields, bytes, counts; logic on predicates too. */
#include "lanes/lanes_internal.h"

/* Evaluates an expression of a and b for every lane. a and b are 64-bit values, zero-extended from the operands'
 * width. */
#define WORDWISE(expression)                                     \
    if (wide) {                                                  \
        EACH_LANE {                                              \
            uint64_t a = lane64(s[0], l), b = lane64(s[1], l);   \
            (void)b;                                             \
            set_lane64(d, l, expression);                        \
        }                                                        \
    } else {                                                     \
        EACH_LANE {                                              \
            uint32_t a = s[0]->word[0][l], b = s[1]->word[0][l]; \
            (void)b;                                             \
            d->word[0][l] = (uint32_t)(expression)&keep;         \
        }                                                        \
    }                                                            \
    return 1

static int predicates(const instruction *i, uint32_t active, const lanes_operand *const *s, lanes_operand *restrict d) {
    uint32_t a = s[0]->word[0][0], b = i->source_count > 1 ? s[1]->word[0][0] : 0, result;
    switch (i->opcode) {
    case OPCODE_AND: result = a & b; break;
    case OPCODE_OR: result = a | b; break;
    case OPCODE_XOR: result = a ^ b; break;
    case OPCODE_NOT: result = ~a; break;
    case OPCODE_MOV: result = a; break;
    default: return 0;
    }
    d->word[0][0] = result & active;
    return 1;
}

static int shift(const instruction *i, const lanes_operand *const *s, lanes_operand *restrict d) {
    int left = i->opcode == OPCODE_SHL, fill = i->opcode == OPCODE_SHR && type_is_signed(i->type);
    switch (type_bytes(i->type)) {
    case 2:
        EACH_LANE {
            uint32_t a = READ_u16(s[0], l), n = s[1]->word[0][l] > 16 ? 16 : s[1]->word[0][l];
            d->word[0][l] = (uint16_t)(left ? a << n : fill ? (uint32_t)((int32_t)(int16_t)a >> n) : a >> n);
        }
        return 1;
    case 4:
        if (left) {
            EACH_LANE {
                uint32_t n = s[1]->word[0][l];
                d->word[0][l] = n > 31 ? 0 : s[0]->word[0][l] << n;
            }
        } else if (fill) {
            EACH_LANE {
                uint32_t n = s[1]->word[0][l];
                d->word[0][l] = (uint32_t)((int32_t)s[0]->word[0][l] >> (n > 31 ? 31 : n));
            }
        } else {
            EACH_LANE {
                uint32_t n = s[1]->word[0][l];
                d->word[0][l] = n > 31 ? 0 : s[0]->word[0][l] >> n;
            }
        }
        return 1;
    default:
        EACH_LANE {
            uint64_t a = lane64(s[0], l);
            uint32_t n = s[1]->word[0][l];
            if (fill)
                a = (uint64_t)((int64_t)a >> (n > 63 ? 63 : n));
            else
                a = n > 63 ? 0 : left ? a << n : a >> n;
            set_lane64(d, l, a);
        }
        return 1;
    }
}

static inline uint64_t low_ones(uint32_t count) { return count > 63 ? UINT64_MAX : (UINT64_C(1) << count) - 1; }

static int extract_field(const instruction *i, const lanes_operand *const *s, lanes_operand *restrict d) {
    uint32_t width = type_bytes(i->type) * 8, is_signed = (uint32_t)type_is_signed(i->type);
    EACH_LANE {
        uint64_t a = width == 64 ? lane64(s[0], l) : s[0]->word[0][l], result;
        uint32_t position = s[1]->word[0][l] & 0xff, length = s[2]->word[0][l] & 0xff, top = position + length - 1;
        uint32_t have = position >= width ? 0 : width - position;
        if (top > width - 1) top = width - 1;
        uint64_t sign = is_signed && length ? a >> top & 1 : 0;
        if (have > length) have = length;
        result = have ? (a >> position) & low_ones(have) : 0;
        if (sign) result |= ~low_ones(have);
        set_lane64(d, l, result);
    }
    return 1;
}

static int insert_field(const instruction *i, const lanes_operand *const *s, lanes_operand *restrict d) {
    uint32_t width = type_bytes(i->type) * 8;
    EACH_LANE {
        uint64_t a = width == 64 ? lane64(s[0], l) : s[0]->word[0][l],
                 b = width == 64 ? lane64(s[1], l) : s[1]->word[0][l];
        uint32_t position = s[2]->word[0][l] & 0xff, length = s[3]->word[0][l] & 0xff;
        uint32_t have = position >= width ? 0 : width - position;
        if (have > length) have = length;
        if (have) {
            uint64_t mask = low_ones(have) << position;
            b = (b & ~mask) | (a << position & mask);
        }
        set_lane64(d, l, b);
    }
    return 1;
}

static int permute(const instruction *i, const lanes_operand *const *s, lanes_operand *restrict d) {
    /* Selectors of the special modes, by the low two bits of c; byte 0 in the low digit. */
    static const uint16_t modes[][4] = {{0x3210, 0x4321, 0x5432, 0x6543}, {0x5670, 0x6701, 0x7012, 0x0123},
                                        {0x0000, 0x1111, 0x2222, 0x3333}, {0x3210, 0x3211, 0x3222, 0x3333},
                                        {0x0000, 0x1110, 0x2210, 0x3210}, {0x1010, 0x3232, 0x1010, 0x3232}};
    const uint16_t *mode =
        i->variant >= VARIANT_F4E && i->variant <= VARIANT_RC16 ? modes[i->variant - VARIANT_F4E] : NULL;
    EACH_LANE {
        uint64_t bytes = s[0]->word[0][l] | (uint64_t)s[1]->word[0][l] << 32;
        uint32_t selector = s[2]->word[0][l], result = 0;
        if (mode) selector = mode[selector & 3];
        for (uint32_t k = 0; k < 4; k++) {
            uint32_t choice = selector >> (4 * k) & 15, byte = (uint32_t)(bytes >> (8 * (choice & 7))) & 0xff;
            if (choice & 8) byte = byte & 0x80 ? 0xff : 0;
            result |= byte << (8 * k);
        }
        d->word[0][l] = result;
    }
    return 1;
}

static inline uint32_t count_ones(uint64_t v) {
    v = v - ((v >> 1) & UINT64_C(0x5555555555555555));
    v = (v & UINT64_C(0x3333333333333333)) + ((v >> 2) & UINT64_C(0x3333333333333333));
    v = (v + (v >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    return (uint32_t)((v * UINT64_C(0x0101010101010101)) >> 56);
}
static inline uint64_t smear(uint64_t v) { /* sets all bits below the highest one */
    v |= v >> 1;
    v |= v >> 2;
    v |= v >> 4;
    v |= v >> 8;
    v |= v >> 16;
    return v | v >> 32;
}
static inline uint32_t reverse32(uint32_t v) {
    v = (v >> 1 & 0x55555555u) | (v & 0x55555555u) << 1;
    v = (v >> 2 & 0x33333333u) | (v & 0x33333333u) << 2;
    v = (v >> 4 & 0x0f0f0f0fu) | (v & 0x0f0f0f0fu) << 4;
    v = (v >> 8 & 0x00ff00ffu) | (v & 0x00ff00ffu) << 8;
    return v >> 16 | v << 16;
}

static int count(const instruction *i, const lanes_operand *const *s, lanes_operand *restrict d) {
    uint32_t wide = type_bytes(i->type) == 8, width = wide ? 64 : 32, is_signed = (uint32_t)type_is_signed(i->type);
    EACH_LANE {
        uint64_t a = wide ? lane64(s[0], l) : s[0]->word[0][l];
        if (i->opcode == OPCODE_POPC) {
            d->word[0][l] = count_ones(a);
        } else if (i->opcode == OPCODE_CLZ) {
            d->word[0][l] = width - count_ones(smear(a));
        } else { /* bfind: the highest bit that differs from the sign */
            if (is_signed && a >> (width - 1)) a = wide ? ~a : (uint32_t)~a;
            uint32_t position = a ? count_ones(smear(a)) - 1 : UINT32_MAX;
            d->word[0][l] = i->variant == VARIANT_SHIFTAMT && a ? width - 1 - position : position;
        }
    }
    return 1;
}

static int funnel(const instruction *i, const lanes_operand *const *s, lanes_operand *restrict d) {
    int clamp = i->variant == VARIANT_LEFT_CLAMP || i->variant == VARIANT_RIGHT_CLAMP;
    int left = i->variant == VARIANT_LEFT || i->variant == VARIANT_LEFT_CLAMP;
    EACH_LANE {
        uint64_t both = s[0]->word[0][l] | (uint64_t)s[1]->word[0][l] << 32;
        uint32_t n = s[2]->word[0][l];
        n = clamp ? (n > 32 ? 32 : n) : n & 31;
        d->word[0][l] = left ? (uint32_t)(both << n >> 32) : (uint32_t)(both >> n);
    }
    return 1;
}

static int truth_table(const instruction *i, const lanes_operand *const *s, lanes_operand *restrict d) {
    uint32_t table = i->lookup, on[8];
    for (uint32_t k = 0; k < 8; k++) on[k] = table >> k & 1 ? UINT32_MAX : 0;
    EACH_LANE {
        uint32_t a = s[0]->word[0][l], b = s[1]->word[0][l], c = s[2]->word[0][l];
        d->word[0][l] = (on[0] & ~a & ~b & ~c) | (on[1] & ~a & ~b & c) | (on[2] & ~a & b & ~c) | (on[3] & ~a & b & c) |
                        (on[4] & a & ~b & ~c) | (on[5] & a & ~b & c) | (on[6] & a & b & ~c) | (on[7] & a & b & c);
    }
    return 1;
}

static int mask_of_bits(const instruction *i, const lanes_operand *const *s, lanes_operand *restrict d) {
    int clamp = i->variant == VARIANT_LEFT_CLAMP;
    EACH_LANE {
        uint32_t a = s[0]->word[0][l], b = s[1]->word[0][l], a1 = a & 31, b1 = b & 31, sum = a1 + b1;
        uint32_t from = UINT32_MAX << a1, past = sum >= 32 ? 0 : UINT32_MAX << sum;
        if (clamp && a >= 32) from = 0;
        if (clamp && (a >= 32 || b >= 32)) past = 0;
        d->word[0][l] = from & ~past;
    }
    return 1;
}

static int extend_from(const instruction *i, const lanes_operand *const *s, lanes_operand *restrict d) {
    int clamp = i->variant == VARIANT_LEFT_CLAMP, is_signed = i->type == TYPE_S32;
    EACH_LANE {
        uint32_t a = s[0]->word[0][l], b = s[1]->word[0][l], b1 = b & 31;
        uint32_t above = clamp && b >= 32 ? 0 : UINT32_MAX << b1;
        int sign = is_signed && b1 && !(clamp && b >= 32) && (a >> (b1 - 1) & 1);
        d->word[0][l] = (a & ~above) | (sign ? above : 0);
    }
    return 1;
}

static int find_nth(const lanes_operand *const *s, lanes_operand *restrict d) {
    EACH_LANE {
        uint32_t mask = s[0]->word[0][l], result = UINT32_MAX;
        int64_t position = s[1]->word[0][l], offset = (int32_t)s[2]->word[0][l];
        int64_t step = offset < 0 ? -1 : 1, left = offset == 0 ? 0 : (offset < 0 ? -offset : offset) - 1;
        for (; position >= 0 && position < 32; position += step) {
            if (mask >> position & 1) {
                if (left-- == 0) {
                    result = (uint32_t)position;
                    break;
                }
            }
            if (offset == 0) break;
        }
        d->word[0][l] = result;
    }
    return 1;
}

/* mov: copies a value, or packs or unpacks 2 or 4 elements. */
static int move(const instruction *i, const lanes_operand *const *s, lanes_operand *restrict d) {
    uint32_t bytes = type_bytes(i->type), width = i->vector > 1 ? bytes * 8 / i->vector : 0;
    if (i->vector == 1) {
        memcpy(d->word[0], s[0]->word[0], sizeof d->word[0]);
        if (bytes == 8)
            memcpy(d->word[1], s[0]->word[1], sizeof d->word[1]);
        else if (bytes == 2)
            EACH_LANE d->word[0][l] &= 0xffff;
    } else if (i->source_count == i->vector) {
        EACH_LANE {
            uint64_t value = 0;
            for (uint32_t k = i->vector; k-- > 0;) value = value << width | (s[k]->word[0][l] & low_ones(width));
            set_lane64(d, l, value);
        }
    } else {
        for (uint32_t k = 0; k < i->vector; k++)
            EACH_LANE d[k].word[0][l] =
                (uint32_t)((bytes == 8 ? lane64(s[0], l) : s[0]->word[0][l]) >> (k * width) & low_ones(width));
    }
    return 1;
}

int lanes_bits(const instruction *i, uint32_t active, const lanes_operand *const *s, lanes_operand *restrict d) {
    uint32_t bytes = type_bytes(i->type), keep = bytes == 2 ? 0xffff : UINT32_MAX;
    int wide = bytes == 8;
    if (i->type == TYPE_PRED && i->opcode != OPCODE_VOTE) return predicates(i, active, s, d);
    switch (i->opcode) {
    case OPCODE_AND: WORDWISE(a & b);
    case OPCODE_OR: WORDWISE(a | b);
    case OPCODE_XOR: WORDWISE(a ^ b);
    case OPCODE_NOT:
        EACH_LANE {
            d->word[0][l] = ~s[0]->word[0][l] & keep;
            if (wide) d->word[1][l] = ~s[0]->word[1][l];
        }
        return 1;
    case OPCODE_CNOT:
        EACH_LANE {
            uint64_t a = wide ? lane64(s[0], l) : s[0]->word[0][l] & keep;
            set_lane64(d, l, a == 0);
        }
        return 1;
    case OPCODE_SHL:
    case OPCODE_SHR: return shift(i, s, d);
    case OPCODE_BFE: return extract_field(i, s, d);
    case OPCODE_BFI: return insert_field(i, s, d);
    case OPCODE_PRMT: return permute(i, s, d);
    case OPCODE_POPC:
    case OPCODE_CLZ:
    case OPCODE_BFIND: return count(i, s, d);
    case OPCODE_BREV:
        EACH_LANE {
            uint32_t low = reverse32(s[0]->word[0][l]), high = wide ? reverse32(s[0]->word[1][l]) : 0;
            d->word[0][l] = wide ? high : low;
            if (wide) d->word[1][l] = low;
        }
        return 1;
    case OPCODE_SHF: return funnel(i, s, d);
    case OPCODE_LOP3: return truth_table(i, s, d);
    case OPCODE_BMSK: return mask_of_bits(i, s, d);
    case OPCODE_SZEXT: return extend_from(i, s, d);
    case OPCODE_FNS: return find_nth(s, d);
    case OPCODE_MOV: return move(i, s, d);
    default: return 0;
    }
}
