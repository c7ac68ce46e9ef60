/* corun: kernels that share SMs as a group (gpump_sharing), and the gates that keep each of them to its share
 * (gpump_rate).
 *
 * Every kernel of the launch joins the group when it starts, and leaves when it has ended for good. The group's caps
 * decide which blocks the dispatcher may place; blocks above a cap drain. The gates stand at the miss queues and at the
 * issue stage. Without --partition m->corun and sm.rate are NULL, and nothing is asked. */
#ifndef MINIGPU_CORUN_H
#define MINIGPU_CORUN_H

#include "machine/state.h"

struct corun {
    gpump_partition_config machine;
    gpump_sharing *sharing;
    const gpump_partition_policy *policy;
    uint32_t orders;                               /* members whose memory instructions have a quota, as a mask */
    uint64_t next;                                 /* the next cycle in which the group has something to do */
    uint32_t member_of[GPUMP_PARTITION_KERNELS];   /* by kernel; NONE: not in the group */
    uint32_t kernel_of[GPUMP_PARTITION_KERNELS];   /* by member */
    gpump_traffic before[GPUMP_PARTITION_KERNELS]; /* by kernel, behind L1, when the measurement began */
    gpump_traffic *sm_before;                      /* by SM: of the kernel that it measures, up to L1 */
};

/* Makes the group for a machine that is otherwise built; `in_turn` is gpump_sharing_config.in_turn,
 * `dram_sustainable_permille` gpump_partition_config's, or 0 for the preset's. Returns 0, or -1
 * with the reason in error. */
int corun_make(machine *m, const gpump_partition_policy *policy, uint32_t in_turn, uint32_t dram_sustainable_permille,
               char error[LAUNCH_ERROR_BYTES]);
/* A kernel starts, or is done; one that repeats stays in the group. */
void corun_kernel_starts(machine *m, uint32_t index);
void corun_kernel_ended(machine *m, uint32_t index);
/* The blocks of a kernel on an SM have changed: sm.kernel_resident. */
void corun_blocks_changed(machine *m, const sm *s, uint32_t index);
/* Does the kernel's cap on the SM leave room for a block more? */
int corun_may_place(const machine *m, const sm *s, uint32_t index);
/* Brings the group up to m->now, and carries out its actions. */
void corun_advance(machine *m);

/* The member whose gates a kernel passes on an SM; NONE: none are set. */
static inline uint32_t corun_member(const machine *m, uint32_t kernel) { return m->corun->member_of[kernel]; }
/* The warp slots of `ready` that may issue: their kernels' quotas and limits in flight are not used up, and of the
 * memory instructions one kernel's are first. */
uint64_t corun_may_issue(machine *m, sm *s, uint64_t ready);
/* The same for an instruction of the issue queue, but for the order between kernels. */
int corun_may_issue_queued(machine *m, sm *s, uint32_t warp, const issue_info *info);
/* An instruction has issued; L1 has taken an access of an instruction, s->access_since or now. */
void corun_issued(const machine *m, sm *s, in_flight *record);
void corun_accessed(const machine *m, sm *s, const in_flight *record);
/* May a miss of this kernel leave the SM now? It does. */
int corun_may_send(const machine *m, const sm *s, uint32_t kernel);
void corun_sent(machine *m, sm *s, uint32_t kernel);

#endif
