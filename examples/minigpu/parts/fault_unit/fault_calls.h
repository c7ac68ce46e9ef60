/* fault_calls: Kim's fault handler as a client of the fault unit (--page-checks with --link; Kim 2.1, Tanasic 6.4).
 *
 * A check that finds a page absent only remembers the access. The warp's next call, sw_call, reports what the warp's
 * checks have found to the fault unit, and the warp waits at its marker until the unit has served it. Nothing of the
 * warp is in flight meanwhile, so its block may leave the SM at once. A block that comes back before its pages checks
 * again, finds them absent again, and joins the faults that it has opened. */
#ifndef MINIGPU_FAULT_CALLS_H
#define MINIGPU_FAULT_CALLS_H

#include "parts/fault_unit/fault_unit.h"

/* With a fault unit: gives every warp room for what its checks find. Returns 0, or -1 with the reason in error. */
int fault_calls_make(machine *m, char error[LAUNCH_ERROR_BYTES]);
/* A warp takes its slot: its checks have found nothing. */
void fault_calls_open(machine *m, const warp *w);
/* A check has found the page of this segment absent. What finds no room is found again behind the next call. */
void fault_calls_found(machine *m, sm *s, const in_flight *r, uint64_t segment);
/* The warp calls the handler. Returns the cycle in which it goes on; NEVER: when the unit has served what it asked
 * for. */
uint64_t fault_calls_call(machine *m, sm *s, warp *w);
/* The warp goes on when the unit has served what it has just asked for. Returns the cycle; NEVER: when the unit says
 * so.
 */
uint64_t fault_calls_wait(machine *m, sm *s, warp *w);

#endif
