/* minigpu_half: what cuda_fp16.h and cuda_bf16.h share. A half has two bytes. The host computes in float, which rounds
 * the same, and the device has instructions. Included once for each format, with these names defined:
 *
 *   HALF, HALF2     the types
 *   HALF_PTX        "f16" or "bf16"
 *   HALF_OF_FLOAT(f), FLOAT_OF_HALF(bits)
 *                   conversions for the host
 *   HALF_NAME(x)    names of conversions and constructors */

/* ---- the types ---- */

struct HALF {
    unsigned short bits;
    HALF() = default;
    __host__ __device__ HALF(float f) : bits(to_bits(f)) {}
    __host__ __device__ HALF(double d) : bits(to_bits((float)d)) {}
    __host__ __device__ HALF(int i) : bits(to_bits((float)i)) {}
    __host__ __device__ HALF(unsigned int i) : bits(to_bits((float)i)) {}
    __host__ __device__ HALF(long i) : bits(to_bits((float)i)) {}
    __host__ __device__ HALF(unsigned long i) : bits(to_bits((float)i)) {}
    __host__ __device__ HALF(long long i) : bits(to_bits((float)i)) {}
    __host__ __device__ HALF(unsigned long long i) : bits(to_bits((float)i)) {}
    __host__ __device__ HALF(short i) : bits(to_bits((float)i)) {}
    __host__ __device__ HALF(unsigned short i) : bits(to_bits((float)i)) {}
    __host__ __device__ HALF &operator=(float f) {
        bits = to_bits(f);
        return *this;
    }
    __host__ __device__ operator float() const { return to_float(bits); }
    static __host__ __device__ unsigned short to_bits(float f) {
#ifdef __CUDA_ARCH__
        unsigned short b;
        __asm__("cvt.rn." HALF_PTX ".f32 %0, %1;" : "=h"(b) : "f"(f));
        return b;
#else
        return HALF_OF_FLOAT(f);
#endif
    }
    static __host__ __device__ float to_float(unsigned short b) {
#if defined(__CUDA_ARCH__) && defined(HALF_HAS_CONVERSION)
        float f;
        __asm__("cvt.f32." HALF_PTX " %0, %1;" : "=f"(f) : "h"(b));
        return f;
#else
        return FLOAT_OF_HALF(b);
#endif
    }
};
struct __align__(4) HALF2 {
    HALF x, y;
    HALF2() = default;
    __host__ __device__ HALF2(HALF a, HALF b) : x(a), y(b) {}
};
static inline __host__ __device__ HALF minigpu_half_of_bits(unsigned short bits, HALF) {
    HALF h;
    h.bits = bits;
    return h;
}

/* ---- arithmetic ---- */

#ifdef __CUDA_ARCH__
#define MINIGPU_HALF_BINARY(name, instruction, operator_)                              \
    static inline __device__ HALF name(HALF a, HALF b) {                               \
        __asm__(instruction " %0, %1, %2;" : "=h"(a.bits) : "h"(a.bits), "h"(b.bits)); \
        return a;                                                                      \
    }
#else
#define MINIGPU_HALF_BINARY(name, instruction, operator_) \
    static inline __host__ __device__ HALF name(HALF a, HALF b) { return HALF((float)a operator_(float) b); }
