/* parked: blocks that have left their SM but for registers or shared memory that stay in place (Lin 2.3.1).
 *
 * A parked block comes back to its SM, where what is in place waits for it. When the SM is needed whole, or when the
 * block is to come back on another SM, it gives up what is left there: the rest of its context is saved, too. */
#ifndef MINIGPU_PARKED_H
#define MINIGPU_PARKED_H

#include "state/state.h"

/* Makes preempted block `handle` give up what is in place. It may not come back until that has been saved. */
void parked_gives_up(machine *m, uint32_t handle);
/* Makes the parked blocks on an SM give up what is in place: those of kernels from index `first` on. */
void parked_clear(machine *m, const sm *s, uint32_t first);
/* Returns the preempted block of a kernel that comes back on an SM first: one that is parked there, else one of which
 * nothing is in place. NONE: all of them are parked elsewhere, or give up what is in place. */
uint32_t parked_choose(const machine *m, uint32_t kernel_index, const sm *s);
/* Returns a preempted block of a kernel that is parked, on whatever SM, and gives up nothing yet; NONE: there is
 * none. */
uint32_t parked_find(const machine *m, uint32_t kernel_index);

#endif
