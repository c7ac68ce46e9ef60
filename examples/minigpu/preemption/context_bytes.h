/* context_bytes: measures, writes and reads the context of a block in gpump_context's format. All three use
 * the same description of the block (gpump_context_view). */
#ifndef MINIGPU_CONTEXT_BYTES_H
#define MINIGPU_CONTEXT_BYTES_H

#include "state/state.h"

/* Returns the bytes of the largest context a block of this kernel can have. */
uint64_t preemption_context_bytes(const kernel *k);
/* Returns the bytes that a context of a running block would take if it were written now, in the machine's form: by what
 * becomes of them when a part stays in place, and all together. */
gpump_context_sizes context_bytes_by_part(machine *m, const block *b);
uint64_t preemption_context_now(machine *m, const block *b);
/* Returns the size of the sections of one warp of the block, with their headers. Sets *registers to the
 * number of vector registers among them. `w` may be a copy of the warp in another place. */
uint64_t context_bytes_of_warp(machine *m, const block *b, const warp *w, uint32_t *registers);
/* Writes the block to its place in the context pool. Returns the bytes written, by what becomes of them when a part
 * stays in place. */
gpump_context_sizes context_bytes_write(machine *m, const block *b);
/* Adds to the context of a parked block, which has no warps any more, the state that stayed in place. */
void context_bytes_complete(machine *m, const block *b);
/* Sets bytes[warp] to the size of each warp's sections in the block's context, with their headers. Registers
 * that were compressed over the whole block are divided evenly. Other sections of the whole block are not
 * counted. */
void context_bytes_of_warps(machine *m, const block *b, uint64_t bytes[BLOCK_WARPS_MAX]);
/* Reads a block's context into its present registers and shared memory. Sets coordinates[3] to the block's
 * position in the grid. */
void context_bytes_read(machine *m, block *b, uint32_t coordinates[3]);

#endif
