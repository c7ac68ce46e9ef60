/* schedule_group: a group of kernels that share SMs (corun.h) as one command of the scheduler.
 *
 * The command has as many blocks as the GPU has SMs, one per SM. Such a block is a lease of its SM. While the group
 * holds a lease, the group decides which of its kernels' blocks run there. A lease ends when the group has nothing left
 * to run. When the scheduler preempts a lease, all blocks of the SM leave by the scheduler's technique, and the lease
 * is saved with the last of them. The blocks wait like other preempted blocks and are restored on any SM that the group
 * holds. */
#ifndef MINIGPU_SCHEDULE_GROUP_H
#define MINIGPU_SCHEDULE_GROUP_H

#include "state/state.h"

/* Submits the command when a kernel of the group starts, unless it is in flight. */
void schedule_group_submit(machine *m);
/* Handles ISSUE: the group gets an SM. */
void schedule_group_issue(machine *m, const gpump_scheduler_action *action);
/* Returns whether the group may place blocks on the SM. */
int schedule_group_holds(const machine *m, uint32_t sm);
/* Returns how often the group has been given an SM; 0 while it does not hold all SMs. */
uint64_t schedule_group_stamp(const machine *m);
/* Reports the leases that have ended or have been vacated. Does nothing without a group. */
void schedule_group_settle(machine *m);

#endif
