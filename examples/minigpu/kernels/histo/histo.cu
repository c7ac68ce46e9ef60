/* Histogram of bin numbers whose result stops at 255. A block counts in shared memory, in counters of eight bits: when one
 * is full, its 256 go to overflow[] by a global atomic at once. At the end the block adds what is left to result[], and
 * whoever has lifted a bin above 255 sets it back. */
#define BINS 1024
#define MOST 255u

extern "C" __global__ void histo(unsigned *result, unsigned *overflow, const unsigned *bins, int count) {
    __shared__ unsigned counts[BINS];
    for (int bin = threadIdx.x; bin < BINS; bin += blockDim.x) counts[bin] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        unsigned bin = bins[i] % BINS;
        if ((atomicAdd(&counts[bin], 1u) & MOST) == MOST) atomicAdd(&overflow[bin], MOST + 1);
    }
    __syncthreads();
    for (int bin = threadIdx.x; bin < BINS; bin += blockDim.x) {
        unsigned left = counts[bin] & MOST;
        if (left > 0 && atomicAdd(&result[bin], left) + left > MOST) atomicMin(&result[bin], MOST);
    }
}
