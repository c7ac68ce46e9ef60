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

/* A by rows. B by depth: the elements of one k are neighbours, so that the sums of a row are formed side by side. */
#ifdef __AVX2__
#define PART_BYTES 32
#else
#define PART_BYTES 16
#endif
typedef double reals_of_row __attribute__((vector_size(PART_BYTES), aligned(8), may_alias));
typedef int32_t wholes_of_row __attribute__((vector_size(PART_BYTES), aligned(4), may_alias));
#define ROW_PART(type, place, n) (((type *)(void *)(place))[n])
#define EACH_PART(type) for (uint32_t n = 0; n < COLUMNS * sizeof(((type *)0)[0][0]) / PART_BYTES; n++)
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

static double e4m3_value(uint32_t bits) {
    const uint32_t exponent = bits >> 3 & 15, fraction = bits & 7;
    const double size = (bits & 0x7f) == 0x7f ? bits_f64(NAN_F64)
                        : exponent            ? ldexp(8.0 + fraction, (int)exponent - 10)
                                              : ldexp((double)fraction, -9);
    return bits & 0x80 ? -size : size;
}

/* Returns a number of f16 as half_to_double does, without a branch: a subnormal number is twice what its bits are with
 * exponent 0, less the leading one. */
static inline double f16_value(uint32_t bits) {
    const uint64_t magnitude = (uint64_t)(bits & 0x7fff) << 42, top = (uint64_t)(bits & 0x8000) << 48;
    const double normal = bits_f64(magnitude + (UINT64_C(1008) << 52)), small = 2.0 * normal - 0x1p-14,
                 special = bits & 0x3ff ? bits_f64(NAN_F64) : bits_f64(UINT64_C(0x7ff) << 52),
                 size = (bits & 0x7c00) == 0x7c00 ? special
                        : bits & 0x7c00           ? normal
                                                  : small;
    return bits_f64(f64_bits(size) | top);
}

static inline double real_element(uint32_t type, uint64_t bits) {
    switch (type) {
    case TYPE_F64: return bits_f64(bits);
    case TYPE_TF32: return (double)bits_f32((uint32_t)bits & 0xffffe000u); /* the low bits are ignored */
    case TYPE_F16: return f16_value((uint32_t)bits);
    case TYPE_BF16: return (double)bits_f32((uint32_t)bits << 16);
    case TYPE_E5M2: return f16_value((uint32_t)bits << 8);
    default: return e4m3_value((uint32_t)bits);
    }
}

static inline int32_t whole_element(uint32_t type, uint32_t bits) {
    switch (type) {
    case TYPE_S8: return (int8_t)bits;
    case TYPE_S4: return (int32_t)(bits << 28) >> 28;
    default: return (int32_t)bits;
    }
}

/* Gathers A, or B (blocks 1). Element (line, k) is at line * line_step + k * step. */
SM_INLINE void gather_type(uint32_t type, uint32_t blocks, uint32_t slices, const lanes_operand *const *registers,
                           uint32_t line_step, uint32_t step, matrix_numbers *out) {
    const uint32_t each = elements_of(type), bits = type == TYPE_F64 ? 64 : 32 / each,
                   keep = bits >= 32 ? UINT32_MAX : (1u << bits) - 1;
    for (uint32_t r = 0; r < blocks * slices; r++)
        for (uint32_t j = 0; j < each; j++) {
            const uint32_t first = 8 * (r % blocks) * line_step + (r / blocks * 4 * each + j) * step;
            uint64_t elements[LANES];
            EACH_LANE elements[l] =
                type == TYPE_F64 ? lane64(registers[r], l) : registers[r]->word[0][l] >> (bits * j % 32) & keep;
            if (is_whole(type)) {
                EACH_LANE out->whole[first + (l >> 2) * line_step + (l & 3) * each * step] =
                    whole_element(type, (uint32_t)elements[l]);
            } else {
                double values[LANES];
                EACH_LANE values[l] = real_element(type, elements[l]);
                EACH_LANE out->real[first + (l >> 2) * line_step + (l & 3) * each * step] = values[l];
            }
        }
}

/* The same, compiled for each type. */
static void gather(uint32_t type, uint32_t blocks, uint32_t slices, const lanes_operand *const *registers,
                   uint32_t line_step, uint32_t step, matrix_numbers *out) {
#define GATHER(of) \
    case of: gather_type(of, blocks, slices, registers, line_step, step, out); break;
    switch (type) {
        GATHER(TYPE_F16)
        GATHER(TYPE_BF16)
        GATHER(TYPE_U8)
        GATHER(TYPE_S8)
    default: gather_type(type, blocks, slices, registers, line_step, step, out);
    }
#undef GATHER
}

