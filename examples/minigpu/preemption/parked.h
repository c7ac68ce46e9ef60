/* parked: preempted blocks whose registers or shared memory stay in place on their SM (Lin 2.3.1).
 *
 * A parked block normally resumes on the same SM, where this state is. When the SM must become empty, or when
 * the block is to resume on another SM, the block gives the state up. The rest of its context is then saved
 * too. */
#ifndef MINIGPU_PARKED_H
#define MINIGPU_PARKED_H

#include "state/state.h"

/* Orders the save of what preempted block `handle` has in place. The block cannot resume until the save has
 * ended. */
void parked_gives_up(machine *m, uint32_t handle);
/* Orders the same save for the parked blocks on an SM whose kernels have index `first` or higher. */
void parked_clear(machine *m, const sm *s, uint32_t first);
/* Returns the preempted block of a kernel that resumes first on an SM: a block that is parked there,
 * otherwise a block with nothing in place. NONE: every block is parked elsewhere, or its state in place is
 * being saved. */
uint32_t parked_choose(const machine *m, uint32_t kernel_index, const sm *s);
/* Returns a preempted block of a kernel that is parked on any SM and whose state is not being saved; NONE:
 * there is none. */
uint32_t parked_find(const machine *m, uint32_t kernel_index);

#endif
