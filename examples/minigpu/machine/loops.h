/* loops: kernels of a launch file that run again and again: those of a loop, until one of them has written a value that
 * ends it, and those of a process that repeats, each time on the first contents of its buffers. Neither takes time of
 * its own: what is written or put back is so between two cycles. */
#ifndef MINIGPU_LOOPS_H
#define MINIGPU_LOOPS_H

#include "state/state.h"

/* Makes room for the counts. Returns 0, or -1 when out of memory. */
int loops_make(machine *m, const launch_file *launch);
/* A kernel starts: its scalars take a step, and where a loop begins, `each` is written. */
void loops_kernel_starts(machine *m, uint32_t index);
/* A kernel is done: the last one of a loop makes all of them wait for their next turn, unless the loop ends; so does
 * the last one of a process that repeats. */
void loops_kernel_ended(machine *m, uint32_t index);
/* What a buffer held when its process had run for the first time; NULL: it has not yet. */
const uint8_t *loops_first_result(const machine *m, uint32_t buffer);

#endif
