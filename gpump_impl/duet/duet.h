/* duet: warps and blocks beyond an SM's room, switched in on-chip memory (hardware; Lin chapter 3)
 *
 * GPUDuet and Virtual Thread hide long stalls by switching stalled warps (or whole blocks) out into memory of the SM
 * that the kernel leaves unused. This component decides which warps are switched out and in, and where each context
 * lies. The host moves the values. One duet serves one kernel on one SM: its plan (duet_plan.h) fixes the places.
 *
 *     place -> RUNNING -> report_stall -> STALLED -> OUT or SWAP -> ABSENT -> report_reply -> READY -> IN -> RUNNING
 *
 * The number of a warp is block * plan.block_warps + its index in the block. The unit that moves is a warp or a block
 * (plan.unit). Actions contain the number of the unit. */
#ifndef GPUMP_DUET_H
#define GPUMP_DUET_H

#include "base/component.h"
#include "duet/duet_plan.h"

GPUMP_BEGIN

/* Lin Fig. 3.9. */
typedef enum gpump_duet_state {
    GPUMP_DUET_RUNNING = 0, /* all its context is in place; also a stalled warp that cannot be switched out */
    GPUMP_DUET_STALLED,     /* waits to be switched out, or is being switched out */
    GPUMP_DUET_ABSENT,      /* switched out, and what it waits for has not come */
    GPUMP_DUET_READY,       /* switched out, and waits to be switched in; or is being switched in */
    GPUMP_DUET_GONE         /* no such warp, or it has ended */
} gpump_duet_state;

/* Cause of a stall. */
typedef enum gpump_duet_stall {
    GPUMP_DUET_LOAD = 0, /* for loads that have left L1 */
    GPUMP_DUET_BARRIER,  /* at a barrier */
    GPUMP_DUET_PAGE,     /* for pages that it has faulted on; one reply: it may go on */
    GPUMP_DUET_STALLS
} gpump_duet_stall;

typedef enum gpump_duet_action_kind {
    GPUMP_DUET_OUT = 0, /* `out` moves from its home to a frame */
    GPUMP_DUET_IN,      /* `in` moves from its frame to a home */
    GPUMP_DUET_SWAP,    /* they change places */
    GPUMP_DUET_L1,      /* L1 is bypassed from now on and its memory holds frames; dirty lines leave it first */
    GPUMP_DUET_EXTRA    /* `blocks` extra blocks are allowed from now on; surplus blocks run to their end */
} gpump_duet_action_kind;
typedef struct gpump_duet_action {
    uint64_t start_cycle, end_cycle; /* of the move: the host reports it as moved at `end_cycle` */
    uint32_t kind;                   /* gpump_duet_action_kind */
    uint32_t out, in;                /* warps, or blocks when plan.unit is GPUMP_DUET_BLOCK; GPUMP_NONE */
    uint32_t home, frame;            /* the two places: of a warp or of a block */
    uint32_t granules;               /* moved, both ways together */
    uint32_t blocks;                 /* EXTRA */
    uint32_t unused;
} gpump_duet_action;

/* Location of a warp's context, in granules of the unified space. */
typedef struct gpump_duet_place {
    uint32_t is_present; /* 1: in its home; 0: in a frame */
    uint32_t registers;  /* its registers: all of them at home, plan.frame_registers granules in a frame */
    uint32_t slot;       /* its warp slot; GPUMP_NONE in a frame */
    uint32_t slot_data;  /* what its slot held; GPUMP_NONE at home */
    uint32_t shared;     /* the shared memory of its block */
} gpump_duet_place;

/* clang-format off */
#define GPUMPI_DUET_STATISTICS(X)                                                   \
    X(outs, "moves", "to a frame that was free")                                   \
    X(ins, "moves", "to a home that was free")                                     \
    X(swaps, "moves", "that exchanged two warps or blocks")                        \
    X(granules, "granules", "moved")                                               \
    X(move_cycles, "cycles", "of the port, for moves")                             \
    X(frame_replies, "replies", "to loads of switched-out warps: one cycle of the port each") \
    X(stalls, "stalls", "reported")                                                \
    X(refused, "stalls", "of warps or blocks that could not be switched out at first") \
    X(queue_overflows, "entries", "for which a queue had no room")                 \
    X(decisions, "periods", "of the monitor")                                      \
    X(most_blocks, "blocks", "resident at once at most")
