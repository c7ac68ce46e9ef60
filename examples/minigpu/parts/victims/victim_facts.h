/* victim_facts: the records of requests for room (victims.h), one per arriving kernel, and the histories of finished
 * blocks. */
#ifndef MINIGPU_VICTIM_FACTS_H
#define MINIGPU_VICTIM_FACTS_H

#include "preemption/block_prices.h"
#include "state/state.h"

/* One block that had to leave. */
typedef struct victim_entry {
    uint64_t linear; /* in its kernel's grid */
    uint64_t executed_at_request;
    uint64_t executed, cycles; /* at the last decision that the block leaves, in this launch */
    uint64_t estimate_cycles, estimate_overhead;
    uint64_t end_cycle; /* when its room was free; NEVER: not yet */
    uint64_t wasted;    /* warp instructions: for a flush those executed; for a switch IPC x (stall until saved, and as
                           long again) */
    uint32_t sm, kernel;
    uint32_t first_technique; /* chosen at the request */
    uint32_t technique;       /* with which it left, or leaves */
} victim_entry;

typedef struct victim_request {
    gpump_victim_decision decision;
    gpump_victim_request request; /* since: NEVER without a request */
    victim_entry *entries;
    uint64_t *positions;       /* per SM: the positions for the incoming kernel */
    uint64_t last_start_cycle; /* of the incoming kernel's blocks that have begun */
    uint64_t started;          /* its blocks that have begun */
    uint64_t account_cycle;    /* the sums below go up to this cycle */
    uint64_t account_end;      /* all its blocks have begun, and the sums end; NEVER */
    uint64_t register_cycles, shared_cycles,
        thread_cycles;     /* in use by blocks that may issue, summed over cycles and SMs */
    uint32_t count;        /* entries */
    uint32_t reconsidered; /* blocks that got another technique later */
} victim_request;

/* Scratch memory of a decision. The memory is in the arena, so that a byte copy is a whole machine. */
struct victim_scratch {
    block_prices *rooms;         /* per SM */
    gpump_victim_sm *sms;        /* per SM */
    gpump_victim_place *places;  /* `capacity` of them */
    gpump_block_choice *choices; /* likewise */
    void *memory;                /* gpump_victim_scratch_bytes */
    uint64_t capacity;
};

typedef struct machine_victims {
    victim_request *requests; /* by kernel */
    struct victim_scratch *scratch;
    uint64_t ask_again;        /* cycle at which the policy is asked again; NEVER: not at all */
    const uint64_t *true_ends; /* for an oracle: end of each block of kernel 1 if it drains; NULL: none */
} machine_victims;

/* Returns the records of a machine with a policy; NULL: it has none. */
static inline machine_victims *victims_of(const machine *m) { return (machine_victims *)m->of_part[PART_victims]; }

/* Makes the tables, in the machine's arena. Returns 0, or -1 when it is full. */
int victims_build(machine *m);

void victims_account(machine *m); /* adds up the resources in use until now, before a change */
void victims_placed(machine *m, const block *b);
void victims_freed(machine *m, block *b, const gpump_sm_action *action);
#endif
