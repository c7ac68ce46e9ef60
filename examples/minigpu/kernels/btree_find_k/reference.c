/* btree_find_k(s32 height, s32 keys[nodes][order+1], s32 children[nodes][order+1], s32 records[], s32 nodes,
 * s32 current[queries], s32 next[queries], s32 queries[], s32 answers[]); order = threads per block, one block per
 * query. */
#include "reference.h"
#include "tree.h"

int64_t btree_find(const btree *tree, int32_t root, int32_t key, int32_t *leaf) {
    const size_t width = (size_t)tree->order + 1;
    int32_t node = root;
    for (uint32_t level = 0; level < tree->height; level++) {
        if (node < 0 || (uint32_t)node >= tree->nodes) return -2;
        const int32_t *keys = tree->keys + (size_t)node * width, *children = tree->children + (size_t)node * width;
        /* The last child whose first key is not above the key; none: stay here. */
        uint32_t child = 0;
        while (child < tree->order && !(keys[child] <= key && keys[child + 1] > key)) child++;
        if (child < tree->order && (uint32_t)children[child] < tree->nodes) node = children[child];
    }
    if (node < 0 || (uint32_t)node >= tree->nodes) return -2;
    *leaf = node;
    for (uint32_t i = 0; i < tree->order; i++)
        if (tree->keys[(size_t)node * width + i] == key) return tree->children[(size_t)node * width + i];
    return -1;
}

const char *reference_btree_find_k(const reference_launch *launch) {
    btree tree;
    if (launch->block[0] > 1024) return "the tree's order, one thread per key, is at most 1024";
    tree.order = launch->block[0];
    tree.nodes = reference_u32(launch, 4);
    tree.height = reference_u32(launch, 0);
    const uint64_t room = (uint64_t)tree.nodes * (tree.order + 1), queries = launch->grid[0];
    tree.keys = reference_i32s(launch, 1, room);
    tree.children = reference_i32s(launch, 2, room);
    const int32_t *records = reference_i32s(launch, 3, 0), *query = reference_i32s(launch, 7, queries);
    int32_t *current = reference_i32s(launch, 5, queries), *next = reference_i32s(launch, 6, queries);
    int32_t *answers = reference_i32s(launch, 8, queries);
    if (launch->argument_count != 9 || !tree.keys || !tree.children || !records || !current || !next || !query ||
        !answers || tree.nodes > INT32_MAX || tree.height > 32 || reference_block_threads(launch) != tree.order ||
        reference_blocks(launch) != queries)
        return "btree_find_k takes s32 height, keys[nodes][order+1], children[nodes][order+1], records, s32 nodes, "
               "current, next, queries and answers, one each per block";
    for (uint64_t i = 0; i < queries; i++) {
        int64_t record = btree_find(&tree, current[i], query[i], &current[i]);
        if (record < -1 || record >= (int64_t)reference_count(launch, 3, 4))
            return "btree_find_k: the tree leads outside";
        next[i] = current[i];
        if (record >= 0) answers[i] = records[record];
    }
    return NULL;
}
