/* translation: the page table's answer to an address, and its latency (Tanasic Table 6.1).
 *
 * Without TLBs (config.l1_tlb_entries 0) every look-up reads the page table at once. With them a look-up that misses
 * the SM's L1 TLB goes to the L2 TLB, which all SMs share, and from there to one of the page walkers. The answer
 * returns to the SM as the waiter that asked, with the rights of the page. All latencies are fixed, so requests are in
 * queues in the order of time, and cycles without an arrival cost nothing. */
#ifndef MINIGPU_TRANSLATION_H
#define MINIGPU_TRANSLATION_H

#include "state/state.h"

typedef enum translation {
    TRANSLATION_HIT,
    TRANSLATION_PENDING, /* an answer follows (translation_take) */
    TRANSLATION_ABSENT,
    TRANSLATION_FAULT,
    TRANSLATION_BUSY /* no room for a miss: look up again after the next answer */
} translation;

/* An SM's L1 TLB, and the answers that have arrived for the SM. */
typedef struct sm_translation {
    gpump_tlb *tlb;
    uint64_t *answers; /* a ring */
    uint32_t head, count, mask;
    uint32_t unused;
} sm_translation;

typedef struct translation_request {
    uint64_t page;
    uint32_t sm, process;
} translation_request;

/* Shared by all SMs. */
typedef struct translation_unit {
    gpump_tlb *tlb; /* L2; NULL: there is none */
    translation_request *requests;
    uint32_t *free_requests, free_count;
    uint32_t walking;                /* walkers in use */
    pipe_stage to_l2, walks;         /* requests in transfer */
    pipe_stage without_walker, busy; /* requests that wait for a walker, or for a miss of the L2 TLB */
    uint64_t *waiters;               /* room for the waiters of one fill */
    uint32_t waiter_capacity;
    uint32_t answered; /* 1: an SM has an answer to take in the next cycle */
} translation_unit;

/* Returns the page table's answer for an address, for reading or for writing. */
translation translate(const machine *m, uint64_t address, int write);

/* Makes the TLBs of the configuration. Returns 0, or -1 with the reason in error. */
int translation_make(machine *m, char error[LAUNCH_ERROR_BYTES]);
/* Looks an address up for an SM and a warp of `process`. */
translation translation_look_up(machine *m, sm *s, uint32_t process, uint64_t address, int write, uint64_t waiter);
/* Takes the next answer for an SM. Returns 1 with its waiter, or 0. translate then tells what the waiter may do. */
int translation_take(sm *s, uint64_t *waiter);
/* Advances to the present cycle: called once per cycle with any event, after all SMs. Returns the next cycle in which
 * it has work; NEVER. */
uint64_t translation_advance(machine *m);
/* Makes the page of this address absent, so that the next access to it faults. */
void translation_evict(machine *m, uint64_t address);
/* Removes a page whose rights have changed from every TLB. */
void translation_forget(machine *m, uint64_t page);
uint64_t translation_hash(const machine *m, uint64_t hash);

#endif
