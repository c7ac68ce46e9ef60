/* context_pipeline: the transfer of contexts between an SM and memory: one gpump_spill per SM, and its reports (Lin
 * 2.4.3).
 *
 * A warp's registers leave as soon as the warp has drained, while other warps of its block still run to their points.
 * Shared memory and the rest follow the last warp. Segments leave only when no miss needs the SM's port
 * (memory_path.c). The values move separately: they are written when the block's state is complete, and read when its
 * last byte has arrived (block_life.c). */
#ifndef MINIGPU_CONTEXT_PIPELINE_H
#define MINIGPU_CONTEXT_PIPELINE_H

#include "state/state.h"

/* Makes an SM's pipeline in the machine's arena. Returns 0, or -1 with the reason in error. */
int context_pipeline_make(machine *m, sm *s, char error[LAUNCH_ERROR_BYTES]);
/* Reports a block that has been told to stop. Its warps are observed from then on. */
void context_pipeline_stop(machine *m, sm *s, block *b);
/* Reports warps of a stopping block that have drained. The last warp is left to context_pipeline_save. */
void context_pipeline_watch(machine *m, sm *s, block *b);
/* Reports that the block's state is complete: `bytes` in all. */
void context_pipeline_save(machine *m, sm *s, block *b, uint64_t bytes);
/* Begins to save the registers and shared memory that a block without warps has left in place
 * (preemption/parked.h). */
void context_pipeline_save_rest(machine *m, sm *s, block *b);
/* Cancels the saving of a block that has ended before its state was complete. */
void context_pipeline_cancel(machine *m, sm *s, block *b);
/* Begins to read a context of `bytes`. */
void context_pipeline_restore(machine *m, sm *s, block *b, uint64_t bytes);
/* Reports that a segment of a block has been written, or has arrived. */
void context_pipeline_moved(machine *m, sm *s, block *b);
/* Returns a block whose transfer has ended with that segment (block.moving says save or restore); NONE: no more. */
uint32_t context_pipeline_done(machine *m, sm *s);
/* The next step that is possible now: a segment, with its block, request kind and address; or a block that is saved or
 * restored without a segment; or nothing. */
typedef enum context_pipeline_step {
    CONTEXT_PIPELINE_EMPTY,
    CONTEXT_PIPELINE_SEGMENT,
    CONTEXT_PIPELINE_DONE
} context_pipeline_step;
context_pipeline_step context_pipeline_next(machine *m, sm *s, uint32_t *block_index, uint32_t *kind,
                                            uint64_t *address);
/* Returns the cycle of the next segment; NEVER: only after another event. */
static inline uint64_t context_pipeline_cycle(const sm *s) {
    return s->contexts_moving ? gpump_next_cycle(&gpump_spill_component, s->spill) : NEVER;
}
#endif
