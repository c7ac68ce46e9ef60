/* block_life: the life of a block: placed, running, preempted, restored. It carries out what gpump_sm decides. Start
 * reading in block_life.c. */
#ifndef MINIGPU_BLOCK_LIFE_H
#define MINIGPU_BLOCK_LIFE_H

#include "state/state.h"

/* Makes the gpump_sm of one SM. Returns 0, or -1 with the reason in error. */
int preemption_make_sm(machine *m, sm *s, uint32_t shared_bytes, char error[LAUNCH_ERROR_BYTES]);
/* Places a new block (linear index) or a preempted one (`saved` not NULL). Returns gpump's answer: YES, or why there is
 * no room. */
gpump_reason preemption_place(machine *m, sm *s, uint32_t kernel_index, uint64_t linear, const preempted_block *saved);
/* With SMs side by side (machine/window.h), the part of placing and removing blocks that concerns one SM alone.
 * When a window begins, the warps of placed blocks are made. When it has ended, the remains of ended blocks are
 * overwritten. */
void block_life_start(machine *m, sm *s);
void block_life_overwrite(const machine *m, sm *s);
/* Handles a block whose warps have all ended, with nothing in transfer. */
void preemption_block_done(machine *m, sm *s, block *b);
/* Once per cycle while blocks of the SM are stopping: reports to gpump what they still wait for. */
void preemption_report_waits(machine *m, sm *s);
/* Handles the last byte of a context: written (REQUEST_SAVE) or arrived (REQUEST_RESTORE). */
void preemption_transfer_done(machine *m, sm *s, block *b, uint32_t kind);
/* Handles blocks whose context counts as transferred in this cycle (config.switch_stalls). */
void block_life_end_stalls(machine *m, sm *s);
/* Carries out every action of gpump for this SM. */
void block_life_actions(machine *m, sm *s);
/* Drops blocks that could not be dropped before, because some of their warps were in transfer (duet.h). */
void block_life_end_drops(machine *m, sm *s);

#endif
