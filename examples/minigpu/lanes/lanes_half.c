/* lanes_half: 16-bit floating point (f16, bf16), single or in pairs. The computation in double is such that one
 * rounding from double gives the rounding of the exact result. */
#include <math.h>
#include "lanes/lanes_internal.h"

#define NAN_HALF 0x7fffu

double half_to_double(uint32_t type, uint32_t bits) {
    if (type == TYPE_BF16 || type == TYPE_BF16X2) return (double)bits_f32(bits << 16);
    uint32_t exponent = bits >> 10 & 31, fraction = bits & 1023;
    if (exponent == 31) return fraction ? bits_f64(NAN_F64) : bits & 0x8000 ? -(double)INFINITY : (double)INFINITY;
    double value =
        exponent ? bits_f64((uint64_t)(exponent + 1008) << 52 | (uint64_t)fraction << 42) : (double)fraction * 0x1p-24;
    return bits & 0x8000 ? -value : value;
}

uint32_t small_from_double(double value, uint32_t fraction_bits, uint32_t exponent_bits, uint32_t rounding) {
    const uint64_t bits = f64_bits(value), infinity = ((UINT64_C(1) << exponent_bits) - 1) << fraction_bits;
    const uint32_t sign = (uint32_t)(bits >> 63);
    const int bias = (1 << (exponent_bits - 1)) - 1, exponent = (int)(bits >> 52 & 0x7ff) - 1023;
    uint64_t mantissa = bits & ((UINT64_C(1) << 52) - 1), result;
    if (exponent == 1024 && mantissa) return (uint32_t)infinity | ((1u << fraction_bits) - 1);
    if (exponent > -1023) mantissa |= UINT64_C(1) << 52;
    int shift = 52 - (int)fraction_bits + (exponent < 1 - bias ? 1 - bias - exponent : 0);
    if (shift > 54) shift = 54; /* below half of the smallest number only zero and nonzero differ */
    const uint64_t half = UINT64_C(1) << (shift - 1), rest = mantissa & (2 * half - 1);
    int up;
    result = mantissa >> shift;
    switch (rounding) {
    case ROUND_RZ: up = 0; break;
    case ROUND_RM: up = rest && sign; break;
    case ROUND_RP: up = rest && !sign; break;
    case ROUND_RNA: up = rest >= half; break;
    default: up = rest > half || (rest == half && (result & 1));
    }
    result += (uint64_t)up; /* a carry out of the fraction correctly raises the exponent */
    if (exponent >= 1 - bias) result += (uint64_t)(exponent + bias - 1) << fraction_bits;
    if (result >= infinity) {
        int stays = exponent < 1024 &&
                    (rounding == ROUND_RZ || (rounding == ROUND_RP && sign) || (rounding == ROUND_RM && !sign));
        result = stays ? infinity - 1 : infinity;
    }
    return (uint32_t)(result | (uint64_t)sign << (fraction_bits + exponent_bits));
}

uint32_t half_from_double(uint32_t type, double value, uint32_t rounding) {
    if (type == TYPE_BF16 || type == TYPE_BF16X2) return small_from_double(value, 7, 8, rounding);
    return small_from_double(value, 10, 5, rounding);
}

/* Returns a * b + c, whose product is exact, rounded to odd. A second rounding to fewer bits is then correct. */
static double fused(double a, double b, double c) {
    const double product = a * b, sum = product + c, share = sum - product,
                 lost = (product - (sum - share)) + (c - share);
    uint64_t bits = f64_bits(sum);
    if (!(fabs(sum) < (double)INFINITY) || lost == 0.0 || (bits & 1)) return sum;
    return bits_f64((lost > 0) == (sum > 0) ? bits + 1 : bits - 1);
}

static uint32_t flush_half(const instruction *i, uint32_t type, uint32_t bits) {
    const uint32_t exponent = type == TYPE_BF16 || type == TYPE_BF16X2 ? 0x7f80 : 0x7c00;
    return (i->flags & FLAG_FTZ) && !(bits & exponent) ? bits & 0x8000 : bits;
}

