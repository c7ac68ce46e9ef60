/* sm_cycle: one cycle of an SM: which room has its turn when, and who gets what another hands over. */
#ifndef MINIGPU_SM_CYCLE_H
#define MINIGPU_SM_CYCLE_H

#include "state/state.h"

/* Lets cycle `now` happen on one SM, and sets s->wake to the next cycle in which something can happen there. */
SM_PATH void sm_cycle(machine *m, sm *s, uint64_t now);

#endif
