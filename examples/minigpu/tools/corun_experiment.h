/* corun_experiment: kernels alone, together under a partition policy, and together with fixed numbers of blocks. */
#ifndef MINIGPU_CORUN_EXPERIMENT_H
#define MINIGPU_CORUN_EXPERIMENT_H

#include "machine/machine.h"

#define CORUN_KERNELS GPUMP_PARTITION_KERNELS

/* Makes a launch one whose kernels never end: every process repeats, and all kernels arrive at cycle 0. */
void corun_repeat(launch_file *launch);

/* The experiment. Every kernel of the launch has its own process, which repeats (corun_repeat). */
typedef struct corun_experiment {
    launch_file *launch;
    machine_options options; /* without partition */
    uint64_t warm;           /* cycles before the measurement of a kernel alone, or with fixed blocks */
    uint64_t cycles;         /* length of the measurement */
    int explain;             /* 1: corun_together also measures each kernel while the others are held */
} corun_experiment;

/* The measurements, by kernel of the launch. */
typedef struct corun_outcome {
    double per_cycle[CORUN_KERNELS];             /* warp instructions per cycle */
    double speed[CORUN_KERNELS];                 /* relative to the kernel alone */
    gpump_partition_share shares[CORUN_KERNELS]; /* of the policy's decision; without a policy only blocks are set */
    uint32_t kinds[CORUN_KERNELS];               /* gpump_partition_class in the decision */
    gpump_metrics metrics;                       /* harmonic_speedup, weighted_speedup (Lin 4.3.3) */
    gpump_utilisation used;                      /* of all kernels together */
    gpump_traffic traffic[CORUN_KERNELS];        /* together */
    gpump_traffic held[CORUN_KERNELS];           /* explain: with the same share, while no other kernel issues */
} corun_outcome;

/* The functions report errors on stderr and return 0, or an exit status. */
/* Runs kernel `only` alone. Sets *per_cycle, and *traffic to its requests during the measurement. */
int corun_alone(const corun_experiment *e, uint32_t only, double *per_cycle, gpump_traffic *traffic);
/* Runs all kernels under `policy` and measures from the cycle at which its decision takes effect. alone[] comes from
 * corun_alone. */
int corun_together(const corun_experiment *e, const gpump_partition_policy *policy, const double *alone,
                   corun_outcome *outcome);
/* Runs all kernels with blocks[] on each SM and without limits. */
int corun_fixed(const corun_experiment *e, const uint32_t *blocks, const double *alone, corun_outcome *outcome);

#endif
