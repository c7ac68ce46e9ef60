/* parked_rest: saves the state of a parked block that is still in place (parked.h), or drops it with its
 * process. */
#ifndef MINIGPU_PARKED_REST_H
#define MINIGPU_PARKED_REST_H

#include "state/state.h"

/* Handles an action of gpump_sm for a parked block, which is no longer in the SM's list of blocks. Returns a
 * block without warps whose remaining state is to be saved; NULL: nothing is to be saved. */
block *parked_rest_action(machine *m, sm *s, const gpump_sm_action *action);
/* Handles the end of such a block: its state has been saved, or its process was aborted in the meantime. */
void parked_rest_left(machine *m, sm *s, block *b, const gpump_sm_action *action);

#endif
