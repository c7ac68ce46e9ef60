/* dispatcher: the SM of each block.
 *
 * Each SM takes blocks in this order: its own resume list (blocks that may run only there), preempted blocks, new
 * blocks. Kernels are ordered by priority, then as in the launch file. Kernels of one process run one after the other;
 * kernels of different processes run side by side. An SM gets at most one block per cycle. */
#ifndef MINIGPU_DISPATCHER_H
#define MINIGPU_DISPATCHER_H

#include "state/state.h"

/* Starts kernels that have arrived and ends those that are done. Returns the cycle of the next arrival, or NEVER. */
uint64_t dispatcher_kernels(machine *m);
/* Places blocks where there is room. Returns the cycle in which a part asks to try again; NEVER. */
uint64_t dispatcher_place(machine *m);

#endif
