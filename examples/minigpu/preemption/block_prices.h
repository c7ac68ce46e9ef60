/* block_prices: the latency and overhead of each technique for each block of an SM. Victim policies choose
 * from these prices. A policy may serve a kernel with a deadline, a scheduler, or a group that changes its
 * division of SMs. */
#ifndef MINIGPU_BLOCK_PRICES_H
#define MINIGPU_BLOCK_PRICES_H

#include "state/state.h"

typedef struct block_prices {
    gpump_block_view views[BLOCK_ENTRIES_MAX];
    gpump_cost_estimate estimates[BLOCK_ENTRIES_MAX];
    gpump_cost_rewind rewind[BLOCK_ENTRIES_MAX];
    uint32_t count;
    uint32_t unused;
} block_prices;

/* Fills the views of an SM's blocks. Parts first update what the blocks wait for (blocks_are_weighed). */
void block_prices_look(machine *m, sm *s, block_prices *p);
/* Forbids a second flush of blocks that have been flushed before. Without this limit, a block would restart
 * for ever where SMs change hands more often than a block ends. */
void block_prices_flush_once(const machine *m, const sm *s, block_prices *p);
/* Estimates latency and overhead of each technique for the blocks of p->views. The size of a context is what
 * the machine would move now. A block without context space loses the techniques that save. keeps: by view,
 * the gpump_part bits that would stay in place; NULL: none. */
void block_prices_estimate(machine *m, const sm *s, const gpump_cost_options *options, const uint32_t *keeps,
                           block_prices *p);
/* Sets `of` to the SM's blocks and their prices, in the form of a victim question. */
void block_prices_view(const sm *s, const block_prices *p, gpump_victim_sm *of);

#endif
