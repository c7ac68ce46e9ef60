/* sharing: a group of kernels that run on the same SMs at once (hardware; Lin 4.5)
 *
 * The group measures each kernel with 1, 2, ... blocks on an SM. A policy then decides, and the group moves all SMs to
 * the decision. During a measurement each SM runs one kernel: SM j runs kernel j mod K, with one more block on every
 * K-th SM. With in_turn, all SMs run one kernel after the other. The host reports blocks and traffic, asks whether a
 * block may be placed, and carries out the actions:
 *
 *     MOVE (blocks above their caps leave) -> WARM -> SAMPLE -> REPORT (the host reports each SM) -> a decision
 *     MOVE -> RUN -> back to the first MOVE when a kernel joins, leaves, or changes its class
 *
 * A policy with several candidates (gpump_partition_policy.candidates) is tried out before RUN: each kernel alone on
 * all SMs, then each candidate, by MOVE -> WARM -> SAMPLE -> REPORT (the host reports each member). The group chooses
 * the candidate with the largest harmonic mean of speeds.
 *
 * A kernel that is alone in the group runs at once with all its blocks. The scheduler decides which SMs the group has.
 * A member is a kernel of the group; its index identifies it. */
#ifndef GPUMP_SHARING_H
#define GPUMP_SHARING_H

#include "base/component.h"
#include "gpu/gpu.h"
#include "gpu/technique.h"
#include "memory/meter.h"
#include "sharing/partition.h"
#include "sharing/rate.h"

GPUMP_BEGIN

/* State of a group. */
typedef enum gpump_sharing_state {
    GPUMP_SHARING_EMPTY = 0, /* no member */
    GPUMP_SHARING_MOVE,      /* blocks above their caps have to leave before the next state begins */
    GPUMP_SHARING_WARM,      /* each SM runs one member; its caches fill */
    GPUMP_SHARING_SAMPLE,    /* each SM is measured */
    GPUMP_SHARING_REPORT,    /* gpump_sharing_report_sample is awaited for each SM */
    GPUMP_SHARING_RUN,       /* the decision holds */
    GPUMP_SHARING_STATES
} gpump_sharing_state;

/* The configuration of a group. gpump_preset fills the struct; the host may then change every field. */
typedef struct gpump_sharing_config {
    uint32_t members;       /* kernels of the group at most; 2; 1 to GPUMP_PARTITION_KERNELS */
    uint32_t sms;           /* SMs of the group; at least `members`, 65536 at most */
    uint32_t warm_cycles;   /* 20000 (assumed) */
    uint32_t sample_cycles; /* 10000 (Warped-Slicer's sampling time); at least 1 */
    uint32_t class_windows; /* windows in a row that change a class; 2 (assumed); at least 1 */
    /* How blocks above a cap leave; the host carries it out. The number of a technique (gpump_technique_at), or
     * GPUMP_TECHNIQUE_SELECT: gpump_victim_decide chooses blocks and techniques. Preset GPUMP_TECHNIQUE_DRAIN. */
    uint32_t technique;
    /* gpump_part bits that stay on the SM with a technique that saves: GPUMP_PARTS_IN_PLACE parks the blocks, which
     * resume when the cap rises. Preset 0. */
    uint32_t keep;
    /* 0: all kernels are measured at once, each on its part of the SMs (a reading of Lin's sampling). 1: the kernels
     * are measured one after the other on all SMs. This takes longer, but no other kernel slows the measured kernel
     * down. */
    uint32_t in_turn;
    /* 1: no kernel is measured, and the policy decides as soon as a kernel joins or leaves. The policy's request then
     * has every kernel in class LATENCY, with a speed proportional to its blocks. For divisions that need no
     * measurement. */
    uint32_t unsampled;
} gpump_sharing_config;

/* A kernel that joins. */
typedef struct gpump_sharing_kernel {
    uint32_t kernel;      /* the host's number of the launch, handed back in actions */
    uint32_t blocks;      /* blocks on an SM at most, alone; 1 to 64 */
    uint32_t priority;    /* of gpump_partition_kernel; at least 1 */
    gpump_footprint need; /* of one block */
    uint32_t part;        /* of gpump_partition_kernel */
} gpump_sharing_kernel;

typedef enum gpump_sharing_action_kind {
    GPUMP_SHARING_CAP = 0, /* the member may have `blocks` blocks on the SM */
    GPUMP_SHARING_RATE,    /* the member's limits on the SM are `limits`: gpump_rate_set */
    GPUMP_SHARING_VACATE,  /* `blocks` blocks of the member leave the SM, by `technique` */
    GPUMP_SHARING_MEASURE  /* the meters of all SMs start at 0 now; sm and member are 0 */
} gpump_sharing_action_kind;
typedef struct gpump_sharing_action {
    uint32_t kind; /* gpump_sharing_action_kind */
    uint32_t sm;
    uint32_t member;
    uint32_t kernel;          /* the host's number */
    uint32_t blocks;          /* CAP, VACATE */
    uint32_t technique;       /* VACATE: config.technique */
    uint32_t keep;            /* VACATE: config.keep */
    gpump_rate_limits limits; /* RATE */
} gpump_sharing_action;

