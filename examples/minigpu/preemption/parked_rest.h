/* parked_rest: what has stayed in place of a parked block (parked.h) is saved, or dropped with its process. */
#ifndef MINIGPU_PARKED_REST_H
#define MINIGPU_PARKED_REST_H

#include "state/state.h"

/* Handles an action of gpump_sm for a parked block, which the SM's blocks no longer list. Returns a block without warps
 * whose rest is to be saved; NULL: there is nothing to save. */
block *parked_rest_action(machine *m, sm *s, const gpump_sm_action *action);
/* Handles the end of such a block: its rest has been saved, or its process was aborted meanwhile. */
void parked_rest_left(machine *m, sm *s, block *b, const gpump_sm_action *action);

#endif
