/* preemption_schedule: the third part of the wiring of gpump. With a schedule, several processes share the machine, and
 * gpump_scheduler decides which kernel gets which SM. Without one, priorities decide (requests.c) or a victim policy
 * (victims.c). */
#ifndef MINIGPU_PREEMPTION_SCHEDULE_H
#define MINIGPU_PREEMPTION_SCHEDULE_H

#include "state/state.h"

/* Makes the scheduler in the arena and opens a context per process. `victims`: the policy by which the blocks of a
 * vacated SM leave, within machine.limit_cycles; NULL: by `technique`. An SM may have `extra_blocks` beyond those that
 * fit
 * (--switch-on-fault). Returns 0, or -1 with the reason in error. */
int preemption_schedule_make(machine *m, const launch_file *launch, const char *policy, uint32_t technique,
                             const gpump_victim_policy *victims, uint64_t slice_ns, uint32_t extra_blocks,
                             char error[LAUNCH_ERROR_BYTES]);
/* A kernel has arrived and all before it in its process are done: its launch goes into the command buffer of its
 * process's queue. */
void preemption_schedule_submit(machine *m, uint32_t kernel_index);
/* Carries out everything the scheduler wants done by now. */
void preemption_schedule_pump(machine *m);
/* How many blocks the scheduler would give the SM beyond those that it has. */
uint64_t preemption_schedule_extra_blocks(const machine *m, const sm *s);
/* Places one of them. Returns 1, or 0 when there was none, or no room. */
int preemption_schedule_place_extra(machine *m, sm *s);
/* The block that had left on a fault and was preempted block `entry` has just been placed on its SM again. */
void preemption_schedule_came_back(machine *m, sm *s, uint32_t entry);
/* The next cycle at which the scheduler wants to be asked; NEVER: not by itself. */
uint64_t preemption_schedule_wake(const machine *m);
uint64_t preemption_schedule_hash(const machine *m, uint64_t hash);

#endif
