/* block_life: the life cycle of a block: placed, running, preempted, restored. It executes the decisions of
 * gpump_sm. To read the code, start in block_life.c. */
#ifndef MINIGPU_BLOCK_LIFE_H
#define MINIGPU_BLOCK_LIFE_H

#include "state/state.h"

/* Returns one of `parts` equal shares of the room of an SM, in whole granules. */
gpump_room preemption_room(const machine *m, uint32_t shared_bytes, uint32_t parts);
/* Makes the gpump_sm of one SM. Returns 0, or -1 with the reason in error. */
int preemption_make_sm(machine *m, sm *s, uint32_t shared_bytes, char error[LAUNCH_ERROR_BYTES]);
/* Places a new block (linear index) or a preempted one (`saved` not NULL). Returns the answer of gpump_sm:
 * YES, or the reason why there is no room. */
gpump_reason preemption_place(machine *m, sm *s, uint32_t kernel_index, uint64_t linear, const preempted_block *saved);
/* With SMs side by side (machine/window.h), makes the warps of blocks that have been placed. Called on the
 * SM's own thread when a window begins. */
void block_life_start(machine *m, sm *s);
/* With SMs side by side, overwrites the remains of ended blocks. Called on the SM's own thread when a window
 * has ended. */
void block_life_overwrite(const machine *m, sm *s);
/* Handles a block whose warps have all ended, with nothing in transfer. */
void preemption_block_done(machine *m, sm *s, block *b);
/* Reports to gpump_sm what the SM's stopping blocks still wait for. Called once per cycle while blocks are
 * stopping. */
void preemption_report_waits(machine *m, sm *s);
/* Handles the end of a context's transfer: all bytes are written (REQUEST_SAVE) or have arrived (REQUEST_RESTORE). */
void preemption_transfer_done(machine *m, sm *s, block *b, uint32_t kind);
/* Handles the blocks whose modelled transfer time ends in this cycle (config.switch_stalls). */
void block_life_end_stalls(machine *m, sm *s);
/* Executes every pending action of the SM's gpump_sm. */
void block_life_actions(machine *m, sm *s);
/* Drops the blocks whose drop was delayed because some of their warps were in transfer (duet.h). */
void block_life_end_drops(machine *m, sm *s);

#endif
