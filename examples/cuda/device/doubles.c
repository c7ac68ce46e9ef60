/* doubles: mathematics in double precision, within the bounds that the CUDA C++ programming guide states ("Mathematical
 * functions", ulp of the exact result). The methods are in Muller, Elementary functions, 3rd edition: argument
 * reduction and polynomials, with sums of two doubles where one rounding is too many. Coefficients that are no plain
 * fractions are Chebyshev fits computed with 50 digits. */
#include "parts.h"

double __nv_erf(double x);
double __nv_erfc(double x);
double __nv_exp(double x);
double __nv_lgamma(double x);

/* ==== exponential functions ==== */

/* e^(x.hi + x.lo) = 2^k (1 + t), for |x| < 800. */
INLINE pair exponential(pair x, int *k) {
    const double n = nearest(x.hi * LOG2E);
    pair r = exact_sum(fma_of(-n, LN2_HI, x.hi), fma_of(-n, LN2_LO, x.lo)), square;
    double tail;
    *k = (int)n;
    square = exact_product(r.hi, r.hi);
    /* r^3/3! + r^4/4! + ... + r^13/13! */
    tail = POLYNOMIAL(r.hi, 1.0 / 6, 1.0 / 24, 1.0 / 120, 1.0 / 720, 1.0 / 5040, 1.0 / 40320, 1.0 / 362880,
                      1.0 / 3628800, 1.0 / 39916800, 1.0 / 479001600, 1.0 / 6227020800);
    return pair_sum(r, pair_of(0.5 * square.hi, 0.5 * square.lo + r.hi * r.lo + tail * r.hi * square.hi));
}

INLINE double exponential_of(pair x) {
    int k;
    pair t, sum;
    if (x.hi > 709.8) return INFINITE;
    if (x.hi < -745.2) return 0;
    t = exponential(x, &k);
    sum = fast_sum(1.0, t.hi);
    return scale(sum.hi + (sum.lo + t.lo), k);
}

DEVICE_FUNCTION double __nv_exp(double x) { return is_nan(x) ? x : exponential_of(pair_of(x, 0)); }

DEVICE_FUNCTION double __nv_exp2(double x) {
    double n;
    if (is_nan(x)) return x;
    if (x >= 1024) return INFINITE;
    if (x < -1075) return 0;
    n = nearest(x);
    return scale(exponential_of(pair_product(pair_of(x - n, 0), pair_of(LN2_HI, LN2_LO))), (int)n);
}

DEVICE_FUNCTION double __nv_exp10(double x) {
    pair y;
    if (is_nan(x)) return x;
    if (x > 308.3) return INFINITE;
    if (x < -323.7) return 0;
    y = pair_product(pair_of(x, 0), pair_of(LN10, LN10_LO));
    return exponential_of(y);
}

/* e^a / 2 for large a: e^a itself may be too large. */
INLINE double half_exponential(double a) {
    const pair x = exact_sum(a, -LN2_HI);
    return exponential_of(pair_of(x.hi, x.lo - LN2_LO));
}

/* e^x - 1 as a pair. */
INLINE pair less_one(double x) {
    int k;
    const pair t = exponential(pair_of(x, 0), &k);
    const pair scaled = pair_of(scale(t.hi, k), scale(t.lo, k));
    if (k == 0) return t;
    return pair_sum(exact_sum(scale(1.0, k), -1.0), scaled);
}

DEVICE_FUNCTION double __nv_expm1(double x) {
    if (is_nan(x) || x == 0) return x;
    if (x > 709.8) return INFINITE;
    if (x < -40) return -1;
    if (absolute(x) < 0x1p-54) return x;
    {
        const pair e = less_one(x);
        return e.hi + e.lo;
    }
}

DEVICE_FUNCTION double __nv_sinh(double x) {
    const double a = absolute(x);
    double value;
    if (is_nan(x) || a < 0x1p-28) return x;
    if (a > 30) return with_sign_of(half_exponential(a), x);
    {
        const pair e = less_one(a), back = pair_quotient(e.hi, exact_sum(e.hi, 1.0));
        value = 0.5 * (e.hi + (back.hi + (e.lo + back.lo)));
    }
    return with_sign_of(value, x);
}

DEVICE_FUNCTION double __nv_cosh(double x) {
    const double a = absolute(x);
    pair e, sum;
    double rest;
    if (is_nan(x)) return x;
    if (a > 30) return half_exponential(a);
    e = less_one(a); /* cosh = 1 + e^2 / (2 (1 + e)) */
    rest = e.hi * (e.hi / (2 * (1 + e.hi)));
    if (a < 0.5) return 1 + rest;
    e = pair_sum(e, pair_of(1, 0)); /* (e^a + e^-a) / 2 */
    sum = exact_sum(e.hi, 1 / e.hi);
    return 0.5 * (sum.hi + (sum.lo + e.lo));
}

DEVICE_FUNCTION double __nv_tanh(double x) {
    const double a = absolute(x);
    pair e, below;
    if (is_nan(x) || a < 0x1p-28) return x;
    if (a > 20) return with_sign_of(1, x);
    e = less_one(2 * a); /* e / (e + 2) */
    below = pair_sum(e, pair_of(2, 0));
    {
        const pair q = pair_quotient(e.hi, below);
        return with_sign_of(q.hi + (q.lo + e.lo / below.hi), x);
    }
}

/* ==== logarithms ==== */

