/* schedule_vacate: which way the blocks of an SM go that the scheduler takes from its kernel. */
#ifndef MINIGPU_SCHEDULE_VACATE_H
#define MINIGPU_SCHEDULE_VACATE_H

#include "state/state.h"

/* Makes whoever runs on an SM that is being vacated leave; blocks that were just coming back are told when they have
 * arrived. */
void schedule_vacate(machine *m, sm *s);

#endif
