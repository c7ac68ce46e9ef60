/* Each thread writes its own words several times and reads them back: in global, shared and local memory. `zero` is 0,
 * which the compiler does not know, so every store and every load stays. */
#define SCRATCH 4

extern "C" __global__ void overwrites(unsigned *words, unsigned per_thread, unsigned rounds, unsigned zero) {
    __shared__ unsigned tile[64];
    unsigned scratch[SCRATCH];
    unsigned *mine = words + (blockIdx.x * blockDim.x + threadIdx.x) * per_thread;
    unsigned value = threadIdx.x + 1;
#pragma unroll 1
    for (unsigned r = 0; r < rounds; r++) {
#pragma unroll 1
        for (unsigned i = 0; i < per_thread; i++) {
            mine[i] = value;
            mine[i + zero] = value ^ r; /* two stores of a word, in order */
            tile[threadIdx.x] = mine[i + zero + zero] + i;
            scratch[i % SCRATCH] = tile[threadIdx.x + zero] * 3;
            tile[threadIdx.x + zero] = scratch[(i + zero) % SCRATCH] + 1;
            mine[i] += tile[threadIdx.x];
            value = value * 1664525 + mine[i + zero];
        }
    }
}