/* log(x.hi + x.lo) for x.hi positive, finite and normal, and x.lo small beside it. */
INLINE pair logarithm(pair x, int k) {
    const unsigned long long bits = bits_of(x.hi) - 0x3fe6a09e667f3bcdull; /* sqrt(1/2) becomes 0 */
    const int exponent = (int)((long long)bits >> 52);
    const double m = of_bits((bits & 0xfffffffffffffull) + 0x3fe6a09e667f3bcdull);
    const double low = scale(x.lo, -exponent), f = m - 1;
    const pair s = pair_quotient(f, exact_sum(m, 1.0));
    const pair square = pair_product(s, s), third = {0x1.5555555555555p-2, 0x1.5555555555555p-56};
    pair sum;
    double tail;
    k += exponent;
    /* 2 s (1 + s^2/3 + s^4/5 + ...), up to s^24 */
    tail = square.hi * POLYNOMIAL(square.hi, 1.0 / 5, 1.0 / 7, 1.0 / 9, 1.0 / 11, 1.0 / 13, 1.0 / 15, 1.0 / 17,
                                  1.0 / 19, 1.0 / 21, 1.0 / 23, 1.0 / 25);
    sum = pair_product(square, pair_sum(third, pair_of(tail, 0)));
    sum = pair_product(pair_of(2 * s.hi, 2 * s.lo), pair_sum(pair_of(1, 0), sum));
    sum = pair_sum(pair_product(pair_of(k, 0), pair_of(LN2_HI, LN2_LO)), sum);
    return low == 0 ? sum : pair_sum(sum, pair_of(low / m, -0.5 * (low / m) * (low / m)));
}

/* The logarithm of 0, negative numbers, infinity and NaN; else makes x normal. Returns 1 when *x is the
 * result already. */
INLINE int special_logarithm(double *x, int *k) {
    *k = 0;
    if (*x == 0) {
        *x = -INFINITE;
        return 1;
    }
    if (is_nan(*x) || *x < 0) {
        *x = NOT_A_NUMBER;
        return 1;
    }
    if (*x == INFINITE) return 1;
    if (*x < 0x1p-1022) {
        *x *= 0x1p54;
        *k = -54;
    }
    return 0;
}

DEVICE_FUNCTION double __nv_log(double x) {
    int k;
    if (special_logarithm(&x, &k)) return x;
    {
        const pair l = logarithm(pair_of(x, 0), k);
        return l.hi + l.lo;
    }
}

INLINE double logarithm_times(double x, pair factor) {
    int k;
    if (special_logarithm(&x, &k)) return x;
    {
        const pair l = pair_product(logarithm(pair_of(x, 0), k), factor);
        return l.hi + l.lo;
    }
}
DEVICE_FUNCTION double __nv_log2(double x) { return logarithm_times(x, pair_of(LOG2E, LOG2E_LO)); }
DEVICE_FUNCTION double __nv_log10(double x) { return logarithm_times(x, pair_of(LOG10E, LOG10E_LO)); }

DEVICE_FUNCTION double __nv_log1p(double x) {
    pair l;
    if (is_nan(x) || x == INFINITE || absolute(x) < 0x1p-54) return x;
    if (x <= -1) return x == -1 ? -INFINITE : NOT_A_NUMBER;
    l = logarithm(exact_sum(1, x), 0);
    return l.hi + l.lo;
}

DEVICE_FUNCTION double __nv_asinh(double x) {
    const double a = absolute(x);
    double square;
    if (is_nan(x) || is_infinite(x) || a < 0x1p-28) return x;
    if (a > 0x1p28) return with_sign_of(__nv_log(a) + LN2_HI, x);
    square = a * a; /* log1p(a + a^2 / (1 + sqrt(a^2 + 1))) */
    return with_sign_of(__nv_log1p(a + square / (1 + __builtin_sqrt(square + 1))), x);
}
DEVICE_FUNCTION double __nv_acosh(double x) {
    const double t = x - 1;
    if (is_nan(x) || x < 1) return NOT_A_NUMBER;
    if (x > 0x1p28) return __nv_log(x) + LN2_HI;
    return __nv_log1p(t + __builtin_sqrt(2 * t + t * t));
}
DEVICE_FUNCTION double __nv_atanh(double x) {
    const double a = absolute(x);
    if (is_nan(x) || a < 0x1p-28) return x;
    if (a >= 1) return a > 1 ? NOT_A_NUMBER : with_sign_of(INFINITE, x);
    return with_sign_of(0.5 * __nv_log1p(2 * a / (1 - a)), x);
}

/* ==== powers and roots ==== */

INLINE int is_whole(double y) { return absolute(y) >= 0x1p52 || nearest(y) == y; }
INLINE int is_odd(double y) { return absolute(y) < 0x1p53 && is_whole(y) && !is_whole(0.5 * y); }

DEVICE_FUNCTION double __nv_pow(double x, double y) {
    const double a = absolute(x);
    const int negative = (bits_of(x) >> 63) && is_odd(y);
    double m = a, result;
    int k;
    if (y == 0 || x == 1) return 1;
    if (is_nan(x) || is_nan(y)) return x + y;
    if (is_infinite(y)) return a == 1 ? 1 : (a > 1) == (y > 0) ? INFINITE : 0;
    if (a == 0 || a == INFINITE) {
        result = (a == 0) == (y > 0) ? 0 : INFINITE;
        return negative ? -result : result;
    }
    if (x < 0 && !is_whole(y)) return NOT_A_NUMBER;
    if (absolute(y) > 0x1p65) return a == 1 ? 1 : (a > 1) == (y > 0) ? INFINITE : 0;
    special_logarithm(&m, &k);
    {
        const pair l = logarithm(pair_of(m, 0), k), product = exact_product(y, l.hi);
        result = exponential_of(absolute(product.hi) > 1000 ? pair_of(product.hi, 0)
                                                            : fast_sum(product.hi, fma_of(y, l.lo, product.lo)));
    }
    return negative ? -result : result;
}
DEVICE_FUNCTION double __nv_powi(double x, int n) { return __nv_pow(x, n); }

