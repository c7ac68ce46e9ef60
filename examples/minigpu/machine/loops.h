/* loops: kernels of a launch file that run repeatedly. The kernels of a loop run until one of them writes a value that
 * ends the loop. The kernels of a process with `repeat` run again, each time with the buffers' first contents. Writes
 * of a loop and restored buffers take no time: they happen between two cycles. */
#ifndef MINIGPU_LOOPS_H
#define MINIGPU_LOOPS_H

#include "state/state.h"

/* Makes room for the counts. Returns 0, or -1 when memory is out. */
int loops_make(machine *m, const launch_file *launch);
/* Handles the start of a kernel: its scalars take a step, and at the start of a loop `each` is written. */
void loops_kernel_starts(machine *m, uint32_t index);
/* Handles the end of a kernel. After the last kernel of a loop all its kernels wait for their next round, unless the
 * loop ends. The same holds for the last kernel of a process that repeats. */
void loops_kernel_ended(machine *m, uint32_t index);
/* Returns a buffer's contents after the first run of its process; NULL: the first run has not ended. */
const uint8_t *loops_first_result(const machine *m, uint32_t buffer);

#endif