/* clang-format on */
typedef struct gpump_duet_statistics {
#define GPUMPI_FIELD(name, unit, description) uint64_t name;
    GPUMPI_DUET_STATISTICS(GPUMPI_FIELD)
#undef GPUMPI_FIELD
} gpump_duet_statistics;

#define GPUMPI_DUET_WORDS (GPUMP_DUET_WARPS / 64)
/* A queue of warps or blocks: a hint. What finds no room is found by a look at the table. */
typedef struct gpumpi_duet_queue {
    uint32_t first, count, item[256];
} gpumpi_duet_queue;
/* A unit is a warp or a block (plan.unit); sets hold one bit per warp, per unit, per home or per frame. */
typedef struct gpump_duet {
    gpumpi_head head;
    uint64_t now, job_end_cycle, decision_cycle; /* decision_cycle: GPUMP_UNKNOWN without a monitor */
    uint64_t may_issue[GPUMPI_DUET_WORDS];       /* per warp: RUNNING */
    uint64_t alive[GPUMPI_DUET_WORDS];           /* per warp: placed and not ended */
    uint64_t waiting[GPUMPI_DUET_WORDS];         /* per warp: stalled */
    uint64_t at_barrier[GPUMPI_DUET_WORDS];      /* per warp: of these, at a barrier */
    uint64_t for_page[GPUMPI_DUET_WORDS];        /* per warp: of these, for pages */
    uint64_t resident[GPUMPI_DUET_WORDS];        /* per unit: placed and not ended */
    uint64_t present[GPUMPI_DUET_WORDS];         /* per unit: at home */
    uint64_t moving[GPUMPI_DUET_WORDS];          /* per unit: in the job */
    uint64_t frozen[GPUMPI_DUET_WORDS];          /* per unit: not to be moved */
    uint64_t may_leave[GPUMPI_DUET_WORDS];       /* per unit: present, stalled, eligible */
    uint64_t may_come[GPUMPI_DUET_WORDS];        /* per unit: READY */
    uint64_t refused[GPUMPI_DUET_WORDS];         /* per unit: could not be switched out */
    uint64_t free_homes[GPUMPI_DUET_WORDS];
    uint64_t free_frames[GPUMPI_DUET_WORDS];
    uint64_t blocks; /* resident, one bit each */
    gpump_duet_statistics statistics;
    gpump_duet_config config;
    gpump_duet_plan plan;
    uint32_t block_count, absent; /* resident blocks; units in frames, or on their way there */
    uint32_t extra, is_held;      /* ME; 1: the monitor does not raise it any more */
    uint32_t l1_is_store, tell;   /* tell: bits 1 << GPUMP_DUET_L1, 1 << GPUMP_DUET_EXTRA still to be handed over */
    uint32_t class_now;           /* gpump_duet_class of the last period */
    uint32_t whole, unused;       /* the block that stays whole; GPUMP_NONE */
    uint32_t debt_cycles;         /* of the port: replies written into frames since the last move */
    uint32_t job, job_out, job_in, job_home, job_frame; /* job: gpump_duet_action_kind; GPUMP_NONE */
    uint32_t last[2];                       /* the unit that left, or came, last: a look at the table begins after it */
    uint32_t place[GPUMP_DUET_WARPS];       /* per unit: its home, or its frame */
    uint32_t replies[GPUMP_DUET_WARPS];     /* per warp: awaited */
    uint32_t block_of[GPUMP_DUET_WARPS];    /* per warp */
    uint32_t live[GPUMP_DUET_BLOCKS];       /* per block: warps that have not ended */
    uint32_t stalled[GPUMP_DUET_BLOCKS];    /* per block: of these, stalled */
    uint32_t in_barrier[GPUMP_DUET_BLOCKS]; /* per block: of these, at a barrier */
    gpumpi_duet_queue queues[2];            /* may leave, may come */
} gpump_duet;

/* ---- facts ---- */

/* Assigns the SM to a kernel with *plan, a plan of gpump_duet_plan_make. The monitor starts anew. GPUMP_ERROR_STATE:
 * blocks are resident. */
GPUMP_API gpump_result gpump_duet_set_kernel(gpump_duet *duet, uint64_t now, const gpump_duet_plan *plan);
/* Places a block and sets *block to its number. Its warps run where homes are free, else they are READY in frames (Lin
 * 3.6.5). `at_home` 1: the block is placed only when all its warps get homes. A restored block needs homes, because its
 * warps may have more live registers than a frame holds. GPUMP_BUSY: there is no room; diag holds the reason. Cost:
 * linear in its warps. */