DEVICE_FUNCTION double __nv_sqrt(double x) { return __builtin_sqrt(x); }
DEVICE_FUNCTION double __nv_rsqrt(double x) {
    const int k = x < 0x1p-1000 ? 256 : x > 0x1p1000 ? -256 : 0; /* the root is scaled, so that nothing overflows */
    double r, rest;
    if (x == 0 || is_infinite(x) || !(x > 0)) return 1 / __builtin_sqrt(x);
    x = scale(x, 2 * k);
    r = 1 / __builtin_sqrt(x);
    rest = fma_of(-r * r, x, 1); /* one step of Newton */
    return scale(fma_of(0.5 * r, rest, r), k);
}

DEVICE_FUNCTION double __nv_cbrt(double x) {
    double a = absolute(x), y;
    int k = 0;
    if (is_nan(x) || is_infinite(x) || x == 0) return x;
    if (a < 0x1p-1022) {
        a *= 0x1p54;
        k = -18;
    } else if (a > 0x1p1000) { /* the cube of the first guess may be larger than a */
        a *= 0x1p-54;
        k = 18;
    }
    y = of_bits(bits_of(a) / 3 + 0x2a9f789300000000ull); /* a third of the exponent */
    y = y - (y * y * y - a) / (3 * y * y);
    y = y - (y * y * y - a) / (3 * y * y);
    y = y - (y * y * y - a) / (3 * y * y);
    y = y - (y * y * y - a) / (3 * y * y);
    {
        const pair square = exact_product(y, y), cube = pair_product(square, pair_of(y, 0));
        y = y - ((cube.hi - a) + cube.lo) / (3 * square.hi);
    }
    return with_sign_of(scale(y, k), x);
}
DEVICE_FUNCTION double __nv_rcbrt(double x) {
    const int k = absolute(x) < 0x1p-1000 ? 300 : absolute(x) > 0x1p1000 ? -300 : 0; /* as in rsqrt */
    const double y = __nv_cbrt(scale(x, 3 * k)), r = 1 / y;
    if (x == 0 || is_infinite(x) || is_nan(x)) return r;
    x = scale(x, 3 * k);
    {
        const pair cube = pair_product(exact_product(r, r), pair_of(r, 0));
        const pair rest = pair_product(cube, pair_of(x, 0));
        return scale(fma_of(r, ((1 - rest.hi) - rest.lo) * (1.0 / 3), r), k);
    }
}

/* sqrt of a sum of squares; numbers are scaled so that nothing overflows. */
INLINE double norm(const double *x, int count, int inverse) {
    double largest = 0;
    pair sum = {0, 0}, root;
    int i, k;
    for (i = 0; i < count; i++) {
        if (is_infinite(x[i])) return inverse ? 0 : INFINITE;
        if (absolute(x[i]) > largest || is_nan(x[i])) largest = absolute(x[i]);
    }
    for (i = 0; i < count; i++)
        if (is_nan(x[i])) return x[i];
    if (largest == 0) return inverse ? INFINITE : 0;
    k = (int)(bits_of(largest) >> 52) - 1023;
    for (i = 0; i < count; i++) {
        const double y = scale(x[i], -k);
        sum = pair_sum(sum, exact_product(y, y));
    }
    root.hi = __builtin_sqrt(sum.hi);
    root = fast_sum(root.hi, (fma_of(-root.hi, root.hi, sum.hi) + sum.lo) / (2 * root.hi));
    return inverse ? scale(pair_quotient(1, root).hi, -k) : scale(root.hi, k);
}
DEVICE_FUNCTION double __nv_hypot(double x, double y) { return norm((const double[]){x, y}, 2, 0); }
DEVICE_FUNCTION double __nv_rhypot(double x, double y) { return norm((const double[]){x, y}, 2, 1); }
DEVICE_FUNCTION double __nv_norm3d(double x, double y, double z) { return norm((const double[]){x, y, z}, 3, 0); }
DEVICE_FUNCTION double __nv_rnorm3d(double x, double y, double z) { return norm((const double[]){x, y, z}, 3, 1); }
DEVICE_FUNCTION double __nv_norm4d(double x, double y, double z, double w) {
    return norm((const double[]){x, y, z, w}, 4, 0);
}
DEVICE_FUNCTION double __nv_rnorm4d(double x, double y, double z, double w) {
    return norm((const double[]){x, y, z, w}, 4, 1);
}

/* ==== trigonometry ==== */

/* The first 1216 bits of 2/pi. */
static const unsigned two_over_pi[] = {
    0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab, 0xdebbc561,
    0xb7246e3a, 0x424dd2e0, 0x06492eea, 0x09d1921c, 0xfe1deb1c, 0xb129a73e, 0xe88235f5, 0x2ebb4484,
    0xe99c7026, 0xb45f7e41, 0x3991d639, 0x835339f4, 0x9c845f8b, 0xbdf9283b, 0x1ff897ff, 0xde05980f,
    0xef2f118b, 0x5a0a6d1f, 0x6d367ecf, 0x27cb09b7, 0x4f463f66, 0x9e5fea2d, 0x7527bac7, 0xebe5f17b,
    0x3d0739f7, 0x8a5292ea, 0x6bfb5fb1, 0x1f8d5d08, 0x56033046, 0xfc7b6bab};

/* 64 bits of 2/pi from bit `at` on; bit 0 is worth 1/2, and bits before it are 0. */
INLINE unsigned long long bits_at(int at) {
    unsigned long long high, low;
    int word, shift;
    if (at < 0) {
        high = (unsigned long long)two_over_pi[0] << 32 | two_over_pi[1];
        return at <= -64 ? 0 : high >> -at;
    }
    word = at >> 5;
    shift = at & 31;
    high = (unsigned long long)two_over_pi[word] << 32 | two_over_pi[word + 1];
    low = two_over_pi[word + 2];
    return shift ? high << shift | low >> (32 - shift) : high;
}

INLINE unsigned long long high_product(unsigned long long a, unsigned long long b) {
    return (unsigned long long)(((unsigned __int128)a * b) >> 64);
}

