/* trace: what a machine shows to an observer, told to a timeline (examples/report/timeline.h).
 *
 * One group of rows per SM, one row per block slot, and a row per process with its kernels. The timeline lies outside
 * the arena and changes nothing; while machine.trace is NULL, trace is no part of the machine. */
#ifndef MINIGPU_TRACE_H
#define MINIGPU_TRACE_H

#include "state/state.h"
#include "timeline.h"

/* Begins to observe a machine, at any cycle, and sets machine.trace. `launch` names the processes; NULL: their first
 * kernels do. Returns 0, or -1 when there is no memory. */
int trace_open(machine *m, const launch_file *launch);
/* Ends it: machine.trace becomes NULL. Returns the timeline, closed; timeline_free releases it. */
timeline *trace_close(machine *m);

#endif
