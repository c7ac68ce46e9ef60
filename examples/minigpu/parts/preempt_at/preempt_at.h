/* preempt_at: --preempt CYCLE. At that cycle the kernel of higher priority that has not arrived yet arrives. Without
 * such a kernel every SM is emptied. --preempt-every N: again N cycles later, until the run ends; then an SM on which
 * nothing has issued since its blocks came keeps them. */
#ifndef MINIGPU_PREEMPT_AT_H
#define MINIGPU_PREEMPT_AT_H

#include "state/state.h"

/* Sets the cycle of a machine that has been built; NEVER: none. */
void preempt_at(machine *m, uint64_t cycle);
/* Returns the first cycle if it is still to come; NEVER: none, or it has passed. */
uint64_t preempt_at_cycle(const machine *m);

#endif
