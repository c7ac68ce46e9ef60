/* pointer_chase(u32 nodes[][2], u32 heads[threads], u32 sums[threads]): a node is its value and the byte offset of the
 * next one, 0 behind the last. */
#include "reference.h"

const char *reference_pointer_chase(const reference_launch *launch) {
    const uint64_t count = reference_count(launch, 0, 8), threads = reference_threads(launch);
    const uint32_t *nodes = reference_u32s(launch, 0, 2 * count), *heads = reference_u32s(launch, 1, threads);
    uint32_t *sums = reference_u32s(launch, 2, threads);
    if (launch->argument_count != 3 || !nodes || !heads || !sums || !count)
        return "pointer_chase takes u32 nodes[][2], and u32 heads and sums for every thread";
    for (uint64_t i = 0; i < threads; i++) {
        uint64_t steps = 0;
        uint32_t at = heads[i], sum = 0;
        for (; at; at = nodes[at / 8 * 2 + 1], steps++) {
            if (at % 8 || at / 8 >= count || steps == count)
                return "pointer_chase: a link leads nowhere, or round in circles";
            sum += nodes[at / 8 * 2];
        }
        sums[i] = sum;
    }
    return NULL;
}
