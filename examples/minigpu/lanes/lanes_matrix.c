/* lanes_matrix: matrices distributed over the lanes of a warp. The layout is that of the PTX manual's fragments of mma
 * with M = 8 or 16 and N = 8. Let group = lane / 4 and thread = lane % 4. A register of A holds consecutive elements of
 * row `group` of its 8 rows, and a register of B of column `group`. A lane's accumulators are in columns 2 * thread and
 * 2 * thread + 1.
 *
 * Sums are formed in the order of K. Sums of floating point are formed in double and rounded once to the type of D
 * (f64: fused, rounded at each step). Sums of integers are exact, and then wrapped or, under .satfinite, clamped. */
#include <math.h>
#include "lanes/lanes_internal.h"

#define ROWS_MAX 16
#define COLUMNS 8
#define DEPTH_MAX 256

typedef struct matrix_numbers {
    double real[ROWS_MAX * DEPTH_MAX];
    int32_t whole[ROWS_MAX * DEPTH_MAX];
} matrix_numbers;

/* Returns the elements in one register. */
static uint32_t elements_of(uint32_t type) {
    switch (type) {
    case TYPE_F16:
    case TYPE_BF16: return 2;
    case TYPE_U8:
    case TYPE_S8:
    case TYPE_E4M3:
    case TYPE_E5M2: return 4;
    case TYPE_U4:
    case TYPE_S4: return 8;
    case TYPE_B1: return 32;
    default: return 1;
    }
}

static int is_whole(uint32_t type) {
    return type == TYPE_U8 || type == TYPE_S8 || type == TYPE_U4 || type == TYPE_S4 || type == TYPE_B1;
}

static double real_element(uint32_t type, uint64_t bits) {
    switch (type) {
    case TYPE_F64: return bits_f64(bits);
    case TYPE_TF32: return (double)bits_f32((uint32_t)bits & 0xffffe000u); /* the low bits are ignored */
    case TYPE_E5M2: return half_to_double(TYPE_F16, (uint32_t)bits << 8);
    case TYPE_E4M3: {
        const uint32_t exponent = (uint32_t)bits >> 3 & 15, fraction = (uint32_t)bits & 7;
        const double size = (bits & 0x7f) == 0x7f ? bits_f64(NAN_F64)
                            : exponent            ? ldexp(8.0 + fraction, (int)exponent - 10)
                                                  : ldexp((double)fraction, -9);
        return bits & 0x80 ? -size : size;
    }
    default: return half_to_double(type, (uint32_t)bits);
    }
}

static int32_t whole_element(uint32_t type, uint32_t bits) {
    switch (type) {
    case TYPE_S8: return (int8_t)bits;
    case TYPE_S4: return (int32_t)(bits << 28) >> 28;
    default: return (int32_t)bits;
    }
}

/* Gathers A as rows x depth, or B as columns x depth (blocks 1). Element (line, k) is at line * DEPTH_MAX + k. */
static void gather(uint32_t type, uint32_t blocks, uint32_t slices, const lanes_operand *const *registers,
                   matrix_numbers *out) {
    const uint32_t each = elements_of(type), bits = type == TYPE_F64 ? 64 : 32 / each,
                   keep = bits >= 32 ? UINT32_MAX : (1u << bits) - 1;
    for (uint32_t r = 0; r < blocks * slices; r++) EACH_LANE {
            const uint32_t line = (l >> 2) + 8 * (r % blocks), first = (r / blocks) * 4 * each + (l & 3) * each;
            for (uint32_t j = 0; j < each; j++) {
                const uint64_t element =
                    type == TYPE_F64 ? lane64(registers[r], l) : registers[r]->word[0][l] >> (bits * j % 32) & keep;
                if (is_whole(type))
                    out->whole[line * DEPTH_MAX + first + j] = whole_element(type, (uint32_t)element);
                else
                    out->real[line * DEPTH_MAX + first + j] = real_element(type, element);
            }
        }
}

static uint32_t whole_sum(const instruction *i, const int32_t *a, const int32_t *b, uint32_t depth, uint32_t c) {
    int64_t sum = (int32_t)c;
    for (uint32_t k = 0; k < depth; k++)
        sum += i->source_type != TYPE_B1 ? (int64_t)a[k] * b[k] : i->variant == VARIANT_XOR ? a[k] ^ b[k] : a[k] & b[k];
    if (i->flags & FLAG_SATURATE) sum = sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum;
    return (uint32_t)sum;
}

