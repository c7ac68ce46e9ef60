/* victim_experiment: the measurement of Shieh chapter 4 on the mini-GPU.
 *
 * A kernel of Table 4.2 runs, with the paper's footprint. A kernel that its application launches again and again runs
 * launch by launch, each from a launch file of its own. At request times spread evenly at random over these runs the
 * whole machine forks, once for every policy and limit: in each copy the synthetic high-priority kernel arrives at that
 * very cycle. So all policies meet the same machine, block for block and cache line for cache line. One more copy
 * drains everything and tells the oracle when each block would end. */
#ifndef MINIGPU_VICTIM_EXPERIMENT_H
#define MINIGPU_VICTIM_EXPERIMENT_H

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>

#include "launch/launch_file.h"
#include "progress.h"

#define VICTIM_EXPERIMENT_KERNELS 19
#define VICTIM_EXPERIMENT_CASES 64

/* One thing to try at every request. */
typedef struct victim_case {
    const char *policy; /* of policies_find_victim */
    const char *label;  /* what tables call it */
    uint64_t limit_cycles;
    uint64_t late_price;    /* of gpump_victim_request */
    uint32_t switch_stalls; /* 1: the paper's model of a switch; 0: real save traffic */
    uint32_t context_form;  /* context_form, with real traffic */
    uint32_t decides_once;  /* an oracle: 1: it knows how long drains take where all drain, and decides once; 0: it
                               decides again where its decision turns out late */
} victim_case;

/* What came of it. */
typedef struct victim_outcome {
    uint64_t request_cycle;
    uint64_t end_cycles;   /* from the request to the end of the synthetic kernel; where it is late, at least so many */
    uint64_t start_cycles; /* to the start of its last block */
    uint64_t wasted;       /* warp instructions: flushes, and IPC x twice the stall for switches */
    uint64_t idle; /* with whole SMs: warp instructions that blocks which left early would have executed until the last
                      left */
    uint64_t flush_waste; /* what flushing the same blocks would have wasted */
    uint64_t bytes_saved;
    double in_use;     /* of registers, shared memory and threads (their mean), per cycle until the last block's start;
                          below 0: no wait */
    uint32_t warm;     /* 1: at least one block per SM had finished before */
    uint32_t violated; /* it ended after limit + its own run time */
    uint32_t by[4];    /* blocks by the technique they left by */
    uint32_t late_estimate; /* places that the decision itself expected late */
    uint32_t missing;       /* places it could not have */
    uint32_t reconsidered;
    uint32_t failed; /* 1: the simulation stopped with an error */
    uint32_t unused;
    uint64_t error_cycles[4]; /* |estimated - true latency|, summed over the blocks that left by the technique chosen at
                                 first and had an estimate */
    uint64_t true_cycles[4];  /* their true latencies */
    uint64_t error_blocks[4];
} victim_outcome;

/* How far drain estimates were off at one request, over the blocks that were resident. */
typedef struct victim_drain_error {
    double relative[2]; /* sums of |estimate - truth| / truth: block's own CPI (Chimera), source of smaller deviation
                           (Shieh) */
    double cycles[2];   /* sums of |estimate - truth| */
    double truth;       /* sum of the truths */
    uint32_t blocks;    /* for which both could be told and the truth is known */
    uint32_t unused;
} victim_drain_error;

/* One request as a page shows it: every case's run. */
typedef struct victim_show {
    uint32_t request;                    /* which one */
    FILE *runs[VICTIM_EXPERIMENT_CASES]; /* where each case's run is written (page_write_run); NULL: it is not */
    json_t *about;                       /* filled: what the page says of the machine; NULL before */
} victim_show;

typedef struct victim_experiment {
    const char *kernels_dir;
    uint32_t kernel; /* index into Table 4.2 */
    uint32_t requests;
    uint64_t seed;
    uint32_t parallel; /* processes at the same time */
    uint32_t regions;  /* as machine_options.regions: idempotent regions, so that blocks can rewind */
    uint32_t in_place; /* 1: switched blocks keep in place what the positions of the incoming kernel do not reach */
    uint32_t case_count;
    victim_case cases[VICTIM_EXPERIMENT_CASES];
    victim_show *show;                       /* NULL: nothing is shown */
    struct progress *progress;               /* updated at every request; NULL: none is shown */
    uint32_t earlier_requests, all_requests; /* of the kernels before this one, and of all: for `progress` */
} victim_experiment;

/* Name of a row of Table 4.2 as its folder is called; NULL past the last. */
const char *victim_experiment_kernel(uint32_t index);
/* Runs it. outcomes[request * case_count + case] and errors[request] are filled. *own_cycles gets the synthetic
 * kernel's run time alone. Returns 0, or -1 with the reason in error. */
int victim_experiment_run(const victim_experiment *experiment, victim_outcome *outcomes, victim_drain_error *errors,
                          uint64_t *own_cycles, char error[LAUNCH_ERROR_BYTES]);
/* Puts the kernels of `second` behind those of `first`, in a process of their own and with a higher priority; empties
 * `second`. Their arrival is for the caller to set. Returns 0, or -1 when memory ran out. */
int victim_experiment_append(launch_file *first, launch_file *second);
#endif
