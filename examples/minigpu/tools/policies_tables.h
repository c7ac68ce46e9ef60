/* policies_tables: what `minigpu policies` prints of all outcomes. */
#ifndef MINIGPU_POLICIES_TABLES_H
#define MINIGPU_POLICIES_TABLES_H

#include "tools/victim_experiment.h"

#define CLOCK_MHZ 1400u /* gtx480_shieh */
#define POLICIES_MAX 12
#define LIMITS_MAX 5

/* Sums over requests. */
typedef struct cell {
    double violated, warm, warm_violated, in_use, wasted, idle, flush, start, waste_share, by[4], error[4], truth[4],
        error_blocks[4], bytes;
    double late_truth; /* last block began past the limit */
    uint32_t requests, waits, kernels;
    double regret_violations, regret_waste; /* beyond the oracle's at the same request */
    double beside[3][2]; /* beyond the first policy's at the same request, and squares: violations, late starts, waste
                            with idle slots */
} cell;

/* A case is a policy and a limit: case p * limit_count + l. */
typedef struct policies_tables {
    cell per_kernel[VICTIM_EXPERIMENT_KERNELS][POLICIES_MAX * LIMITS_MAX], total[POLICIES_MAX * LIMITS_MAX];
    const char *labels[POLICIES_MAX];
    uint32_t limits[LIMITS_MAX]; /* microseconds */
    uint32_t policy_count, limit_count;
    uint32_t oracle;               /* which policy is the oracle; GPUMP_NONE */
    double drain[2], drain_blocks; /* errors of drain estimates */
} policies_tables;

/* Adds what one request of the experiment's kernel gave. */
void policies_tables_add(policies_tables *t, const victim_experiment *e, const victim_outcome *row,
                         const victim_drain_error *error);
/* Prints everything. model: how a switch was modelled; own_cycles: of the high-priority kernel alone. */
void policies_tables_print(const policies_tables *t, const victim_experiment *e, const char *model,
                           uint64_t own_cycles);

#endif
