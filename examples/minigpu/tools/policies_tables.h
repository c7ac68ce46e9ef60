/* policies_tables: the tables of `minigpu policies`. */
#ifndef MINIGPU_POLICIES_TABLES_H
#define MINIGPU_POLICIES_TABLES_H

#include "tools/victim_experiment.h"

#define POLICIES_MAX 12
#define LIMITS_MAX 5

/* Sums over requests. */
typedef struct cell {
    double violated, warm, warm_violated, in_use, wasted, idle, flush, start, waste_share, by[GPUMP_TECHNIQUES],
        error[GPUMP_TECHNIQUES], truth[GPUMP_TECHNIQUES], error_blocks[GPUMP_TECHNIQUES], bytes;
    double late_truth; /* the last block began after the deadline */
    uint32_t requests, waits, kernels;
    double regret_violations, regret_waste; /* difference to the oracle at the same requests */
    double beside[3][2]; /* differences to the first policy at the same requests, and their squares: violations, late
                            starts, waste with idle slots */
} cell;

/* The tables. A case is a policy and a deadline: case p * limit_count + l. */
typedef struct policies_tables {
    cell per_kernel[VICTIM_EXPERIMENT_KERNELS][POLICIES_MAX * LIMITS_MAX], total[POLICIES_MAX * LIMITS_MAX];
    const char *labels[POLICIES_MAX];
    uint32_t limits[LIMITS_MAX]; /* microseconds */
    uint32_t policy_count, limit_count;
    uint32_t oracle;               /* index of the oracle among the policies; GPUMP_NONE */
    double drain[2], drain_blocks; /* errors of drain estimates */
    double clock_mhz;              /* of the machine */
} policies_tables;

/* Adds the outcomes of one request of the experiment's kernel. */
void policies_tables_add(policies_tables *t, const victim_experiment *e, const victim_outcome *row,
                         const victim_drain_error *error);
/* Prints all tables. model: the model of a switch; own_cycles: run time of the high-priority kernel alone. */
void policies_tables_print(const policies_tables *t, const victim_experiment *e, const char *model,
                           uint64_t own_cycles);

#endif