/* Adds the products of a row of A with all columns. No sum of products of whole numbers leaves 32 bits: 256 bits, or 64
 * products of 8 bits. */
static void whole_sums(const instruction *i, const int32_t *a, const int32_t *b, uint32_t depth, int32_t *sums) {
    EACH_PART(wholes_of_row) {
        wholes_of_row sum = ROW_PART(wholes_of_row, sums, n);
        for (uint32_t k = 0; k < depth; k++) {
            const wholes_of_row row = ROW_PART(const wholes_of_row, b + k * COLUMNS, n);
            sum += i->source_type != TYPE_B1 ? a[k] * row : i->variant == VARIANT_XOR ? a[k] ^ row : a[k] & row;
        }
        ROW_PART(wholes_of_row, sums, n) = sum;
    }
}

static void real_sums(uint32_t type, const double *a, const double *b, uint32_t depth, double *sums) {
    if (type == TYPE_F64) {
        for (uint32_t k = 0; k < depth; k++)
            for (uint32_t n = 0; n < COLUMNS; n++) sums[n] = fma(a[k], b[k * COLUMNS + n], sums[n]);
        return;
    }
    EACH_PART(reals_of_row) {
        reals_of_row sum = ROW_PART(reals_of_row, sums, n);
        for (uint32_t k = 0; k < depth; k++) sum += a[k] * ROW_PART(const reals_of_row, b + k * COLUMNS, n);
        ROW_PART(reals_of_row, sums, n) = sum;
    }
}

static double accumulator(const instruction *i, const lanes_operand *const *c, uint32_t e, uint32_t l) {
    if (i->c_type == TYPE_F64) return READ_f64(c[e], l);
    if (i->c_type == TYPE_F32) return (double)READ_f32(c[e], l);
    return f16_value(c[e / 2]->word[0][l] >> (16 * (e & 1)) & 0xffff); /* two share a register */
}

static void multiply_real(const instruction *i, const matrix_numbers *a, const matrix_numbers *b, uint32_t depth,
                          const lanes_operand *const *c, lanes_operand *restrict d) {
    double sums[ROWS_MAX][COLUMNS];
    const uint32_t blocks = i->vector;
    for (uint32_t e = 0; e < 2 * blocks; e++)
        EACH_LANE sums[(l >> 2) + 8 * (e >> 1)][(l & 3) * 2 + (e & 1)] = accumulator(i, c, e, l);
    for (uint32_t row = 0; row < 8 * blocks; row++)
        real_sums(i->type, a->real + row * depth, b->real, depth, sums[row]);
    for (uint32_t e = 0; e < 2 * blocks; e++) EACH_LANE {
            const double sum = sums[(l >> 2) + 8 * (e >> 1)][(l & 3) * 2 + (e & 1)];
            if (i->type == TYPE_F64) {
                WRITE_f64(&d[e], l, sum);
            } else if (i->type == TYPE_F32) {
                WRITE_f32(&d[e], l, (float)sum);
            } else {
                const uint32_t half = 16 * (e & 1), rounded = half_from_double(TYPE_F16, sum, ROUND_RN) << half;
                d[e / 2].word[0][l] = half ? d[e / 2].word[0][l] | rounded : rounded;
            }
        }
}

static void multiply_whole(const instruction *i, const matrix_numbers *a, const matrix_numbers *b, uint32_t depth,
                           const lanes_operand *const *c, lanes_operand *restrict d) {
    int32_t sums[ROWS_MAX][COLUMNS] = {{0}};
    for (uint32_t row = 0; row < 8u * i->vector; row++)
        whole_sums(i, a->whole + row * depth, b->whole, depth, sums[row]);
    for (uint32_t e = 0; e < 2u * i->vector; e++) EACH_LANE {
            int64_t sum = (int64_t)(int32_t)c[e]->word[0][l] + sums[(l >> 2) + 8 * (e >> 1)][(l & 3) * 2 + (e & 1)];
            if (i->flags & FLAG_SATURATE) sum = sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum;
            d[e].word[0][l] = (uint32_t)sum;
        }
}

static void multiply(const instruction *i, const lanes_operand *const *s, lanes_operand *restrict d) {
    const uint32_t blocks = i->vector, slices = i->lookup, depth = 4 * elements_of(i->source_type) * slices;
    const lanes_operand *const *c = s + blocks * slices + slices;
    matrix_numbers a, b;
    gather(i->source_type, blocks, slices, s, depth, 1, &a);
    gather(i->b_type, 1, slices, s + blocks * slices, 1, COLUMNS, &b);
    if (i->type == TYPE_S32)
        multiply_whole(i, &a, &b, depth, c, d);
    else
        multiply_real(i, &a, &b, depth, c, d);
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
