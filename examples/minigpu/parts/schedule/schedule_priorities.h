/* schedule_priorities: processes whose priority or weight changes while they run (--priority-at), as a host program's
 * do that raises a task before its deadline. */
#ifndef MINIGPU_SCHEDULE_PRIORITIES_H
#define MINIGPU_SCHEDULE_PRIORITIES_H

#include "state/state.h"

struct schedule;

/* Reads CYCLE:PROCESS:PRIORITY[:WEIGHT],... (NULL: none) into the arena, in the order of cycles. A change without
 * WEIGHT keeps the launch file's. Returns 0, or -1 with the reason in error. */
int schedule_priorities_read(machine *m, struct schedule *c, const launch_file *launch, const char *text,
                             char error[LAUNCH_ERROR_BYTES]);
/* Tells the scheduler of the changes that are due. */
void schedule_priorities_turn(machine *m);
/* Returns the cycle of the next change; NEVER. */
uint64_t schedule_priorities_next(const machine *m);

#endif
