/* precision.cu: double precision in compiled kernels keeps the error bounds of the CUDA C++ programming guide,
 * against long double on the host. mathematics.c compares the library alone; here the compiler has made it a part of a
 * kernel, and must not have fused its sums and products. */
#include <cmath>
#include <cstdio>

/* X(function of x and y, bound in units of the last place) */
#define FUNCTIONS(X)                                                                                                \
    X(pow(x, y), 2)                                                                                                 \
    X(pow(x, 23.0), 2)                                                                                              \
    X(exp(y), 1) X(exp2(y), 1) X(expm1(y), 1) X(log(x), 1) X(log2(x), 1) X(log1p(x), 1) X(log10(x), 1) X(sin(y), 2) \
        X(cos(y), 2) X(tan(y), 2) X(sinh(y), 2) X(tanh(y), 1) X(atan(y), 2) X(asinh(y), 3) X(cbrt(x), 1)            \
            X(hypot(x, y), 2) X(erf(y), 2) X(sqrt(x), 0.5)
#define COUNT(call, bound) +1
enum { FUNCTIONS_ALL = 0 FUNCTIONS(COUNT), ARGUMENTS = 2048 };

#define CALL(call, bound) *out++ = call;
__global__ void device(const double *arguments, double *results) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const double x = arguments[2 * i], y = arguments[2 * i + 1];
    double *out = results + i * FUNCTIONS_ALL;
    FUNCTIONS(CALL)
}
static void host(long double x, long double y, long double *out) {
    using namespace std;
    FUNCTIONS(CALL)
}

int main() {
    static const struct {
        const char *call;
        double bound;
    } functions[] = {
#define ROW(call, bound) {#call, bound},
        FUNCTIONS(ROW)};
    double *x, *out, worst[FUNCTIONS_ALL] = {0};
    long double wanted[FUNCTIONS_ALL];
    unsigned long long random = 1;
    int wrong = 0;
    if (cudaMallocManaged(&x, 2 * ARGUMENTS * sizeof *x) ||
        cudaMallocManaged(&out, ARGUMENTS * FUNCTIONS_ALL * sizeof *out))
        return 1;
    for (int i = 0; i < 2 * ARGUMENTS; i++) {
        random = random * 6364136223846793005ull + 1442695040888963407ull;
        x[i] = (double)(random >> 11) / (1ull << 53) * (i % 2 ? 40 : 8) - (i % 2 ? 20 : 0) + (i % 2 ? 0 : 1e-3);
    }
    x[0] = 2, x[1] = 23, x[2] = 0.5, x[3] = 23;
    device<<<ARGUMENTS / 128, 128>>>(x, out);
    if (cudaDeviceSynchronize()) return 1;
    for (int i = 0; i < ARGUMENTS; i++) {
        host(x[2 * i], x[2 * i + 1], wanted);
        for (int f = 0; f < FUNCTIONS_ALL; f++) {
            const double nearest = (double)wanted[f], unit = fabs(nextafter(nearest, INFINITY) - nearest);
            const double error = (double)(fabsl(out[i * FUNCTIONS_ALL + f] - wanted[f]) / unit);
            if (error > worst[f]) worst[f] = error;
        }
    }
    for (int f = 0; f < FUNCTIONS_ALL; f++) {
        if (worst[f] <= functions[f].bound) continue;
        printf("%s is off by %g units in the last place, and %g are the bound\n", functions[f].call, worst[f],
               functions[f].bound);
        wrong = 1;
    }
    for (int i = 0; i < 2; i++)
        if (out[i * FUNCTIONS_ALL] != (i ? 0x1p-23 : 0x1p23))
            printf("pow(%g, 23) is no power of two\n", x[2 * i]), wrong = 1;
    if (!wrong) puts("all bounds hold");
    return wrong;
}
