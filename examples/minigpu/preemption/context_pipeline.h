/* context_pipeline: contexts on their way between an SM and memory: gpump_spill, one per SM, and what it needs to be
 * told (Lin 2.4.3).
 *
 * A warp's registers leave as soon as it has drained, while other warps of its block still run to their points; shared
 * memory and the rest follow the last of them. Segments go out only when no miss wants the SM's port (memory_path.c).
 * Values move elsewhere: they are written when the block's state is complete, and read when its last byte has arrived
 * (block_life.c). */
#ifndef MINIGPU_CONTEXT_PIPELINE_H
#define MINIGPU_CONTEXT_PIPELINE_H

#include "state/state.h"

/* Makes an SM's pipeline in the machine's arena. Returns 0, or -1 with the reason in error. */
int context_pipeline_make(machine *m, sm *s, char error[LAUNCH_ERROR_BYTES]);
/* A block has been told to stop; from now on its warps are watched. */
void context_pipeline_stop(machine *m, sm *s, block *b);
/* Warps of a stopping block that have drained since. The last one is kept back: it belongs to context_pipeline_save. */
void context_pipeline_watch(machine *m, sm *s, block *b);
/* The block's state is complete: `bytes` in all. */
void context_pipeline_save(machine *m, sm *s, block *b, uint64_t bytes);
/* The block has ended before that. */
void context_pipeline_cancel(machine *m, sm *s, block *b);
/* A context of `bytes` is to be read. */
void context_pipeline_restore(machine *m, sm *s, block *b, uint64_t bytes);
/* A segment of a block has been written, or has arrived. */
void context_pipeline_moved(machine *m, sm *s, block *b);
/* Returns a block whose last byte that was, saved or restored (block.moving says which); NONE: no more. */
uint32_t context_pipeline_done(machine *m, sm *s);
/* Gets the next thing that may happen now: a segment, with the block it belongs to, its request kind and address; or a
 * block that is saved or restored without one; or nothing. */
typedef enum context_pipeline_step {
    CONTEXT_PIPELINE_EMPTY,
    CONTEXT_PIPELINE_SEGMENT,
    CONTEXT_PIPELINE_DONE
} context_pipeline_step;
context_pipeline_step context_pipeline_next(machine *m, sm *s, uint32_t *block_index, uint32_t *kind,
                                            uint64_t *address);
/* The cycle of the next segment; NEVER: not by itself. */
static inline uint64_t context_pipeline_cycle(const sm *s) {
    return s->contexts_moving ? gpump_spill_next_cycle(s->spill) : NEVER;
}
#endif
