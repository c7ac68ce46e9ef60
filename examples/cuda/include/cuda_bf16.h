/* cuda_bf16: bfloat16, the upper half of a float. */
#ifndef MINIGPU_CUDA_BF16_H
#define MINIGPU_CUDA_BF16_H

#include "cuda_runtime.h"
#include <string.h>

#ifdef __cplusplus
/* Rounded to nearest even. */
static inline __host__ __device__ unsigned short minigpu_bfloat_of_float(float f) {
    unsigned int x;
    memcpy(&x, &f, 4);
    if ((x & 0x7fffffff) > 0x7f800000) return 0x7fff;
    return (unsigned short)((x + 0x7fff + (x >> 16 & 1)) >> 16);
}
static inline __host__ __device__ float minigpu_float_of_bfloat(unsigned short b) {
    const unsigned int x = (unsigned int)b << 16;
    float f;
    memcpy(&f, &x, 4);
    return f;
}
#define HALF __nv_bfloat16
#define HALF2 __nv_bfloat162
#define HALF_PTX "bf16"
#define HALF_OF_FLOAT(f) minigpu_bfloat_of_float(f)
#define FLOAT_OF_HALF(b) minigpu_float_of_bfloat(b)
#include "minigpu_half.h"
#undef HALF
#undef HALF2
#undef HALF_PTX
#undef HALF_OF_FLOAT
#undef FLOAT_OF_HALF
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;

#define MINIGPU_HALF static inline __host__ __device__
MINIGPU_HALF __nv_bfloat16 __float2bfloat16(float f) { return __nv_bfloat16(f); }
MINIGPU_HALF __nv_bfloat16 __float2bfloat16_rn(float f) { return __nv_bfloat16(f); }
MINIGPU_HALF __nv_bfloat16 __double2bfloat16(double d) { return __nv_bfloat16(d); }
MINIGPU_HALF float __bfloat162float(__nv_bfloat16 h) { return (float)h; }
MINIGPU_HALF __nv_bfloat162 __float2bfloat162_rn(float f) { return __nv_bfloat162(f, f); }
MINIGPU_HALF __nv_bfloat162 __floats2bfloat162_rn(float a, float b) { return __nv_bfloat162(a, b); }
MINIGPU_HALF __nv_bfloat162 __float22bfloat162_rn(float2 f) { return __nv_bfloat162(f.x, f.y); }
MINIGPU_HALF __nv_bfloat162 make_bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) { return __nv_bfloat162(a, b); }
MINIGPU_HALF __nv_bfloat16 __low2bfloat16(__nv_bfloat162 h) { return h.x; }
MINIGPU_HALF __nv_bfloat16 __high2bfloat16(__nv_bfloat162 h) { return h.y; }
MINIGPU_HALF __nv_bfloat162 __low2bfloat162(__nv_bfloat162 h) { return __nv_bfloat162(h.x, h.x); }
MINIGPU_HALF __nv_bfloat162 __high2bfloat162(__nv_bfloat162 h) { return __nv_bfloat162(h.y, h.y); }
MINIGPU_HALF float2 __bfloat1622float2(__nv_bfloat162 h) { return make_float2((float)h.x, (float)h.y); }
MINIGPU_HALF __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 h) { return __nv_bfloat162(h, h); }
MINIGPU_HALF __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) { return __nv_bfloat162(a, b); }
MINIGPU_HALF float __low2float(__nv_bfloat162 h) { return (float)h.x; }
MINIGPU_HALF float __high2float(__nv_bfloat162 h) { return (float)h.y; }
MINIGPU_HALF int __bfloat162int_rn(__nv_bfloat16 h) { return (int)rintf((float)h); }
MINIGPU_HALF int __bfloat162int_rz(__nv_bfloat16 h) { return (int)(float)h; }
MINIGPU_HALF __nv_bfloat16 __int2bfloat16_rn(int i) { return __nv_bfloat16(i); }
MINIGPU_HALF unsigned short __bfloat16_as_ushort(__nv_bfloat16 h) { return h.bits; }
MINIGPU_HALF __nv_bfloat16 __ushort_as_bfloat16(unsigned short b) { return minigpu_half_of_bits(b, __nv_bfloat16()); }
#undef MINIGPU_HALF
#endif

#endif
