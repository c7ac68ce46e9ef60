/* context_bytes: the context of a block as gpump_context carries it. One description of what a block consists of
 * (gpump_context_view) serves to measure it, to write it, to say how large it can become, and to read it back. */
#ifndef MINIGPU_CONTEXT_BYTES_H
#define MINIGPU_CONTEXT_BYTES_H

#include "state/state.h"

/* Returns the bytes of the largest context a block of this kernel can have. */
uint64_t preemption_context_bytes(const kernel *k);
/* Returns the bytes that a context of a running block would take if it were written now, in the machine's form: by what
 * becomes of them when a part stays in place, and all together. */
gpump_context_sizes context_bytes_by_part(machine *m, const block *b);
uint64_t preemption_context_now(machine *m, const block *b);
/* Returns what the sections of a warp of the block would take, with their heads, and how many vector registers are
 * among them. `w` may be a copy of the warp that stands elsewhere. */
uint64_t context_bytes_of_warp(machine *m, const block *b, const warp *w, uint32_t *registers);
/* Writes the block to its place in the context pool. */
void context_bytes_write(machine *m, const block *b);
/* Adds what stayed in place of a block, which has no warps any more, to its context. */
void context_bytes_complete(machine *m, const block *b);
/* Sets bytes[warp] to what the sections of each warp take in the block's context, with their heads. Registers
 * that were compressed over the whole block count evenly; other sections of the whole block are nobody's. */
void context_bytes_of_warps(machine *m, const block *b, uint64_t bytes[BLOCK_WARPS_MAX]);
/* Reads a block back into the places it has now; coordinates[3] become its place in the grid. */
void context_bytes_read(machine *m, block *b, uint32_t coordinates[3]);

#endif
