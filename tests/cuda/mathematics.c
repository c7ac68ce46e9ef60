/* labels: unit property */
/* The device's mathematics, compiled for the host, against the C library's long double: the error of each function
 * stays within the bound that the CUDA C++ programming guide states. GPUMP_TEST_CASES scales the number of arguments,
 * 10^4 for each function and range; tests/project/weekly.sh takes 10^6. */
#include "test.h"
#include <float.h>
#include <math.h>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#define DEVICE_PREFIX
#include "../../examples/cuda/device/doubles.c"
#include "../../examples/cuda/device/singles.c"
#pragma GCC diagnostic pop

#define ARGUMENTS 10000u

typedef long double reference(long double x);
typedef long double reference2(long double x, long double y);

/* Bound: of the guide, in units in the last place. Arguments: from low to high, spread over the exponents or, with even
 * 1, over the numbers; negative ones too where low is negative. */
typedef struct double_row {
    const char *name;
    double (*function)(double);
    reference *right;
    double bound, low, high;
    int even;
} double_row;
typedef struct single_row {
    const char *name;
    float (*function)(float);
    reference *right;
    double bound, low, high;
    int even;
} single_row;

static const long double pi = 3.14159265358979323846264338327950288L;
static long double rsqrt_l(long double x) { return 1 / sqrtl(x); }
static long double rcbrt_l(long double x) { return 1 / cbrtl(x); }
static long double exp10_l(long double x) { return powl(10, x); }
/* Half turns go first, exactly, and zeros are those of the sine. */
static long double sinpi_l(long double x) {
    const long double n = rintl(x), value = sinl(pi * (x - n));
    return fmodl(n, 2) == 0 ? value : -value;
}
static long double cospi_l(long double x) {
    const long double n = rintl(x), value = sinl(pi * (0.5L - fabsl(x - n)));
    return fmodl(n, 2) == 0 ? value : -value;
}
static long double normcdf_l(long double x) { return erfcl(-x * sqrtl(0.5L)) / 2; }
static long double erfcx_l(long double x) {
    long double sum = 0;
    int n;
    if (x < 8) return expl(x * x) * erfcl(x);
    for (n = 60; n > 0; n--) sum = n / (2 * (x + sum)); /* the continued fraction */
    return 1 / (sqrtl(pi) * (x + sum));
}

static uint64_t state = 1;
static uint64_t next(void) {
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (state ^ state >> 33) * UINT64_C(0xff51afd7ed558ccd);
}
static double fraction(void) { return (double)(next() >> 11) * 0x1p-53; }

static double argument(double low, double high, int even) {
    const double least = even ? 0 : low > 0 ? low : -low > 1e-20 ? 0x1p-40 : -low;
    double x;
    if (even) return low + (high - low) * fraction();
    x = exp2(log2(least) + fraction() * (log2(high) - log2(least))); /* high / least may be infinite */
    return low < 0 && next() >> 63 ? -x : x;
}

/* |value - right| in units in the last place of a format with so many bits and such a least exponent. */
static double ulps(long double value, long double right, int bits, int least_exponent) {
    int exponent;
    if (isnan(right) || isnan(value)) return isnan(right) && isnan(value) ? 0 : HUGE_VAL;
    if (isinf(value) || isinf(right)) return value == right ? 0 : HUGE_VAL;
    frexpl(right, &exponent);
    if (exponent < least_exponent) exponent = least_exponent;
    return (double)fabsl(ldexpl(value - right, bits - exponent));
}
static double double_ulps(double value, long double right) {
    if (fabsl(right) > DBL_MAX && isinf(value)) return 0;
    return ulps(value, right, 53, -1021);
}
static double single_ulps(float value, long double right) {
    if (fabsl(right) > (long double)FLT_MAX && isinf(value)) return 0;
    return ulps(value, right, 24, -125);
}

