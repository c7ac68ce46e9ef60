/* analyze_trace: what a trace says of its kernels before it is run: registers allocated and live, and blocks that may
 * be started anew. */
#ifndef MINIGPU_ANALYZE_TRACE_H
#define MINIGPU_ANALYZE_TRACE_H

#include "launch/launch.h"

/* Prints a table of the kernels of a launch that comes from traces, or with `csv` one line per kernel, and the live
 * registers of each over the time of its warps. Returns 0, or -1 after a report of a damaged trace. Cost: linear in the
 * traces. */
int analyze_trace(const launch_file *launch, int csv);

#endif
