/* fault_calls: Kim's fault handler as a client of the fault unit (--page-checks with --link; Kim 2.1, Tanasic 6.4).
 *
 * A check that finds a page absent only records the access. The warp's next call, sw_call, reports the recorded
 * accesses to the fault unit, and the warp waits at its marker until the unit has served them. No instruction of the
 * warp is in flight meanwhile, so its block may leave the SM at once. A block that is restored before its pages arrive
 * checks again, finds them absent again, and joins the faults that it has opened. */
#ifndef MINIGPU_FAULT_CALLS_H
#define MINIGPU_FAULT_CALLS_H

#include "parts/fault_unit/fault_unit.h"

/* With a fault unit: gives every warp room for the pages that it waits for, and for the accesses that its checks find.
 * Returns 0, or -1 with the reason in error. */
int fault_calls_make(machine *m, char error[LAUNCH_ERROR_BYTES]);
/* Clears the record of a warp that takes its slot. */
void fault_calls_open(machine *m, const warp *w);
/* Records a segment whose page a check has found absent. A segment without room is found again behind the next call. */
void fault_calls_found(machine *m, sm *s, const in_flight *r, uint64_t segment);
/* Calls the handler for a warp. Returns the cycle in which the warp continues; NEVER: when the unit has served its
 * accesses. */
uint64_t fault_calls_call(machine *m, sm *s, warp *w);
/* Makes a warp wait for the accesses that it has just reported. Returns the cycle in which it continues; NEVER: the
 * unit decides. */
uint64_t fault_calls_wait(machine *m, sm *s, warp *w);

#endif
