/* schedule_facts: what the machine keeps for gpump_scheduler, and the facts it is told when blocks leave; what it wants
 * done is carried out in preemption_schedule.c. */
#ifndef MINIGPU_SCHEDULE_FACTS_H
#define MINIGPU_SCHEDULE_FACTS_H

#include "state/state.h"

typedef struct scheduled {
    uint32_t sm;
    gpump_block_ref block;
} scheduled;

/* An SM that the scheduler has given to a group (schedule_group.h). */
typedef struct schedule_lease {
    gpump_block_ref block; /* what the scheduler calls it */
    uint32_t number;       /* of the command's leases */
    uint32_t is_held;
} schedule_lease;

struct schedule {
    gpump_scheduler *scheduler;
    const gpump_scheduler_policy *policy;
    uint32_t *vacating; /* per SM: gpump_scheduler_action.technique + 1 while its blocks have to leave; 0 otherwise */
    uint64_t *vacating_since;           /* then: since when, */
    uint64_t *ask_again;                /* and when `victims` wants to be asked about it again; NEVER */
    const gpump_victim_policy *victims; /* how the blocks of a vacated SM leave; NULL: as the scheduler says */
    uint32_t *processes;                /* rows of the process table */
    scheduled *names;       /* per block of the machine: where it is, and what the scheduler calls it there */
    scheduled *off_chip;    /* the same per preempted block that has left on a fault (preempted_block.fault_sm) */
    schedule_lease *leases; /* per SM, of a group */
    uint32_t leases_left;   /* of the group's command; 0: none is in flight */
    uint32_t leases_unused;
};

/* The schedule of a machine; NULL: it has none. */
static inline struct schedule *schedule_of(const machine *m) { return (struct schedule *)m->of_part[PART_schedule]; }

/* A block is off its SM; `entry`: where it waits to come back, NONE when it has ended. A block that has left on a fault
 * and belongs to its SM (preempted_block.fault_sm) stays counted there, under its name. */
void preemption_schedule_left(machine *m, const block *b, uint32_t entry);
/* A block that had left on a fault has been dropped with its process (killed 1), or is no longer its SM's (0): it waits
 * among the preempted blocks of its kernel. */
void preemption_schedule_off_chip_left(machine *m, uint32_t entry, int killed);
/* Is the SM being vacated? Then blocks that leave it on a fault no longer belong to it. */
int preemption_schedule_vacates(const machine *m, const sm *s);

/* A process is aborted: it gets nothing any more, and its waiting commands end. Its blocks are reported as they go. */
void preemption_schedule_abort(machine *m, uint32_t process);

/* The number of the kernel that an SM is being vacated for, from 1, as things stand; 0: none any more. */
uint32_t preemption_schedule_next_kernel(const machine *m, uint32_t sm);

#endif
