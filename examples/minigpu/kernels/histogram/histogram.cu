/* Histogram of numbers over 1024 equal bins between low and high. Each of the block's three warps counts in shared memory
 * for itself, and the block adds its sums to the result with atomics. 96 threads. */
#define BINS 1024
#define WARPS 3

extern "C" __global__ void histogram(unsigned *result, const float *values, int count, float low, float bins_per_unit) {
    __shared__ unsigned counts[WARPS][BINS];
    int tx = threadIdx.x, warp = tx / 32;

    for (int bin = tx; bin < WARPS * BINS; bin += blockDim.x) counts[0][bin] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + tx; i < count; i += gridDim.x * blockDim.x) {
        int bin = (int)((values[i] - low) * bins_per_unit);
        atomicAdd(&counts[warp][min(max(bin, 0), BINS - 1)], 1u);
    }
    __syncthreads();
    for (int bin = tx; bin < BINS; bin += blockDim.x) {
        unsigned sum = counts[0][bin] + counts[1][bin] + counts[2][bin];
        if (sum > 0) atomicAdd(&result[bin], sum);
    }
}