/* Payne and Hanek: only the bits of 2/pi count that reach from the last two of the quotient's whole part down. */
static __attribute__((noinline)) int reduce_large(double x, pair *r) {
    const unsigned long long bits = bits_of(x);
    const int exponent = (int)(bits >> 52 & 0x7ff) - 1023 - 52; /* x = mantissa * 2^exponent */
    const unsigned long long mantissa = (bits & 0xfffffffffffffull) | 0x10000000000000ull;
    const int at = exponent - 2; /* product bit 0 is worth 2 then */
    const unsigned long long p0 = bits_at(at), p1 = bits_at(at + 64), p2 = bits_at(at + 128);
    /* mantissa * (p0, p1, p2), of which the words below 2^64 of p0 are the fraction of quotient / 4 */
    unsigned long long w0 = mantissa * p0, w1 = mantissa * p1, w2 = high_product(mantissa, p2);
    unsigned long long carry = w1 + w2 < w1;
    int quadrant, negative, shift = 0;
    double hi, lo;
    w2 = w1 + w2;
    w1 = high_product(mantissa, p1) + carry;
    w0 += w1;
    w1 = w2;
    quadrant = (int)(w0 >> 62);
    w0 = w0 << 2 | w1 >> 62;
    w1 <<= 2;
    negative = (int)(w0 >> 63); /* above one half: count from the next quadrant down */
    if (negative) {
        quadrant++;
        w0 = ~w0;
        w1 = ~w1;
    }
    while (shift < 120 && !(w0 >> 63)) { /* few turns: leading zeros are rare */
        w0 = w0 << 1 | w1 >> 63;
        w1 <<= 1;
        shift++;
    }
    hi = scale((double)(w0 >> 11), -53 - shift);
    lo = scale((double)((w0 & 0x7ff) << 53 | w1 >> 11), -117 - shift);
    *r = pair_product(pair_of(hi, lo), pair_of(PIO2_HI, PIO2_LO));
    if (negative) *r = pair_of(-r->hi, -r->lo);
    return quadrant & 3;
}

/* r = x - quadrant * pi/2, for x of either sign, |r| <= pi/4. */
INLINE int reduce(double x, pair *r) {
    const double a = absolute(x);
    int quadrant;
    if (a < 0x1p20) {
        const double n = nearest(x * 0x1.45f306dc9c883p-1);
        /* pi/2 in three parts; n times the first has no rounding in a fused sum */
        pair sum = exact_sum(fma_of(-n, 0x1.921fb54442d18p+0, x), 0), second;
        second = exact_product(-n, 0x1.1a62633145c06p-54);
        sum = pair_sum(sum, second);
        sum = pair_sum(sum, pair_of(-n * 0x1.c1cd129024e09p-107, 0));
        *r = sum;
        return (int)n & 3;
    }
    quadrant = reduce_large(a, r);
    if (x > 0) return quadrant;
    *r = pair_of(-r->hi, -r->lo);
    return -quadrant & 3;
}

/* sin(r) and cos(r) for |r| <= pi/4. */
INLINE pair sine_pair(pair r) {
    const double z = r.hi * r.hi;
    const double p = POLYNOMIAL(z, -1.0 / 6, 1.0 / 120, -1.0 / 5040, 1.0 / 362880, -1.0 / 39916800, 1.0 / 6227020800,
                                -1.0 / 1307674368000.0, 1.0 / 355687428096000.0);
    return fast_sum(r.hi, fma_of(z * r.hi, p, r.lo) - 0.5 * z * r.lo);
}
INLINE pair cosine_pair(pair r) {
    const pair square = exact_product(r.hi, r.hi);
    const double z = square.hi;
    const double p = POLYNOMIAL(z, 1.0 / 24, -1.0 / 720, 1.0 / 40320, -1.0 / 3628800, 1.0 / 479001600,
                                -1.0 / 87178291200.0, 1.0 / 20922789888000.0);
    const pair first = fast_sum(1, -0.5 * z);
    return fast_sum(first.hi, first.lo + (fma_of(z * z, p, -0.5 * square.lo) - r.hi * r.lo));
}
INLINE double sine_of(pair r) { return sine_pair(r).hi; }
INLINE double cosine_of(pair r) { return cosine_pair(r).hi; }
/* sin of quadrant * pi/2 + r. */
INLINE double sine_in(int quadrant, pair r) {
    const double value = quadrant & 1 ? cosine_of(r) : sine_of(r);
    return quadrant & 2 ? -value : value;
}

DEVICE_FUNCTION double __nv_sin(double x) {
    pair r;
    if (is_nan(x) || is_infinite(x)) return NOT_A_NUMBER;
    if (absolute(x) < 0x1p-27) return x;
    {
        const int quadrant = reduce(x, &r);
        return sine_in(quadrant, r);
    }
}
DEVICE_FUNCTION double __nv_cos(double x) {
    pair r;
    if (is_nan(x) || is_infinite(x)) return NOT_A_NUMBER;
    {
        const int quadrant = reduce(x, &r);
        return sine_in(quadrant + 1, r);
    }
}
DEVICE_FUNCTION void __nv_sincos(double x, double *sine, double *cosine) {
    pair r;
    if (is_nan(x) || is_infinite(x)) {
        *sine = *cosine = NOT_A_NUMBER;
        return;
    }
    {
        const int quadrant = reduce(x, &r);
        *sine = absolute(x) < 0x1p-27 ? x : sine_in(quadrant, r);
        *cosine = sine_in(quadrant + 1, r);
    }
}
DEVICE_FUNCTION double __nv_tan(double x) {
    pair r;
    if (is_nan(x) || is_infinite(x)) return NOT_A_NUMBER;
    if (absolute(x) < 0x1p-27) return x;
    {
        const int quadrant = reduce(x, &r);
        const pair sine = sine_pair(r), cosine = cosine_pair(r);
        const pair over = quadrant & 1 ? cosine : sine, under = quadrant & 1 ? sine : cosine;
        const double q = over.hi / under.hi, rest = fma_of(-q, under.hi, over.hi) + over.lo - q * under.lo;
        const double value = q + rest / under.hi;
        return quadrant & 1 ? -value : value;
    }
}

