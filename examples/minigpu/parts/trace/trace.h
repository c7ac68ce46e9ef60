/* trace: records a machine's run in a timeline (examples/report/timeline.h).
 *
 * Each SM is a group of rows with one row per block slot, and each process is a row with its kernels. The timeline is
 * outside the arena and changes nothing. Without an observer the machine has no trace. */
#ifndef MINIGPU_TRACE_H
#define MINIGPU_TRACE_H

#include "state/state.h"
#include "timeline.h"

/* Returns the timeline of a machine, or NULL. */
static inline timeline *trace_of(const machine *m) { return (timeline *)m->of_part[PART_trace]; }
/* Begins to observe a machine, at any cycle. launch: names the processes; NULL: their first kernels do. Returns 0, or
 * -1 when memory is out. */
int trace_open(machine *m, const launch_file *launch);
/* Ends the observation. Returns the closed timeline, which timeline_free releases. */
timeline *trace_close(machine *m);

#endif