#endif
#ifdef HALF_IS_F16
MINIGPU_HALF_BINARY(__hadd, "add.f16", +)
MINIGPU_HALF_BINARY(__hsub, "sub.f16", -)
MINIGPU_HALF_BINARY(__hmul, "mul.f16", *)
#else
static inline __host__ __device__ HALF __hadd(HALF a, HALF b) { return HALF((float)a + (float)b); }
static inline __host__ __device__ HALF __hsub(HALF a, HALF b) { return HALF((float)a - (float)b); }
static inline __host__ __device__ HALF __hmul(HALF a, HALF b) { return HALF((float)a * (float)b); }
#endif
#undef MINIGPU_HALF_BINARY
static inline __host__ __device__ HALF __hdiv(HALF a, HALF b) { return HALF((float)a / (float)b); }
static inline __host__ __device__ HALF __hneg(HALF a) {
    a.bits ^= 0x8000;
    return a;
}
static inline __host__ __device__ HALF __habs(HALF a) {
    a.bits &= 0x7fff;
    return a;
}
/* One rounding: a product of halves is exact in float, and the sum in double. */
static inline __host__ __device__ HALF __hfma(HALF a, HALF b, HALF c) {
#ifdef __CUDA_ARCH__
    __asm__("fma.rn." HALF_PTX " %0, %1, %2, %3;" : "=h"(a.bits) : "h"(a.bits), "h"(b.bits), "h"(c.bits));
    return a;
#else
    return HALF((float)((double)(float)a * (float)b + (float)c));
#endif
}
static inline __host__ __device__ HALF __hmax(HALF a, HALF b) {
    return (float)a > (float)b || (float)b != (float)b ? a : b;
}
static inline __host__ __device__ HALF __hmin(HALF a, HALF b) {
    return (float)a < (float)b || (float)b != (float)b ? a : b;
}
static inline __host__ __device__ bool __heq(HALF a, HALF b) { return (float)a == (float)b; }
static inline __host__ __device__ bool __hne(HALF a, HALF b) { return (float)a != (float)b; }
static inline __host__ __device__ bool __hlt(HALF a, HALF b) { return (float)a < (float)b; }
static inline __host__ __device__ bool __hle(HALF a, HALF b) { return (float)a <= (float)b; }
static inline __host__ __device__ bool __hgt(HALF a, HALF b) { return (float)a > (float)b; }
static inline __host__ __device__ bool __hge(HALF a, HALF b) { return (float)a >= (float)b; }
static inline __host__ __device__ bool __hisnan(HALF a) { return (float)a != (float)a; }
static inline __host__ __device__ int __hisinf(HALF a) {
    return (float)a == __builtin_inff() ? 1 : (float)a == -__builtin_inff() ? -1 : 0;
}
/* Saturating forms: the result lies in [0, 1], and NaN becomes 0. */
static inline __host__ __device__ HALF minigpu_saturated(HALF a) {
    return (float)a > 0.0f ? (float)a < 1.0f ? a : HALF(1.0f) : HALF(0.0f);
}
static inline __host__ __device__ HALF __hadd_sat(HALF a, HALF b) { return minigpu_saturated(__hadd(a, b)); }
static inline __host__ __device__ HALF __hsub_sat(HALF a, HALF b) { return minigpu_saturated(__hsub(a, b)); }
static inline __host__ __device__ HALF __hmul_sat(HALF a, HALF b) { return minigpu_saturated(__hmul(a, b)); }
static inline __host__ __device__ HALF __hfma_sat(HALF a, HALF b, HALF c) { return minigpu_saturated(__hfma(a, b, c)); }

#define MINIGPU_HALF_OPERATOR(op, function)                                                                \
    static inline __host__ __device__ HALF operator op(HALF a, HALF b) { return function(a, b); }          \
    static inline __host__ __device__ HALF &operator op##=(HALF &a, HALF b) { return a = function(a, b); } \
    static inline __host__ __device__ HALF2 operator op(HALF2 a, HALF2 b) {                                \
        return HALF2(function(a.x, b.x), function(a.y, b.y));                                              \
    }                                                                                                      \
    static inline __host__ __device__ HALF2 &operator op##=(HALF2 &a, HALF2 b) { return a = a op b; }
MINIGPU_HALF_OPERATOR(+, __hadd)
MINIGPU_HALF_OPERATOR(-, __hsub)
MINIGPU_HALF_OPERATOR(*, __hmul)
MINIGPU_HALF_OPERATOR(/, __hdiv)
#undef MINIGPU_HALF_OPERATOR
static inline __host__ __device__ HALF operator-(HALF a) { return __hneg(a); }
#define MINIGPU_HALF_COMPARE(op) \
    static inline __host__ __device__ bool operator op(HALF a, HALF b) { return (float)a op(float) b; }
MINIGPU_HALF_COMPARE(==)
MINIGPU_HALF_COMPARE(!=)
MINIGPU_HALF_COMPARE(<)
MINIGPU_HALF_COMPARE(<=)
MINIGPU_HALF_COMPARE(>)
MINIGPU_HALF_COMPARE(>=)
#undef MINIGPU_HALF_COMPARE

/* ---- pairs ---- */

#define MINIGPU_HALF_PAIR(name, function)                            \
    static inline __host__ __device__ HALF2 name(HALF2 a, HALF2 b) { \
        return HALF2(function(a.x, b.x), function(a.y, b.y));        \
    }
MINIGPU_HALF_PAIR(__hadd2, __hadd)
MINIGPU_HALF_PAIR(__hsub2, __hsub)
MINIGPU_HALF_PAIR(__hmul2, __hmul)
MINIGPU_HALF_PAIR(__h2div, __hdiv)
MINIGPU_HALF_PAIR(__hmax2, __hmax)
MINIGPU_HALF_PAIR(__hmin2, __hmin)
#undef MINIGPU_HALF_PAIR
static inline __host__ __device__ HALF2 __hfma2(HALF2 a, HALF2 b, HALF2 c) {
    return HALF2(__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y));
}
static inline __host__ __device__ HALF2 __hneg2(HALF2 a) { return HALF2(__hneg(a.x), __hneg(a.y)); }
static inline __host__ __device__ HALF2 __habs2(HALF2 a) { return HALF2(__habs(a.x), __habs(a.y)); }

