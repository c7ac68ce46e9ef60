/* fault_state: what an SM has whose look-ups of pages may wait or fault (look_ups.h, faults.h). */
#ifndef MINIGPU_FAULT_STATE_H
#define MINIGPU_FAULT_STATE_H

#include "state/state.h"

/* Pages that a warp has faulted on stay until it has passed its last check on them: else faults could follow each other
 * for ever. */
typedef enum pinned_pages {
    PINNED_NONE,   /* or only of records that say so */
    PINNED_NEXT,   /* of its next memory instruction, which faulted before (warp disable) */
    PINNED_REGION, /* of everything up to the next sparse boundary (regions) */
} pinned_pages;

/* What a warp has of its faults. */
typedef struct fault_warp {
    uint64_t reinserted;  /* replaying out of order: entries before this sequence are in the issue queue again */
    uint32_t stack_depth; /* of its SIMT stack when it last fetched an instruction that may fault */
    uint32_t pinned;      /* whose pages no forced eviction takes: pinned_pages */
} fault_warp;

/* What an instruction in flight has of its look-ups. */
typedef struct look_up_record {
    uint64_t pages_cycle; /* when the pages are there that its checks found absent */
    uint32_t to_check;    /* segments not looked up yet, as a mask */
    uint32_t pending;     /* look-ups without an answer */
    uint32_t absent;      /* segments whose page was absent, as a mask */
    uint32_t generation;  /* of the record: answers for an earlier one are dropped */
    uint32_t entry;       /* its handle in the replay queue */
    uint32_t pinned;      /* 1: it has faulted before, and its pages stay */
    uint32_t turn;        /* 1: the one instruction of its warp that is being translated */
    uint32_t unused;
} look_up_record;

/* Look-ups that wait, and warps that have faulted. */
typedef struct sm_faults {
    gpump_replay *replay;
    struct sm_tlb *tlb;                             /* the SM's L1 TLB (tlb.h); NULL: none */
    fault_warp *of_warp;                            /* by warp.number */
    look_up_record *of_record;                      /* by in-flight record */
    uint32_t *records;                              /* by handle of the replay queue: the in-flight record; NONE */
    uint32_t *refused, refused_head, refused_count; /* records for which the L1 TLB had no room */
    uint32_t retry;                                 /* 1: it may have room now */
    uint32_t *parked, parked_count;                 /* records that wait in place for a page */
    uint64_t parked_cycle;                          /* when the next page of them is there; NEVER */
    uint32_t *checked, checked_head, checked_count; /* records whose look-ups are all answered, for faults.c */
    /* The sets below are of numbers of warps (warp.h). */
    uint64_t held[WARP_SET_WORDS];      /* warp waits for its pages, off the pipeline */
    uint64_t held_cycle;                /* when the next of them has all its pages; NEVER */
    uint64_t draining[WARP_SET_WORDS];  /* warp drains, and no instruction of it can fault any more */
    uint32_t again;                     /* 1: the next cycle matters: a replay waits for a unit or room alone */
    uint32_t turn;                      /* with finite memory: number of the warp that comes first (faults_may_issue) */
    uint64_t replaying[WARP_SET_WORDS]; /* warp has entries to issue again */
    uint64_t checks, faults, held_cycles; /* look-ups; instructions that faulted; cycles of held warps */
    uint64_t translating[WARP_SET_WORDS]; /* an instruction of it has its turn to be translated (fault_memory.h) */
} sm_faults;

/* What all SMs share. */
typedef struct machine_faults {
    gpump_replay_config config;
    replay_info **outside; /* by kernel: facts of gpump_replay about its code that lie outside the arena; or NULL */
    uint8_t *shared_is_tracked; /* by kernel: 1: accesses to shared memory keep their order among the others */
    struct tlb_unit *tlbs;      /* L2 TLB and page walkers (tlb.h); NULL: none */
    uint64_t checks;            /* look-ups of all SMs that can be forced to fault; counted where one is forced */
    uint64_t forced_check,
        forced_interval; /* number of the look-up whose page is evicted, and distance to the next; NEVER and 0: none */
} machine_faults;

static inline machine_faults *machine_faults_of(const machine *m) { return (machine_faults *)m->of_part[PART_faults]; }

/* Returns the state of an SM; NULL: it has no TLBs, and an absent page ends the run. */
static inline sm_faults *sm_faults_of(const sm *s) { return (sm_faults *)s->of_part[PART_faults]; }

static inline fault_warp *fault_warp_of(const sm *s, const warp *w) { return &sm_faults_of(s)->of_warp[w->number]; }
static inline look_up_record *look_up_of(const sm *s, const in_flight *r) {
    return &sm_faults_of(s)->of_record[r - s->records];
}

#endif
