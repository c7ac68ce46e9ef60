#include "../allocator.h"

static __device__ unsigned mix(unsigned x) {
    x = (x ^ (x >> 16)) * 0x7feb352du;
    x = (x ^ (x >> 15)) * 0x846ca68bu;
    return x ^ (x >> 16);
}

/* Each thread makes a node of a random graph: up to 16 edges, in memory that it allocates. lists[i]: where its edges
 * are, and how many. */
extern "C" __global__ void random_graph(uint2 *lists, unsigned *heap, unsigned chunk_bytes, int count, unsigned seed) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned edges = i < count ? 1 + mix(seed + i) % 16 : 0;
    unsigned place = allocate(edges * 4, chunk_bytes);
    if (i >= count) return;
    lists[i] = make_uint2(place, edges);
    if (place == ALLOCATOR_NOTHING) return;
#pragma unroll 1
    for (unsigned n = 0; n < edges; n++) heap[place / 4 + n] = mix(seed + i * 16 + n) % count;
}
