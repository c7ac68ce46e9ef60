/* Walsh-Hadamard transform in place in global memory: each block transforms a stretch of twice its threads, one stage
 * after the other, with a barrier between them. */
extern "C" __global__ void walsh(int *words) {
    int *mine = words + blockIdx.x * 2 * blockDim.x;
#pragma unroll 1
    for (unsigned half = blockDim.x; half; half >>= 1) {
        const unsigned low = threadIdx.x & (half - 1), at = 2 * threadIdx.x - low;
        const int a = mine[at], b = mine[at + half];
        mine[at] = a + b;
        mine[at + half] = a - b;
        __syncthreads();
    }
}
