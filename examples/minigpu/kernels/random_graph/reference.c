/* random_graph(u32 lists[count][2], u32 heap[], u32 chunk_bytes, s32 count, u32 seed): node i has lists[i][1] edges,
 * from byte lists[i][0] of the heap on. */
#include "allocator_reference.h"

static uint32_t mix(uint32_t x) {
    x = (x ^ (x >> 16)) * 0x7feb352du;
    x = (x ^ (x >> 15)) * 0x846ca68bu;
    return x ^ (x >> 16);
}

const char *reference_random_graph(const reference_launch *launch) {
    const int32_t signed_count = reference_i32(launch, 3);
    const uint32_t chunk = reference_u32(launch, 2), seed = reference_u32(launch, 4);
    const uint64_t count = signed_count < 0 ? 0 : (uint64_t)signed_count, threads = reference_threads(launch);
    uint32_t *lists = reference_u32s(launch, 0, 2 * count), *heap = reference_u32s(launch, 1, 1), n;
    allocator_reference a = {0, 0};
    uint64_t i;
    if (launch->argument_count != 5 || signed_count < 0 || !lists || !heap || !allocator_suits(launch, 1, chunk))
        return "random_graph takes u32 lists[count][2], u32 heap with chunk_bytes per block, u32 chunk_bytes, s32 "
               "count, "
               "u32 seed, and blocks of up to 256 threads";
    for (i = 0; i < count && i < threads; i++) {
        const uint32_t edges = 1 + mix(seed + (uint32_t)i) % 16;
        lists[2 * i] = allocator_take(&a, i, launch->block[0], edges * 4, chunk);
        lists[2 * i + 1] = edges;
        for (n = 0; lists[2 * i] != ALLOCATOR_NOTHING && n < edges; n++)
            heap[lists[2 * i] / 4 + n] = mix(seed + (uint32_t)i * 16 + n) % (uint32_t)count;
    }
    return NULL;
}