static const double_row doubles[] = {
    {"exp", __nv_exp, expl, 1, -745, 709.7, 1},
    {"exp", __nv_exp, expl, 1, -1e-12, 700, 0},
    {"exp2", __nv_exp2, exp2l, 1, -1074, 1023, 1},
    {"exp10", __nv_exp10, exp10_l, 1, -300, 308, 1},
    {"expm1", __nv_expm1, expm1l, 1, -1e-12, 700, 0},
    {"expm1", __nv_expm1, expm1l, 1, -2, 2, 1},
    {"log", __nv_log, logl, 1, 1e-308, 1e308, 0},
    {"log", __nv_log, logl, 1, 0.5, 2, 1},
    {"log2", __nv_log2, log2l, 1, 1e-308, 1e308, 0},
    {"log2", __nv_log2, log2l, 1, 0.5, 2, 1},
    {"log10", __nv_log10, log10l, 1, 1e-308, 1e308, 0},
    {"log1p", __nv_log1p, log1pl, 1, -0.999, 3, 1},
    {"log1p", __nv_log1p, log1pl, 1, 1e-20, 1e20, 0},
    {"sin", __nv_sin, sinl, 2, -10, 10, 1},
    {"sin", __nv_sin, sinl, 2, -1e-5, 1e15, 0},
    {"cos", __nv_cos, cosl, 2, -10, 10, 1},
    {"cos", __nv_cos, cosl, 2, -1e-5, 1e15, 0},
    {"tan", __nv_tan, tanl, 2, -10, 10, 1},
    {"tan", __nv_tan, tanl, 2, -1e-5, 1e15, 0},
    {"tan", __nv_tan, tanl, 2, 0x1.604db4e336d54p+2, 0x1.604db4e336d54p+2, 1}, /* 2.09 where the quotient is rounded */
    {"sinpi", __nv_sinpi, sinpi_l, 2, -10, 10, 1},
    {"cospi", __nv_cospi, cospi_l, 2, -10, 10, 1},
    {"asin", __nv_asin, asinl, 2, -1, 1, 1},
    {"acos", __nv_acos, acosl, 2, -1, 1, 1},
    {"atan", __nv_atan, atanl, 2, -1e-10, 1e10, 0},
    {"sinh", __nv_sinh, sinhl, 2, -1e-10, 710, 0},
    {"cosh", __nv_cosh, coshl, 1, -1e-10, 710, 0},
    {"tanh", __nv_tanh, tanhl, 1, -1e-10, 25, 0},
    {"asinh", __nv_asinh, asinhl, 3, -1e-10, 1e300, 0},
    {"acosh", __nv_acosh, acoshl, 3, 1, 1e300, 0},
    {"atanh", __nv_atanh, atanhl, 2, -0.9999, 0.9999, 1},
    {"cbrt", __nv_cbrt, cbrtl, 1, -5e-324, 1.79e308, 0},
    {"cbrt", __nv_cbrt, cbrtl, 1, DBL_MAX, DBL_MAX, 1},
    {"rcbrt", __nv_rcbrt, rcbrt_l, 1, -5e-324, 1.79e308, 0},
    {"rsqrt", __nv_rsqrt, rsqrt_l, 1, 5e-324, 1.79e308, 0},
    {"erf", __nv_erf, erfl, 2, -6, 6, 1},
    {"erfc", __nv_erfc, erfcl, 5, -6, 26, 1},
    {"erfcx", __nv_erfcx, erfcx_l, 4, -5, 60, 1},
    {"normcdf", __nv_normcdf, normcdf_l, 5, -37, 8, 1},
    {"lgamma", __nv_lgamma, lgammal, 4, 1e-10, 1e10, 0},
    {"lgamma", __nv_lgamma, lgammal, 4, 0.1, 4, 1},
    {"tgamma", __nv_tgamma, tgammal, 10, 1e-5, 170, 1},
    {"tgamma", __nv_tgamma, tgammal, 10, -19.5, 20, 1},
};

