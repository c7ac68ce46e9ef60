/* analyze_trace: what a trace says of its kernels before it is run: registers allocated and live, and blocks that may
 * be started anew. */
#ifndef MINIGPU_ANALYZE_TRACE_H
#define MINIGPU_ANALYZE_TRACE_H

#include "launch/launch.h"

#define TRACE_TIMES 60u /* parts into which the life of a warp is divided */

/* Results for one kernel. */
typedef struct trace_report {
    uint64_t blocks, steps, thread_steps;
    uint64_t live_sum;                                       /* live registers, summed over steps */
    uint64_t time_sum[TRACE_TIMES], time_steps[TRACE_TIMES]; /* the same by the time in the life of the warp */
    uint32_t time_peak[TRACE_TIMES];
    uint32_t live_peak, exposed; /* exposed: registers that a warp reads and nothing has written */
    uint64_t anew;               /* blocks that overwrite nothing that they read */
} trace_report;

/* Returns the live registers of a thread, the mean over all warp instructions. */
static inline double trace_report_mean(const trace_report *r) {
    return r->steps ? (double)r->live_sum / (double)r->steps : 0;
}

/* Prints a table of the kernels of a launch that comes from traces, or with `csv` one line per kernel, and the live
 * registers of each over the time of its warps. picture: a file to draw them in, or NULL. Returns 0, or -1 after a
 * report of a damaged trace, or of a picture that cannot be written. Cost: linear in the traces. */
int analyze_trace(const launch_file *launch, int csv, const char *picture);

#endif
