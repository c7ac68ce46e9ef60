/* headers.cu: functions of the headers whose results the host computes, too: halves in pairs, 8-bit floating point,
 * complex numbers, cache hints, asynchronous copies, matrix fragments. */
#include <cstdio>
#include <cstring>
#include <cuComplex.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <cuda_pipeline.h>
#include <mma.h>

__managed__ int counter = 5;
__device__ __managed__ float values[3] = {1, 2, 3};
__global__ void change() {
    atomicAdd(&counter, 1);
    if (threadIdx.x < 3) values[threadIdx.x] *= 2;
}

static int wrong;
static void expect(const char *what, double got, double wanted, double tolerance) {
    if (fabs(got - wanted) <= tolerance) return;
    printf("%s: %g, not %g\n", what, got, wanted);
    wrong++;
}

enum { RESULTS = 24 };
__global__ void functions(float *out, int *words) {
    __shared__ __align__(16) int copied[32];
    __shared__ __half2 sum;
    const __half2 a = __floats2half2_rn(0.5f, -2.0f), b = __floats2half2_rn(0.5f, 3.0f);
    const cuFloatComplex z = cuCdivf(make_cuFloatComplex(3, 4), make_cuFloatComplex(1, -2));
    float2 pair = __half22float2(h2tanh(a));
    int n = 0;
    if (threadIdx.x == 0) sum = __float2half2_rn(0.0f);
    if (threadIdx.x < 8)
        __pipeline_memcpy_async(&copied[4 * threadIdx.x], &words[4 * threadIdx.x], 16, threadIdx.x == 7 ? 8 : 0);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    atomicAdd(&sum, __floats2half2_rn(1.0f, 0.5f));
    __syncthreads();
    const __half2 other = __shfl_xor_sync(~0u, __floats2half2_rn((float)threadIdx.x, 1.0f), 1);
    if (threadIdx.x != 5) return;
    out[n++] = pair.x, out[n++] = pair.y;
    pair = __half22float2(__heq2(a, b));
    out[n++] = pair.x, out[n++] = pair.y;
    out[n++] = __hbeq2(a, b), out[n++] = __hble2(a, b);
    out[n++] = (float)__hadd_sat(b.x, b.y), out[n++] = __hisinf(__float2half(-1e6f));
    pair = __half22float2(__hcmadd(a, b, b));
    out[n++] = pair.x, out[n++] = pair.y;
    out[n++] = (float)sum.x, out[n++] = (float)sum.y;
    out[n++] = (float)other.x;
    out[n++] = z.x, out[n++] = z.y, out[n++] = cuCabsf(z);
    out[n++] = __dp4a(0x01ff0302, 0x02020505, 7), out[n++] = __dp4a(0x01ff0302u, 0x02020505u, 7u);
    out[n++] = __isShared(copied) + 2 * __isGlobal(words) + 4 * __isShared(words);
    out[n++] = __ldcg(&words[3]), out[n++] = copied[29], out[n++] = copied[30];
    out[n++] = (float)__float22bfloat162_rn(make_float2(1.5f, 0.0f)).x;
    __stcs(&words[0], 77);
    out[n++] = words[0];
}

/* T in memory, what a fragment calls it. */
template <class T, class F, class S, int m, int n, int k>
__global__ void multiply(const T *a, const T *b, const S *c, S *d) {
    using namespace nvcuda::wmma;
    fragment<matrix_a, m, n, k, F, row_major> fa;
    fragment<matrix_b, m, n, k, F, col_major> fb;
    fragment<accumulator, m, n, k, S> fc, fd;
    load_matrix_sync(fa, a, k);
    load_matrix_sync(fb, b, k);
    load_matrix_sync(fc, c, n, mem_row_major);
    mma_sync(fd, fa, fb, fc);
    for (int i = 0; i < fd.num_elements; i++) fd.x[i] = fd.x[i] + (S)1.0f;
    store_matrix_sync(d, fd, m, mem_col_major);
}

template <class T> static double number(T t) { return (double)(float)t; }
template <> double number(double t) { return t; }

template <class T, class F, class S, int m, int n, int k> static void matrix(const char *name) {
    T *a, *b;
    S *c, *d;
    cudaMallocManaged(&a, m * k * sizeof *a), cudaMallocManaged(&b, n * k * sizeof *b);
    cudaMallocManaged(&c, m * n * sizeof *c), cudaMallocManaged(&d, m * n * sizeof *d);
    for (int i = 0; i < m * k; i++) a[i] = (T)(float)(i * 7 % 5);
    for (int i = 0; i < n * k; i++) b[i] = (T)(float)(i * 3 % 4);
    for (int i = 0; i < m * n; i++) c[i] = (S)(float)(i % 9);
    multiply<T, F, S, m, n, k><<<1, 32>>>(a, b, c, d);
    expect(name, cudaDeviceSynchronize(), 0, 0);
    for (int row = 0; row < m; row++)
        for (int column = 0; column < n; column++) {
            double sum = number(c[row * n + column]) + 1;
            for (int i = 0; i < k; i++) sum += number(a[row * k + i]) * number(b[column * k + i]);
            expect(name, number(d[column * m + row]), sum, 0);
        }
}