GPUMP_API gpump_result gpump_duet_place_block(gpump_duet *duet, uint64_t now, int at_home, uint32_t *block,
                                              gpump_diag *diag);
/* Reports that a RUNNING `warp` stalls for the cause `why` (gpump_duet_stall) until `replies` replies have been
 * reported, at least 1. A barrier is one reply. All pages of a warp together are one reply. The warp has nothing in
 * flight but these loads. GPUMP_ERROR_STATE: the warp is not RUNNING. */
GPUMP_API gpump_result gpump_duet_report_stall(gpump_duet *duet, uint64_t now, uint32_t warp, uint32_t why,
                                               uint32_t replies);
/* Reports one reply that a stalled `warp` awaits, or that its barrier has opened. The value goes to where the warp's
 * registers lie now: into its frame when it is switched out. Hot. */
GPUMP_API void gpump_duet_report_reply(gpump_duet *duet, uint32_t warp);
/* Reports that the move of the last action has ended. GPUMP_ERROR_STATE before its end_cycle, or when nothing moves. */
GPUMP_API gpump_result gpump_duet_report_moved(gpump_duet *duet, uint64_t now);
/* Reports that a RUNNING `warp` has ended: its home is free. GPUMP_ERROR_STATE. */
GPUMP_API gpump_result gpump_duet_report_warp_done(gpump_duet *duet, uint64_t now, uint32_t warp);
/* Reports that `block` has ended or left. All its places are then free. GPUMP_BUSY: a part of the block is moving. */
GPUMP_API gpump_result gpump_duet_report_block_done(gpump_duet *duet, uint64_t now, uint32_t block);
/* Stops (`frozen` 1) or allows (0) moves of a block: its bytes can be saved where they lie. No further move of it
 * begins; GPUMP_BUSY: one is under way, and its bytes stay where they are once that has ended. */
GPUMP_API gpump_result gpump_duet_freeze(gpump_duet *duet, uint64_t now, uint32_t block, int frozen);
/* Reports the `utilisation` of the last period at gpump_duet_decision_cycle: the monitor sets the number of extra
 * blocks (Lin 3.6.4, Table 3.3). GPUMP_EMPTY before that cycle, or without a monitor. */
GPUMP_API gpump_result gpump_duet_report_utilisation(gpump_duet *duet, uint64_t now,
                                                     const gpump_utilisation *utilisation);

/* ---- questions ---- */

/* Returns 1 when `warp` is RUNNING. Hot: a load and a mask. */
GPUMP_INLINE int gpump_duet_may_issue(const gpump_duet *duet, uint32_t warp) {
    return gpump_bits_get(duet->may_issue, warp);
}
/* Returns the state (gpump_duet_state) of a warp. */
GPUMP_API uint32_t gpump_duet_state_of(const gpump_duet *duet, uint32_t warp);
/* Sets *place to where a warp's context lies now; while it moves, where it came from. GPUMP_ERROR_STATE for a warp that
 * is not there. */
GPUMP_API gpump_result gpump_duet_where(const gpump_duet *duet, uint32_t warp, gpump_duet_place *place);
/* Returns YES when one block more may be placed now, with `at_home` as gpump_duet_place_block has it, or why not. */
GPUMP_API gpump_reason gpump_duet_room(const gpump_duet *duet, int at_home);
/* Returns YES when a warp is RUNNING and not stalled, or what it waits for: its replies, a barrier, a move, a place
 * that running warps hold, or a place that warps at barriers hold and may not leave. */
GPUMP_API gpump_reason gpump_duet_waits_for(const gpump_duet *duet, uint32_t warp);

/* ---- actions and time ---- */

/* Pulls the next action into *action. GPUMP_EMPTY: there is no action. One move is in flight at a time (Lin 3.6.6):
 * first a move to a free home, else a swap of a READY and a STALLED unit, else a move to a free frame. */
GPUMP_API gpump_result gpump_duet_next(gpump_duet *duet, uint64_t now, gpump_duet_action *action);
/* Returns the cycle at which the monitor's period ends; GPUMP_UNKNOWN without a monitor. */
GPUMP_INLINE uint64_t gpump_duet_decision_cycle(const gpump_duet *duet) { return duet->decision_cycle; }

GPUMP_END
#endif
