/* A B+ tree for both look-ups. */
#ifndef MINIGPU_BTREE_TREE_H
#define MINIGPU_BTREE_TREE_H
#include <stdint.h>

typedef struct btree {
    uint32_t order;    /* keys per node at most; rows of keys and children are order + 1 wide */
    uint32_t nodes;    /* room for that many */
    uint32_t height;   /* levels above the leaves */
    int32_t *keys;     /* [nodes][order+1] */
    int32_t *children; /* [nodes][order+1] */
} btree;

/* Builds a tree of that height that fills the room as far as whole levels allow: inner nodes three quarters full,
 * leaves half to wholly (what insertion with splits comes to), keys rising by 1 or 2. Node 0 is the root; leaf entries
 * number the keys in order. Returns NULL or what is wrong. sorted receives the keys (room for nodes*order), key_count
 * their number. */
const char *btree_build(btree *tree, int32_t *sorted, uint32_t *key_count, uint64_t *random_state);
/* Returns the record number of a key, or -1. Returns -2 when the tree leads nowhere. */
int64_t btree_find(const btree *tree, int32_t root, int32_t key, int32_t *leaf);
#endif
