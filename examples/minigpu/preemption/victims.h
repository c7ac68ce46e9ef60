/* victims: a kernel with a latency limit arrives, and a policy of gpump_victim says which blocks make room, and how.
 *
 * Only with machine.policy set (`minigpu run --policy NAME --limit US`). Every arrival of a kernel of higher priority
 * is one request, and every request keeps a record: what was estimated for each block, and what came of it. */
#ifndef MINIGPU_VICTIMS_H
#define MINIGPU_VICTIMS_H

#include "machine/machine.h"

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

/* Makes the tables, in the machine's arena. Returns 0, or -1 when it is full. */
int victims_build(machine *m);
/* Kernel `index` has arrived: asks the policy and carries out what it says. */
void victims_decide(machine *m, uint32_t index);
/* The cycle that the policy named has come. */
void victims_reconsider(machine *m);

/* Facts. */
void victims_account(machine *m); /* something is about to change: adds up what was in use until now */
void victims_placed(machine *m, const block *b);
void victims_freed(machine *m, block *b, const gpump_sm_action *action);
/* How long a switched block stalls in the model of Shieh 4.1: its allocated bytes (of the parts that do not stay in
 * place) at the SM's share of the bandwidth. */
uint64_t victims_stall_cycles(const machine *m, const block *b);
#endif