/* r = pi * (x - quadrant / 2). */
INLINE int reduce_turns(double x, pair *r) {
    const double y = x - 2 * __builtin_trunc(0.5 * x), n = nearest(2 * y);
    *r = pair_product(pair_of(fma_of(-0.5, n, y), 0), pair_of(PI_HI, PI_LO));
    return (int)n & 3;
}
DEVICE_FUNCTION double __nv_sinpi(double x) {
    pair r;
    if (is_nan(x) || is_infinite(x)) return NOT_A_NUMBER;
    if (is_whole(x)) return with_sign_of(0, x);
    {
        const int quadrant = reduce_turns(x, &r);
        return sine_in(quadrant, r);
    }
}
DEVICE_FUNCTION double __nv_cospi(double x) {
    pair r;
    if (is_nan(x) || is_infinite(x)) return NOT_A_NUMBER;
    {
        const int quadrant = reduce_turns(x, &r);
        return sine_in(quadrant + 1, r);
    }
}
DEVICE_FUNCTION void __nv_sincospi(double x, double *sine, double *cosine) {
    *sine = __nv_sinpi(x);
    *cosine = __nv_cospi(x);
}

/* atan of n / 8. */
static const double arcs[9][2] = {{0, 0},
                                  {0x1.fd5ba9aac2f6ep-4, -0x1.cd37686760c17p-59},
                                  {0x1.f5b75f92c80ddp-3, 0x1.8ab6e3cf7afbdp-57},
                                  {0x1.6f61941e4def1p-2, -0x1.c63aae6f6e918p-56},
                                  {0x1.dac670561bb4fp-2, 0x1.a2b7f222f65e2p-56},
                                  {0x1.1e00babdefeb4p-1, -0x1.928df287a668fp-58},
                                  {0x1.4978fa3269ee1p-1, 0x1.2419a87f2a458p-56},
                                  {0x1.700a7c5784634p-1, -0x1.8c34d25aadef6p-56},
                                  {0x1.921fb54442d18p-1, 0x1.1a62633145c07p-55}};

/* atan(x.hi + x.lo) for 0 <= x <= 1. */
INLINE pair arc(pair x) {
    const int n = (int)(8 * x.hi + 0.5);
    const double t = 0.125 * n;
    pair y = x;
    double z, tail;
    if (n) {
        const pair above = exact_sum(x.hi - t, x.lo), below = pair_sum(pair_of(1, 0), exact_product(x.hi, t));
        y = pair_quotient(above.hi, below);
    }
    z = y.hi * y.hi;
    tail = z * y.hi * POLYNOMIAL(z, -1.0 / 3, 1.0 / 5, -1.0 / 7, 1.0 / 9, -1.0 / 11, 1.0 / 13, -1.0 / 15);
    return pair_sum(pair_of(arcs[n][0], arcs[n][1]), fast_sum(y.hi, y.lo + tail));
}

/* The angle of (x, y), both positive. */
INLINE pair angle(double y, double x) {
    pair a;
    if (y <= x) return arc(pair_quotient(y, pair_of(x, 0)));
    a = arc(pair_quotient(x, pair_of(y, 0)));
    return pair_sum(pair_of(PIO2_HI, PIO2_LO), pair_of(-a.hi, -a.lo));
}

DEVICE_FUNCTION double __nv_atan(double x) {
    const double a = absolute(x);
    pair p;
    if (is_nan(x) || a < 0x1p-28) return x;
    if (a > 0x1p60) return with_sign_of(PIO2_HI, x);
    p = angle(a, 1);
    return with_sign_of(p.hi + p.lo, x);
}
DEVICE_FUNCTION double __nv_atan2(double y, double x) {
    double ay = absolute(y), ax = absolute(x);
    const int left = (int)(bits_of(x) >> 63);
    pair p;
    if (is_nan(x) || is_nan(y)) return x + y;
    if (ay == 0) return with_sign_of(left ? PI_HI : 0, y);
    if (ax == 0) return with_sign_of(PIO2_HI, y);
    if (ax == INFINITE)
        return with_sign_of(ay == INFINITE ? (left ? 0x1.2d97c7f3321d2p+1 : 0x1.921fb54442d18p-1)
                            : left         ? PI_HI
                                           : 0,
                            y);
    if (ay == INFINITE) return with_sign_of(PIO2_HI, y);
    {
        const int distance = (int)(bits_of(ay) >> 52) - (int)(bits_of(ax) >> 52);
        if (distance > 60) return with_sign_of(PIO2_HI, y);
        if (distance < -60 && left) return with_sign_of(PI_HI, y);
        if (distance < -60) return with_sign_of(ay / ax, y);
        if (ax < 0x1p-900) {
            ax *= 0x1p200;
            ay *= 0x1p200;
        }
        if (ax > 0x1p900 || ay > 0x1p900) {
            ax *= 0x1p-200;
            ay *= 0x1p-200;
        }
    }
    p = angle(ay, ax);
    if (left) p = pair_sum(pair_of(PI_HI, PI_LO), pair_of(-p.hi, -p.lo));
    return with_sign_of(p.hi + p.lo, y);
}
/* sqrt((1 - x) (1 + x)) as a pair. */
INLINE pair other_leg(double x) {
    const pair square = exact_product(x, x);
    const pair rest = pair_sum(pair_of(1, 0), pair_of(-square.hi, -square.lo));
    const double root = __builtin_sqrt(rest.hi);
    if (root == 0) return pair_of(0, 0);
    return fast_sum(root, (fma_of(-root, root, rest.hi) + rest.lo) / (2 * root));
}
INLINE pair arc_sine(double a) {
    const pair leg = other_leg(a);
    pair p;
    if (a <= leg.hi) return arc(pair_quotient(a, leg));
    p = arc(fast_sum(leg.hi / a, (fma_of(-(leg.hi / a), a, leg.hi) + leg.lo) / a));
    return pair_sum(pair_of(PIO2_HI, PIO2_LO), pair_of(-p.hi, -p.lo));
}
DEVICE_FUNCTION double __nv_asin(double x) {
    const double a = absolute(x);
    pair p;
    if (is_nan(x) || a < 0x1p-28) return x;
    if (a > 1) return NOT_A_NUMBER;
    p = arc_sine(a);
    return with_sign_of(p.hi + p.lo, x);
}
DEVICE_FUNCTION double __nv_acos(double x) {
    const double a = absolute(x);
    pair p;
    if (is_nan(x)) return x;
    if (a > 1) return NOT_A_NUMBER;
    p = arc_sine(a);
    if (x > 0) p = pair_of(-p.hi, -p.lo);
    p = pair_sum(pair_of(PIO2_HI, PIO2_LO), p);
    return p.hi + p.lo;
}