static double real_sum(uint32_t type, const double *a, const double *b, uint32_t depth, double sum) {
    if (type == TYPE_F64)
        for (uint32_t k = 0; k < depth; k++) sum = fma(a[k], b[k], sum);
    else
        for (uint32_t k = 0; k < depth; k++) sum += a[k] * b[k];
    return sum;
}

static void multiply(const instruction *i, const lanes_operand *const *s, lanes_operand *restrict d) {
    const uint32_t blocks = i->vector, slices = i->lookup, depth = 4 * elements_of(i->source_type) * slices;
    const lanes_operand *const *c = s + blocks * slices + slices;
    matrix_numbers a, b;
    gather(i->source_type, blocks, slices, s, &a);
    gather(i->b_type, 1, slices, s + blocks * slices, &b);
    for (uint32_t e = 0; e < 2 * blocks; e++) EACH_LANE {
            const uint32_t row = ((l >> 2) + 8 * (e >> 1)) * DEPTH_MAX, column = ((l & 3) * 2 + (e & 1)) * DEPTH_MAX;
            const uint32_t half = 16 * (e & 1); /* two f16 accumulators share a register */
            double before;
            if (i->type == TYPE_S32) {
                d[e].word[0][l] = whole_sum(i, &a.whole[row], &b.whole[column], depth, c[e]->word[0][l]);
                continue;
            }
            before = i->c_type == TYPE_F64   ? READ_f64(c[e], l)
                     : i->c_type == TYPE_F32 ? (double)READ_f32(c[e], l)
                                             : half_to_double(TYPE_F16, c[e / 2]->word[0][l] >> half & 0xffff);
            before = real_sum(i->type, &a.real[row], &b.real[column], depth, before);
            if (i->type == TYPE_F64) {
                WRITE_f64(&d[e], l, before);
            } else if (i->type == TYPE_F32) {
                WRITE_f32(&d[e], l, (float)before);
            } else {
                const uint32_t rounded = half_from_double(TYPE_F16, before, ROUND_RN) << half;
                d[e / 2].word[0][l] = half ? d[e / 2].word[0][l] | rounded : rounded;
            }
        }
}

/* Returns the place of element j of a lane in an 8 x 8 matrix of 16-bit elements. Lane l's register holds two
 * neighbours of row l / 4, or of column l / 4 when transposed. */
static uint32_t place_of(uint32_t lane, uint32_t j, int transposed, uint32_t *row) {
    const uint32_t along = (lane & 3) * 2 + j, across = lane >> 2;
    *row = transposed ? along : across;
    return transposed ? across : along;
}

void lanes_matrix_load(const instruction *i, const uint8_t *bytes, uint32_t stride, lanes_operand *restrict d) {
    for (uint32_t m = 0; m < i->vector; m++) EACH_LANE {
            uint32_t value = 0;
            for (uint32_t j = 0; j < 2; j++) {
                uint32_t row, column = place_of(l, j, i->variant == VARIANT_TRANS, &row);
                const uint8_t *from = bytes + (size_t)(8 * m + row) * stride + 2 * column;
                value |= (from[0] | (uint32_t)from[1] << 8) << (16 * j);
            }
            d[m].word[0][l] = value;
        }
}

void lanes_matrix_store(const instruction *i, const lanes_operand *s, uint8_t *bytes, uint32_t stride) {
    for (uint32_t m = 0; m < i->vector; m++) EACH_LANE for (uint32_t j = 0; j < 2; j++) {
            uint32_t row, column = place_of(l, j, i->variant == VARIANT_TRANS, &row),
                          value = s[1 + m].word[0][l] >> (16 * j);
            uint8_t *to = bytes + (size_t)(8 * m + row) * stride + 2 * column;
            to[0] = (uint8_t)value;
            to[1] = (uint8_t)(value >> 8);
        }
}

int lanes_matrix(const instruction *i, const lanes_operand *const *s, lanes_operand *restrict d) {
    if (i->opcode == OPCODE_MMA) {
        multiply(i, s, d);
        return 1;
    }
    EACH_LANE { /* movmatrix: rows become columns */
        uint32_t value = 0;
        for (uint32_t j = 0; j < 2; j++) {
            uint32_t row, column = place_of(l, j, 1, &row);
            value |= (s[0]->word[0][row * 4 + column / 2] >> (16 * (column & 1)) & 0xffff) << (16 * j);
        }
        d->word[0][l] = value;
    }
    return 1;
}
