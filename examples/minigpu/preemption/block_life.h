/* block_life: a block is placed, runs, leaves, and comes back: what gpump_sm decides is carried out here. Start reading
 * in block_life.c. */
#ifndef MINIGPU_BLOCK_LIFE_H
#define MINIGPU_BLOCK_LIFE_H

#include "state/state.h"

/* Makes gpump's part of one SM. Returns 0, or -1 with the reason in error. */
int preemption_make_sm(machine *m, sm *s, uint32_t shared_bytes, char error[LAUNCH_ERROR_BYTES]);
/* Places a new block (linear index) or one that was preempted (`saved` not NULL). Returns what gpump says: YES, or why
 * there is no room. */
gpump_reason preemption_place(machine *m, sm *s, uint32_t kernel_index, uint64_t linear, const preempted_block *saved);
/* SMs that run side by side (machine/window.h) do on their own what concerns them alone, when a window begins and when
 * it has ended: the warps of blocks that have been placed come, and what ended blocks leave behind is overwritten. */
void block_life_start(machine *m, sm *s);
void block_life_overwrite(const machine *m, sm *s);
/* All warps of a block have ended, and nothing of it is on the way. */
void preemption_block_done(machine *m, sm *s, block *b);
/* Once per cycle while blocks of the SM are stopping: tells gpump what they still wait for. */
void preemption_report_waits(machine *m, sm *s);
/* The last byte of a context has been written (REQUEST_SAVE) or has arrived (REQUEST_RESTORE). */
void preemption_transfer_done(machine *m, sm *s, block *b, uint32_t kind);
/* Blocks whose context counts as moved in this cycle (config.switch_stalls). */
void block_life_end_stalls(machine *m, sm *s);
/* Carries out everything that gpump wants done on this SM. */
void block_life_actions(machine *m, sm *s);
/* Blocks that had to wait with it, because warps of theirs were on their way (duet.h), are dropped. */
void block_life_end_drops(machine *m, sm *s);

#endif
