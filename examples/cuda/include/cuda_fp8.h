/* cuda_fp8: floating-point numbers of 8 bits. E4M3 has 4 bits of exponent and no infinity, E5M2 has 5 (Micikevicius et
 * al., "FP8 Formats for Deep Learning", 2022). The conversions are computed by integers, on the host and on the GPU. */
#ifndef MINIGPU_CUDA_FP8_H
#define MINIGPU_CUDA_FP8_H

#include "cuda_fp16.h"
#include "cuda_bf16.h"

typedef unsigned char __nv_fp8_storage_t;
typedef unsigned short __nv_fp8x2_storage_t;
typedef unsigned int __nv_fp8x4_storage_t;
typedef enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE } __nv_saturation_t;
typedef enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 } __nv_fp8_interpretation_t;

#ifdef __cplusplus
#define MINIGPU_FP8 static inline __host__ __device__

/* Rounded to nearest even. A number beyond the largest becomes the largest, or else NaN in E4M3 and infinity in E5M2.
 */
MINIGPU_FP8 __nv_fp8_storage_t __nv_cvt_float_to_fp8(float f, __nv_saturation_t saturation,
                                                     __nv_fp8_interpretation_t format) {
    const unsigned int mantissa = format == __NV_E4M3 ? 3 : 2, bias = format == __NV_E4M3 ? 7 : 15;
    const unsigned int largest = format == __NV_E4M3 ? 0x7e : 0x7b, beyond = format == __NV_E4M3 ? 0x7f : 0x7c;
    const unsigned int shift = 23 - mantissa;
    unsigned int x, sign, code;
    memcpy(&x, &f, 4);
    sign = x >> 24 & 0x80;
    x &= 0x7fffffff;
    if (x > 0x7f800000) return format == __NV_E4M3 ? 0x7f : 0x7e;
    if (x >= (128 - bias) << 23) {
        code = (x + (1u << (shift - 1)) - 1 + (x >> shift & 1)) >> shift;
        code -= (127 - bias) << mantissa;
    } else { /* a multiple of the least number: the addition rounds to it */
        const unsigned int magic = (127 + 23 + 1 - bias - mantissa) << 23;
        float sum, ulps;
        memcpy(&sum, &x, 4);
        memcpy(&ulps, &magic, 4);
        sum += ulps;
        memcpy(&code, &sum, 4);
        code -= magic;
    }
    if (code > largest) code = saturation == __NV_SATFINITE ? largest : beyond;
    return (__nv_fp8_storage_t)(sign | code);
}
MINIGPU_FP8 float minigpu_float_of_fp8(__nv_fp8_storage_t code, __nv_fp8_interpretation_t format) {
    const unsigned int mantissa = format == __NV_E4M3 ? 3 : 2, bias = format == __NV_E4M3 ? 7 : 15;
    const unsigned int magnitude = code & 0x7f, scale = (254 - bias) << 23;
    unsigned int x = magnitude << (23 - mantissa);
    float f, factor;
    if (format == __NV_E4M3 ? magnitude == 0x7f : magnitude > 0x7c) x = 0x7fffffff;
    if (format == __NV_E5M2 && magnitude == 0x7c) x = 0x7f800000;
    memcpy(&f, &x, 4);
    memcpy(&factor, &scale, 4);
    return (code & 0x80 ? -f : f) * factor;
}
/* To the float beside it whose last bit is odd, unless a float equals it: then the second rounding is right. */
MINIGPU_FP8 __nv_fp8_storage_t __nv_cvt_double_to_fp8(double d, __nv_saturation_t saturation,
                                                      __nv_fp8_interpretation_t format) {
    float f = (float)d;
    unsigned int x;
    memcpy(&x, &f, 4);
    if ((x & 0x7f800000) != 0x7f800000 && (double)f != d && !(x & 1)) x += (f < d) == (d > 0) ? 1 : ~0u;
    memcpy(&f, &x, 4);
    return __nv_cvt_float_to_fp8(f, saturation, format);
}
MINIGPU_FP8 __nv_fp8x2_storage_t __nv_cvt_float2_to_fp8x2(float2 f, __nv_saturation_t saturation,
                                                          __nv_fp8_interpretation_t format) {
    return (__nv_fp8x2_storage_t)(__nv_cvt_float_to_fp8(f.x, saturation, format) |
                                  __nv_cvt_float_to_fp8(f.y, saturation, format) << 8);
}
MINIGPU_FP8 __nv_fp8_storage_t __nv_cvt_halfraw_to_fp8(__half_raw h, __nv_saturation_t saturation,
                                                       __nv_fp8_interpretation_t format) {
    return __nv_cvt_float_to_fp8((float)(__half)h, saturation, format);
}
MINIGPU_FP8 __nv_fp8_storage_t __nv_cvt_bfloat16raw_to_fp8(__nv_bfloat16 h, __nv_saturation_t saturation,
                                                           __nv_fp8_interpretation_t format) {
    return __nv_cvt_float_to_fp8((float)h, saturation, format);
}
MINIGPU_FP8 __half_raw __nv_cvt_fp8_to_halfraw(__nv_fp8_storage_t code, __nv_fp8_interpretation_t format) {
    return __half(minigpu_float_of_fp8(code, format));
}

#define MINIGPU_FP8_TYPE(name, format)                                                                                \
    struct name {                                                                                                     \
        __nv_fp8_storage_t __x;                                                                                       \
        name() = default;                                                                                             \
        __host__ __device__ explicit name(float f) : __x(__nv_cvt_float_to_fp8(f, __NV_SATFINITE, format)) {}         \
        __host__ __device__ explicit name(double d) : __x(__nv_cvt_double_to_fp8(d, __NV_SATFINITE, format)) {}       \
        __host__ __device__ explicit name(int i) : __x(__nv_cvt_double_to_fp8(i, __NV_SATFINITE, format)) {}          \
        __host__ __device__ explicit name(__half h) : __x(__nv_cvt_float_to_fp8((float)h, __NV_SATFINITE, format)) {} \
        __host__ __device__ explicit name(__nv_bfloat16 h)                                                            \
            : __x(__nv_cvt_float_to_fp8((float)h, __NV_SATFINITE, format)) {}                                         \
        __host__ __device__ explicit operator float() const { return minigpu_float_of_fp8(__x, format); }             \
        __host__ __device__ explicit operator double() const { return (double)minigpu_float_of_fp8(__x, format); }    \
        __host__ __device__ explicit operator __half() const { return __nv_cvt_fp8_to_halfraw(__x, format); }         \
    };
MINIGPU_FP8_TYPE(__nv_fp8_e4m3, __NV_E4M3)
MINIGPU_FP8_TYPE(__nv_fp8_e5m2, __NV_E5M2)
#undef MINIGPU_FP8_TYPE
#undef MINIGPU_FP8
#endif

#endif
