/* again: a second run of the same kernels on a machine whose kernels have ended, with other arguments and
 * grids.
 *
 * Nothing is built for the second run, so its start costs microseconds. Time continues from the machine's
 * present cycle. Caches are cold, as in a new machine. A kernel that runs alone takes as many cycles as on a
 * new machine. With several kernels, blocks find the room of SMs in another order, so cycle counts may
 * differ. */
#ifndef MINIGPU_AGAIN_H
#define MINIGPU_AGAIN_H

#include "state/state.h"

/* Returns whether a machine may run again. Its kernels must have ended and no block may be left. The machine
 * must have no part (state/part.h), and device memory must hold no state of the finished run. */
int again_is_possible(const machine *m);
/* Returns whether kernel `index` may get this grid, because the machine has room for the preempted blocks of
 * the grid. */
int again_fits(const machine *m, uint32_t index, const uint32_t grid[3]);
/* Starts the kernels of a launch again.
 *
 * first: machine.kernels as machine_build left them.
 * launch: the same kernels and the same lent memory. Arrival cycles count from m->now.
 * buffers_changed: 1 when the buffers differ from those of the run before. No buffer may exceed the lent
 * memory. */
void again_begin(machine *m, const kernel *first, launch_file *launch, int buffers_changed);

#endif
