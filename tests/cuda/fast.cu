/* The intrinsic functions of the device's mathematics are within the bounds that the CUDA C++ programming guide states,
 * against long double: fast [ARGUMENTS], 5,000 of each by default. Functions with a rounding in their name equal the
 * host's operation with that rounding. */
#include <cfenv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define HOST __attribute__((noinline)) static
enum { SIN, COS, TAN, EXP, EXP10, LOG, LOG2, LOG10, DIVIDE, POWER, APPROXIMATE };
#define DIRECTED(X) X(rn) X(rz) X(rd) X(ru)

/* ---- special function unit ---- */

__global__ void approximate(const float *x, const float *y, float *out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sine, cosine;
    if (i >= n) return;
    out[SIN * n + i] = __sinf(x[SIN * n + i]);
    out[COS * n + i] = __cosf(x[COS * n + i]);
    __sincosf(x[SIN * n + i], &sine, &cosine);
    if (sine != out[SIN * n + i] || cosine != __cosf(x[SIN * n + i])) out[SIN * n + i] = 9;
    out[TAN * n + i] = __tanf(x[TAN * n + i]);
    out[EXP * n + i] = __expf(x[EXP * n + i]);
    out[EXP10 * n + i] = __exp10f(x[EXP10 * n + i]);
    out[LOG * n + i] = __logf(x[LOG * n + i]);
    out[LOG2 * n + i] = __log2f(x[LOG2 * n + i]);
    out[LOG10 * n + i] = __log10f(x[LOG10 * n + i]);
    out[DIVIDE * n + i] = __fdividef(x[DIVIDE * n + i], y[DIVIDE * n + i]);
    out[POWER * n + i] = __powf(x[POWER * n + i], y[POWER * n + i]);
}

static unsigned long long state = 1;
static double uniform(double low, double high) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return low + (double)(state >> 11) / (1ull << 53) * (high - low);
}

static long double right(int f, long double x, long double y) {
    return f == SIN     ? sinl(x)
           : f == COS   ? cosl(x)
           : f == TAN   ? tanl(x)
           : f == EXP   ? expl(x)
           : f == EXP10 ? powl(10, x)
           : f == LOG   ? logl(x)
           : f == LOG2  ? log2l(x)
           : f == LOG10 ? log10l(x)
           : f == POWER ? powl(x, y)
                        : x / y;
}

/* The guide's bound: as an absolute error, or in units in the last place. __tanf is the quotient of __sinf and __cosf,
 * and __powf is 2 to the power y * __log2f(x), so their bounds follow from those of their parts. */
static long double bound(int f, long double x, long double y, long double value) {
    const long double ulp = ldexpl(1, (value ? ilogbl(value) : -126) - 23), near = x >= 0.5L && x <= 2;
    const long double sine = powl(2, -21.41L), cosine = powl(2, -21.19L);
    switch (f) {
    case SIN: return sine;
    case COS: return cosine;
    case TAN: return (sine + fabsl(value) * cosine) / (fabsl(cosl(x)) - cosine) + 2 * ulp;
    case EXP: return (2 + floorl(fabsl(1.173L * x))) * ulp;
    case EXP10: return (2 + floorl(fabsl(2.97L * x))) * ulp;
    case LOG: return near ? sine : 3 * ulp;
    case LOG2: return near ? powl(2, -22) : 2 * ulp;
    case LOG10: return near ? powl(2, -24) : 3 * ulp;
    case POWER: {
        const long double log = log2l(x), unit = ldexpl(1, (log ? ilogbl(log) : -126) - 23);
        const long double shift = fabsl(y) * (near ? powl(2, -22) : 2 * unit) + fabsl(y * log) * 0x1p-24L;
        return value * (powl(2, shift) - 1) + 2 * ulp;
    }
    default: return 2 * ulp;
    }
}

static int approximate_all(int n) {
    static const char *names[] = {"sinf", "cosf",  "tanf",   "expf",     "exp10f",
                                  "logf", "log2f", "log10f", "fdividef", "powf"};
    float *x, *y, *out;
    int bad = 0;
    if (cudaMallocManaged(&x, sizeof *x * n * APPROXIMATE) || cudaMallocManaged(&y, sizeof *y * n * APPROXIMATE) ||
        cudaMallocManaged(&out, sizeof *out * n * APPROXIMATE))
        return 1;
    for (int f = 0; f < APPROXIMATE; f++)
        for (int i = 0; i < n; i++) {
            const double wide = exp2(uniform(-100, 100));
            x[f * n + i] = (float)(f <= TAN              ? uniform(-M_PI, M_PI)
                                   : f == EXP && !i      ? -45.0585785 /* outside where log2(e) is one float */
                                   : f == EXP            ? uniform(-87, 88)
                                   : f == EXP10          ? uniform(-37, 38)
                                   : f == POWER          ? exp2(uniform(-8, 8))
                                   : f < DIVIDE && i % 2 ? uniform(0.5, 2)
                                                         : wide);
            y[f * n + i] = (float)(f == POWER ? uniform(-12, 12) : exp2(uniform(-20, 20)) * (i % 2 ? 1 : -1));
        }
    approximate<<<(n + 127) / 128, 128>>>(x, y, out, n);
    if (cudaDeviceSynchronize()) return 1;
    for (int f = 0; f < APPROXIMATE; f++) {
        long double worst = 0;
        for (int i = f * n; i < (f + 1) * n; i++) {
            const long double value = right(f, x[i], y[i]), error = fabsl(out[i] - value);
            const long double part = error / bound(f, x[i], y[i], value);
            if (part > worst || part != part) worst = part != part ? 99 : part;
        }
        if (worst > 1 || getenv("LIST")) printf("__%s: %.2Lf of its bound, %d arguments\n", names[f], worst, n);
        bad += worst > 1;
    }
    return bad;
}