/* Comparisons of pairs: 1 or 0 in each half, or whether both halves satisfy it. */
#define MINIGPU_HALF_PAIR_COMPARE(name)                                               \
    static inline __host__ __device__ HALF2 __h##name##2(HALF2 a, HALF2 b) {          \
        return HALF2(HALF((int)__h##name(a.x, b.x)), HALF((int)__h##name(a.y, b.y))); \
    }                                                                                 \
    static inline __host__ __device__ bool __hb##name##2(HALF2 a, HALF2 b) {          \
        return __h##name(a.x, b.x) && __h##name(a.y, b.y);                            \
    }
MINIGPU_HALF_PAIR_COMPARE(eq)
MINIGPU_HALF_PAIR_COMPARE(ne)
MINIGPU_HALF_PAIR_COMPARE(lt)
MINIGPU_HALF_PAIR_COMPARE(le)
MINIGPU_HALF_PAIR_COMPARE(gt)
MINIGPU_HALF_PAIR_COMPARE(ge)
#undef MINIGPU_HALF_PAIR_COMPARE
static inline __host__ __device__ HALF2 __hisnan2(HALF2 a) {
    return HALF2(HALF((int)__hisnan(a.x)), HALF((int)__hisnan(a.y)));
}
/* Complex numbers: a * b + c. */
static inline __host__ __device__ HALF2 __hcmadd(HALF2 a, HALF2 b, HALF2 c) {
    return HALF2(__hfma(__hneg(a.y), b.y, __hfma(a.x, b.x, c.x)), __hfma(a.y, b.x, __hfma(a.x, b.y, c.y)));
}

/* ---- functions, by float ---- */

#ifdef __CUDA__
#define MINIGPU_HALF_FUNCTION(name, function)                                          \
    static inline __device__ HALF h##name(HALF a) { return HALF(function((float)a)); } \
    static inline __device__ HALF2 h2##name(HALF2 a) { return HALF2(h##name(a.x), h##name(a.y)); }
MINIGPU_HALF_FUNCTION(sqrt, sqrtf)
MINIGPU_HALF_FUNCTION(rsqrt, rsqrtf)
MINIGPU_HALF_FUNCTION(exp, expf)
MINIGPU_HALF_FUNCTION(exp2, exp2f)
MINIGPU_HALF_FUNCTION(exp10, exp10f)
MINIGPU_HALF_FUNCTION(log, logf)
MINIGPU_HALF_FUNCTION(log2, log2f)
MINIGPU_HALF_FUNCTION(log10, log10f)
MINIGPU_HALF_FUNCTION(sin, sinf)
MINIGPU_HALF_FUNCTION(cos, cosf)
MINIGPU_HALF_FUNCTION(floor, floorf)
MINIGPU_HALF_FUNCTION(ceil, ceilf)
MINIGPU_HALF_FUNCTION(trunc, truncf)
MINIGPU_HALF_FUNCTION(rint, rintf)
MINIGPU_HALF_FUNCTION(tanh, tanhf)
MINIGPU_HALF_FUNCTION(rcp, 1.0f /)
#undef MINIGPU_HALF_FUNCTION

/* ---- between threads ---- */

static inline __device__ HALF atomicAdd(HALF *address, HALF value) {
    unsigned short old = *(volatile unsigned short *)&address->bits, seen;
    do {
        seen = old;
        old = atomicCAS(&address->bits, seen, (minigpu_half_of_bits(seen, HALF()) + value).bits);
    } while (old != seen);
    return minigpu_half_of_bits(old, HALF());
}
/* Each half is added atomically, not both together, as in CUDA. */
static inline __device__ HALF2 atomicAdd(HALF2 *address, HALF2 value) {
    return HALF2(atomicAdd(&address->x, value.x), atomicAdd(&address->y, value.y));
}
#define MINIGPU_HALF_SHUFFLE(name, from)                                                           \
    static inline __device__ HALF name(unsigned int mask, HALF h, from lane, int width = 32) {     \
        return minigpu_half_of_bits((unsigned short)name(mask, (int)h.bits, lane, width), HALF()); \
    }                                                                                              \
    static inline __device__ HALF2 name(unsigned int mask, HALF2 h, from lane, int width = 32) {   \
        return HALF2(name(mask, h.x, lane, width), name(mask, h.y, lane, width));                  \
    }
MINIGPU_HALF_SHUFFLE(__shfl_sync, int)
MINIGPU_HALF_SHUFFLE(__shfl_up_sync, unsigned int)
MINIGPU_HALF_SHUFFLE(__shfl_down_sync, unsigned int)
MINIGPU_HALF_SHUFFLE(__shfl_xor_sync, int)
#undef MINIGPU_HALF_SHUFFLE
#endif
