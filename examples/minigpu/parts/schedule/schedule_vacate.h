/* schedule_vacate: the techniques by which blocks leave an SM that the scheduler takes from its kernel. */
#ifndef MINIGPU_SCHEDULE_VACATE_H
#define MINIGPU_SCHEDULE_VACATE_H

#include "state/state.h"

/* Makes the blocks of an SM that is being vacated leave. Blocks that are being restored follow when they have
 * arrived. */
void schedule_vacate(machine *m, sm *s);

#endif
