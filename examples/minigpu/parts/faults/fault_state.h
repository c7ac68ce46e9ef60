/* fault_state: what an SM has whose look-ups of pages may wait or fault (look_ups.h, faults.h). */
#ifndef MINIGPU_FAULT_STATE_H
#define MINIGPU_FAULT_STATE_H

#include "state/state.h"

/* Look-ups that wait, and warps that have faulted. */
typedef struct sm_faults {
    gpump_replay *replay;
    uint32_t *records;                              /* by handle of the replay queue: the in-flight record; NONE */
    uint32_t *refused, refused_head, refused_count; /* records for which the L1 TLB had no room */
    uint32_t retry;                                 /* 1: it may have room now */
    uint32_t *parked, parked_count;                 /* records that wait in place for a page */
    uint64_t parked_cycle;                          /* when the next page of them is there; NEVER */
    uint32_t *checked, checked_head, checked_count; /* records whose look-ups are all answered, for faults.c */
    /* The sets below are of numbers of warps (warp.h). */
    uint64_t held[WARP_SET_WORDS];        /* it waits for its pages, off the pipeline */
    uint64_t held_cycle;                  /* when the next of them has all its pages; NEVER */
    uint64_t draining[WARP_SET_WORDS];    /* it drains, and has nothing left that can fault */
    uint32_t again;                       /* 1: the next cycle matters: a replay waits for a unit or room alone */
    uint64_t replaying[WARP_SET_WORDS];   /* it has entries to issue again */
    uint64_t checks, faults, held_cycles; /* look-ups; instructions that faulted; cycles of held warps */
    uint64_t translating[WARP_SET_WORDS]; /* an instruction of it has its turn to be translated (fault_memory.h) */
} sm_faults;

/* Returns the state of an SM; NULL: it has no TLBs, and an absent page ends the run. */
static inline sm_faults *sm_faults_of(const sm *s) { return (sm_faults *)s->of_part[PART_faults]; }

#endif
