// Integer, bit, double and approximate operations.
extern "C" __global__ void integers(const int *a, const unsigned *b, long long *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int x = a[i];
    unsigned y = b[i];
    long long w = (long long)x * y;
    w += x / (int)(y | 1) + x % 7 + y / 10u + (w / (x | 1)) + (w % 1000003);
    w += __mulhi(x, 12345) + __umulhi(y, 54321u) + __popc(y) + __clz(x) + __ffs(y) + __brev(y) + __popcll(w) + __clzll(w);
    w ^= __byte_perm(x, y, 0x5410) + __funnelshift_l(x, y, 7) + min(x, 5) + max(y, 9u) + abs(x) + (x << (y & 31)) + (x >> 3) + (y >> 5);
    w += (unsigned char)x + (short)y + (signed char)(x >> 3) + __sad(x, (int)y, 3u) + __mul24(x, 77);
    out[i] = w + __umul64hi(w, 0x123456789abcdefull);
}
extern "C" __global__ void doubles(const double *a, double *b, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double x = a[i];
    b[i] = sqrt(x) / (x + 1.0) + fma(x, x, 2.0) + fmin(x, 3.0) + fmax(x, -x) + floor(x) + rint(x) + (double)(int)x + (double)(float)x + fabs(x);
}
extern "C" __global__ void approximate(const float *a, float *b) {
    float x = a[threadIdx.x];
    b[threadIdx.x] = __sinf(x) + __cosf(x) + __expf(x) + __logf(x) + __fdividef(x, 3.0f) + rsqrtf(x) + __frcp_rn(x) + sqrtf(x) + __fadd_rz(x, 0.1f) + exp2f(x) + copysignf(x, -1.0f);
}
extern "C" __global__ void library(const float *a, float *b) {
    float x = a[threadIdx.x];
    b[threadIdx.x] = expf(x) + logf(x + 2.0f) + powf(fabsf(x), 1.7f) + tanhf(x) + floorf(x) + roundf(x) + fmodf(x, 0.7f) + (isnan(x) ? 1.0f : 0.0f);
}
extern "C" __global__ void slow_path(const float *a, float *b) { b[threadIdx.x] = sinf(a[threadIdx.x]) + cosf(a[threadIdx.x] * 3.0f); }
