/* again: a machine whose kernels have ended takes the same kernels again, with other arguments and grids. Nothing is
 * built, so this costs microseconds. Time goes on from where the machine stands. Caches are cold, as in a new machine,
 * and a kernel that runs alone takes as many cycles as on a new one. Blocks of several kernels find the room of SMs in
 * another order, so their cycles may differ. */
#ifndef MINIGPU_AGAIN_H
#define MINIGPU_AGAIN_H

#include "state/state.h"

/* Returns whether a machine may run again: its kernels have ended, no block is left anywhere, and no part
 * (state/part.h) and no state in device memory belongs to the run that is over. */
int again_is_possible(const machine *m);
/* Returns whether kernel `index` may get this grid: the machine has room for as many preempted blocks. */
int again_fits(const machine *m, uint32_t index, const uint32_t grid[3]);
/* Starts the kernels of a launch again. first: machine.kernels as machine_build left them. The launch has the same
 * kernels and lent memory; its arrival cycles count from m->now. buffers_changed: 1: other buffers than in the run
 * before, and none beyond the end of the memory that was lent. */
void again_begin(machine *m, const kernel *first, launch_file *launch, int buffers_changed);

#endif
