/* schedule_group: a group of kernels that share SMs (corun.h) as one command of the scheduler.
 *
 * The command has as many blocks as the GPU has SMs, one on an SM: such a block is a lease of that SM. While the group
 * holds a lease, it decides which of its kernels' blocks run there. A lease ends when nothing of the group is left to
 * run; when the scheduler preempts it, all blocks of the SM leave by its mechanism, and the lease is saved with the
 * last of them. The blocks wait as preempted blocks do and go to any SM that the group holds. */
#ifndef MINIGPU_SCHEDULE_GROUP_H
#define MINIGPU_SCHEDULE_GROUP_H

#include "state/state.h"

/* A kernel of the group starts: the command is submitted, unless it is in flight. */
void schedule_group_submit(machine *m);
/* ISSUE: the group gets an SM. */
void schedule_group_issue(machine *m, const gpump_scheduler_action *action);
/* May the group place blocks on the SM? */
int schedule_group_holds(const machine *m, uint32_t sm);
/* Reports the leases that have ended or have been vacated. Without a group nothing is done. */
void schedule_group_settle(machine *m);

#endif
