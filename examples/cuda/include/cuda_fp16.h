/* cuda_fp16: half precision. */
#ifndef MINIGPU_CUDA_FP16_H
#define MINIGPU_CUDA_FP16_H

#include "cuda_runtime.h"
#include <string.h>

#ifdef __cplusplus
/* IEEE 754 binary16, rounded to nearest even. */
static inline __host__ __device__ unsigned short minigpu_half_of_float(float f) {
    unsigned int x, sign, rest, half;
    int exponent, shift;
    memcpy(&x, &f, 4);
    sign = x >> 16 & 0x8000;
    x &= 0x7fffffff;
    if (x > 0x7f800000) return (unsigned short)0x7fff;
    if (x >= 0x47800000) return (unsigned short)(sign | 0x7c00);
    exponent = (int)(x >> 23) - 112;
    shift = exponent > 0 ? 13 : 14 - exponent;
    if (shift > 25) return (unsigned short)sign;
    x = (x & 0x7fffff) | 0x800000;
    half = x >> shift;
    rest = x & ((1u << shift) - 1);
    if (exponent > 0) half += (unsigned int)(exponent - 1) << 10; /* the leading 1 adds one to the exponent */
    if (rest > 1u << (shift - 1) || (rest == 1u << (shift - 1) && half & 1)) half++;
    return (unsigned short)(sign | half);
}
static inline __host__ __device__ float minigpu_float_of_half(unsigned short h) {
    const unsigned int sign = (unsigned int)(h & 0x8000) << 16, exponent = h >> 10 & 31, fraction = h & 0x3ff;
    unsigned int x = exponent == 31 ? 0x7f800000 | fraction << 13 : (exponent + 112) << 23 | fraction << 13;
    float f;
    if (exponent == 0) {
        f = (float)fraction * 0x1p-24f;
        memcpy(&x, &f, 4);
    }
    x |= sign;
    memcpy(&f, &x, 4);
    return f;
}
#define HALF __half
#define HALF2 __half2
#define HALF_PTX "f16"
#define HALF_IS_F16
#define HALF_HAS_CONVERSION
#define HALF_OF_FLOAT(f) minigpu_half_of_float(f)
#define FLOAT_OF_HALF(b) minigpu_float_of_half(b)
#include "minigpu_half.h"
#undef HALF
#undef HALF2
#undef HALF_PTX
#undef HALF_IS_F16
#undef HALF_HAS_CONVERSION
#undef HALF_OF_FLOAT
#undef FLOAT_OF_HALF
typedef __half half;
typedef __half2 half2;
typedef __half __nv_half;
struct __half_raw {
    unsigned short x;
    __half_raw() = default;
    __host__ __device__ __half_raw(__half h) : x(h.bits) {}
    __host__ __device__ operator __half() const { return minigpu_half_of_bits(x, __half()); }
};

#define MINIGPU_HALF static inline __host__ __device__
MINIGPU_HALF __half __float2half(float f) { return __half(f); }
MINIGPU_HALF __half __float2half_rn(float f) { return __half(f); }
MINIGPU_HALF __half __double2half(double d) { return __half(d); }
MINIGPU_HALF float __half2float(__half h) { return (float)h; }
MINIGPU_HALF __half2 __float2half2_rn(float f) { return __half2(__half(f), __half(f)); }
MINIGPU_HALF __half2 __floats2half2_rn(float a, float b) { return __half2(__half(a), __half(b)); }
MINIGPU_HALF __half2 __float22half2_rn(float2 f) { return __half2(__half(f.x), __half(f.y)); }
MINIGPU_HALF float2 __half22float2(__half2 h) { return make_float2((float)h.x, (float)h.y); }
MINIGPU_HALF float __low2float(__half2 h) { return (float)h.x; }
MINIGPU_HALF float __high2float(__half2 h) { return (float)h.y; }
MINIGPU_HALF __half __low2half(__half2 h) { return h.x; }
MINIGPU_HALF __half __high2half(__half2 h) { return h.y; }
MINIGPU_HALF __half2 __half2half2(__half h) { return __half2(h, h); }
MINIGPU_HALF __half2 __halves2half2(__half a, __half b) { return __half2(a, b); }
MINIGPU_HALF __half2 make_half2(__half a, __half b) { return __half2(a, b); }
MINIGPU_HALF __half2 __low2half2(__half2 h) { return __half2(h.x, h.x); }
MINIGPU_HALF __half2 __high2half2(__half2 h) { return __half2(h.y, h.y); }
MINIGPU_HALF __half2 __lows2half2(__half2 a, __half2 b) { return __half2(a.x, b.x); }
MINIGPU_HALF __half2 __highs2half2(__half2 a, __half2 b) { return __half2(a.y, b.y); }
MINIGPU_HALF __half2 __lowhigh2highlow(__half2 h) { return __half2(h.y, h.x); }
MINIGPU_HALF unsigned short __half_as_ushort(__half h) { return h.bits; }
MINIGPU_HALF short __half_as_short(__half h) { return (short)h.bits; }
MINIGPU_HALF __half __ushort_as_half(unsigned short b) { return minigpu_half_of_bits(b, __half()); }
MINIGPU_HALF __half __short_as_half(short b) { return minigpu_half_of_bits((unsigned short)b, __half()); }
MINIGPU_HALF int __half2int_rn(__half h) { return (int)rintf((float)h); }
MINIGPU_HALF int __half2int_rz(__half h) { return (int)(float)h; }
MINIGPU_HALF unsigned int __half2uint_rn(__half h) { return (unsigned int)rintf((float)h); }
MINIGPU_HALF short __half2short_rn(__half h) { return (short)rintf((float)h); }
MINIGPU_HALF __half __short2half_rn(short i) { return __half(i); }
MINIGPU_HALF __half __int2half_rn(int i) { return __half(i); }
MINIGPU_HALF __half __uint2half_rn(unsigned int i) { return __half(i); }
MINIGPU_HALF __half __ushort2half_rn(unsigned short i) { return __half(i); }
#undef MINIGPU_HALF
#endif

#endif
