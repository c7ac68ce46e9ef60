/* preemption_schedule: several processes under gpump_scheduler, which decides which kernel gets which SM. Without a
 * schedule priorities decide (requests.c), or a victim policy (victims.c). */
#ifndef MINIGPU_PREEMPTION_SCHEDULE_H
#define MINIGPU_PREEMPTION_SCHEDULE_H

#include "state/state.h"

/* Makes the scheduler that the options name, in the arena, and opens a context per process. The blocks of a vacated SM
 * leave by options->vacate, or as options->policy says, within machine.limit_cycles. Returns 0, or -1 with the reason
 * in error. */
int preemption_schedule_make(machine *m, const launch_file *launch, const machine_options *options,
                             char error[LAUNCH_ERROR_BYTES]);
/* Submits a kernel that has arrived and whose predecessors in its process are done to the command buffer of its
 * process's queue. */
void preemption_schedule_submit(machine *m, uint32_t kernel_index);
/* Carries out every action of the scheduler that is due. */
void preemption_schedule_pump(machine *m);
/* Returns how many more blocks the scheduler would give the SM. */
uint64_t preemption_schedule_extra_blocks(const machine *m, const sm *s);
/* Places one of these blocks. Returns 1, or 0: there was none, or no room. */
int preemption_schedule_place_extra(machine *m, sm *s);
/* Reports that preempted block `entry`, which had left on a fault, has just been placed on its SM again. */
void preemption_schedule_came_back(machine *m, sm *s, uint32_t entry);
/* Returns the next cycle at which the scheduler has an action; NEVER: only after a report. */
uint64_t preemption_schedule_wake(const machine *m);
uint64_t preemption_schedule_hash(const machine *m, uint64_t hash);

#endif
