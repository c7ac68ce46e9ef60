/* victim_facts: what a request for room (victims.h) was told and what came of it: one record per arriving kernel, and
 * the histories of finished blocks. */
#ifndef MINIGPU_VICTIM_FACTS_H
#define MINIGPU_VICTIM_FACTS_H

#include "state/state.h"

/* One block that was told to leave. */
typedef struct victim_entry {
    uint64_t linear; /* in its kernel's grid */
    uint64_t executed_at_request;
    uint64_t executed, cycles; /* when it was told last, in this launch */
    uint64_t estimate_cycles, estimate_overhead;
    uint64_t end_cycle; /* its room was free; NEVER: not yet */
    uint64_t wasted; /* warp instructions: of a flush what it had executed, of a switch IPC x (stall until saved, and as
                        long again) */
    uint32_t sm, kernel;
    uint32_t first_technique; /* as decided at the request */
    uint32_t technique;       /* as it left, or leaves */
} victim_entry;

typedef struct victim_request {
    gpump_victim_decision decision;
    gpump_victim_request request; /* since: NEVER when there has been none */
    victim_entry *entries;
    uint64_t *positions;       /* per SM: those that the incoming kernel was given there */
    uint64_t last_start_cycle; /* of the incoming kernel's blocks so far */
    uint64_t started;          /* its blocks that have begun */
    uint64_t account_cycle;    /* until here the sums below go */
    uint64_t account_end;      /* all its blocks have begun: no more is added; NEVER */
    uint64_t register_cycles, shared_cycles,
        thread_cycles;     /* in use by blocks that may issue, summed over cycles and SMs */
    uint32_t count;        /* entries */
    uint32_t reconsidered; /* blocks that were given another technique later */
} victim_request;

/* Blocks of one SM and what each way out would cost. */
typedef struct sm_view {
    gpump_block_view blocks[BLOCK_ENTRIES_MAX];
    gpump_cost_estimate estimates[BLOCK_ENTRIES_MAX];
    gpump_cost_rewind rewind[BLOCK_ENTRIES_MAX];
} sm_view;

/* What a decision needs while it is made. It lies in the arena like everything else: a byte copy is a machine. */
struct victim_scratch {
    sm_view *rooms;              /* per SM */
    gpump_victim_sm *sms;        /* per SM */
    gpump_victim_place *places;  /* `capacity` of them */
    gpump_block_choice *choices; /* likewise */
    void *memory;                /* gpump_victim_scratch_bytes */
    uint64_t capacity;
};

/* Makes the tables, in the machine's arena. Returns 0, or -1 when it is full. */
int victims_build(machine *m);

void victims_account(machine *m); /* something is about to change: adds up what was in use until now */
void victims_placed(machine *m, const block *b);
void victims_freed(machine *m, block *b, const gpump_sm_action *action);
#endif
