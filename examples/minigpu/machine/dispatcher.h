/* dispatcher: chooses the SM of each block.
 *
 * An SM takes blocks in this order: its own resume list (blocks that can resume there only), preempted
 * blocks, new blocks. Kernels are ordered by priority, then as in the launch file. Kernels of one process run
 * one after the other. Kernels of different processes run side by side. An SM gets at most one block per
 * cycle. */
#ifndef MINIGPU_DISPATCHER_H
#define MINIGPU_DISPATCHER_H

#include "state/state.h"

/* Starts kernels that have arrived and ends those that are done. Returns the cycle of the next arrival, or NEVER. */
uint64_t dispatcher_kernels(machine *m);
/* Places at most one block on each SM with room. Returns the cycle in which a part asks for the next attempt;
 * NEVER. */
uint64_t dispatcher_place(machine *m);

#endif