/* ==== error function ==== */

/* erfc(x) e^(x^2) (1 + 2 x), over t = (x - 4) / (x + 4), for x >= 0.75 (Shepherd and Laframboise 1981). */
INLINE double erfcx_of(double x) {
    const double t = (x - 4) / (x + 4);
    return POLYNOMIAL(t, 0x1.3ba5916e9fd7fp+0, -0x1.1df1ad154a28ep-3, 0x1.f7f5df66fd7c1p-7, 0x1.16ecefcfa5396p-4,
                      -0x1.9ddb23c3e912bp-4, 0x1.7fee004e12518p-4, -0x1.0fb06dfe485dap-4, 0x1.3079edf6833d5p-5,
                      -0x1.096238855f8a7p-6, 0x1.49c67285de994p-8, -0x1.8d4a997416a97p-11, -0x1.a1df24fce6a9fp-13,
                      0x1.3be02ffb3d858p-13, -0x1.99596001ef58bp-16, -0x1.7880c238e4af2p-17, 0x1.7f2ae8720a60ep-18,
                      0x1.3811dd0042c32p-22, -0x1.bb4b41900e931p-21, 0x1.5559f82be9b14p-24, 0x1.dcc165bfdd0cfp-24,
                      -0x1.84f47573cd0ddp-26, -0x1.076cf96d7db30p-26, 0x1.39cd642965f57p-28, 0x1.112bdf1082adap-29,
                      -0x1.b1782147dc9c9p-31, -0x1.3690f8595bd61p-33, 0x1.35e346e0bba68p-34) /
           (1 + 2 * x);
}
/* erf(x) for |x| <= 1: x times a polynomial of x^2. */
INLINE double erf_small(double x) {
    return x * POLYNOMIAL(x * x, 0x1.20dd750429b6dp+0, -0x1.812746b0379e6p-2, 0x1.ce2f21a042b30p-4,
                          -0x1.b82ce31284e00p-6, 0x1.565bcd0dbaa38p-8, -0x1.c02db3dac435fp-11, 0x1.f9a321d5b8e1ep-14,
                          -0x1.f4d1e3183f7aep-17, 0x1.b9df224ca4b97p-20, -0x1.5f1ecb6f0764cp-23, 0x1.f7b4bf3b13964p-27,
                          -0x1.389d4f2641625p-30, 0x1.05ffd737fb32ep-34);
}
INLINE double erfc_large(double x) {
    const pair square = exact_product(x, x);
    return x > 27.3 ? 0 : erfcx_of(x) * exponential_of(pair_of(-square.hi, -square.lo));
}
DEVICE_FUNCTION double __nv_erf(double x) {
    const double a = absolute(x);
    if (is_nan(x)) return x;
    if (a <= 1) return erf_small(x);
    return with_sign_of(a > 6 ? 1 : 1 - erfc_large(a), x);
}
DEVICE_FUNCTION double __nv_erfc(double x) {
    if (is_nan(x)) return x;
    if (x < 0.75) return x < -6 ? 2 : absolute(x) <= 1 ? 1 - erf_small(x) : 2 - erfc_large(-x);
    return erfc_large(x);
}
DEVICE_FUNCTION double __nv_erfcx(double x) {
    pair square;
    if (is_nan(x)) return x;
    if (x > 1e8) return 0x1.20dd750429b6dp-1 / x;
    if (x >= 0.75) return erfcx_of(x);
    square = exact_product(x, x);
    if (square.hi > 720) return INFINITE;
    return __nv_erfc(x) * exponential_of(square);
}
DEVICE_FUNCTION double __nv_normcdf(double x) {
    const double y = -x * 0x1.6a09e667f3bcdp-1;
    const double low = -x * -0x1.bdd3413b26456p-55 + fma_of(-x, 0x1.6a09e667f3bcdp-1, -y);
    double value;
    if (is_nan(x)) return x;
    if (x > 38.6) return 1;
    if (x < -38.6) return 0;
    value = 0.5 * __nv_erfc(y); /* and its derivative times what y has lost */
    return y > 1 ? value - value * 2 * y * low : value;
}

