#include "../allocator.h"

/* Each thread joins two strings in memory that it allocates. A slot has 32 bytes; the low half of lengths[i] is the
 * length of string i of `first`, the high half that of `second`. */
extern "C" __global__ void add_strings(const unsigned char *first, const unsigned char *second, const unsigned *lengths,
                                       unsigned *joined, unsigned char *heap, unsigned chunk_bytes, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned both = i < count ? lengths[i] : 0, a = both & 0xffff, b = both >> 16;
    unsigned place = allocate(i < count ? a + b + 1 : 0, chunk_bytes);
    if (i >= count) return;
    joined[i] = place;
    if (place == ALLOCATOR_NOTHING) return;
#pragma unroll 1
    for (unsigned n = 0; n < a; n++) heap[place + n] = first[i * 32 + n];
#pragma unroll 1
    for (unsigned n = 0; n < b; n++) heap[place + a + n] = second[i * 32 + n];
    heap[place + a + b] = 0;
}
