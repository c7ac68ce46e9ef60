/* loops: kernels of a launch file that run again and again, until one of them has written a value that ends the loop.
 * Loops take no time of their own: the writes of `each` happen between two cycles. */
#ifndef MINIGPU_LOOPS_H
#define MINIGPU_LOOPS_H

#include "machine/state.h"

/* Makes room for the counts. Returns 0, or -1 when out of memory. */
int loops_make(machine *m, const launch_file *launch);
/* A kernel starts: its scalars take a step, and where a loop begins, `each` is written. */
void loops_kernel_starts(machine *m, uint32_t index);
/* A kernel is done: the last one of a loop makes all of them wait for their next turn, unless the loop ends. */
void loops_kernel_ended(machine *m, uint32_t index);

#endif
