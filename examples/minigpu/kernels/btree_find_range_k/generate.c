/* Inputs of btree_find_range_k: ranges of up to a thousand keys, both ends in the tree. */
#include <stdlib.h>
#include "../btree_find_k/tree.h"
#include "reference.h"

const char *generate_btree_find_range_k(const reference_launch *launch, uint64_t seed) {
    btree tree;
    if (launch->block[0] > 1024) return "the tree's order, one thread per key, is at most 1024";
    tree.order = launch->block[0];
    tree.nodes = reference_u32(launch, 3);
    tree.height = reference_u32(launch, 0);
    const uint64_t room = (uint64_t)tree.nodes * (tree.order + 1), queries = launch->grid[0];
    tree.keys = reference_i32s(launch, 1, room);
    tree.children = reference_i32s(launch, 2, room);
    int32_t *states[4], *starts = reference_i32s(launch, 8, queries), *ends = reference_i32s(launch, 9, queries);
    int missing = 0;
    for (uint32_t i = 0; i < 4; i++) missing |= (states[i] = reference_i32s(launch, 4 + i, queries)) == NULL;
    int32_t *first = reference_i32s(launch, 10, queries), *length = reference_i32s(launch, 11, queries);
    if (launch->argument_count != 12 || missing || !tree.keys || !tree.children || !starts || !ends || !first ||
        !length)
        return "btree_find_range_k takes s32 height, keys[nodes][order+1], children[nodes][order+1], s32 nodes, and "
               "current, "
               "next, last_current, last_next, starts, ends, first and length, one each per block";
    int32_t *sorted = (int32_t *)malloc((size_t)tree.nodes * tree.order * sizeof *sorted + 1);
    if (!sorted) return "out of memory";
    uint32_t count = 0;
    uint64_t random = seed;
    const char *error = btree_build(&tree, sorted, &count, &random);
    for (uint64_t i = 0; i < queries && !error; i++) {
        uint32_t start = reference_random_below(&random, count), span = reference_random_below(&random, 1000);
        starts[i] = sorted[start];
        ends[i] = sorted[span < count - start ? start + span : count - 1];
        for (int s = 0; s < 4; s++) states[s][i] = 0;
        first[i] = length[i] = 0;
    }
    free(sorted);
    return error;
}
