/* fault_service: carries out what the fault unit decides (fault_unit.h): pages come, blocks are woken, processes are
 * aborted. */
#ifndef MINIGPU_FAULT_SERVICE_H
#define MINIGPU_FAULT_SERVICE_H

#include "state/state.h"

/* All that is due. */
void fault_service_serve(machine *m);

#endif
