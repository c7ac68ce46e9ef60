/* trace: what a machine shows to an observer, told to a timeline (examples/report/timeline.h).
 *
 * One group of rows per SM, one row per block slot, and a row per process with its kernels. The timeline lies outside
 * the arena and changes nothing; while nobody observes, trace is no part of the machine. */
#ifndef MINIGPU_TRACE_H
#define MINIGPU_TRACE_H

#include "state/state.h"
#include "timeline.h"

/* Who observes a machine; NULL: nobody. */
static inline timeline *trace_of(const machine *m) { return (timeline *)m->of_part[PART_trace]; }
/* Begins to observe a machine, at any cycle. `launch` names the processes; NULL: their first
 * kernels do. Returns 0, or -1 when there is no memory. */
int trace_open(machine *m, const launch_file *launch);
/* Ends it. Returns the timeline, closed; timeline_free releases it. */
timeline *trace_close(machine *m);

#endif
