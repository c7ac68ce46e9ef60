/* corun: kernels that share SMs as a group (gpump_sharing), and the gates that keep each of them to its share
 * (gpump_rate).
 *
 * Every kernel of the launch joins the group when it starts, and leaves when it has ended for good. The group's caps
 * decide which blocks the dispatcher may place; corun_group.h carries out the group's actions. The gates stand at
 * the miss queues and at the issue stage. Without --partition corun_of is NULL, and nothing is asked.
 *
 * A group may have fewer places than the launch has kernels. A kernel that finds none takes the place of the member of
 * the lowest priority, if its own is higher: that member's blocks leave, and it waits until a place is free again.
 *
 * Under a schedule the group is one command of gpump_scheduler, which gives it SMs and takes them away
 * (parts/schedule/schedule_group.h); the launch's other kernels are commands of their own and no members. */
#ifndef MINIGPU_CORUN_H
#define MINIGPU_CORUN_H

#include "machine/machine_options.h"
#include "state/state.h"

struct corun {
    gpump_partition_config machine;
    gpump_sharing *sharing;
    const gpump_partition_policy *policy;
    const gpump_victim_policy *leave;              /* how blocks above a cap leave, but by draining; NULL: by that */
    uint32_t parks;                                /* 1: state of leaving blocks stays in place where there is room */
    uint32_t kernels;                              /* of the launch, from the first: they may be members */
    uint32_t window_cycles;                        /* interval between two classifications in RUN; 0: none */
    uint32_t class_changes;                        /* that such looks have found */
    uint32_t places;                               /* members at most */
    uint32_t waiting;                              /* kernels that wait for a place, as a mask */
    uint32_t preempted;                            /* members that have lost theirs and still have blocks, as a mask */
    uint32_t orders;                               /* members whose memory instructions have a quota, as a mask */
    uint32_t priorities;                           /* 1: members have the launch's priorities */
    uint64_t next;                                 /* the next cycle in which the group has something to do */
    uint32_t member_of[GPUMP_PARTITION_KERNELS];   /* by kernel; NONE: not in the group */
    uint32_t kernel_of[GPUMP_PARTITION_KERNELS];   /* by member */
    gpump_traffic before[GPUMP_PARTITION_KERNELS]; /* by kernel, behind L1, when the measurement began */
    gpump_traffic *sm_before;                      /* by SM: of the kernel that it measures, up to L1 */
    uint64_t issued_before[GPUMP_PARTITION_KERNELS]; /* by kernel, when a trial began */
    uint64_t sample_end, sample_stamp; /* of the sample or trial under way; part.group_stamp when it began */
    uint64_t window_end;               /* NEVER: no window has begun */
    uint64_t window_stamp;             /* part.group_stamp when it began */
    gpump_traffic window_before[GPUMP_PARTITION_KERNELS]; /* by kernel, on all SMs and behind, when it began */
    uint32_t *coming_back; /* by SM: parked blocks to restore before the group's move is complete */
};

/* The group of a machine; NULL: it has none. */
static inline struct corun *corun_of(const machine *m) { return (struct corun *)m->of_part[PART_corun]; }

/* The gates of an SM. */
typedef struct sm_corun {
    gpump_rate *rate;      /* what the kernels that share the SM may issue and send */
    uint64_t access_since; /* the next access waits for L1 since this cycle; NEVER */
    uint8_t *limited;      /* by in-flight record: 1 + the member whose limit of memory instructions in flight it
                              counts for; 0 */
} sm_corun;
static inline sm_corun *sm_corun_of(const sm *s) { return (sm_corun *)s->of_part[PART_corun]; }
static inline gpump_rate *corun_rate(const sm *s) { return sm_corun_of(s)->rate; }

/* Makes the group for a machine that is otherwise built. Returns 0, or -1 with the reason in error. */
int corun_make(machine *m, const launch_file *launch, const machine_options *options, char error[LAUNCH_ERROR_BYTES]);
/* A kernel starts, or is done; one that repeats stays in the group. */
void corun_kernel_starts(machine *m, uint32_t index);
void corun_kernel_ended(machine *m, uint32_t index);
/* The blocks of a kernel on an SM have changed: sm.kernel_resident. */
void corun_blocks_changed(machine *m, const sm *s, uint32_t index);
/* Returns whether the kernel's cap on the SM leaves room for one more block. A block that is parked there (`own`) may
 * resume whatever the cap, because its registers and shared memory are on the SM; corun_came_back reports its resume.
 */
int corun_may_place(const machine *m, const sm *s, uint32_t index, int own);
void corun_came_back(const machine *m, const sm *s);

/* The member whose gates a kernel passes on an SM; NONE: none are set. */
static inline uint32_t corun_member(const machine *m, uint32_t kernel) { return corun_of(m)->member_of[kernel]; }
/* The warp slots of `ready` that may issue: their kernels' quotas and limits in flight are not used up, and of the
 * memory instructions one kernel's are first. */
uint64_t corun_may_issue(machine *m, sm *s, uint64_t ready);
/* The same for an instruction of the issue queue, but for the order between kernels. */
int corun_may_issue_queued(machine *m, sm *s, const warp *w, const issue_info *info, uint32_t handle);
/* An instruction has issued; L1 has taken an access of an instruction. */
void corun_issued(machine *m, sm *s, in_flight *record);
void corun_accessed(machine *m, sm *s, const in_flight *record);
/* May a miss of this kernel leave the SM now? It does. */
int corun_may_send(const machine *m, const sm *s, uint32_t kernel);
void corun_sent(machine *m, sm *s, uint32_t kernel);

/* Writes how often the group has decided, and with --window what classes its kernels have. */
void corun_report(const machine *m, FILE *file);

#endif
