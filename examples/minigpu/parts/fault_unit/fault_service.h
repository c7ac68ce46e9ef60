/* fault_service: carries out the decisions of the fault unit (fault_unit.h): pages arrive, blocks are woken, processes
 * are aborted. */
#ifndef MINIGPU_FAULT_SERVICE_H
#define MINIGPU_FAULT_SERVICE_H

#include "state/state.h"

/* Carries out everything that is due. */
void fault_service_serve(machine *m);
/* Carries out what the SMs have reported in the window that has ended, in the order (cycle, SM). */
void fault_service_end_window(machine *m);

#endif