/* ---- 8-bit floating point: each code by its definition, and what lies between two codes goes to the nearer ---- */

static double value_of(int code, int mantissa, int bias) {
    const int exponent = code >> mantissa & (0x7f >> mantissa), fraction = code & ((1 << mantissa) - 1);
    const double size =
        exponent ? ldexp((1 << mantissa) + fraction, exponent - bias - mantissa) : ldexp(fraction, 1 - bias - mantissa);
    return code & 0x80 ? -size : size;
}
struct bytes_of {
    float value;
    __nv_fp8_storage_t nearest, above_tie, limited, open;
};
template <int format> __global__ void convert(bytes_of *out, const double *ties) {
    const int code = (int)threadIdx.x;
    const __nv_fp8_interpretation_t f = (__nv_fp8_interpretation_t)format;
    out[code].value = __half2float(__nv_cvt_fp8_to_halfraw((__nv_fp8_storage_t)code, f));
    out[code].nearest = __nv_cvt_float_to_fp8((float)ties[code], __NV_SATFINITE, f);
    out[code].above_tie = __nv_cvt_double_to_fp8(ties[code] * (1 + 0x1p-40), __NV_SATFINITE, f);
    out[code].limited = __nv_cvt_float_to_fp8(code & 0x80 ? -1e30f : 1e30f, __NV_SATFINITE, f);
    out[code].open = __nv_cvt_float_to_fp8(1e30f, __NV_NOSAT, f);
}
/* ties[code] lies halfway between a code and the next one. */
template <int format> static void eight_bits(int mantissa, int bias, int largest, int beyond) {
    bytes_of *out;
    double *ties;
    cudaMallocManaged(&out, 256 * sizeof *out), cudaMallocManaged(&ties, 256 * sizeof *ties);
    for (int code = 0; code < 256; code++)
        ties[code] = (value_of(code, mantissa, bias) + value_of(code + 1, mantissa, bias)) / 2;
    convert<format><<<1, 256>>>(out, ties);
    expect("fp8", cudaDeviceSynchronize(), 0, 0);
    for (int code = 0; code < 256; code++) {
        const int next = code + 1, finite = (code & 0x7f) < largest;
        if ((code & 0x7f) <= largest) expect("fp8 value", out[code].value, value_of(code, mantissa, bias), 0);
        if (finite) expect("fp8 tie", out[code].nearest, code & 1 ? next : code, 0);
        if (finite) expect("fp8 above a tie", out[code].above_tie, next, 0);
        expect("fp8 limit", out[code].limited, largest | (code & 0x80), 0);
        expect("fp8 beyond", out[code].open, beyond, 0);
    }
    expect("fp8 on the host", (float)__nv_fp8_e5m2(-3.1f), -3, 0);
}

int main() {
    static const double wanted[RESULTS] = {0.46211716, -0.96402758, 1, 0,         0,  1,   1, -1, 6.75, 3.5, 64,  32,
                                           4,          -1,          2, 2.2360680, 32, 544, 3, 3,  29,   0,   1.5, 77};
    float *out;
    int *words;
    char name[16];
    cudaMallocManaged(&out, RESULTS * sizeof *out), cudaMallocManaged(&words, 32 * sizeof *words);
    for (int i = 0; i < 32; i++) words[i] = i;
    functions<<<1, 64>>>(out, words);
    expect("functions", cudaDeviceSynchronize(), 0, 0);
    for (int i = 0; i < RESULTS; i++) {
        snprintf(name, sizeof name, "result %d", i);
        expect(name, out[i], wanted[i], 1e-3);
    }
    counter++;
    change<<<1, 32>>>();
    expect("managed", cudaDeviceSynchronize(), 0, 0);
    expect("counter", counter, 38, 0);
    counter = 0, values[1] = 7;
    change<<<1, 32>>>();
    expect("managed", cudaDeviceSynchronize(), 0, 0);
    expect("counter", counter, 32, 0), expect("values", values[1] + values[2], 26, 0);
    eight_bits<__NV_E4M3>(3, 7, 0x7e, 0x7f);
    eight_bits<__NV_E5M2>(2, 15, 0x7b, 0x7c);
    matrix<__half, __half, float, 16, 16, 16>("half 16x16x16");
    matrix<__half, __half, __half, 32, 8, 16>("half 32x8x16");
    matrix<__half, __half, float, 8, 32, 16>("half 8x32x16");
    matrix<__nv_bfloat16, __nv_bfloat16, float, 16, 16, 16>("bfloat16");
    matrix<signed char, signed char, int, 16, 16, 16>("signed char");
    matrix<float, nvcuda::wmma::precision::tf32, float, 16, 16, 8>("tf32");
    matrix<double, double, double, 8, 8, 4>("double");
    printf(wrong ? "%d results are wrong\n" : "all results are right\n", wrong);
    return wrong != 0;
}
