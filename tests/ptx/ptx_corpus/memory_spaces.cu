// Constants, module-scope globals, local arrays, static and dynamic shared memory, vectors, narrow types.
__constant__ float coefficients[16] = {1, 2, 3, 4, 5, 6, 7, 8};
__constant__ short steps[4] = {-1, 2, -3, 4};
__device__ unsigned long long total = 5;
__device__ float *where;
extern "C" __global__ void constants(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < 16; k++) sum += coefficients[(k + i) & 15] * in[(i + k) % n];
    out[i] = sum + steps[i & 3];
}
extern "C" __global__ void local_array(const int *in, int *out, int n) {
    int bins[24], i = threadIdx.x;
    for (int k = 0; k < 24; k++) bins[k] = k;
    for (int k = 0; k < n; k++) bins[in[i * n + k] % 24] += k;
    int sum = 0;
    for (int k = 0; k < 24; k++) sum = sum * 3 + bins[(k * 7) % 24];
    out[i] = sum;
}
extern "C" __global__ void dynamic_shared(const float *in, float *out) {
    extern __shared__ float tile[];
    __shared__ float edge[32];
    int t = threadIdx.x;
    tile[t] = in[blockIdx.x * blockDim.x + t];
    if (t < 32) edge[t] = tile[t] * 2;
    __syncthreads();
    out[blockIdx.x * blockDim.x + t] = tile[blockDim.x - 1 - t] + edge[t & 31];
}
extern "C" __global__ void vectors(const float4 *a, const int2 *b, double2 *c, uchar4 *d, short *e) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 x = a[i];
    int2 y = b[i];
    c[i] = make_double2(x.x + x.y, (double)y.x * y.y);
    d[i] = make_uchar4(x.x, x.y, x.z, y.x);
    e[i] = (short)(e[i] * 3 - d[i].x);
}
extern "C" __global__ void module_global(float *p) {
    if (threadIdx.x == 0) where = p;
    __syncthreads();
    atomicAdd(&total, (unsigned long long)where[threadIdx.x]);
}
struct box { int a[5]; double b; char c; };
extern "C" __global__ void by_value(box v, double *out) { out[threadIdx.x] = v.a[threadIdx.x % 5] + v.b + v.c; }
extern "C" __global__ void generic(int *g, int which) {
    __shared__ int s[64];
    s[threadIdx.x & 63] = threadIdx.x;
    __syncthreads();
    int *p = which & 1 << (threadIdx.x & 31) ? g : s;
    p[threadIdx.x & 63] += 1;
    __syncthreads();
    g[threadIdx.x] = s[threadIdx.x & 63];
}
struct weights { float w[8]; };
__device__ __noinline__ float weigh(const weights *p, int i) { return p->w[i & 7]; }
extern "C" __global__ void parameter_address(const __grid_constant__ weights v, float *out) { out[threadIdx.x] = weigh(&v, threadIdx.x * 3) + 1.0f; }