static const single_row singles[] = {
    {"expf", __nv_expf, expl, 1, -103, 88.7, 1},         {"exp2f", __nv_exp2f, exp2l, 2, -149, 127.9, 1},
    {"exp10f", __nv_exp10f, exp10_l, 2, -44, 38.5, 1},   {"expm1f", __nv_expm1f, expm1l, 1, -1e-6, 88, 0},
    {"logf", __nv_logf, logl, 1, 1e-38, 1e38, 0},        {"logf", __nv_logf, logl, 1, 0.5, 2, 1},
    {"log2f", __nv_log2f, log2l, 1, 1e-38, 1e38, 0},     {"log10f", __nv_log10f, log10l, 2, 1e-38, 1e38, 0},
    {"log1pf", __nv_log1pf, log1pl, 1, -0.99, 10, 1},    {"sinf", __nv_sinf, sinl, 2, -10, 10, 1},
    {"sinf", __nv_sinf, sinl, 2, -1e-5, 1e30, 0},        {"cosf", __nv_cosf, cosl, 2, -10, 10, 1},
    {"cosf", __nv_cosf, cosl, 2, -1e-5, 1e15, 0},        {"tanf", __nv_tanf, tanl, 4, -1e-5, 1e15, 0},
    {"sinpif", __nv_sinpif, sinpi_l, 1, -10, 10, 1},     {"cospif", __nv_cospif, cospi_l, 1, -10, 10, 1},
    {"asinf", __nv_asinf, asinl, 2, -1, 1, 1},           {"acosf", __nv_acosf, acosl, 2, -1, 1, 1},
    {"atanf", __nv_atanf, atanl, 2, -1e-10, 1e10, 0},    {"sinhf", __nv_sinhf, sinhl, 3, -1e-5, 89, 0},
    {"coshf", __nv_coshf, coshl, 2, -1e-5, 89, 0},       {"tanhf", __nv_tanhf, tanhl, 2, -1e-5, 12, 0},
    {"cbrtf", __nv_cbrtf, cbrtl, 1, -1e-37, 1e37, 0},    {"rcbrtf", __nv_rcbrtf, rcbrt_l, 1, -1e-37, 1e37, 0},
    {"rsqrtf", __nv_rsqrtf, rsqrt_l, 2, 1e-37, 1e37, 0}, {"erff", __nv_erff, erfl, 2, -4, 4, 1},
    {"erfcf", __nv_erfcf, erfcl, 4, -4, 10, 1},          {"lgammaf", __nv_lgammaf, lgammal, 6, 1e-5, 1e5, 0},
    {"tgammaf", __nv_tgammaf, tgammal, 5, 1e-5, 34, 1},
};

/* With more arguments than usual each function's worst error is listed. */
static int is_beyond(const char *name, double at, double worst, double bound, uint64_t count) {
    if (worst > bound || count > ARGUMENTS) printf("%s(%a): %.3f ulp, the bound is %g\n", name, at, worst, bound);
    return worst > bound;
}

/* Each function of one argument beside long double: no error is larger than its row says. */
static void functions_of_one_argument_are_within_their_ulps(void **unused) {
    const uint64_t count = test_cases(ARGUMENTS);
    int wrong = 0;
    size_t i;
    (void)unused;
    for (i = 0; i < sizeof doubles / sizeof *doubles; i++) {
        const double_row *row = &doubles[i];
        double worst = 0, at = 0;
        uint64_t n;
        for (n = 0; n < count; n++) {
            const double x = argument(row->low, row->high, row->even);
            const double error = double_ulps(row->function(x), row->right(x));
            if (error > worst) worst = error, at = x;
        }
        wrong += is_beyond(row->name, at, worst, row->bound, count);
    }
    for (i = 0; i < sizeof singles / sizeof *singles; i++) {
        const single_row *row = &singles[i];
        double worst = 0;
        float at = 0;
        uint64_t n;
        for (n = 0; n < count; n++) {
            const float x = (float)argument(row->low, row->high, row->even);
            const double error = single_ulps(row->function(x), row->right(x));
            if (error > worst) worst = error, at = x;
        }
        wrong += is_beyond(row->name, at, worst, row->bound, count);
    }
    assert_int_equal(wrong, 0);
}

/* pow, atan2 and the like beside long double. */
static void functions_of_two_arguments_are_within_their_ulps(void **unused) {
    const uint64_t count = test_cases(ARGUMENTS);
    uint64_t n;
    (void)unused;
    for (n = 0; n < count; n++) {
        const double x = argument(1e-300, 1e300, 0), y = argument(-1e-300, 1e300, 0);
        const double base = argument(1e-3, 1e3, 0), power = argument(-100, 100, 1);
        const float fx = (float)base, fy = (float)(power * 0.12);
        const long double two = hypotl(base, power), three = hypotl(two, x), four = hypotl(three, 3);
        assert_true(double_ulps(__nv_pow(base, power), powl(base, power)) <= 2);
        assert_true(single_ulps(__nv_powf(fx, fy), powl((long double)fx, (long double)fy)) <= 4);
        assert_true(double_ulps(__nv_atan2(y, x), atan2l(y, x)) <= 2);
        assert_true(double_ulps(__nv_hypot(x, y), hypotl(x, y)) <= 2);
        assert_true(double_ulps(__nv_rhypot(x, y), 1 / hypotl(x, y)) <= 1);
        assert_true(double_ulps(__nv_hypot(base, power), two) <= 1);
        assert_true(double_ulps(__nv_rhypot(base, power), 1 / two) <= 1);
        assert_true(double_ulps(__nv_norm3d(base, power, x), three) <= 1);
        assert_true(double_ulps(__nv_rnorm3d(base, power, x), 1 / three) <= 1);
        assert_true(double_ulps(__nv_norm4d(base, power, x, 3), four) <= 1);
        assert_true(double_ulps(__nv_rnorm4d(base, power, x, 3), 1 / four) <= 1);
        assert_true(single_ulps(__nv_rhypotf(fx, fy), 1 / hypotl((long double)fx, (long double)fy)) <= 2);
        assert_true(single_ulps(__nv_atan2f(fy, fx), atan2l((long double)fy, (long double)fx)) <= 3);
        assert_true(__nv_fmod(base * 1e6, 0.1 + base) == fmod(base * 1e6, 0.1 + base));
        assert_true(__nv_remainder(power * 1e6, 0.1 + base) == remainder(power * 1e6, 0.1 + base));
        assert_true(single_ulps(__nv_hypotf(fx, fy), hypotl((long double)fx, (long double)fy)) <= 3);
    }
}

