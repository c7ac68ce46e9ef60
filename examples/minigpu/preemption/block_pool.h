/* block_pool: takes blocks from the SM's pool of free blocks, and returns them. */
#ifndef MINIGPU_BLOCK_POOL_H
#define MINIGPU_BLOCK_POOL_H

#include <string.h>

#include "state/state.h"

/* Takes a free block, all zero, and sets *index to its number; NULL: none is free. */
static inline block *block_pool_take(machine *m, const sm *s, uint32_t *index) {
    block *b;
    *index = s->pool->free_block;
    if (*index == NONE) return NULL;
    b = &m->blocks[*index];
    s->pool->free_block = b->next_free;
    memset(b, 0, sizeof *b);
    return b;
}

/* Returns a block to the pool. */
static inline void block_pool_give(const machine *m, const sm *s, block *b) {
    b->life = 0;
    b->next_free = s->pool->free_block;
    s->pool->free_block = (uint32_t)(b - m->blocks);
}

#endif
