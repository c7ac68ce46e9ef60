/* parts: what the device mathematics shares: bits of numbers, sums of two doubles, polynomials. Everything is plain C
 * with fused multiply-add, so the same files compile for the device and, for tests, for the host. */
#ifndef MINIGPU_DEVICE_PARTS_H
#define MINIGPU_DEVICE_PARTS_H

#ifdef __NVPTX__
#define DEVICE_FUNCTION
#else
#define DEVICE_FUNCTION __attribute__((visibility("default")))
#endif
#ifdef __clang__
#define UNROLLED _Pragma("unroll")
#else
#define UNROLLED _Pragma("GCC unroll 32")
#endif
#define INLINE static inline __attribute__((always_inline))

#define LN2_HI 0x1.62e42fefa39efp-1
#define LN2_LO 0x1.abc9e3b39803fp-56
#define LOG2E 0x1.71547652b82fep+0
#define LOG2E_LO 0x1.777d0ffda0d24p-56
#define LOG10E 0x1.bcb7b1526e50ep-2
#define LOG10E_LO 0x1.95355baaafad3p-57
#define LN10 0x1.26bb1bbb55516p+1
#define LN10_LO (-0x1.f48ad494ea3e9p-53)
#define PIO2_HI 0x1.921fb54442d18p+0
#define PIO2_LO 0x1.1a62633145c07p-54
#define PI_HI 0x1.921fb54442d18p+1
#define PI_LO 0x1.1a62633145c07p-53
#define INFINITE __builtin_inf()
#define NOT_A_NUMBER __builtin_nan("")

INLINE unsigned long long bits_of(double x) {
    union {
        double value;
        unsigned long long bits;
    } u = {x};
    return u.bits;
}
INLINE double of_bits(unsigned long long bits) {
    union {
        unsigned long long bits;
        double value;
    } u = {bits};
    return u.value;
}
INLINE unsigned bits_of_float(float x) {
    union {
        float value;
        unsigned bits;
    } u = {x};
    return u.bits;
}
INLINE float float_of_bits(unsigned bits) {
    union {
        unsigned bits;
        float value;
    } u = {bits};
    return u.value;
}
INLINE double fma_of(double a, double b, double c) { return __builtin_fma(a, b, c); }
INLINE double absolute(double x) { return of_bits(bits_of(x) & 0x7fffffffffffffffull); }
INLINE double with_sign_of(double x, double sign) {
    return of_bits((bits_of(x) & 0x7fffffffffffffffull) | (bits_of(sign) & 0x8000000000000000ull));
}
INLINE int is_nan(double x) { return x != x; }
INLINE int is_infinite(double x) { return absolute(x) == INFINITE; }
/* Adding and subtracting 1.5 * 2^52 rounds to a whole number, for |x| < 2^51. */
INLINE double nearest(double x) { return x + 0x1.8p52 - 0x1.8p52; }

/* x * 2^k, rounded once where the result is subnormal. */
INLINE double scale(double x, int k) {
    if (k > 1023) {
        x *= 0x1p1023;
        k -= 1023;
        if (k > 1023) {
            x *= 0x1p1023;
            k = k - 1023 > 1023 ? 1023 : k - 1023;
        }
    } else if (k < -1022) {
        x *= 0x1p-969; /* 2^-1022 * 2^53: the last factor rounds */
        k += 969;
        if (k < -1022) {
            x *= 0x1p-969;
            k = k + 969 < -1022 ? -1022 : k + 969;
        }
    }
    return x * of_bits((unsigned long long)(k + 1023) << 52);
}

/* A sum of two doubles that is not rounded: hi is the nearest double. */
typedef struct pair {
    double hi, lo;
} pair;

INLINE pair pair_of(double hi, double lo) {
    pair p = {hi, lo};
    return p;
}
/* a + b exactly, for |a| >= |b|. */
INLINE pair fast_sum(double a, double b) {
    const double s = a + b;
    return pair_of(s, b - (s - a));
}
/* a + b exactly (Knuth). */
INLINE pair exact_sum(double a, double b) {
    const double s = a + b, t = s - a;
    return pair_of(s, (a - (s - t)) + (b - t));
}
INLINE pair exact_product(double a, double b) {
    const double p = a * b;
    return pair_of(p, fma_of(a, b, -p));
}
INLINE pair pair_sum(pair a, pair b) {
    const pair s = exact_sum(a.hi, b.hi);
    return fast_sum(s.hi, s.lo + a.lo + b.lo);
}
INLINE pair pair_product(pair a, pair b) {
    const pair p = exact_product(a.hi, b.hi);
    return fast_sum(p.hi, p.lo + (a.hi * b.lo + a.lo * b.hi));
}
INLINE pair pair_quotient(double a, pair b) {
    const double q = a / b.hi, rest = fma_of(-q, b.hi, a) - q * b.lo;
    return fast_sum(q, rest / b.hi);
}

/* Horner's scheme; coefficients from the constant one on. */
INLINE double polynomial(double x, const double *coefficients, int count) {
    double sum = coefficients[count - 1];
    int i;
    UNROLLED
    for (i = count - 2; i >= 0; i--) sum = fma_of(sum, x, coefficients[i]);
    return sum;
}
#define POLYNOMIAL(x, ...) \
    polynomial(x, (const double[]){__VA_ARGS__}, (int)(sizeof((const double[]){__VA_ARGS__}) / sizeof(double)))

#endif