/* If one operand is NaN, the result is the other operand (or NaN under .NaN). -0 is below +0. */
static uint32_t extreme(const instruction *i, double a, double b, uint32_t a_bits, uint32_t b_bits) {
    const int largest = i->opcode == OPCODE_MAX;
    if (a != a || b != b) {
        if ((i->flags & FLAG_NAN) || (a != a && b != b)) return NAN_HALF;
        return a != a ? b_bits : a_bits;
    }
    if (a == b) return (a_bits >> 15) == (uint32_t)largest ? b_bits : a_bits;
    return (a < b) != largest ? a_bits : b_bits;
}

static uint32_t operate(const instruction *i, const uint32_t bits[3]) {
    const double a = half_to_double(i->type, bits[0]), b = half_to_double(i->type, bits[1]),
                 c = half_to_double(i->type, bits[2]);
    double result;
    uint32_t rounded;
    switch (i->opcode) {
    case OPCODE_NEG: return flush_half(i, i->type, bits[0]) ^ 0x8000;
    case OPCODE_ABS: return flush_half(i, i->type, bits[0]) & 0x7fff;
    case OPCODE_MIN:
    case OPCODE_MAX: return extreme(i, a, b, bits[0], bits[1]);
    case OPCODE_ADD: result = fused(a, 1.0, b); break;
    case OPCODE_SUB: result = fused(a, 1.0, -b); break;
    case OPCODE_MUL: result = a * b; break;
    case OPCODE_FMA: result = fused(a, b, c); break;
    case OPCODE_EX2: result = exp2(a); break;
    default: result = tanh(a);
    }
    if ((i->flags & FLAG_SATURATE) && !(result > 0)) result = 0; /* also NaN */
    if ((i->flags & FLAG_SATURATE) && result > 1) result = 1;
    if ((i->flags & FLAG_RELU) && result <= 0) result = 0;
    rounded = half_from_double(i->type, result, ROUND_RN);
    return flush_half(i, i->type, rounded);
}

int lanes_half(const instruction *i, const lanes_operand *const *s, lanes_operand *restrict d) {
    const uint32_t parts = type_is_packed(i->type) ? 2 : 1, sources = i->source_count < 3 ? i->source_count : 3;
    switch (i->opcode) {
    case OPCODE_ADD:
    case OPCODE_SUB:
    case OPCODE_MUL:
    case OPCODE_FMA:
    case OPCODE_ABS:
    case OPCODE_NEG:
    case OPCODE_MIN:
    case OPCODE_MAX:
    case OPCODE_EX2:
    case OPCODE_TANH: break;
    default: return 0;
    }
    EACH_LANE {
        uint32_t result = 0;
        for (uint32_t part = 0; part < parts; part++) {
            uint32_t bits[3] = {0, 0, 0};
            for (uint32_t k = 0; k < sources; k++)
                bits[k] = flush_half(i, i->type, s[k]->word[0][l] >> (16 * part) & 0xffff);
            result |= operate(i, bits) << (16 * part);
        }
        d->word[0][l] = result;
    }
    return 1;
}

void lanes_half_values(const instruction *i, uint32_t type, uint32_t part, const lanes_operand *s,
                       double values[LANES]) {
    EACH_LANE values[l] = half_to_double(type, flush_half(i, type, s->word[0][l] >> (16 * part) & 0xffff));
}

uint32_t lanes_half_sum(uint32_t type, uint32_t a, uint32_t b) {
    uint32_t result = 0;
    for (uint32_t part = 0; part < (type_is_packed(type) ? 2u : 1u); part++) {
        const double sum = fused(half_to_double(type, a >> (16 * part) & 0xffff), 1.0,
                                 half_to_double(type, b >> (16 * part) & 0xffff));
        result |= half_from_double(type, sum, ROUND_RN) << (16 * part);
    }
    return result;
}
