/* tlb: the TLBs of the SMs, the L2 TLB and the page walkers (Tanasic Table 6.1).
 *
 * Without TLBs (config.l1_tlb_entries 0) every look-up reads the page table at once. With them a look-up that misses
 * the SM's L1 TLB goes to the L2 TLB, which all SMs share, and from there to one of the page walkers. The answer
 * returns to the SM with the rights of the page, and wakes all look-ups of that page. All latencies are fixed, so
 * requests are in queues in the order of time, and cycles without an arrival cost nothing.
 *
 * With windows (machine/window.h) an SM's misses enter the L2 TLB when the window has ended, in the order (cycle, SM)
 * and with their own cycles. No window is longer than the way to the L2 TLB or than a walk, so every look-up has the
 * same latency as without windows. */
#ifndef MINIGPU_TLB_H
#define MINIGPU_TLB_H

#include "sm/translation.h"

typedef struct tlb_unit tlb_unit;

/* Returns the L1 TLB of an SM; NULL: there are no TLBs. */
gpump_tlb *tlb_of_sm(const sm *s);

/* Makes the TLBs of the configuration; *unit NULL: there are none. Returns 0, or -1 with the reason in error. */
int tlb_make(machine *m, tlb_unit **unit, char error[LAUNCH_ERROR_BYTES]);
/* Looks up an address for an SM and a process. waiter: returned by tlb_take when the answer arrives. */
translation tlb_look_up(machine *m, sm *s, uint32_t process, uint64_t address, int write, uint64_t waiter);
/* Takes the next answer that has arrived at an SM. Returns 1 with its waiter, or 0. translate then tells what the
 * waiter may do. */
int tlb_take(machine *m, sm *s, uint64_t *waiter);
/* Returns the cycle in which the SM has an answer to take; NEVER. */
uint64_t tlb_next_answer(const machine *m, const sm *s);
/* Returns the next cycle in which the L2 TLB or a walker has work; NEVER. */
uint64_t tlb_next(const machine *m);
/* Does the work of the L2 TLB and of the walkers before the cycle `end`. */
void tlb_run(machine *m, uint64_t end);
/* Moves the misses of the window that has ended into the L2 TLB. */
void tlb_end_window(machine *m);
/* Removes a page whose rights have changed from every TLB. */
void tlb_forget(machine *m, uint64_t page);
/* Reports the process of the first block on an empty SM. Another process than before finds the L1 TLB empty. */
void tlb_sm_is_taken(machine *m, sm *s, uint32_t process);
uint64_t tlb_hash(const machine *m, uint64_t hash);

#endif
