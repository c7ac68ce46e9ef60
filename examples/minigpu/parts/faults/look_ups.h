/* look_ups: translation of memory instructions where look-ups take time or may fault. There is one look-up per cycle.
 * An access that waits for an answer lets others pass, and an access that waits for a page is parked. The look-ups take
 * the place of the load-store unit's check queue. faults.h says what becomes of accesses whose page is absent. */
#ifndef MINIGPU_LOOK_UPS_H
#define MINIGPU_LOOK_UPS_H

#include "parts/faults/fault_state.h"

/* Prepares an instruction that enters the check queue. */
void look_ups_enter(machine *m, sm *s, in_flight *r);
/* Makes the look-up of a cycle, and takes answers. Returns a record that needed no look-up and has taken effect;
 * NONE. */
uint32_t look_ups_cycle(machine *m, sm *s);
/* Takes the next record whose look-ups are all answered. Its `absent` marks the segments whose page is absent. Returns
 * 1, or 0 when there is none. */
int look_ups_take(sm *s, uint32_t *record);
/* Three outcomes for that record: the access takes effect and proceeds to L1, waits in place for its pages, or leaves
 * the unit. */
void look_ups_effect(machine *m, sm *s, uint32_t record);
void look_ups_park(sm *s, uint32_t record);
void look_ups_withdraw(machine *m, sm *s, uint32_t record);
/* Takes a squashed record out of the unit while it is looked up. Returns 1, or 0 when it is elsewhere. */
int look_ups_leave(machine *m, sm *s, uint32_t record);
/* Returns whether all pages are there that the look-ups of a record found absent. */
int look_ups_are_served(const machine *m, const sm *s, const in_flight *r);
/* Report that pages are there, and that pages leave: records that wait in place for nothing else look up again. */
void look_ups_pages_came(machine *m);
void look_ups_pages_leave(machine *m, uint64_t page, uint64_t count);

#endif