/* The x with erfc(x) = y, 0 < y < 2: Halley's iteration from a guess. */
INLINE double erfc_inverse(double y) {
    const double small = y < 1 ? y : 2 - y;
    double x, l;
    int i;
    if (small > 0.5)
        x = (1 - small) * 0.886226925452758 * (1 + (1 - small) * (1 - small) * 0.2617993877991494);
    else {
        l = __builtin_sqrt(-2 * __nv_log(0.5 * small));
        x = 0.7071067811865475 *
            (l - (2.515517 + l * (0.802853 + l * 0.010328)) / (1 + l * (1.432788 + l * (0.189269 + l * 0.001308))));
    }
    for (i = 0; i < 3; i++) {
        const double error = (small > 0.5 ? (1 - small) - __nv_erf(x) : __nv_erfc(x) - small);
        const double step = (small > 0.5 ? error : error) / (0x1.20dd750429b6dp+0 * exponential_of(pair_of(-x * x, 0)));
        x += step / (1 + x * step);
    }
    return y < 1 ? x : -x;
}
DEVICE_FUNCTION double __nv_erfcinv(double y) {
    if (is_nan(y) || y < 0 || y > 2) return NOT_A_NUMBER;
    if (y == 0 || y == 2) return y == 0 ? INFINITE : -INFINITE;
    return erfc_inverse(y);
}
DEVICE_FUNCTION double __nv_erfinv(double y) {
    const double a = absolute(y);
    if (is_nan(y) || a > 1) return NOT_A_NUMBER;
    if (a == 1) return with_sign_of(INFINITE, y);
    if (a < 0x1p-27) return y * 0x1.c5bf891b4ef6ap-1;
    if (a >= 0.5) return with_sign_of(erfc_inverse(1 - a), y);
    {
        double x = a * 0.886226925452758 * (1 + a * a * 0.2617993877991494);
        int i;
        for (i = 0; i < 3; i++) {
            const double step = (a - erf_small(x)) / (0x1.20dd750429b6dp+0 * exponential_of(pair_of(-x * x, 0)));
            x += step / (1 + x * step);
        }
        return with_sign_of(x, y);
    }
}
DEVICE_FUNCTION double __nv_normcdfinv(double y) {
    if (is_nan(y) || y < 0 || y > 1) return NOT_A_NUMBER;
    return -0x1.6a09e667f3bcdp+0 * __nv_erfcinv(2 * y);
}

/* ==== gamma function ==== */

/* log of gamma for 0.75 <= x <= 2.25: (x - 1) (x - 2) times a polynomial of x - 1.5. */
INLINE double lgamma_middle(double x) {
    return (x - 1) * (x - 2) *
           POLYNOMIAL(x - 1.5, 0x1.eeb95b094c192p-2, -0x1.2aed059bd608bp-3, 0x1.01af62a2922c8p-4, -0x1.007aa83ced8aap-5,
                      0x1.13342353299d8p-6, -0x1.34dbda15738c2p-7, 0x1.64f065e707aaep-8, -0x1.a50351afb0752p-9,
                      0x1.f814d97432b88p-10, -0x1.313e9e2094c31p-10, 0x1.7507c2cd26b10p-11, -0x1.cb415c9b17638p-12,
                      0x1.1ca4312539956p-12, -0x1.62703a5d708f0p-13, 0x1.b73c4917c008ep-14, -0x1.13b1fa7bda819p-14,
                      0x1.786786c3538b1p-15, -0x1.dc73f571fd47cp-16, 0x1.4083ba04b1a5dp-17, -0x1.91f61d0a3afffp-18,
                      0x1.292e4e8481325p-16, -0x1.7e200b65f3ec8p-17, -0x1.f603c43135e5ap-18, 0x1.4544ea5153538p-18,
                      0x1.93c1c4ab141bcp-18, -0x1.046408ca6dfb8p-18);
}
/* Stirling's series behind x log x - x, for x >= 10, with half the logarithm of 2 pi. */
INLINE double stirling(double x) {
    const double r = 1 / x, z = r * r;
    return 0x1.d67f1c864beb5p-1 + r * POLYNOMIAL(z, 1.0 / 12, -1.0 / 360, 1.0 / 1260, -1.0 / 1680, 1.0 / 1188,
                                                 -691.0 / 360360, 1.0 / 156, -3617.0 / 122400);
}
INLINE pair lgamma_large(double x) {
    const pair l = logarithm(pair_of(x, 0), 0), product = pair_product(l, pair_of(x - 0.5, 0));
    return pair_sum(product, exact_sum(-x, stirling(x)));
}
INLINE double lgamma_positive(double x) {
    double product = 1;
    pair l;
    if (x > 1e305) return INFINITE;
    if (x >= 10) {
        l = lgamma_large(x);
        return l.hi + l.lo;
    }
    if (x < 0.75) return lgamma_middle(x + 1) - __nv_log(x);
    while (x > 2.25) {
        x -= 1;
        product *= x;
    }
    return lgamma_middle(x) + (product == 1 ? 0 : __nv_log(product));
}
DEVICE_FUNCTION double __nv_lgamma(double x) {
    double s;
    if (is_nan(x)) return x;
    if (is_infinite(x)) return INFINITE;
    if (x > 0) return lgamma_positive(x);
    if (is_whole(x)) return INFINITE;
    s = absolute(__nv_sinpi(x)); /* reflection */
    if (x > -0x1p-60) return -__nv_log(-x);
    return __nv_log(PI_HI / (s * -x)) - lgamma_positive(-x);
}
/* Below 10 steps of 1 lead to the middle, downward, where they are exact. */
INLINE double tgamma_positive(double x) {
    double product = 1;
    if (x >= 10) return exponential_of(lgamma_large(x));
    if (x < 0.75) return __nv_exp(lgamma_middle(x + 1)) / x;
    while (x > 2.25) {
        x -= 1;
        product *= x;
    }
    return product * __nv_exp(lgamma_middle(x));
}
DEVICE_FUNCTION double __nv_tgamma(double x) {
    const double y = -x;
    if (is_nan(x) || x == INFINITE) return x;
    if (x == 0) return with_sign_of(INFINITE, x);
    if (x < 0 && is_whole(x)) return NOT_A_NUMBER;
    if (x > 171.7) return INFINITE;
    if (x > 0) return tgamma_positive(x);
    if (x < -184) return 0;
    /* reflection; far out in two factors, since gamma(y) may be too large */
    if (x >= -100) return -PI_HI / (y * __nv_sinpi(y) * tgamma_positive(y));
    {
        const pair l = lgamma_large(y);
        const double half = exponential_of(pair_of(-0.5 * l.hi, -0.5 * l.lo));
        return -(PI_HI / (y * __nv_sinpi(y))) * half * half;
    }
}

