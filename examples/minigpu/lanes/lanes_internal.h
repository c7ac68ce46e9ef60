/* lanes_internal: shared by the files of lanes. Every operation is a loop over all 32 lanes, including inactive ones,
 * because compilers vectorise loops without branches. Results of inactive lanes are dropped when the destination is
 * written. Each loop must therefore be defined for all bit patterns. */
#ifndef MINIGPU_LANES_INTERNAL_H
#define MINIGPU_LANES_INTERNAL_H
#include <string.h>
#include "lanes/lanes.h"

#define EACH_LANE for (uint32_t l = 0; l < LANES; l++)

static inline uint64_t lane64(const lanes_operand *o, uint32_t l) {
    return o->word[0][l] | (uint64_t)o->word[1][l] << 32;
}
static inline void set_lane64(lanes_operand *o, uint32_t l, uint64_t v) {
    o->word[0][l] = (uint32_t)v;
    o->word[1][l] = (uint32_t)(v >> 32);
}
static inline float bits_f32(uint32_t bits) {
    float value;
    memcpy(&value, &bits, 4);
    return value;
}
static inline uint32_t f32_bits(float value) {
    uint32_t bits;
    memcpy(&bits, &value, 4);
    return bits;
}
static inline double bits_f64(uint64_t bits) {
    double value;
    memcpy(&value, &bits, 8);
    return value;
}
static inline uint64_t f64_bits(double value) {
    uint64_t bits;
    memcpy(&bits, &value, 8);
    return bits;
}

/* Read and write one lane as a type. Names end in the type. 16-bit values are written zero-extended. */
#define READ_u16(o, l) ((uint16_t)(o)->word[0][l])
#define READ_s16(o, l) ((int16_t)(o)->word[0][l])
#define READ_u32(o, l) ((o)->word[0][l])
#define READ_s32(o, l) ((int32_t)(o)->word[0][l])
#define READ_u64(o, l) lane64(o, l)
#define READ_s64(o, l) ((int64_t)lane64(o, l))
#define READ_f32(o, l) bits_f32((o)->word[0][l])
#define READ_f64(o, l) bits_f64(lane64(o, l))
#define WRITE_u16(o, l, v) ((o)->word[0][l] = (uint16_t)(v))
#define WRITE_s16(o, l, v) ((o)->word[0][l] = (uint16_t)(v))
#define WRITE_u32(o, l, v) ((o)->word[0][l] = (uint32_t)(v))
#define WRITE_s32(o, l, v) ((o)->word[0][l] = (uint32_t)(v))
#define WRITE_u64(o, l, v) set_lane64(o, l, (uint64_t)(v))
#define WRITE_s64(o, l, v) set_lane64(o, l, (uint64_t)(v))

/* The NaN that arithmetic returns, whatever the operands' payloads: for f32 the GPU's. Results must not depend on the
 * host. */
#define NAN_F32 0x7fffffffu
#define NAN_F64 UINT64_C(0xfff8000000000000)
static inline uint32_t result_f32(float value) { return value == value ? f32_bits(value) : NAN_F32; }
static inline uint64_t result_f64(double value) { return value == value ? f64_bits(value) : NAN_F64; }
#define WRITE_f32(o, l, v) ((o)->word[0][l] = result_f32(v))
#define WRITE_f64(o, l, v) set_lane64(o, l, result_f64(v))

/* .ftz: a subnormal becomes zero with its sign. */
static inline uint32_t flush_bits(uint32_t bits) { return (bits & 0x7f800000u) ? bits : bits & 0x80000000u; }

/* The integer type of the same width: b32 computes as u32. */
static inline uint32_t integer_type(uint32_t type) {
    return type >= TYPE_B8 && type <= TYPE_B64 ? type - TYPE_B8 + TYPE_U8 : type;
}

/* Packs 32 flags of 0 or 1 into a lane mask. */
static inline uint32_t pack_flags(const uint8_t flags[LANES]) {
    uint32_t mask = 0;
    for (uint32_t group = 0; group < 4; group++) {
        uint64_t bytes = 0;
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
        memcpy(&bytes, flags + group * 8, 8);
#else
        for (uint32_t i = 0; i < 8; i++) bytes |= (uint64_t)flags[group * 8 + i] << (8 * i);
#endif
        mask |= (uint32_t)((bytes * UINT64_C(0x0102040810204080)) >> 56) << (group * 8);
    }
    return mask;
}

/* The computations of lanes_compute. Each returns 0 for an opcode of another function. s: a pointer to each source. */
SM_PATH int lanes_integer(const instruction *i, uint32_t active, const lanes_operand *const *s,
                          lanes_operand *restrict d);
SM_PATH int lanes_bits(const instruction *i, uint32_t active, const lanes_operand *const *s, lanes_operand *restrict d);
SM_PATH int lanes_float(const instruction *i, const lanes_operand *const *s, lanes_operand *restrict d);
/* Computes a * b + c of f32, rounded once. */
SM_PATH void lanes_fused_f32(const lanes_operand *const *s, lanes_operand *restrict d);
int lanes_half(const instruction *i, const lanes_operand *const *s, lanes_operand *restrict d);
SM_PATH int lanes_compare(const instruction *i, uint32_t active, const lanes_operand *const *s,
                          lanes_operand *restrict d);
SM_PATH int lanes_convert(const instruction *i, const lanes_operand *const *s, lanes_operand *restrict d);
int lanes_warp(const instruction *i, uint32_t active, const lanes_operand *const *s, lanes_operand *restrict d);
SM_PATH int lanes_matrix(const instruction *i, const lanes_operand *const *s, lanes_operand *restrict d);
/* Makes ldmatrix's registers from its rows, and stmatrix's rows from its registers (s[1] on). Row k of all matrices is
 * at bytes[k * stride]. */
SM_PATH void lanes_matrix_load(const instruction *i, const uint8_t *bytes, uint32_t stride, lanes_operand *restrict d);
SM_PATH void lanes_matrix_store(const instruction *i, const lanes_operand *s, uint8_t *bytes, uint32_t stride);
/* Computes add, sub, mul, fma, div, rcp, sqrt and conversions under rz, rm, rp. */
void lanes_directed(const instruction *i, const lanes_operand *const *s, lanes_operand *restrict d);
float lanes_directed_to_f32(double value, uint32_t rounding);
void lanes_directed_integers(const uint64_t *values, int is_signed, uint32_t rounding, uint32_t type,
                             lanes_operand *restrict d);
/* Converts one half of a register in every lane. Under .ftz subnormals are flushed. */
void lanes_half_values(const instruction *i, uint32_t type, uint32_t part, const lanes_operand *s,
                       double values[LANES]);
/* Returns a + b of f16, bf16 or pairs of them. */
uint32_t lanes_half_sum(uint32_t type, uint32_t a, uint32_t b);
/* Rounds a double to a floating-point format with infinities of at most 32 bits: sign, exponent, fraction. */
uint32_t small_from_double(double value, uint32_t fraction_bits, uint32_t exponent_bits, uint32_t rounding);
#endif