/* A member as the group keeps it. */
typedef struct gpumpi_sharing_member {
    gpump_sharing_kernel kernel;
    gpump_partition_share share; /* of the last decision */
    uint32_t is_member;          /* 1: has joined and not left */
    uint32_t kind;               /* gpump_partition_class */
    uint32_t other_windows;      /* windows in a row that spoke for another class */
    uint32_t alone_q16;          /* trials: its speed alone */
    uint32_t tried_q16;          /* of this trial, and one more; 0: not reported yet */
    uint32_t unused;
    gpump_demand demand; /* bytes per miss, of its fastest sample */
} gpumpi_sharing_member;
/* A member on an SM. */
typedef struct gpumpi_sharing_cell {
    uint32_t cap, blocks;
} gpumpi_sharing_cell;
/* What an SM measured. */
typedef struct gpumpi_sharing_sample {
    gpump_partition_point point; /* projected to all SMs */
    uint32_t reported;
} gpumpi_sharing_sample;
/* The head of a group. Behind it: config.members members, and sms x members samples and cells. */
typedef struct gpump_sharing {
    gpumpi_head head;
    uint64_t now, since; /* `since`: begin of the state */
    uint64_t decisions, move_cycles;
    uint64_t best_q16; /* trials: least sum of slowdowns so far */
    gpump_sharing_config config;
    uint32_t state;   /* gpump_sharing_state */
    uint32_t sampled; /* 1: the samples are whole, and MOVE leads to RUN; 0: MOVE leads to WARM */
    uint32_t cursor;  /* the next action; past the last: none is left */
    uint32_t above;   /* cells with more blocks than their cap */
    uint32_t turn;    /* in_turn: the members before the one that is measured */
    uint32_t trial;   /* 0: none; up to the number of members: that member alone; then candidates, from 0 */
    uint32_t best;    /* the best candidate so far */
} gpump_sharing;
typedef char gpumpi_sharing_has_no_padding[sizeof(gpump_sharing) == sizeof(gpumpi_head) + 5 * 8 + 16 * 4 ? 1 : -1];
GPUMP_INLINE gpumpi_sharing_member *gpumpi_sharing_members(gpump_sharing *sharing) {
    return (gpumpi_sharing_member *)(void *)(sharing + 1);
}
GPUMP_INLINE gpumpi_sharing_sample *gpumpi_sharing_samples(gpump_sharing *sharing) {
    return (gpumpi_sharing_sample *)(void *)(gpumpi_sharing_members(sharing) + sharing->config.members);
}
GPUMP_INLINE gpumpi_sharing_cell *gpumpi_sharing_cells(gpump_sharing *sharing, uint32_t sm) {
    return (gpumpi_sharing_cell *)(void *)(gpumpi_sharing_samples(sharing) +
                                           (size_t)sharing->config.sms * sharing->config.members) +
           (size_t)sm * sharing->config.members;
}
GPUMP_INLINE const gpumpi_sharing_member *gpumpi_sharing_member_of(const gpump_sharing *sharing, uint32_t member) {
    return (const gpumpi_sharing_member *)(const void *)(sharing + 1) + member;
}
GPUMP_INLINE const gpumpi_sharing_sample *gpumpi_sharing_sample_of(const gpump_sharing *sharing, uint32_t sm,
                                                                   uint32_t member) {
    return (const gpumpi_sharing_sample *)(const void *)gpumpi_sharing_member_of(sharing, sharing->config.members) +
           (size_t)sm * sharing->config.members + member;
}
GPUMP_INLINE const gpumpi_sharing_cell *gpumpi_sharing_cell_of(const gpump_sharing *sharing, uint32_t sm,
                                                               uint32_t member) {
    return (const gpumpi_sharing_cell *)(const void *)gpumpi_sharing_sample_of(sharing, sharing->config.sms, 0) +
           (size_t)sm * sharing->config.members + member;
}

/* ---- facts ---- */

/* The group for the verbs of base/component.h: gpump_init makes an empty group. Presets are those of
 * gpump_gpu_component: two members on all its SMs, by draining. gpump_bits counts per SM and member a cap and a
 * counter of 6 bits each, per SM a sample of three 16-bit numbers, per member class, share and demand in 16-bit
 * numbers (assumed widths). gpump_check and gpump_hash are linear in SMs x members. */
GPUMP_API const gpumpi_methods *gpumpi_sharing_methods(void);
GPUMPI_CONSTANT gpump_component gpump_sharing_component = {gpumpi_sharing_methods, GPUMP_LAYOUT_SHARING, 0};

