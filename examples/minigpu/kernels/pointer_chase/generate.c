/* Inputs of pointer_chase: as many lists as there are threads; one in 16 is empty. Nodes lie in the order in which they
 * were allocated: one for each list, then each for some list, so that a list goes through the buffer from front to back
 * and is as long as chance has it. */
#include <stdlib.h>
#include "reference.h"

const char *generate_pointer_chase(const reference_launch *launch, uint64_t seed) {
    const uint64_t count = reference_count(launch, 0, 8), threads = reference_threads(launch);
    uint32_t *nodes = reference_u32s(launch, 0, 2 * count), *heads = reference_u32s(launch, 1, threads), *ends;
    uint64_t i;
    if (launch->argument_count != 3 || !nodes || !heads || count < 2 || count > UINT32_MAX / 8 || !threads)
        return "pointer_chase takes u32 nodes[][2], and u32 heads and sums for every thread";
    ends = (uint32_t *)calloc(threads, sizeof *ends); /* the node that each list ends with so far; 0: none */
    if (!ends) return "pointer_chase: out of memory";
    for (i = 0; i < threads; i++) heads[i] = 0;
    nodes[0] = nodes[1] = 0; /* stays free: offset 0 ends a list */
    for (i = 1; i < count; i++) {
        uint32_t list = i <= threads ? (uint32_t)i - 1 : reference_random_below(&seed, (uint32_t)threads);
        list -= list % 16 == 15;
        nodes[2 * i] = (uint32_t)reference_random(&seed);
        nodes[2 * i + 1] = 0;
        if (ends[list])
            nodes[2 * ends[list] + 1] = (uint32_t)(8 * i);
        else
            heads[list] = (uint32_t)(8 * i);
        ends[list] = (uint32_t)i;
    }
    free(ends);
    return NULL;
}
