/* context_pipeline: the transfer of contexts between an SM and memory, by one gpump_spill per SM (Lin 2.4.3).
 *
 * A warp's registers are transferred as soon as the warp has drained, while other warps of its block still
 * run to their points. Shared memory and the rest of the context follow the last warp. Segments leave only
 * when no miss needs the SM's port (memory_path.c). The pipeline models the time of the transfer alone. The
 * values are written when the block's state is complete, and read when its last byte has arrived
 * (block_life.c). */
#ifndef MINIGPU_CONTEXT_PIPELINE_H
#define MINIGPU_CONTEXT_PIPELINE_H

#include "state/state.h"

/* Makes an SM's pipeline in the machine's arena. Returns 0, or -1 with the reason in error. */
int context_pipeline_make(machine *m, sm *s, char error[LAUNCH_ERROR_BYTES]);
/* Reports a block that has been ordered to stop. The pipeline watches its warps from then on. */
void context_pipeline_stop(machine *m, sm *s, block *b);
/* Reports the warps of a stopping block that have drained, except the last one, which context_pipeline_save
 * reports. */
void context_pipeline_watch(machine *m, sm *s, block *b);
/* Reports that the block's state is complete. bytes: the size of its context. */
void context_pipeline_save(machine *m, sm *s, block *b, uint64_t bytes);
/* Begins the save of the registers and shared memory that a parked block has in place (preemption/parked.h). */
void context_pipeline_save_rest(machine *m, sm *s, block *b);
/* Cancels the save of a block that has ended before its state was complete. */
void context_pipeline_cancel(machine *m, sm *s, block *b);
/* Begins the read of a context of `bytes`. */
void context_pipeline_restore(machine *m, sm *s, block *b, uint64_t bytes);
/* Reports that a segment of a block's context has been written, or has arrived. */
void context_pipeline_moved(machine *m, sm *s, block *b);
/* Returns a block whose transfer has ended with that segment (block.moving: save or restore); NONE: there are
 * no more. */
uint32_t context_pipeline_done(machine *m, sm *s);
/* The result of context_pipeline_next: nothing, a segment to send, or a block that is saved or restored
 * without a segment. */
typedef enum context_pipeline_step {
    CONTEXT_PIPELINE_EMPTY,
    CONTEXT_PIPELINE_SEGMENT,
    CONTEXT_PIPELINE_DONE
} context_pipeline_step;
/* Takes the next step that is possible now. For a segment, sets its block, request kind and address. For a
 * block that is done, sets the block. */
context_pipeline_step context_pipeline_next(machine *m, sm *s, uint32_t *block_index, uint32_t *kind,
                                            uint64_t *address);
/* Returns the cycle of the next segment; NEVER: the next segment waits for another event. */
static inline uint64_t context_pipeline_cycle(const sm *s) {
    return s->contexts_moving ? gpump_next_cycle(&gpump_spill_component, s->spill) : NEVER;
}
#endif
