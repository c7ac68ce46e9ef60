/* minigpu_overloads: functions of float under the names that C++ has for every type. clang declares these for the
 * device; CUDA's own headers define them. */
#ifndef MINIGPU_OVERLOADS_H
#define MINIGPU_OVERLOADS_H

#define MINIGPU_OF_ONE(result, name, function) \
    static inline __device__ result name(float a) { return function(a); }
#define MINIGPU_OF_TWO(name, second, function) \
    static inline __device__ float name(float a, second b) { return function(a, b); }
MINIGPU_OF_ONE(float, acosh, acoshf)
MINIGPU_OF_ONE(float, asinh, asinhf)
MINIGPU_OF_ONE(float, atanh, atanhf)
MINIGPU_OF_ONE(float, cbrt, cbrtf)
MINIGPU_OF_ONE(float, erf, erff)
MINIGPU_OF_ONE(float, erfc, erfcf)
MINIGPU_OF_ONE(float, exp2, exp2f)
MINIGPU_OF_ONE(float, expm1, expm1f)
MINIGPU_OF_ONE(float, lgamma, lgammaf)
MINIGPU_OF_ONE(float, log1p, log1pf)
MINIGPU_OF_ONE(float, log2, log2f)
MINIGPU_OF_ONE(float, logb, logbf)
MINIGPU_OF_ONE(float, nearbyint, nearbyintf)
MINIGPU_OF_ONE(float, rint, rintf)
MINIGPU_OF_ONE(float, round, roundf)
MINIGPU_OF_ONE(float, tgamma, tgammaf)
MINIGPU_OF_ONE(float, trunc, truncf)
MINIGPU_OF_ONE(int, ilogb, ilogbf)
MINIGPU_OF_ONE(long, lrint, lrintf)
MINIGPU_OF_ONE(long, lround, lroundf)
MINIGPU_OF_ONE(long long, llrint, llrintf)
MINIGPU_OF_ONE(long long, llround, llroundf)
MINIGPU_OF_TWO(copysign, float, copysignf)
MINIGPU_OF_TWO(fdim, float, fdimf)
MINIGPU_OF_TWO(fmax, float, fmaxf)
MINIGPU_OF_TWO(fmin, float, fminf)
MINIGPU_OF_TWO(hypot, float, hypotf)
MINIGPU_OF_TWO(nextafter, float, nextafterf)
MINIGPU_OF_TWO(remainder, float, remainderf)
MINIGPU_OF_TWO(scalbln, long, scalblnf)
MINIGPU_OF_TWO(scalbn, int, scalbnf)
static inline __device__ float fma(float a, float b, float c) { return fmaf(a, b, c); }
#undef MINIGPU_OF_ONE
#undef MINIGPU_OF_TWO

#endif
