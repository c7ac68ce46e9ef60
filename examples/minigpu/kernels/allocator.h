/* A device allocator for kernels whose threads ask at the same time: every block has a chunk of the heap to itself, and
 * a prefix sum over the threads' sizes says where each begins. So addresses do not depend on the order of blocks. */
#define ALLOCATOR_THREADS 256
#define ALLOCATOR_NOTHING 0xffffffffu

/* Returns the offset in the heap of `bytes` bytes for this thread, a multiple of 16; ALLOCATOR_NOTHING when its block's
 * chunk is full. Every thread of the block calls it, once. */
static __device__ unsigned allocate(unsigned bytes, unsigned chunk_bytes) {
    __shared__ unsigned end[ALLOCATOR_THREADS];
    const unsigned size = (bytes + 15) & ~15u, t = threadIdx.x;
    end[t] = size;
    __syncthreads();
    for (unsigned step = 1; step < blockDim.x; step *= 2) {
        const unsigned before = t >= step ? end[t - step] : 0;
        __syncthreads();
        end[t] += before;
        __syncthreads();
    }
    return end[t] <= chunk_bytes ? blockIdx.x * chunk_bytes + end[t] - size : ALLOCATOR_NOTHING;
}
