/* The kernels of bench/speed.sh: the kinds of work that an SM simulator meets. Blocks have 256 threads. `in` has 65,536
 * words; `out` has one word per thread. */
#define WORDS 65536u
#define TILE 16

/* Shared memory and barriers: rows of a shortest path, as in pathfinder. */
extern "C" __global__ void path(unsigned *out, const unsigned *in, unsigned rounds) {
    __shared__ unsigned row[256];
    unsigned t = threadIdx.x, best, i;
    row[t] = in[(blockIdx.x * 256 + t) % WORDS];
    __syncthreads();
#pragma unroll 1
    for (i = 1; i <= rounds; i++) {
        best = row[t];
        if (t > 0) best = min(best, row[t - 1]);
        if (t < 255) best = min(best, row[t + 1]);
        best += in[(i * 256 + t) % WORDS];
        __syncthreads();
        row[t] = best;
        __syncthreads();
    }
    out[blockIdx.x * 256 + t] = row[t];
}

/* Arithmetic alone: eight chains of multiplications and additions. */
extern "C" __global__ void fma8(float *out, const float *in, unsigned rounds) {
    unsigned at = blockIdx.x * 256 + threadIdx.x, i, k;
    float x[8], sum = 0.0f;
#pragma unroll
    for (k = 0; k < 8; k++) x[k] = (float)(at + k);
#pragma unroll 1
    for (i = 0; i < rounds; i++) {
#pragma unroll
        for (k = 0; k < 8; k++) x[k] = x[k] * 0.5f + 1.5f;
    }
#pragma unroll
    for (k = 0; k < 8; k++) sum += x[k];
    out[at] = sum;
}

/* Consecutive words from memory and back. */
extern "C" __global__ void stream(unsigned *out, const unsigned *in, unsigned rounds) {
    unsigned at = blockIdx.x * 256 + threadIdx.x, i;
#pragma unroll 1
    for (i = 0; i < rounds; i++) out[at] = 3 * in[(at + i * 4096) % WORDS] + i;
}

/* Every lane reads another segment. */
extern "C" __global__ void gather(unsigned *out, const unsigned *in, unsigned rounds) {
    unsigned at = blockIdx.x * 256 + threadIdx.x, sum = 0, i;
#pragma unroll 1
    for (i = 0; i < rounds; i++) sum += in[((at + i * 77) * 1021) % WORDS];
    out[at] = sum;
}

/* A product of matrices by tiles in shared memory. */
extern "C" __global__ void mm(float *out, const float *in, unsigned rounds) {
    __shared__ float a[TILE][TILE], b[TILE][TILE];
    unsigned x = threadIdx.x % TILE, y = threadIdx.x / TILE, i, k;
    float sum = 0.0f;
#pragma unroll 1
    for (i = 0; i < rounds; i++) {
        a[y][x] = in[(blockIdx.x * 256 + i * TILE + y * 256 + x) % WORDS];
        b[y][x] = in[(blockIdx.x * 16 + (i * TILE + y) * 256 + x) % WORDS];
        __syncthreads();
#pragma unroll
        for (k = 0; k < TILE; k++) sum += a[y][k] * b[k][x];
        __syncthreads();
    }
    out[blockIdx.x * 256 + threadIdx.x] = sum;
}

/* Divergent: each lane runs until its number is 1. */
extern "C" __global__ void collatz(unsigned *out, const unsigned *in, unsigned rounds) {
    unsigned at = blockIdx.x * 256 + threadIdx.x, n = at % rounds + 1, steps = 0;
#pragma unroll 1
    while (n != 1) {
        if (n % 2)
            n = 3 * n + 1;
        else
            n /= 2;
        steps++;
    }
    out[at] = steps;
}
