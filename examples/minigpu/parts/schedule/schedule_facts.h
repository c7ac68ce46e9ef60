/* schedule_facts: the machine's data for gpump_scheduler, and the reports of blocks that leave. preemption_schedule.c
 * carries out the scheduler's actions. */
#ifndef MINIGPU_SCHEDULE_FACTS_H
#define MINIGPU_SCHEDULE_FACTS_H

#include "state/state.h"

typedef struct scheduled {
    uint32_t sm;
    gpump_block_ref block;
} scheduled;

/* An SM that a group holds (schedule_group.h). */
typedef struct schedule_lease {
    gpump_block_ref block; /* the scheduler's name for it */
    uint32_t number;       /* of the command's leases */
    uint32_t is_held;
} schedule_lease;

/* A change of a process's priority and weight. */
typedef struct schedule_priority {
    uint64_t cycle;
    uint32_t process, priority, weight, order; /* order: on the command line */
} schedule_priority;

struct schedule {
    gpump_scheduler *scheduler;
    const gpump_scheduler_policy *policy;
    uint32_t *vacating;       /* per SM: gpump_scheduler_action.technique + 1 while its blocks must leave, else 0 */
    uint64_t *vacating_since; /* the cycle since which they must leave, */
    uint64_t *ask_again;      /* and the cycle at which `victims` decides again; NEVER */
    const gpump_victim_policy *victims; /* the policy for blocks of a vacated SM; NULL: the scheduler's technique */
    uint32_t *processes;                /* rows of the process table */
    uint32_t *waiting; /* per process: a kernel that came before KERNEL_DONE of the last, behind a late action; NONE */
    scheduled *names;  /* per block of the machine: its SM, and the scheduler's name for it */
    scheduled *off_chip;         /* likewise per preempted block that has left on a fault (preempted_block.fault_sm) */
    schedule_lease *leases;      /* per SM, of a group */
    gpump_scheduler_action late; /* an ISSUE action that waits until the SM has room, or its block may be restored */
    uint32_t is_late;            /* 1: there is one, and no other action is taken meanwhile */
    uint32_t is_recalled;        /* 1: a parked block releases its place on the SM for the late action */
    uint32_t leases_left;        /* of the group's command; 0: none is in flight */
    uint64_t leases_given;       /* how often an SM has been given to the group */
    uint32_t change_count, changes_done;
    schedule_priority *changes; /* in the order of their cycles */
};

/* Returns whether the kernel belongs to a group of kernels that share SMs. Kernel 0 does wherever there is a group. */
static inline int schedule_is_grouped(const machine *m, uint32_t kernel_index) {
    int grouped;
    PARTS_ASK(m, grouped, 0, is_grouped, (m, kernel_index));
    return grouped;
}

/* Returns the schedule of a machine, or NULL. */
static inline struct schedule *schedule_of(const machine *m) { return (struct schedule *)m->of_part[PART_schedule]; }

/* Reports that a block is off its SM. entry: its preempted block; NONE: it has ended. A block that has left on a fault
 * and belongs to its SM (preempted_block.fault_sm) still counts there, under its name. */
void preemption_schedule_left(machine *m, const block *b, uint32_t entry);
/* Reports that a block that had left on a fault has been dropped with its process (killed: 1), or no longer belongs to
 * its SM (0) and waits among the preempted blocks of its kernel. */
void preemption_schedule_off_chip_left(machine *m, uint32_t entry, int killed);
/* Returns whether the SM is being vacated. Blocks that leave it on a fault then no longer belong to it. */
int preemption_schedule_vacates(const machine *m, const sm *s);

/* Aborts a process: it gets no more SMs, and its waiting commands end. Its blocks are reported as they leave. */
void preemption_schedule_abort(machine *m, uint32_t process);

/* Returns the number, from 1, of the kernel that an SM is being vacated for; 0: none. */
uint32_t preemption_schedule_next_kernel(const machine *m, uint32_t sm);

/* Reports the free space for contexts to the scheduler: switches on faults, and kernels that are not its own take
 * of it, too. holder: the kernel of a block that is about to be reported, and has its context already; NONE. */
void schedule_report_contexts(machine *m, uint32_t holder);

#endif
