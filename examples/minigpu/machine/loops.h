/* loops: kernels of a launch file that run repeatedly. The kernels of a loop run until one of them writes a
 * value that ends the loop. The kernels of a process with `repeat` run again, each time from the buffers'
 * first contents. Writes of a loop and the restore of buffers happen between two cycles, so they take no
 * simulated time. */
#ifndef MINIGPU_LOOPS_H
#define MINIGPU_LOOPS_H

#include "state/state.h"

/* Allocates the counts of rounds and runs. Returns 0, or -1 when memory is out. */
int loops_make(machine *m, const launch_file *launch);
/* Handles the start of a kernel: advances its scalars, and at the start of a loop writes the values of
 * `each`. */
void loops_kernel_starts(machine *m, uint32_t index);
/* Handles the end of a kernel. After the last kernel of a loop, all kernels of the loop wait for their next
 * round, unless the loop ends. After the last kernel of a process that repeats, all kernels of the process
 * wait for the next run. */
void loops_kernel_ended(machine *m, uint32_t index);
/* Returns a buffer's contents after the first run of its process; NULL: the first run has not ended. */
const uint8_t *loops_first_result(const machine *m, uint32_t buffer);

#endif
