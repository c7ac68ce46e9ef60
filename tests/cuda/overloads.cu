/* overloads.cu: functions of C++'s mathematics that are called with float, and not by their names for float: a kernel
 * gets what the host computes, and as float. And shuffles of every type, whose bits must all arrive. */
#include <cmath>
#include <cstdio>

#define EXPRESSIONS(X)                                                                                                 \
    X(abs(-x))                                                                                                         \
    X(fabs(-x))                                                                                                        \
    X(acosh(x + 1)) X(asinh(x)) X(atanh(x)) X(cbrt(x)) X(copysign(x, -1.0f)) X(erf(x)) X(erfc(x)) X(exp(x)) X(exp2(x)) \
        X(expm1(x)) X(fdim(x, 0.25f)) X(fma(x, x, x)) X(fmax(x, 0.25f)) X(fmin(x, 0.25f)) X(fmod(7 * x, 1.0f))         \
            X(hypot(x, x)) X(ldexp(x, 3)) X(lgamma(x)) X(log(x)) X(log10(x)) X(log1p(x)) X(log2(x)) X(logb(8 * x))     \
                X(nearbyint(3 * x)) X(nextafter(x, 1.0f)) X(remainder(5 * x, 1.0f)) X(rint(3 * x)) X(round(2 * x))     \
                    X(scalbln(x, 2l)) X(scalbn(x, 2)) X(tgamma(x)) X(trunc(5 * x)) X(floor(5 * x)) X(ceil(5 * x))      \
                        X(sqrt(x)) X(sin(x)) X(pow(x, 2.0f)) X(atan2(x, 0.25f)) X(std::round(2 * x))                   \
                            X(std::fmax(x, 0.25f)) X(std::cbrt(x)) X(std::fma(x, x, x))
#define WHOLE_NUMBERS(X) X(ilogb(8 * x)) X(lrint(3 * x)) X(llrint(3 * x)) X(lround(2 * x)) X(llround(2 * x))

#define NAME(e) #e,
static const char *const names[] = {EXPRESSIONS(NAME) WHOLE_NUMBERS(NAME)};
enum { ALL = sizeof names / sizeof *names };

#define VALUE(e) *out++ = (double)(e);
#define IS_FLOAT(e) *is_float++ = sizeof(e) == sizeof(float);
__global__ void device(double *out, int *is_float, float x) {
    EXPRESSIONS(VALUE) WHOLE_NUMBERS(VALUE) EXPRESSIONS(IS_FLOAT)
}

/* Lane 5 counts the shuffles that give it another value than that lane's. */
template <class T> __device__ int shuffled(T factor) {
    const T mine = (T)threadIdx.x * factor;
    const T got[] = {__shfl_sync(~0u, mine, 9), __shfl_up_sync(~0u, mine, 2), __shfl_down_sync(~0u, mine, 3),
                     __shfl_xor_sync(~0u, mine, 16)};
    return (got[0] != 9 * factor) + (got[1] != 3 * factor) + (got[2] != 8 * factor) + (got[3] != 21 * factor);
}
__global__ void shuffles(int *wrong) {
    const int all[] = {shuffled(-3),           shuffled(100000000u), shuffled(-(1l << 40)), shuffled(1ul << 58),
                       shuffled(-(1ll << 40)), shuffled(1ull << 58), shuffled(0.1f),        shuffled(1e-200)};
    if (threadIdx.x == 5)
        for (unsigned i = 0; i < sizeof all / sizeof *all; i++) wrong[i] = all[i];
}

using namespace std;
static void host(double *out, float x) { EXPRESSIONS(VALUE) WHOLE_NUMBERS(VALUE) }

int main() {
    double *out, wanted[ALL];
    int *is_float, wrong = 0;
    if (cudaMallocManaged(&out, ALL * sizeof *out) || cudaMallocManaged(&is_float, ALL * sizeof *is_float)) return 1;
    for (int i = 0; i < ALL; i++) is_float[i] = 2;
    device<<<1, 1>>>(out, is_float, 0.7f);
    if (cudaDeviceSynchronize()) return 1;
    host(wanted, 0.7f);
    for (int i = 0; i < ALL; i++) {
        if (fabs(out[i] - wanted[i]) <= 2e-6 * fabs(wanted[i]) && is_float[i]) continue;
        printf("%s: %.9g, not %.9g%s\n", names[i], out[i], wanted[i], is_float[i] ? "" : ", and it is no float");
        wrong = 1;
    }
    shuffles<<<1, 32>>>(is_float);
    if (cudaDeviceSynchronize()) return 1;
    for (int i = 0; i < 8; i++) {
        if (!is_float[i]) continue;
        printf("type %d: %d of 4 shuffles are wrong\n", i, is_float[i]);
        wrong = 1;
    }
    if (!wrong) puts("all overloads are right");
    return wrong;
}
