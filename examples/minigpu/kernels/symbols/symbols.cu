/* A filter whose weights lie in a __constant__ array and whose bias in a __device__ variable, through a function that
 * is called; each thread counts its rounds in a __device__ array. */
__constant__ unsigned weights[4] = {3, 5, 7, 11};
__device__ unsigned bias = 40;
__device__ unsigned counted[1024];

__device__ __noinline__ unsigned weigh(const unsigned *from, unsigned n) {
    unsigned i, sum = bias;
    for (i = 0; i < 4; i++) sum += weights[(i + n) % 4] * from[i];
    return sum;
}

extern "C" __global__ void symbols(const unsigned *from, unsigned *to, unsigned rounds) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned sum = 0;
#pragma unroll 1
    for (unsigned r = 0; r < rounds; r++) {
        sum = sum * 31 + weigh(from + i, r);
        counted[i % 1024] = r + 1;
    }
    to[i] = sum + counted[i % 1024];
}
