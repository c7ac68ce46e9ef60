/* add_strings(u8 first[count][32], u8 second[count][32], u32 lengths[count], u32 joined[count], u8 heap[], u32
 * chunk_bytes, s32 count): string i is first[i] and second[i] together, at joined[i] in the heap. */
#include "allocator_reference.h"

const char *reference_add_strings(const reference_launch *launch) {
    const int32_t signed_count = reference_i32(launch, 6);
    const uint64_t count = signed_count < 0 ? 0 : (uint64_t)signed_count, threads = reference_threads(launch);
    const uint32_t chunk = reference_u32(launch, 5);
    const uint8_t *first = reference_u8s(launch, 0, count * 32), *second = reference_u8s(launch, 1, count * 32);
    const uint32_t *lengths = reference_u32s(launch, 2, count);
    uint32_t *joined = reference_u32s(launch, 3, count);
    uint8_t *heap = reference_u8s(launch, 4, 1);
    allocator_reference a = {0, 0};
    uint64_t i;
    if (launch->argument_count != 7 || signed_count < 0 || !first || !second || !lengths || !joined || !heap ||
        !allocator_suits(launch, 4, chunk))
        return "add_strings takes u8 first[count][32], u8 second[count][32], u32 lengths[count], u32 joined[count], u8 "
               "heap with chunk_bytes per block, u32 chunk_bytes, s32 count, and blocks of up to 256 threads";
    for (i = 0; i < count && i < threads; i++) {
        const uint32_t one = lengths[i] & 0xffff, other = lengths[i] >> 16;
        if (one > 32 || other > 32) return "add_strings: a string is longer than its slot";
        joined[i] = allocator_take(&a, i, launch->block[0], one + other + 1, chunk);
        if (joined[i] == ALLOCATOR_NOTHING) continue;
        memcpy(heap + joined[i], first + i * 32, one);
        memcpy(heap + joined[i] + one, second + i * 32, other);
        heap[joined[i] + one + other] = 0;
    }
    return NULL;
}