/* ---- directed rounding ---- */

#define OPERATIONS 14
#define DEVICE(mode)                                                                                  \
    __device__ double device_##mode(int f, float a, float b, float c, double x, double y, double z) { \
        switch (f) {                                                                                  \
        case 0: return __fadd_##mode(a, b);                                                           \
        case 1: return __fsub_##mode(a, b);                                                           \
        case 2: return __fmul_##mode(a, b);                                                           \
        case 3: return __fdiv_##mode(a, b);                                                           \
        case 4: return __fmaf_##mode(a, b, c);                                                        \
        case 5: return __frcp_##mode(a);                                                              \
        case 6: return __fsqrt_##mode(fabsf(a));                                                      \
        case 7: return __dadd_##mode(x, y);                                                           \
        case 8: return __dsub_##mode(x, y);                                                           \
        case 9: return __dmul_##mode(x, y);                                                           \
        case 10: return __ddiv_##mode(x, y);                                                          \
        case 11: return __fma_##mode(x, y, z);                                                        \
        case 12: return __drcp_##mode(x);                                                             \
        default: return __dsqrt_##mode(fabs(x));                                                      \
        }                                                                                             \
    }
DIRECTED(DEVICE)

__global__ void directed(const double *x, double *out, float *roots, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const double *v = x + 3 * i;
    for (int f = 0; f < OPERATIONS; f++) {
        out[(0 * OPERATIONS + f) * n + i] = device_rn(f, v[0], v[1], v[2], v[0], v[1], v[2]);
        out[(1 * OPERATIONS + f) * n + i] = device_rz(f, v[0], v[1], v[2], v[0], v[1], v[2]);
        out[(2 * OPERATIONS + f) * n + i] = device_rd(f, v[0], v[1], v[2], v[0], v[1], v[2]);
        out[(3 * OPERATIONS + f) * n + i] = device_ru(f, v[0], v[1], v[2], v[0], v[1], v[2]);
    }
    roots[i] = __frsqrt_rn(fabsf((float)v[0]));
}

HOST double on_host(int f, volatile float a, volatile float b, volatile float c, volatile double x, volatile double y,
                    volatile double z) {
    volatile float s;
    volatile double d;
    switch (f) {
    case 0: return s = a + b;
    case 1: return s = a - b;
    case 2: return s = a * b;
    case 3: return s = a / b;
    case 4: return s = fmaf(a, b, c);
    case 5: return s = 1 / a;
    case 6: return a = fabsf(a), s = sqrtf(a);
    case 7: return d = x + y;
    case 8: return d = x - y;
    case 9: return d = x * y;
    case 10: return d = x / y;
    case 11: return d = fma(x, y, z);
    case 12: return d = 1 / x;
    default: return x = fabs(x), d = sqrt(x);
    }
}

static int directed_all(int n) {
    static const int modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
    double *x, *out;
    float *roots;
    int bad = 0, wrong = 0;
    if (cudaMallocManaged(&x, sizeof *x * 3 * n) || cudaMallocManaged(&out, sizeof *out * 4 * OPERATIONS * n) ||
        cudaMallocManaged(&roots, sizeof *roots * n))
        return 1;
    for (int i = 0; i < 3 * n; i++) x[i] = exp2(uniform(-6, 6)) * (uniform(0, 1) < 0.5 ? 1 : -1);
    directed<<<(n + 127) / 128, 128>>>(x, out, roots, n);
    if (cudaDeviceSynchronize()) return 1;
    for (int m = 0; m < 4; m++)
        for (int f = 0; f < OPERATIONS; f++, wrong = 0) {
            for (int i = 0; i < n; i++) {
                const double *v = x + 3 * i;
                const float a = (float)v[0], b = (float)v[1], c = (float)v[2];
                fesetround(modes[m]);
                const double value = on_host(f, a, b, c, v[0], v[1], v[2]);
                fesetround(FE_TONEAREST);
                wrong += out[(m * OPERATIONS + f) * n + i] != value;
            }
            if (wrong) printf("operation %d, rounding %d: %d of %d results are wrong\n", f, m, wrong, n);
            bad += wrong != 0;
        }
    for (int i = 0; i < n; i++) wrong += roots[i] != (float)(1 / sqrtl(fabsl((float)x[3 * i])));
    if (wrong) printf("__frsqrt_rn: %d of %d results are not rounded to the nearest number\n", wrong, n);
    return bad + (wrong != 0);
}

int main(int count, char **words) {
    const int n = count > 1 ? atoi(words[1]) : 5000;
    return approximate_all(n) + directed_all(n) ? 1 : 0;
}
