/* dispatcher: which block goes to which SM.
 *
 * For each SM, in this order: the SM's own resume list (blocks that may go nowhere else), blocks that were preempted,
 * new blocks. Kernels come by priority, then in the order of the launch file; kernels of one process run one after the
 * other, those of different processes side by side. At most one block per SM and cycle. */
#ifndef MINIGPU_DISPATCHER_H
#define MINIGPU_DISPATCHER_H

#include "state/state.h"

/* Starts kernels that have arrived and ends those that are done. Returns the cycle of the next arrival, or NEVER. */
uint64_t dispatcher_kernels(machine *m);
/* Places blocks where there is room. Returns the cycle in which a part wants that to be tried again; NEVER. */
uint64_t dispatcher_place(machine *m);

#endif