/* An inverse is right when the function leads back: its own error is amplified by no more than the derivative. */
static void inverses(void **unused) {
    const uint64_t count = test_cases(ARGUMENTS);
    uint64_t n;
    (void)unused;
    for (n = 0; n < count; n++) {
        const double y = argument(-0.999999, 0.999999, 1), small = argument(1e-300, 1, 0);
        const long double x = __nv_erfinv(y), z = __nv_erfcinv(small), slope = 2 / sqrtl(pi) * expl(-x * x);
        assert_true(fabsl(erfl(x) - y) <= 5 * slope * fabsl(x) * 0x1p-52L);
        assert_true(fabsl(erfcl(z) - small) <= 6 * (2 / sqrtl(pi)) * expl(-z * z) * fabsl(z) * 0x1p-52L + 0x1p-1074L);
    }
}

/* Infinity, NaN, zeros of both signs and halves give what C says. */
static void special_values(void **unused) {
    const double infinity = HUGE_VAL, nothing = nan("");
    int k;
    double whole;
    (void)unused;
    assert_true(isinf(__nv_exp(infinity)) && __nv_exp(-infinity) == 0 && isnan(__nv_exp(nothing)));
    assert_true(__nv_log(0) == -infinity && isnan(__nv_log(-1)) && __nv_log(infinity) == infinity);
    assert_true(isnan(__nv_sin(infinity)) && __nv_cos(0) == 1 && signbit(__nv_sin(-0.0)));
    assert_true(__nv_pow(0, 0) == 1 && __nv_pow(-2, 3) == -8 && isnan(__nv_pow(-2, 0.5)) && __nv_pow(1, nothing) == 1);
    assert_true(__nv_pow(-0.0, -3) == -infinity && __nv_pow(0, 2) == 0 && __nv_pow(infinity, -1) == 0);
    assert_true(__nv_atan2(0.0, -1) == (double)pi && __nv_atan2(-0.0, 1) == 0 && signbit(__nv_atan2(-0.0, 1)));
    assert_true(__nv_round(2.5) == 3 && __nv_round(-2.5) == -3 && __nv_rint(2.5) == 2 && __nv_trunc(-2.5) == -2);
    assert_true(__nv_frexp(12, &k) == 0.75 && k == 4 && __nv_ldexp(0.75, 4) == 12 && __nv_ilogb(12) == 3);
    assert_true(__nv_modf(-2.25, &whole) == -0.25 && whole == -2);
    assert_true(__nv_nextafter(1, 2) == 1 + DBL_EPSILON && __nv_nextafter(0, 1) == 0x1p-1074);
    assert_true(__nv_expf(HUGE_VALF) == HUGE_VALF && __nv_expf(-200) == 0 && isnan(__nv_logf(-1)));
    assert_true(__nv_lgamma(1) == 0 && __nv_lgamma(2) == 0 && __nv_tgamma(5) == 24 && isnan(__nv_tgamma(-3)));
    assert_true(__nv_hypot(infinity, nothing) == infinity && __nv_cbrt(-27) == -3);
    assert_true(isinf(__nv_erfinv(1)) && __nv_erfinv(0) == 0 && isinf(__nv_erfcinv(0)));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(special_values), cmocka_unit_test(functions_of_one_argument_are_within_their_ulps),
        cmocka_unit_test(functions_of_two_arguments_are_within_their_ulps), cmocka_unit_test(inverses)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
