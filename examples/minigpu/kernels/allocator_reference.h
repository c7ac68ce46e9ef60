/* What allocator.h gives each thread, for references. */
#ifndef MINIGPU_ALLOCATOR_REFERENCE_H
#define MINIGPU_ALLOCATOR_REFERENCE_H

#include "reference.h"

#define ALLOCATOR_NOTHING UINT32_MAX

/* Where threads of a block have got to; `thread` counts over all blocks. */
typedef struct allocator_reference {
    uint64_t end; /* in the block's chunk */
    uint64_t block;
} allocator_reference;

/* Returns the offset of thread `thread`, which asks for `bytes` bytes; threads in order. */
static inline uint32_t allocator_take(allocator_reference *a, uint64_t thread, uint64_t block_threads, uint32_t bytes,
                                      uint32_t chunk_bytes) {
    const uint64_t size = ((uint64_t)bytes + 15) & ~(uint64_t)15;
    if (thread / block_threads != a->block) {
        a->block = thread / block_threads;
        a->end = 0;
    }
    a->end += size;
    return a->end <= chunk_bytes ? (uint32_t)(a->block * chunk_bytes + a->end - size) : ALLOCATOR_NOTHING;
}

/* Is the heap of argument `index` large enough for a chunk per block, and the launch one of the allocator's? */
static inline int allocator_suits(const reference_launch *launch, uint32_t index, uint32_t chunk_bytes) {
    return launch->block[0] >= 1 && launch->block[0] <= 256 && launch->block[1] == 1 && launch->block[2] == 1 &&
           launch->grid[1] == 1 && launch->grid[2] == 1 && chunk_bytes % 16 == 0 &&
           (uint64_t)launch->grid[0] * chunk_bytes <= UINT32_MAX &&
           (uint64_t)launch->grid[0] * chunk_bytes <= reference_count(launch, index, 1);
}

#endif