/* ==== whole numbers, remainders, parts ==== */

DEVICE_FUNCTION double __nv_fabs(double x) { return absolute(x); }
DEVICE_FUNCTION double __nv_floor(double x) { return __builtin_floor(x); }
DEVICE_FUNCTION double __nv_ceil(double x) { return __builtin_ceil(x); }
DEVICE_FUNCTION double __nv_trunc(double x) { return __builtin_trunc(x); }
DEVICE_FUNCTION double __nv_rint(double x) { return __builtin_rint(x); }
DEVICE_FUNCTION double __nv_nearbyint(double x) { return __builtin_rint(x); }
DEVICE_FUNCTION double __nv_round(double x) {
    const double a = absolute(x);
    double whole;
    if (!(a < 0x1p52)) return x;
    whole = __builtin_trunc(a);
    return with_sign_of(a - whole >= 0.5 ? whole + 1 : whole, x);
}
DEVICE_FUNCTION long long __nv_llrint(double x) { return (long long)__builtin_rint(x); }
DEVICE_FUNCTION long long __nv_llround(double x) { return (long long)__nv_round(x); }
DEVICE_FUNCTION double __nv_fmin(double x, double y) { return __builtin_fmin(x, y); }
DEVICE_FUNCTION double __nv_fmax(double x, double y) { return __builtin_fmax(x, y); }
DEVICE_FUNCTION double __nv_fdim(double x, double y) { return x > y ? x - y : x <= y ? 0 : x + y; }
DEVICE_FUNCTION double __nv_fma(double x, double y, double z) { return fma_of(x, y, z); }
DEVICE_FUNCTION double __nv_copysign(double x, double y) { return with_sign_of(x, y); }
DEVICE_FUNCTION double __nv_nan(const signed char *text) {
    (void)text;
    return NOT_A_NUMBER;
}
DEVICE_FUNCTION double __nv_ldexp(double x, int k) { return scale(x, k); }
DEVICE_FUNCTION double __nv_scalbn(double x, int k) { return scale(x, k); }
DEVICE_FUNCTION double __nv_frexp(double x, int *k) {
    int more = 0;
    *k = 0;
    if (x == 0 || is_nan(x) || is_infinite(x)) return x;
    if (absolute(x) < 0x1p-1022) {
        x *= 0x1p54;
        more = -54;
    }
    *k = (int)(bits_of(x) >> 52 & 0x7ff) - 1022 + more;
    return of_bits((bits_of(x) & 0x800fffffffffffffull) | 0x3fe0000000000000ull);
}
DEVICE_FUNCTION int __nv_ilogb(double x) {
    int k;
    if (x == 0) return -2147483647 - 1;
    if (is_nan(x)) return -2147483647 - 1;
    if (is_infinite(x)) return 2147483647;
    __nv_frexp(x, &k);
    return k - 1;
}
DEVICE_FUNCTION double __nv_logb(double x) {
    if (x == 0) return -INFINITE;
    if (is_nan(x) || is_infinite(x)) return x * x;
    return __nv_ilogb(x);
}
DEVICE_FUNCTION double __nv_modf(double x, double *whole) {
    *whole = __builtin_trunc(x);
    return is_infinite(x) ? with_sign_of(0, x) : with_sign_of(x - *whole, x);
}
DEVICE_FUNCTION double __nv_nextafter(double x, double y) {
    unsigned long long bits = bits_of(x);
    if (is_nan(x) || is_nan(y)) return x + y;
    if (x == y) return y;
    if (x == 0) return with_sign_of(of_bits(1), y);
    return of_bits((x < y) == (x > 0) ? bits + 1 : bits - 1);
}
/* x - y * n exactly, n truncated or nearest; *n: its last bits. Bit by bit, as many turns as exponents differ. */
INLINE double rest_of(double x, double y, int to_nearest, int *quotient) {
    double a = absolute(x), b = absolute(y), step;
    unsigned n = 0;
    *quotient = 0;
    if (is_nan(x) || is_nan(y) || a == INFINITE || b == 0) return NOT_A_NUMBER;
    if (b == INFINITE) return x;
    if (a >= b) {
        int distance = __nv_ilogb(a) - __nv_ilogb(b);
        for (; distance >= 0; distance--) {
            step = scale(b, distance);
            n <<= 1;
            if (a >= step) {
                a -= step;
                n |= 1;
            }
        }
    }
    if (to_nearest &&
        (b < 0x1p-1020 ? (2 * a > b || (2 * a == b && n & 1)) : (a > 0.5 * b || (a == 0.5 * b && n & 1)))) {
        a -= b;
        n++;
    }
    n &= 0x7fffffff;
    *quotient = (bits_of(x) ^ bits_of(y)) >> 63 ? -(int)n : (int)n;
    if (a == 0) return with_sign_of(0, x);
    return bits_of(x) >> 63 ? -a : a;
}
DEVICE_FUNCTION double __nv_fmod(double x, double y) {
    int n;
    return rest_of(x, y, 0, &n);
}
DEVICE_FUNCTION double __nv_remainder(double x, double y) {
    int n;
    return rest_of(x, y, 1, &n);
}
DEVICE_FUNCTION double __nv_remquo(double x, double y, int *n) { return rest_of(x, y, 1, n); }
DEVICE_FUNCTION int __nv_isnand(double x) { return is_nan(x); }
DEVICE_FUNCTION int __nv_isinfd(double x) { return is_infinite(x); }
DEVICE_FUNCTION int __nv_isfinited(double x) { return absolute(x) < INFINITE; }
DEVICE_FUNCTION int __nv_signbitd(double x) { return (int)(bits_of(x) >> 63); }