/* Reports that a kernel joins the group and sets *member to its index. All SMs are measured anew, unless it is alone.
 * GPUMP_ERROR_FULL: the group has no free index. A kernel that has left keeps its index until
 * gpump_sharing_report_residents has reported none of its blocks on any SM. Cost: linear in SMs x members. */
GPUMP_API gpump_result gpump_sharing_join(gpump_sharing *sharing, uint64_t now, const gpump_sharing_kernel *kernel,
                                          uint32_t *member, gpump_diag *diag);
/* Reports that `member` ends, or is preempted. Its caps become 0. Its limits end, so that its requests in flight
 * complete. All measurements are discarded, and the other members are measured anew. GPUMP_ERROR_STATE: there is no
 * such member. Cost: linear in SMs x members. */
GPUMP_API gpump_result gpump_sharing_leave(gpump_sharing *sharing, uint64_t now, uint32_t member);
/* Reports the residents of SM number `sm`, blocks[count] (gpump_sm_blocks, or filled by the host), whenever a block of
 * a member has come or gone. A block counts for the member of its kernel number while it holds slots; blocks of other
 * kernels may be among them. GPUMP_ERROR_ARGUMENT. Cost: members x count. */
GPUMP_API gpump_result gpump_sharing_report_residents(gpump_sharing *sharing, uint64_t now, uint32_t sm,
                                                      const gpump_block_view *blocks, uint32_t count);
/* Reports in state REPORT the *traffic on SM `sm` of *machine since MEASURE. The SM ran the member
 * gpump_sharing_sampled. GPUMP_ERROR_STATE: the group is in another state, or in a trial, in which members report by
 * gpump_sharing_report_window. */
GPUMP_API gpump_result gpump_sharing_report_sample(gpump_sharing *sharing, uint64_t now, uint32_t sm,
                                                   const gpump_partition_config *machine, const gpump_traffic *traffic,
                                                   gpump_diag *diag);
/* Reports the *traffic of `member` on all SMs of *machine. Other states ignore the report.
 *   REPORT  in a trial (gpump_sharing_trial is not 0): the traffic since MEASURE, once for each member
 *   RUN     the traffic of one window
 * In state RUN a member changes its class after config.class_windows consecutive windows in which it contradicts the
 * class: a bandwidth-intensive member leaves its share unused, or a latency-sensitive member uses more than the
 * threshold. All members are then measured anew. */
GPUMP_API gpump_result gpump_sharing_report_window(gpump_sharing *sharing, uint64_t now, uint32_t member,
                                                   const gpump_partition_config *machine, const gpump_traffic *traffic,
                                                   gpump_diag *diag);

/* ---- questions ---- */

/* Returns 1 when the member may have one block more on SM `sm`. Hot: a compare. */
GPUMP_INLINE int gpump_sharing_may_place(const gpump_sharing *sharing, uint32_t sm, uint32_t member) {
    const gpumpi_sharing_cell *cell = gpumpi_sharing_cell_of(sharing, sm, member);
    return cell->blocks < cell->cap;
}
/* Returns the member that is furthest below its cap on SM `sm`, the lowest of equals; config.members when all caps are
 * reached. Cost: linear in members. */
GPUMP_API uint32_t gpump_sharing_pick(const gpump_sharing *sharing, uint32_t sm);
/* Returns the member that SM `sm` measures, from the first MOVE to REPORT; config.members in other states, and in
 * trials. */
GPUMP_API uint32_t gpump_sharing_sampled(const gpump_sharing *sharing, uint32_t sm);
/* Returns 0, or the number of the trial that the group is in, counted from 1: its members alone come first, then the
 * policy's candidates. */
GPUMP_API uint32_t gpump_sharing_trial(const gpump_sharing *sharing);
/* Returns the state of the group (gpump_sharing_state). */
GPUMP_API uint32_t gpump_sharing_state_now(const gpump_sharing *sharing);
/* Sets *share to the last decision about a member, and *kind (gpump_partition_class) to its class; GPUMP_EMPTY when
 * none has been made. */
GPUMP_API gpump_result gpump_sharing_share(const gpump_sharing *sharing, uint32_t member, gpump_partition_share *share,
                                           uint32_t *kind);

/* ---- actions and time ---- */

/* Advances the group to cycle `now`. A state whose time has elapsed ends. When every SM has reported, *policy decides
 * for *machine, whose SMs are those of the group. Errors: those of gpump_partition_decide, and GPUMP_ERROR_TIME. */
GPUMP_API gpump_result gpump_sharing_advance(gpump_sharing *sharing, uint64_t now, const gpump_partition_policy *policy,
                                             const gpump_partition_config *machine, gpump_diag *diag);
/* Pulls the next action into *action: CAP and RATE for each SM and member, VACATE where a member has more blocks than
 * its cap, or MEASURE. GPUMP_EMPTY: no action is left. Cost: linear in SMs x members at worst. */
GPUMP_API gpump_result gpump_sharing_next(gpump_sharing *sharing, gpump_sharing_action *action);

GPUMP_END
#endif
