/* victim_experiment: the measurement of Shieh chapter 4 on the mini-GPU.
 *
 * A kernel of Table 4.2 runs with the paper's footprint. A kernel that its application launches several times runs
 * launch by launch, each from its own launch file. Request times are drawn evenly over these runs. At each request time
 * the machine forks, once for every policy and limit, and the synthetic high-priority kernel arrives in each copy at
 * that cycle. All policies thus meet the same machine, down to the blocks and cache lines. In one more copy all blocks
 * drain, which tells the oracle when each block would end. */
#ifndef MINIGPU_VICTIM_EXPERIMENT_H
#define MINIGPU_VICTIM_EXPERIMENT_H

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>

#include "gpump_once.h"

#include "launch/launch_file.h"
#include "progress.h"

#define VICTIM_EXPERIMENT_KERNELS 19
#define VICTIM_EXPERIMENT_CASES 64

/* A case: one policy with its parameters, tried at every request. */
typedef struct victim_case {
    const char *policy; /* of policies_find_victim */
    const char *label;  /* its name in tables */
    uint64_t limit_cycles;
    uint64_t late_price;    /* of gpump_victim_request */
    uint32_t switch_stalls; /* 1: the paper's model of a switch; 0: real save traffic */
    uint32_t context_form;  /* context_form, with real traffic */
    uint32_t decides_once;  /* an oracle: 1: it knows the drain times when all blocks drain, and decides once; 0: it
                               decides again when its decision turns out late */
} victim_case;

/* The outcome of a case at a request. */
typedef struct victim_outcome {
    uint64_t request_cycle;
    uint64_t end_cycles;   /* from the request to the end of the synthetic kernel; when late, a lower bound */
    uint64_t start_cycles; /* to the start of its last block */
    uint64_t wasted;       /* warp instructions: of flushes, and for switches IPC x twice the stall */
    uint64_t idle; /* with whole SMs: warp instructions that blocks which left early would have executed until the last
                      block left */
    uint64_t flush_waste; /* waste of flushing the same blocks */
    uint64_t bytes_saved;
    double in_use; /* mean share of registers, shared memory and threads in use, over the cycles until the last block's
                      start; below 0: no wait */
    uint32_t warm; /* 1: at least one block per SM had finished before */
    uint32_t violated;             /* the synthetic kernel ended after limit + its own run time */
    uint32_t by[GPUMP_TECHNIQUES]; /* blocks by the technique with which they left */
    uint32_t late_estimate;        /* positions that the decision itself expected late */
    uint32_t missing;              /* positions that could not be freed */
    uint32_t reconsidered;
    uint32_t failed; /* 1: the simulation stopped with an error */
    uint32_t unused;
    uint64_t error_cycles[GPUMP_TECHNIQUES]; /* |estimated - true latency|, summed over the blocks with an estimate that
                                                left by the technique chosen first */
    uint64_t true_cycles[GPUMP_TECHNIQUES];  /* the true latencies of these blocks */
    uint64_t error_blocks[GPUMP_TECHNIQUES];
} victim_outcome;

/* The errors of drain estimates at one request, over the resident blocks. */
typedef struct victim_drain_error {
    double relative[2]; /* sums of |estimate - truth| / truth: block's own CPI (Chimera), source of smaller deviation
                           (Shieh) */
    double cycles[2];   /* sums of |estimate - truth| */
    double truth;       /* sum of the truths */
    uint32_t blocks;    /* blocks with both estimates and a known truth */
    uint32_t unused;
} victim_drain_error;

/* One request as a page shows it: the run of every case. */
typedef struct victim_show {
    uint32_t request;                    /* its number */
    FILE *runs[VICTIM_EXPERIMENT_CASES]; /* where each case's run is written (page_write_run); NULL: not written */
    json_t *about;                       /* the page's description of the machine; NULL until it is filled */
} victim_show;

typedef struct victim_experiment {
    const char *kernels_dir;
    const char *gpu;    /* a preset; NULL: gtx480_shieh */
    const char *config; /* numbers of the machine, as machine_options.config; NULL: the preset's */
    uint32_t kernel;    /* index into Table 4.2 */
    uint32_t requests;
    uint64_t seed;
    uint32_t parallel; /* processes at the same time */
    uint32_t regions;  /* as machine_options.regions: idempotent regions, which let blocks rewind */
    uint32_t in_place; /* 1: switched blocks stay in place where the incoming kernel's positions do not reach */
    uint32_t case_count;
    victim_case cases[VICTIM_EXPERIMENT_CASES];
    victim_show *show;                       /* NULL: nothing is shown */
    struct progress *progress;               /* updated at every request; NULL: none is shown */
    uint32_t earlier_requests, all_requests; /* of earlier kernels, and of all: for `progress` */
} victim_experiment;

/* Returns the name of a row of Table 4.2, which is also its folder's; NULL past the last. */
const char *victim_experiment_kernel(uint32_t index);
/* Runs the experiment. Fills outcomes[request * case_count + case] and errors[request]. Sets *own_cycles to the
 * synthetic kernel's run time alone. Returns 0, or -1 with the reason in error. */
int victim_experiment_run(const victim_experiment *experiment, victim_outcome *outcomes, victim_drain_error *errors,
                          uint64_t *own_cycles, char error[LAUNCH_ERROR_BYTES]);
/* Moves the kernels of `second` behind those of `first`, into a process of their own with a higher priority. The caller
 * sets their arrival. Returns 0, or -1 when memory is out. */
int victim_experiment_append(launch_file *first, launch_file *second);
#endif
