/* report: the measurements of a run as text or JSON. */
#ifndef MINIGPU_REPORT_H
#define MINIGPU_REPORT_H

#include <stdio.h>

#include "tools/check.h"
#include "tools/races.h"
#include "machine/machine.h"

typedef struct run_result {
    const machine *machine;
    const launch_file *launch;
    const kernel_check *checks; /* one per kernel; NULL: the run did not end */
    const char *error;          /* NULL: the run ended */
    const race_log *races;      /* NULL: without --races */
    uint64_t baseline_cycles;   /* with errors: cycles of the launch without errors (recovery.h); 0: unknown */
    double seconds;             /* of simulation: processor time, or elapsed time with several threads */
} run_result;

/* Totals over all SMs and kernels. */
typedef struct machine_totals {
    uint64_t cycles, warp_instructions, thread_instructions, wasted_warp_instructions;
    uint64_t l1_hits, l1_misses, l2_hits, l2_misses, requests, transfer_requests, saved_bytes, restored_bytes,
        dram_bytes, network_bytes;
} machine_totals;
/* Returns a cycle of the machine; NEVER: it executes without time (--functional). */
uint64_t report_cycle(const machine *m, uint64_t cycle);
void report_totals(const machine *m, machine_totals *totals);

/* All preemptions by one technique. Latency: from the request until the last block's room is free. */
typedef struct preemption_summary {
    uint64_t count, blocks, bytes_saved, wasted_warp_instructions, refused_blocks;
    uint64_t latency_sum, latency_max; /* cycles */
    uint32_t refused;                  /* gpump_reason of the first block that another technique had to preempt */
} preemption_summary;
void report_preemptions(const machine *m, preemption_summary *summary);

/* Sets the requests of a kernel (from 1; 0: contexts) to issue slots, caches, network and DRAM, from its first block's
 * start to its end, or until now. */
void report_traffic(const machine *m, uint32_t kernel, gpump_traffic *traffic);
/* Returns the configuration that turns such traffic into utilisations. */
const gpump_meter_config *report_meter(const machine *m);
/* Writes, per kernel, its requests to issue slots, caches, network and DRAM, and the share of each resource that they
 * used (Lin 3.4.1). */
void report_statistics(const machine *m, FILE *file);
void report_text(const run_result *result, FILE *file);
/* A line for each kernel with a wrong result. */
void report_wrong(const run_result *result, FILE *file);
/* Returns 0, or -1 when the report could not be written. */
int report_json(const run_result *result, FILE *file);
const char *technique_name(uint32_t technique);

#endif
