/* metrics: what running together costs and gains: NTT, ANTT, STP, fairness, speedups, violation rate (calculation) */
#ifndef GPUMP_METRICS_H
#define GPUMP_METRICS_H

#include "base/base.h"

GPUMP_BEGIN

/* One program: its turnaround time alone and in the workload, in any one unit; both at least 1. */
typedef struct gpump_metrics_run {
    uint64_t alone;  /* turnaround time when it has the machine to itself */
    uint64_t shared; /* turnaround time in the workload */
} gpump_metrics_run;

/* The system-level metrics of a workload (Eyerman and Eeckhout, IEEE Micro 2008; Tanasic 5.3.1; Lin 4.5). With NTT the
 * normalised turnaround time shared / alone of a program and NP = 1 / NTT its normalised progress: */
typedef struct gpump_metrics {
    double antt;             /* arithmetic mean of NTT; 1 is no slowdown, lower is better */
    double stp;              /* system throughput: sum of NP; up to the number of programs, higher is better */
    double fairness;         /* smallest NP / largest NP; 1 all slowed equally, towards 0 one starves */
    double harmonic_speedup; /* programs / sum of NTT = 1 / ANTT; balances throughput and fairness */
    double weighted_speedup; /* sum of NP; equals STP here, and is Lin's WSpeedup when built from rates */
    double best_ntt;         /* smallest NTT */
    double worst_ntt;        /* largest NTT */
} gpump_metrics;

/* Returns the normalised turnaround time shared / alone of one program; 0 when alone is 0. Above 1: slowed down. */
GPUMP_API double gpumpi_metrics_ntt(const gpump_metrics_run *run);

/* Computes the metrics of a workload from runs[count], one run per program, count 1 or more. Fills *metrics.
 * GPUMP_ERROR_ARGUMENT: diag->index is the program whose time is 0. Cost: linear in count, no allocation. */
GPUMP_API gpump_result gpump_metrics_compute(const gpump_metrics_run *runs, uint32_t count, gpump_metrics *metrics,
                                             gpump_diag *diag);

/* One program by its rate of work (instructions per cycle, blocks per second, ...), alone and in the workload; both
 * above 0. */
typedef struct gpump_metrics_rate {
    double alone;
    double shared;
} gpump_metrics_rate;

/* Computes the metrics of a workload from rates[count], one rate per program, count 1 or more: NP = shared / alone (Lin
 * 4.5: HSpeedup and WSpeedup over IPC). Fills *metrics. GPUMP_ERROR_ARGUMENT: diag->index is the program whose rate is
 * not above 0. Cost: linear in count, no allocation. */
GPUMP_API gpump_result gpump_metrics_compute_rates(const gpump_metrics_rate *rates, uint32_t count,
                                                   gpump_metrics *metrics, gpump_diag *diag);

/* Returns the share of latencies above limit, 0 to 1: the violation rate of a latency constraint (Chimera; Shieh 5.2).
 * `latencies` and `limit` have the same unit. Returns 0 when count is 0. An unknown latency (GPUMP_UNKNOWN) is a
 * violation. Cost: linear in count. */
GPUMP_API double gpump_metrics_violation_rate(const uint64_t *latencies, uint32_t count, uint64_t limit);

GPUMP_END
#endif
