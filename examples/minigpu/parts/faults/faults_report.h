/* faults_report: what faults have cost. */
#ifndef MINIGPU_FAULTS_REPORT_H
#define MINIGPU_FAULTS_REPORT_H

#include "state/state.h"

/* The cost of faults (parts/faults/faults.h), summed over the SMs. */
typedef struct fault_totals {
    uint64_t checks;           /* look-ups */
    uint64_t faults;           /* instructions that found a page absent, counted each time */
    uint64_t squashed, nacked; /* instructions removed from the pipeline; those of them behind an older faulted one */
    uint64_t replays;          /* replays of warps */
    uint64_t reissued;         /* instructions that were issued again */
    uint64_t waits;            /* instructions whose effect waited for an older one */
    uint64_t held_cycles;      /* summed over warps: from a fault until the warp continued */
} fault_totals;
void faults_total(const machine *m, fault_totals *totals);
/* Write them to the report. */
void faults_report(const machine *m, FILE *file);
void faults_report_json(const machine *m, struct json_t *members);

#endif
