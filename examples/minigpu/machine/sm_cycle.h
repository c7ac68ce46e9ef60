/* sm_cycle: one cycle of an SM: the order of its stages, and the data that one stage passes to another. */
#ifndef MINIGPU_SM_CYCLE_H
#define MINIGPU_SM_CYCLE_H

#include "state/state.h"

/* Runs cycle `now` of one SM, and sets s->wake to the next cycle with an event there. */
SM_PATH void sm_cycle(machine *m, sm *s, uint64_t now);

#endif
