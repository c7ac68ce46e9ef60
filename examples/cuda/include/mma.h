/* mma: matrix fragments of a warp (nvcuda::wmma), by clang's built-in functions.
 *
 *   shapes              types of A and B       type of C and D
 *   16x16x16            __half                 __half, float
 *   32x8x16, 8x32x16    __half                 __half, float
 *   16x16x16            __nv_bfloat16          float
 *   16x16x16            signed and unsigned char   int
 *   16x16x8             precision::tf32        float
 *   8x8x4               double                 double
 *
 * Other shapes and types have no fragment, so they fail when they are compiled. */
#ifndef MINIGPU_MMA_H
#define MINIGPU_MMA_H

#include "cuda_bf16.h"
#include "cuda_fp16.h"

#ifdef __CUDA__
namespace nvcuda {
namespace wmma {

struct row_major {};
struct col_major {};
struct matrix_a {};
struct matrix_b {};
struct accumulator {};
enum layout_t { mem_row_major, mem_col_major };
namespace precision {
struct tf32 {};
} // namespace precision

namespace minigpu {
template <class Layout> struct is_column {
    enum { value = 0 };
};
template <> struct is_column<col_major> {
    enum { value = 1 };
};
/* The elements of a matrix that one lane holds. */
template <class T, int count> struct __align__(8) part {
    enum { num_elements = count };
    typedef T element_type;
    typedef T storage_element_type;
    T x[count];
    __device__ int *words() { return (int *)x; }
    __device__ const int *words() const { return (const int *)x; }
};
} // namespace minigpu

template <class Use, int m, int n, int k, class T, class Layout = void> struct fragment;

/* The value converts to the fragment's type, which the first argument says. */
template <class T, int count>
static inline __device__ void fill_fragment(minigpu::part<T, count> &f,
                                            typename minigpu::part<T, count>::element_type value) {
    for (int i = 0; i < count; i++) f.x[i] = value;
}
static inline __device__ float __float_to_tf32(float f) {
    float rounded;
    __asm__("{ .reg .b32 r; cvt.rna.tf32.f32 r, %1; mov.b32 %0, r; }" : "=f"(rounded) : "f"(f));
    return rounded;
}

/* A or B: use, shape, type in memory and in the fragment, elements of a lane, built-in function, its pointers. */
#define MINIGPU_OPERAND(use, m, n, k, type, stored, count, load, word)                                          \
    template <class Layout> struct fragment<use, m, n, k, type, Layout> : minigpu::part<stored, count> {};      \
    template <class Layout>                                                                                     \
    static inline __device__ void load_matrix_sync(fragment<use, m, n, k, type, Layout> &f, const stored *from, \
                                                   unsigned int stride) {                                       \
        load((word *)f.words(), (const word *)from, stride, minigpu::is_column<Layout>::value);                 \
    }
/* C and D. */
#define MINIGPU_ACCUMULATOR(m, n, k, type, count, load, store, word)                                          \
    template <> struct fragment<accumulator, m, n, k, type, void> : minigpu::part<type, count> {};            \
    static inline __device__ void load_matrix_sync(fragment<accumulator, m, n, k, type> &f, const type *from, \
                                                   unsigned int stride, layout_t layout) {                    \
        if (layout == mem_row_major)                                                                          \
            load((word *)f.words(), (const word *)from, stride, 0);                                           \
        else                                                                                                  \
            load((word *)f.words(), (const word *)from, stride, 1);                                           \
    }                                                                                                         \
    static inline __device__ void store_matrix_sync(type *to, const fragment<accumulator, m, n, k, type> &f,  \
                                                    unsigned int stride, layout_t layout) {                   \
        if (layout == mem_row_major)                                                                          \
            store((word *)to, (word *)f.words(), stride, 0);                                                  \
        else                                                                                                  \
            store((word *)to, (word *)f.words(), stride, 1);                                                  \
    }
/* D = A * B + C. */
#define MINIGPU_MULTIPLY(m, n, k, type, sum, multiply, operand_word, word)                                     \
    template <class A, class B>                                                                                \
    static inline __device__ void mma_sync(                                                                    \
        fragment<accumulator, m, n, k, sum> &d, const fragment<matrix_a, m, n, k, type, A> &a,                 \
        const fragment<matrix_b, m, n, k, type, B> &b, const fragment<accumulator, m, n, k, sum> &c) {         \
        multiply((word *)d.words(), (const operand_word *)a.words(), (const operand_word *)b.words(),          \
                 (const word *)c.words(), 2 * minigpu::is_column<A>::value + minigpu::is_column<B>::value, 0); \
    }
#define MINIGPU_HALVES(m, n, k, name)                                               \
    MINIGPU_OPERAND(matrix_a, m, n, k, __half, __half, 16, name##_ld_a, int)        \
    MINIGPU_OPERAND(matrix_b, m, n, k, __half, __half, 16, name##_ld_b, int)        \
    MINIGPU_ACCUMULATOR(m, n, k, __half, 8, name##_ld_c_f16, name##_st_c_f16, int)  \
    MINIGPU_ACCUMULATOR(m, n, k, float, 8, name##_ld_c_f32, name##_st_c_f32, float) \
    MINIGPU_MULTIPLY(m, n, k, __half, __half, name##_mma_f16f16, int, int)          \
    MINIGPU_MULTIPLY(m, n, k, __half, float, name##_mma_f32f32, int, float)
MINIGPU_HALVES(16, 16, 16, __hmma_m16n16k16)
MINIGPU_HALVES(32, 8, 16, __hmma_m32n8k16)
MINIGPU_HALVES(8, 32, 16, __hmma_m8n32k16)
#undef MINIGPU_HALVES

MINIGPU_OPERAND(matrix_a, 16, 16, 16, __nv_bfloat16, __nv_bfloat16, 8, __mma_bf16_m16n16k16_ld_a, int)
MINIGPU_OPERAND(matrix_b, 16, 16, 16, __nv_bfloat16, __nv_bfloat16, 8, __mma_bf16_m16n16k16_ld_b, int)
MINIGPU_MULTIPLY(16, 16, 16, __nv_bfloat16, float, __mma_bf16_m16n16k16_mma_f32, int, float)

MINIGPU_OPERAND(matrix_a, 16, 16, 16, signed char, signed char, 8, __imma_m16n16k16_ld_a_s8, int)
MINIGPU_OPERAND(matrix_b, 16, 16, 16, signed char, signed char, 8, __imma_m16n16k16_ld_b_s8, int)
MINIGPU_OPERAND(matrix_a, 16, 16, 16, unsigned char, unsigned char, 8, __imma_m16n16k16_ld_a_u8, int)
MINIGPU_OPERAND(matrix_b, 16, 16, 16, unsigned char, unsigned char, 8, __imma_m16n16k16_ld_b_u8, int)
MINIGPU_ACCUMULATOR(16, 16, 16, int, 8, __imma_m16n16k16_ld_c, __imma_m16n16k16_st_c_i32, int)
MINIGPU_MULTIPLY(16, 16, 16, signed char, int, __imma_m16n16k16_mma_s8, int, int)
MINIGPU_MULTIPLY(16, 16, 16, unsigned char, int, __imma_m16n16k16_mma_u8, int, int)

MINIGPU_OPERAND(matrix_a, 16, 16, 8, precision::tf32, float, 4, __mma_tf32_m16n16k8_ld_a, int)
MINIGPU_OPERAND(matrix_b, 16, 16, 8, precision::tf32, float, 4, __mma_tf32_m16n16k8_ld_b, int)
MINIGPU_ACCUMULATOR(16, 16, 8, float, 8, __mma_tf32_m16n16k8_ld_c, __mma_m16n16k8_st_c_f32, float)
MINIGPU_MULTIPLY(16, 16, 8, precision::tf32, float, __mma_tf32_m16n16k8_mma_f32, int, float)

MINIGPU_OPERAND(matrix_a, 8, 8, 4, double, double, 1, __dmma_m8n8k4_ld_a, double)
MINIGPU_OPERAND(matrix_b, 8, 8, 4, double, double, 1, __dmma_m8n8k4_ld_b, double)
MINIGPU_ACCUMULATOR(8, 8, 4, double, 2, __dmma_m8n8k4_ld_c, __dmma_m8n8k4_st_c_f64, double)
MINIGPU_MULTIPLY(8, 8, 4, double, double, __dmma_m8n8k4_mma_f64, double, double)
#undef MINIGPU_OPERAND
#undef MINIGPU_ACCUMULATOR
#undef MINIGPU_MULTIPLY

} // namespace wmma
} // namespace nvcuda
#endif

#endif
