/* singles: mathematics in single precision, within the bounds of the CUDA C++ programming guide. Frequent functions are
 * computed in single precision; rare ones in double precision, which costs more cycles and rounds once. */
#include "parts.h"

double __nv_acos(double), __nv_acosh(double), __nv_asin(double), __nv_asinh(double), __nv_atanh(double),
    __nv_cbrt(double), __nv_cos(double), __nv_cosh(double), __nv_cospi(double), __nv_sinpi(double), __nv_erf(double),
    __nv_erfc(double), __nv_erfcinv(double), __nv_erfcx(double), __nv_erfinv(double), __nv_exp10(double),
    __nv_exp2(double), __nv_expm1(double), __nv_fmod(double, double), __nv_lgamma(double), __nv_log1p(double),
    __nv_normcdf(double), __nv_normcdfinv(double), __nv_pow(double, double), __nv_rcbrt(double),
    __nv_remainder(double, double), __nv_sin(double), __nv_sinh(double), __nv_tan(double), __nv_tanh(double),
    __nv_tgamma(double), __nv_remquo(double, double, int *), __nv_atan2(double, double), __nv_frexp(double, int *),
    __nv_logb(double);
int __nv_ilogb(double);

INLINE float fmaf_of(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
INLINE float absolutef(float x) { return float_of_bits(bits_of_float(x) & 0x7fffffffu); }
INLINE float with_sign_off(float x, float sign) {
    return float_of_bits((bits_of_float(x) & 0x7fffffffu) | (bits_of_float(sign) & 0x80000000u));
}
INLINE float nearestf(float x) { return x + 0x1.8p23f - 0x1.8p23f; }
INLINE int is_infinitef(float x) { return absolutef(x) == __builtin_inff(); }

INLINE float polynomialf(float x, const float *coefficients, int count) {
    float sum = coefficients[count - 1];
    int i;
    UNROLLED
    for (i = count - 2; i >= 0; i--) sum = fmaf_of(sum, x, coefficients[i]);
    return sum;
}
#define POLYNOMIALF(x, ...) \
    polynomialf(x, (const float[]){__VA_ARGS__}, (int)(sizeof((const float[]){__VA_ARGS__}) / sizeof(float)))

/* x * 2^k, for -280 < k < 280, rounded once. */
INLINE float scalef(float x, int k) {
    const int half = k >> 1;
    return x * float_of_bits((unsigned)(half + 127) << 23) * float_of_bits((unsigned)(k - half + 127) << 23);
}

/* ==== exponential functions and logarithms ==== */

/* e^r - 1 for |r| <= 0.35. */
INLINE float taylorf(float r) {
    const float z = POLYNOMIALF(r, 0.5f, 1.0f / 6, 1.0f / 24, 1.0f / 120, 1.0f / 720, 1.0f / 5040);
    return fmaf_of(r * r, z, r);
}
/* exp(r) for |r| up to half of ln 2. What is lost when r is added to 1 is added to the small terms. */
INLINE float exp_of_rest(float r) {
    const float z = POLYNOMIALF(r, 0.5f, 1.0f / 6, 1.0f / 24, 1.0f / 120, 1.0f / 720, 1.0f / 5040);
    const float sum = 1 + r, lost = r - (sum - 1);
    return sum + fmaf_of(r * r, z, lost);
}
DEVICE_FUNCTION float __nv_expf(float x) {
    float n, r;
    if (x != x) return x;
    if (x > 88.73f) return __builtin_inff();
    if (x < -104) return 0;
    n = nearestf(x * 0x1.715476p+0f);
    r = fmaf_of(-n, -0x1.05c61p-29f, fmaf_of(-n, 0x1.62e43p-1f, x));
    return scalef(exp_of_rest(r), (int)n);
}
DEVICE_FUNCTION float __nv_exp2f(float x) {
    float n;
    if (x != x) return x;
    if (x >= 128) return __builtin_inff();
    if (x < -150) return 0;
    n = nearestf(x);
    {
        const float f = x - n, hi = f * 0x1.62e43p-1f, lo = fmaf_of(f, 0x1.62e43p-1f, -hi) - f * 0x1.05c61p-29f;
        return scalef(1 + (taylorf(hi) + lo), (int)n);
    }
}
DEVICE_FUNCTION float __nv_exp10f(float x) { return (float)__nv_exp10(x); }
DEVICE_FUNCTION float __nv_expm1f(float x) {
    if (absolutef(x) < 0.34f) return absolutef(x) < 0x1p-25f ? x : taylorf(x);
    return (float)__nv_expm1(x);
}
/* m in [2/3, 4/3) and k with x = m 2^k. */
INLINE float splitf(float x, int *k) {
    const unsigned bits = bits_of_float(x) - 0x3f2aaaabu;
    *k += (int)bits >> 23;
    return float_of_bits((bits & 0x7fffffu) + 0x3f2aaaabu);
}
DEVICE_FUNCTION float __nv_logf(float x) {
    int k = 0;
    float f, s, z, tail;
    if (!(x > 0) || x == __builtin_inff()) return x == 0 ? -__builtin_inff() : x > 0 ? x : __builtin_nanf("");
    if (x < 0x1p-126f) {
        x *= 0x1p23f;
        k = -23;
    }
    f = splitf(x, &k) - 1;
    s = f / (2 + f);
    z = s * s; /* log(1 + f) = f - s (f - 2 z (1/3 + z/5 + ...)) */
    tail = 2 * z * POLYNOMIALF(z, 1.0f / 3, 1.0f / 5, 1.0f / 7, 1.0f / 9, 1.0f / 11);
    {
        const float part = fmaf_of(-s, f - tail, (float)k * -0x1.05c61p-29f);
        const float whole = (float)k * 0x1.62e43p-1f, sum = whole + f;
        return k ? sum + ((f - (sum - whole)) + fmaf_of((float)k, 0x1.62e43p-1f, -whole) + part) : f + part;
    }
}
INLINE double log2_double(float x) {
    int k = 0;
    double f, s, z;
    if (x < 0x1p-126f) {
        x *= 0x1p23f;
        k = -23;
    }
    f = (double)splitf(x, &k) - 1;
    s = f / (2 + f);
    z = s * s;
    return k + 2 * LOG2E * s * POLYNOMIAL(z, 1.0, 1.0 / 3, 1.0 / 5, 1.0 / 7, 1.0 / 9, 1.0 / 11, 1.0 / 13, 1.0 / 15);
}
INLINE int special_logf(float *x) {
    if (*x > 0 && *x < __builtin_inff()) return 0;
    *x = *x == 0 ? -__builtin_inff() : *x > 0 ? *x : __builtin_nanf("");
    return 1;
}
DEVICE_FUNCTION float __nv_log2f(float x) { return special_logf(&x) ? x : (float)log2_double(x); }
DEVICE_FUNCTION float __nv_log10f(float x) {
    return special_logf(&x) ? x : (float)(log2_double(x) * 0x1.34413509f79ffp-2);
}
DEVICE_FUNCTION float __nv_log1pf(float x) { return (float)__nv_log1p(x); }

DEVICE_FUNCTION float __nv_powf(float x, float y) {
    const float a = absolutef(x);
    if (a > 0 && a < __builtin_inff() && x > 0 && absolutef(y) < 0x1p30f) {
        const double p = y * log2_double(a);
        if (p > 130) return __builtin_inff();
        if (p < -152) return 0;
        {
            const double n = nearest(p), f = (p - n) * LN2_HI;
            const double t = f * POLYNOMIAL(f, 1.0, 1.0 / 2, 1.0 / 6, 1.0 / 24, 1.0 / 120, 1.0 / 720, 1.0 / 5040,
                                            1.0 / 40320, 1.0 / 362880, 1.0 / 3628800);
            return (float)scale(1 + t, (int)n);
        }
    }
    return (float)__nv_pow(x, y);
}
DEVICE_FUNCTION float __nv_powif(float x, int n) { return (float)__nv_pow(x, n); }

DEVICE_FUNCTION float __nv_sinhf(float x) { return (float)__nv_sinh(x); }
DEVICE_FUNCTION float __nv_coshf(float x) { return (float)__nv_cosh(x); }
DEVICE_FUNCTION float __nv_tanhf(float x) {
    const float a = absolutef(x);
    float e;
    if (a < 0x1p-12f || x != x) return x;
    if (a > 10) return with_sign_off(1, x);
    if (a < 0.55f) return (float)__nv_tanh(x);
    e = __nv_expf(2 * a);
    return with_sign_off(1 - 2 / (e + 1), x);
}
DEVICE_FUNCTION float __nv_asinhf(float x) { return (float)__nv_asinh(x); }
DEVICE_FUNCTION float __nv_acoshf(float x) { return (float)__nv_acosh(x); }
DEVICE_FUNCTION float __nv_atanhf(float x) { return (float)__nv_atanh(x); }

/* ==== roots ==== */

DEVICE_FUNCTION float __nv_sqrtf(float x) { return __builtin_sqrtf(x); }
DEVICE_FUNCTION float __nv_rsqrtf(float x) { return 1 / __builtin_sqrtf(x); }
DEVICE_FUNCTION float __nv_cbrtf(float x) { return (float)__nv_cbrt(x); }
DEVICE_FUNCTION float __nv_rcbrtf(float x) { return (float)__nv_rcbrt(x); }

INLINE double squares(double x, double y, double z, double w) { return x * x + y * y + (z * z + w * w); }
INLINE float normf(float x, float y, float z, float w, int inverse) {
    double root;
    if (is_infinitef(x) || is_infinitef(y) || is_infinitef(z) || is_infinitef(w)) return inverse ? 0 : __builtin_inff();
    root = __builtin_sqrt(squares(x, y, z, w)); /* no float's square leaves the range of doubles */
    return (float)(inverse ? 1 / root : root);
}
DEVICE_FUNCTION float __nv_hypotf(float x, float y) { return normf(x, y, 0, 0, 0); }
DEVICE_FUNCTION float __nv_rhypotf(float x, float y) { return normf(x, y, 0, 0, 1); }
DEVICE_FUNCTION float __nv_norm3df(float x, float y, float z) { return normf(x, y, z, 0, 0); }
DEVICE_FUNCTION float __nv_rnorm3df(float x, float y, float z) { return normf(x, y, z, 0, 1); }
DEVICE_FUNCTION float __nv_norm4df(float x, float y, float z, float w) { return normf(x, y, z, w, 0); }
DEVICE_FUNCTION float __nv_rnorm4df(float x, float y, float z, float w) { return normf(x, y, z, w, 1); }

/* ==== trigonometry ==== */

INLINE float sine_off(float r) {
    const float z = r * r;
    return fmaf_of(z * r, POLYNOMIALF(z, -1.0f / 6, 1.0f / 120, -1.0f / 5040, 1.0f / 362880), r);
}
INLINE float cosine_off(float r) {
    const float z = r * r;
    return fmaf_of(z, POLYNOMIALF(z, -0.5f, 1.0f / 24, -1.0f / 720, 1.0f / 40320, -1.0f / 3628800), 1);
}
/* r = x - quadrant * pi/2 for |x| < 10^5: pi/2 in three parts. */
INLINE int reducef(float x, float *r) {
    const float n = nearestf(x * 0x1.45f306p-1f);
    *r = fmaf_of(-n, -0x1.ee59dap-50f, fmaf_of(-n, -0x1.777a5cp-25f, fmaf_of(-n, 0x1.921fb6p+0f, x)));
    return (int)n & 3;
}
INLINE float sine_inf(int quadrant, float r) {
    const float value = quadrant & 1 ? cosine_off(r) : sine_off(r);
    return quadrant & 2 ? -value : value;
}
#define SMALL_ANGLE 48000.0f
DEVICE_FUNCTION float __nv_sinf(float x) {
    float r;
    if (!(absolutef(x) < SMALL_ANGLE)) return (float)__nv_sin(x);
    if (absolutef(x) < 0x1p-12f) return x;
    {
        const int quadrant = reducef(x, &r);
        return sine_inf(quadrant, r);
    }
}
DEVICE_FUNCTION float __nv_cosf(float x) {
    float r;
    if (!(absolutef(x) < SMALL_ANGLE)) return (float)__nv_cos(x);
    {
        const int quadrant = reducef(x, &r);
        return sine_inf(quadrant + 1, r);
    }
}
DEVICE_FUNCTION void __nv_sincosf(float x, float *sine, float *cosine) {
    *sine = __nv_sinf(x);
    *cosine = __nv_cosf(x);
}
DEVICE_FUNCTION float __nv_tanf(float x) {
    float r;
    if (!(absolutef(x) < SMALL_ANGLE)) return (float)__nv_tan(x);
    if (absolutef(x) < 0x1p-12f) return x;
    {
        const int quadrant = reducef(x, &r);
        return quadrant & 1 ? -cosine_off(r) / sine_off(r) : sine_off(r) / cosine_off(r);
    }
}
DEVICE_FUNCTION float __nv_sinpif(float x) { return (float)__nv_sinpi(x); }
DEVICE_FUNCTION float __nv_cospif(float x) { return (float)__nv_cospi(x); }
DEVICE_FUNCTION void __nv_sincospif(float x, float *sine, float *cosine) {
    *sine = __nv_sinpif(x);
    *cosine = __nv_cospif(x);
}
DEVICE_FUNCTION float __nv_atan2f(float y, float x) { return (float)__nv_atan2(y, x); }
DEVICE_FUNCTION float __nv_atanf(float x) { return (float)__nv_atan2(x, 1); }
DEVICE_FUNCTION float __nv_asinf(float x) { return (float)__nv_asin(x); }
DEVICE_FUNCTION float __nv_acosf(float x) { return (float)__nv_acos(x); }

/* ==== by double precision ==== */

DEVICE_FUNCTION float __nv_erff(float x) { return (float)__nv_erf(x); }
DEVICE_FUNCTION float __nv_erfcf(float x) { return (float)__nv_erfc(x); }
DEVICE_FUNCTION float __nv_erfcxf(float x) { return (float)__nv_erfcx(x); }
DEVICE_FUNCTION float __nv_erfinvf(float x) { return (float)__nv_erfinv(x); }
DEVICE_FUNCTION float __nv_erfcinvf(float x) { return (float)__nv_erfcinv(x); }
DEVICE_FUNCTION float __nv_normcdff(float x) { return (float)__nv_normcdf(x); }
DEVICE_FUNCTION float __nv_normcdfinvf(float x) { return (float)__nv_normcdfinv(x); }
DEVICE_FUNCTION float __nv_lgammaf(float x) { return (float)__nv_lgamma(x); }
DEVICE_FUNCTION float __nv_tgammaf(float x) { return (float)__nv_tgamma(x); }
DEVICE_FUNCTION float __nv_fmodf(float x, float y) { return (float)__nv_fmod(x, y); }
DEVICE_FUNCTION float __nv_remainderf(float x, float y) { return (float)__nv_remainder(x, y); }
DEVICE_FUNCTION float __nv_remquof(float x, float y, int *n) { return (float)__nv_remquo(x, y, n); }
DEVICE_FUNCTION float __nv_frexpf(float x, int *k) { return (float)__nv_frexp(x, k); }
DEVICE_FUNCTION int __nv_ilogbf(float x) { return __nv_ilogb(x); }
DEVICE_FUNCTION float __nv_logbf(float x) { return (float)__nv_logb(x); }

/* ==== whole numbers and parts ==== */

DEVICE_FUNCTION float __nv_fabsf(float x) { return absolutef(x); }
DEVICE_FUNCTION float __nv_floorf(float x) { return __builtin_floorf(x); }
DEVICE_FUNCTION float __nv_ceilf(float x) { return __builtin_ceilf(x); }
DEVICE_FUNCTION float __nv_truncf(float x) { return __builtin_truncf(x); }
DEVICE_FUNCTION float __nv_rintf(float x) { return __builtin_rintf(x); }
DEVICE_FUNCTION float __nv_nearbyintf(float x) { return __builtin_rintf(x); }
DEVICE_FUNCTION float __nv_roundf(float x) {
    const float a = absolutef(x);
    float whole;
    if (!(a < 0x1p23f)) return x;
    whole = __builtin_truncf(a);
    return with_sign_off(a - whole >= 0.5f ? whole + 1 : whole, x);
}
DEVICE_FUNCTION long long __nv_llrintf(float x) { return (long long)__builtin_rintf(x); }
DEVICE_FUNCTION long long __nv_llroundf(float x) { return (long long)__nv_roundf(x); }
DEVICE_FUNCTION float __nv_fminf(float x, float y) { return __builtin_fminf(x, y); }
DEVICE_FUNCTION float __nv_fmaxf(float x, float y) { return __builtin_fmaxf(x, y); }
DEVICE_FUNCTION float __nv_fdimf(float x, float y) { return x > y ? x - y : x <= y ? 0 : x + y; }
DEVICE_FUNCTION float __nv_fmaf(float x, float y, float z) { return fmaf_of(x, y, z); }
DEVICE_FUNCTION float __nv_copysignf(float x, float y) { return with_sign_off(x, y); }
DEVICE_FUNCTION float __nv_nanf(const signed char *text) {
    (void)text;
    return __builtin_nanf("");
}
DEVICE_FUNCTION float __nv_ldexpf(float x, int k) { return (float)scale(x, k < -600 ? -600 : k > 600 ? 600 : k); }
DEVICE_FUNCTION float __nv_scalbnf(float x, int k) { return __nv_ldexpf(x, k); }
DEVICE_FUNCTION float __nv_modff(float x, float *whole) {
    *whole = __builtin_truncf(x);
    return is_infinitef(x) ? with_sign_off(0, x) : with_sign_off(x - *whole, x);
}
DEVICE_FUNCTION float __nv_nextafterf(float x, float y) {
    if (x != x || y != y) return x + y;
    if (x == y) return y;
    if (x == 0) return with_sign_off(float_of_bits(1), y);
    return float_of_bits((x < y) == (x > 0) ? bits_of_float(x) + 1 : bits_of_float(x) - 1);
}
DEVICE_FUNCTION float __nv_saturatef(float x) { return x > 0 ? (x < 1 ? x : 1) : 0; }
DEVICE_FUNCTION int __nv_isnanf(float x) { return x != x; }
DEVICE_FUNCTION int __nv_isinff(float x) { return is_infinitef(x); }
DEVICE_FUNCTION int __nv_finitef(float x) { return absolutef(x) < __builtin_inff(); }
DEVICE_FUNCTION int __nv_signbitf(float x) { return (int)(bits_of_float(x) >> 31); }
