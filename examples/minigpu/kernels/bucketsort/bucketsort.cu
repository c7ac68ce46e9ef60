/* Brings numbers into 256 equal buckets between low and high. Each thread keeps four numbers; the block counts its buckets
 * in shared memory, takes room for all of a bucket at once, and puts the numbers there. The order within a bucket is open.
 * next[bucket] is the bucket's first free place. 128 threads. */
#define BUCKETS 256
#define OWN 4

extern "C" __global__ void bucketsort(float *out, int *next, const float *in, int count, float low, float buckets_per_unit) {
    __shared__ int counts[BUCKETS], starts[BUCKETS];
    int bucket[OWN], place[OWN];
    float value[OWN];
    for (int i = threadIdx.x; i < BUCKETS; i += blockDim.x) counts[i] = 0;
    __syncthreads();
#pragma unroll
    for (int k = 0; k < OWN; k++) {
        int i = (blockIdx.x * OWN + k) * blockDim.x + threadIdx.x;
        bucket[k] = -1;
        if (i < count) {
            value[k] = in[i];
            bucket[k] = min(max((int)((value[k] - low) * buckets_per_unit), 0), BUCKETS - 1);
            place[k] = atomicAdd(&counts[bucket[k]], 1);
        }
    }
    __syncthreads();
    for (int i = threadIdx.x; i < BUCKETS; i += blockDim.x)
        if (counts[i] > 0) starts[i] = atomicAdd(&next[i], counts[i]);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < OWN; k++)
        if (bucket[k] >= 0) out[starts[bucket[k]] + place[k]] = value[k];
}
