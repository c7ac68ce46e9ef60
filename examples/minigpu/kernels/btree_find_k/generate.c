/* Inputs of both look-ups in a B+ tree. */
#include <stdlib.h>
#include "reference.h"
#include "tree.h"

#define BTREE_LEVELS 8

static uint32_t btree_parents(uint32_t nodes, uint32_t order) {
    return (uint32_t)((4 * (uint64_t)nodes + 3 * order - 1) / (3 * order));
}

const char *btree_build(btree *tree, int32_t *sorted, uint32_t *key_count, uint64_t *random_state) {
    uint32_t size[BTREE_LEVELS + 1] = {0}; /* nodes per level, leaves first */
    const size_t width = (size_t)tree->order + 1;
    if (tree->order < 4 || tree->height < 1 || tree->height > BTREE_LEVELS ||
        (uint64_t)tree->nodes * tree->order > INT32_MAX / 2)
        return "a tree needs an order of 4 or more, 1 to 8 levels above the leaves and at most a billion keys";
    for (uint32_t leaves = tree->nodes; leaves > 1; leaves--) {
        uint64_t sum = size[0] = leaves;
        for (uint32_t level = 1; level <= tree->height; level++)
            sum += size[level] = btree_parents(size[level - 1], tree->order);
        if (sum <= tree->nodes && size[tree->height] == 1) break;
    }
    if (size[tree->height] != 1 || size[tree->height - 1] < 2) return "no tree of this height has so many nodes";

    for (size_t i = 0; i < tree->nodes * width; i++) {
        tree->keys[i] = INT32_MAX;
        tree->children[i] = 0;
    }
    /* Levels stand root first; a node's first key is the smallest below it. */
    uint32_t first[BTREE_LEVELS + 1], next = 0;
    for (uint32_t level = tree->height + 1; level-- > 0;) {
        first[level] = next;
        next += size[level];
    }
    uint32_t count = 0;
    int32_t key = 0;
    for (uint32_t leaf = 0; leaf < size[0]; leaf++) {
        uint32_t used = tree->order / 2 + reference_random_below(random_state, tree->order - tree->order / 2 + 1);
        for (uint32_t i = 0; i < used; i++) {
            tree->keys[(first[0] + leaf) * width + i] = key;
            tree->children[(first[0] + leaf) * width + i] = (int32_t)count;
            sorted[count++] = key;
            key += 1 + (int32_t)reference_random_below(random_state, 2);
        }
    }
    for (uint32_t level = 1; level <= tree->height; level++) {
        for (uint32_t node = 0; node < size[level]; node++) {
            uint64_t from = (uint64_t)node * size[level - 1] / size[level],
                     to = (uint64_t)(node + 1) * size[level - 1] / size[level];
            for (uint64_t child = from; child < to; child++) {
                tree->keys[(first[level] + node) * width + (child - from)] =
                    tree->keys[(first[level - 1] + child) * width];
                tree->children[(first[level] + node) * width + (child - from)] = (int32_t)(first[level - 1] + child);
            }
        }
    }
    *key_count = count;
    return NULL;
}

const char *generate_btree_find_k(const reference_launch *launch, uint64_t seed) {
    btree tree;
    if (launch->block[0] > 1024) return "the tree's order, one thread per key, is at most 1024";
    tree.order = launch->block[0];
    tree.nodes = reference_u32(launch, 4);
    tree.height = reference_u32(launch, 0);
    const uint64_t room = (uint64_t)tree.nodes * (tree.order + 1), queries = launch->grid[0];
    tree.keys = reference_i32s(launch, 1, room);
    tree.children = reference_i32s(launch, 2, room);
    int32_t *records = reference_i32s(launch, 3, (uint64_t)tree.nodes * tree.order);
    int32_t *current = reference_i32s(launch, 5, queries), *next = reference_i32s(launch, 6, queries);
    int32_t *query = reference_i32s(launch, 7, queries), *answers = reference_i32s(launch, 8, queries);
    if (launch->argument_count != 9 || !tree.keys || !tree.children || !records || !current || !next || !query ||
        !answers)
        return "btree_find_k takes s32 height, keys[nodes][order+1], children[nodes][order+1], records[nodes*order], "
               "s32 nodes, "
               "current, next, queries and answers, one each per block";
    int32_t *sorted = (int32_t *)malloc((size_t)tree.nodes * tree.order * sizeof *sorted + 1);
    if (!sorted) return "out of memory";
    uint32_t count = 0;
    uint64_t state = seed;
    const char *error = btree_build(&tree, sorted, &count, &state);
    if (!error) {
        for (uint64_t i = 0; i < (uint64_t)tree.nodes * tree.order; i++)
            records[i] = (int32_t)reference_random_below(&state, 1u << 30);
        /* Uniform over the keys' range: two of three are there. */
        for (uint64_t i = 0; i < queries; i++) {
            query[i] = (int32_t)reference_random_below(&state, (uint32_t)sorted[count - 1]);
            current[i] = next[i] = 0;
            answers[i] = -1;
        }
    }
    free(sorted);
    return error;
}
