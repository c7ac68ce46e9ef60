/* btree_find_range_k(s32 height, s32 keys[nodes][order+1], s32 children[nodes][order+1], s32 nodes, then one s32 per
 * query in each of current, next, last_current, last_next, starts, ends, first and length) */
#include "../btree_find_k/tree.h"
#include "reference.h"

const char *reference_btree_find_range_k(const reference_launch *launch) {
    btree tree;
    if (launch->block[0] > 1024) return "the tree's order, one thread per key, is at most 1024";
    tree.order = launch->block[0];
    tree.nodes = reference_u32(launch, 3);
    tree.height = reference_u32(launch, 0);
    const uint64_t room = (uint64_t)tree.nodes * (tree.order + 1), queries = launch->grid[0];
    tree.keys = reference_i32s(launch, 1, room);
    tree.children = reference_i32s(launch, 2, room);
    int32_t *buffers[8];
    int missing = 0;
    for (uint32_t i = 0; i < 8; i++) missing |= (buffers[i] = reference_i32s(launch, 4 + i, queries)) == NULL;
    if (launch->argument_count != 12 || missing || !tree.keys || !tree.children || tree.nodes > INT32_MAX ||
        tree.height > 32 || reference_block_threads(launch) != tree.order || reference_blocks(launch) != queries)
        return "btree_find_range_k takes s32 height, keys[nodes][order+1], children[nodes][order+1], s32 nodes, and "
               "current, "
               "next, last_current, last_next, starts, ends, first and length, one each per block";
    for (uint64_t i = 0; i < queries; i++) {
        int64_t from = btree_find(&tree, buffers[0][i], buffers[4][i], &buffers[0][i]);
        int64_t to = btree_find(&tree, buffers[2][i], buffers[5][i], &buffers[2][i]);
        if (from < -1 || to < -1) return "btree_find_range_k: the tree leads outside";
        buffers[1][i] = buffers[0][i];
        buffers[3][i] = buffers[2][i];
        if (from >= 0) buffers[6][i] = (int32_t)from;
        if (to >= 0) buffers[7][i] = reference_add(reference_subtract((int32_t)to, buffers[6][i]), 1);
    }
    return NULL;
}
