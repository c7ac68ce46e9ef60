/* replay: lets a warp whose memory access faults leave the SM and resume later (hardware; per SM; Tanasic 6.2 and 6.3)
 *
 * A GPU pipeline cannot undo the effects of younger instructions, so an access that faults cannot simply execute again.
 * Tanasic names two obstacles. Sparse replay: some younger instructions have committed and must not execute again. RAW
 * on replay: a younger instruction may have overwritten its source registers. The schemes remove them:
 *
 *   scheme      fetch behind a memory instruction  sources released     what a faulted warp leaves with
 *   STALL       goes on                            at operand read      it cannot leave: the access waits in place
 *   WD_COMMIT   waits until the commit             at operand read      nothing: the PC goes back
 *   WD_CHECK    waits until the last check         at operand read      nothing: the PC goes back
 *   QUEUE       goes on                            at the effect        entries of the replay queue
 *   LOG         goes on                            at operand read      entries, and their operands in the log
 *   REGIONS     goes on                            at operand read      nothing: it restarts its idempotent region
 *
 * A "memory instruction" here is an instruction that can fault (global memory). Its *last check* is the last
 * translation that it needs. Its *effect* is what other threads can observe: the write of a store or atomic, and the
 * read of a load.
 *
 * The host keeps instructions, operands and time. The host reports events of memory instructions, asks whether a warp
 * may fetch and issue, and pulls actions while gpump_replay_has_actions returns 1. The states of a warp:
 *
 *   RUN      An access faults (on_fault EAGER), or the host needs the warp to leave (gpump_replay_squash).
 *   DRAIN    Nothing issues. Memory instructions in flight commit, or SQUASH and REFETCH take them out of the pipeline.
 *            After DRAINED, and once all else of the warp has committed, the host hands over what the warp had fetched
 *            and not issued: gpump_replay_report_unissued.
 *   HELD     The state of the warp is complete and may be saved, until gpump_replay_report_served.
 *   REPLAY   The host puts the entries back into its issue queue in program order, which rebuilds its scoreboard, and
 *            reports each as reissued. An entry whose operands were logged reads the log and no register. After the
 *            last one, FETCH: the warp is in RUN again.
 *
 * Memory order departs from the thesis, which guards registers only: docs/papers.md. */
#ifndef GPUMP_REPLAY_H
#define GPUMP_REPLAY_H

#include "base/component.h"
#include "gpu/gpu.h"

GPUMP_BEGIN

#define GPUMP_REPLAY_WINDOW 64 /* instructions of a warp between fetch and commit, at most */

/* Pipeline scheme that lets a faulted warp leave. */
typedef enum gpump_replay_scheme {
    GPUMP_REPLAY_STALL = 0, /* a fault is a very long TLB miss (the baseline, Tanasic 6.2) */
    GPUMP_REPLAY_WD_COMMIT, /* warp disable until commit (6.3.1) */
    GPUMP_REPLAY_WD_CHECK,  /* warp disable until the last check (6.3.1) */
    GPUMP_REPLAY_QUEUE,     /* replay queue (6.3.2) */
    GPUMP_REPLAY_LOG,       /* replay queue and operand log (6.3.3) */
    GPUMP_REPLAY_REGIONS,   /* idempotent regions: the warp goes back to its restart PC (iGPU) */
    GPUMP_REPLAY_SCHEMES
} gpump_replay_scheme;
/* When a memory instruction may take effect before an older one of its warp. */
typedef enum gpump_replay_order {
    GPUMP_REPLAY_PRINTED = 0, /* always, as the thesis has it: wrong through memory */
    GPUMP_REPLAY_CLASS,       /* only a plain load before plain loads */
    GPUMP_REPLAY_ADDRESS,     /* likewise, or when their segments are known and disjoint */
    GPUMP_REPLAY_ORDERS
} gpump_replay_order;
/* Immediate effect of a fault. */
typedef enum gpump_replay_on_fault {
    GPUMP_REPLAY_EAGER = 0, /* the warp drains (Tanasic 6.3) */
    GPUMP_REPLAY_LAZY       /* the access waits in place, until gpump_replay_squash; ours */
} gpump_replay_on_fault;
/* Treatment of an instruction that needs more log entries than its block's partition has. */
typedef enum gpump_replay_wide {
    GPUMP_REPLAY_WIDE_WAITS = 0, /* it waits, for ever: as the thesis has it */
    GPUMP_REPLAY_WIDE_HOLDS      /* it holds its sources until its effect, as under QUEUE */
} gpump_replay_wide;
/* Kind of an instruction. */
typedef enum gpump_replay_kind {
    GPUMP_REPLAY_OTHER = 0, /* it cannot fault */
    GPUMP_REPLAY_SYNC,      /* likewise; a barrier, fence or exit: older memory instructions must have taken effect */
    GPUMP_REPLAY_LOAD,      /* a plain load */
    GPUMP_REPLAY_STORE,
    GPUMP_REPLAY_ATOMIC, /* an atomic, or a load that must keep its place */
    GPUMP_REPLAY_KINDS
} gpump_replay_kind;
/* State of a warp. */
typedef enum gpump_replay_state {
    GPUMP_REPLAY_RUN = 0, /* it goes on */
    GPUMP_REPLAY_DRAIN,   /* its instructions in flight end */
    GPUMP_REPLAY_HELD,    /* its state is complete */
    GPUMP_REPLAY_REPLAY,  /* its entries are issued again */
    GPUMP_REPLAY_STATES
} gpump_replay_state;

/* An instruction of the replay queue; 32 bytes in a saved context, four u64 (gpump_replay_entry_pack). */
typedef struct gpump_replay_entry {
    uint64_t sequence;  /* its place in the warp's program order; the host's numbers, ascending */
    uint64_t lanes;     /* the lanes that execute it */
    uint32_t pc;        /* its PC; those before it may be branches that have committed */
    uint32_t kind;      /* gpump_replay_kind */
    uint32_t log_units; /* log entries it holds; not issued yet: those it will need */
    uint32_t flags;     /* GPUMP_REPLAY_ISSUED, GPUMP_REPLAY_HOLDS */
} gpump_replay_entry;
/* The flags of an entry. */
typedef enum gpump_replay_flag {
    GPUMP_REPLAY_ISSUED = 1, /* it was issued, and its operands are in the log when log_units is above 0 */
    GPUMP_REPLAY_HOLDS = 2   /* it holds its source registers until its effect (LOG: it was too wide) */
} gpump_replay_flag;

typedef enum gpump_replay_action_kind {
    GPUMP_REPLAY_ACT_EFFECT = 1, /* `entry`, which had to wait, takes effect now; its sources are released */
    GPUMP_REPLAY_ACT_SQUASH, /* take `entry` out of the pipeline; the replay queue keeps it. LOG: its operand read still
                              * takes place, or nothing would be logged */
    GPUMP_REPLAY_ACT_REFETCH, /* take it out for good; the warp's PC goes back to it (REGIONS: to the restart PC) */
    GPUMP_REPLAY_ACT_DRAINED, /* no memory instruction of `warp` is in flight: gpump_replay_report_unissued next */
    GPUMP_REPLAY_ACT_REPLAY,  /* put the entries of `warp` back into the issue queue: gpump_replay_pending */
    GPUMP_REPLAY_ACT_FETCH    /* `warp` may fetch again */
} gpump_replay_action_kind;
typedef struct gpump_replay_action {
    gpump_replay_entry what; /* EFFECT, SQUASH, REFETCH: the instruction; else zero */
    uint32_t kind;           /* gpump_replay_action_kind */
    uint32_t warp;
    uint32_t entry;  /* EFFECT, SQUASH, REFETCH: its handle (REFETCH: no longer valid); else GPUMP_NONE */
    uint32_t nacked; /* SQUASH: 1 when it did not fault itself, but an older one has */
} gpump_replay_action;

/* The configuration of the component. gpump_preset fills the struct; the host may then change every
 * field. */
typedef struct gpump_replay_config {
    uint32_t scheme;    /* gpump_replay_scheme */
    uint32_t warps;     /* warp slots of the SM; 1 to 256 */
    uint32_t blocks;    /* block slots of the SM; 1 to 64 */
    uint32_t entries;   /* QUEUE, LOG: issued memory instructions that a warp's queue holds; 32 (assumed); 1 to 64 */
    uint32_t log_bytes; /* LOG: bytes of the SM's log; 8192 or 16384 (Tanasic 6.5.2), up to 65536 swept */
    uint32_t log_entry_bytes; /* bytes of a log entry; 256 (32 lanes of 8 bytes, Tanasic 6.5.2) */
    uint32_t order;           /* gpump_replay_order; CLASS (ours; the thesis: PRINTED) */
    uint32_t on_fault;        /* gpump_replay_on_fault; EAGER (Tanasic 6.3) */
    uint32_t probe;           /* 1: an instruction that will be NACKed finishes its checks, so that its faults start */
    uint32_t wide;            /* gpump_replay_wide; HOLDS (ours; the thesis: WAITS) */
    uint32_t lanes;           /* threads of a warp; 1 to 64 */
} gpump_replay_config;

/* clang-format off */
#define GPUMPI_REPLAY_STATISTICS(X)                                                                          \
    X(issued, "memory instructions", "issued for the first time")                                           \
    X(effects, "memory instructions", "that took effect")                                                   \
    X(committed, "memory instructions", "committed")                                                        \
    X(waits, "memory instructions", "whose effect had to wait for an older one")                            \
    X(faults, "reports", "of a check that failed")                                                          \
    X(drains, "warps", "that began to drain")                                                               \
    X(squashed, "memory instructions", "squashed into the queue because they faulted, or their warp leaves") \
    X(nacked, "memory instructions", "squashed into the queue because an older one had faulted")            \
    X(refetched, "memory instructions", "squashed and fetched again")                                       \
    X(unissued, "instructions", "that joined the queue without having been issued")                         \
    X(replays, "warps", "that began to replay")                                                             \
    X(reissued, "instructions", "issued out of the queue")                                                  \
    X(logged, "log entries", "given to memory instructions")                                                \
    X(held, "memory instructions", "too wide for the log, with sources held")                               \
    X(restored, "warps", "that came back with a saved queue")
/* clang-format on */
typedef struct gpump_replay_statistics {
#define GPUMPI_FIELD(name, unit, description) uint64_t name;
    GPUMPI_REPLAY_STATISTICS(GPUMPI_FIELD)
#undef GPUMPI_FIELD
} gpump_replay_statistics;

/* An entry of the queue: bit `slot` of its warp's sets. */
typedef struct gpumpi_replay_slot {
    gpump_replay_entry entry;
    uint64_t older; /* entries of the warp before it in program order; bits of absent ones mean nothing */
    uint64_t low, high, signature; /* ADDRESS: its segments; low > high: none */
} gpumpi_replay_slot;
/* A warp slot. The sets are bits by slot. */
typedef struct gpumpi_replay_warp {
    uint64_t present;   /* entries of the warp; in the pipeline or not */
    uint64_t memory;    /* those that can fault */
    uint64_t loads;     /* plain loads among them */
    uint64_t syncs;     /* barriers, fences and exits */
    uint64_t issued;    /* those in the pipeline; the others wait for their replay */
    uint64_t effective; /* those that have taken effect */
    uint64_t waiting;   /* those whose last check has passed and whose effect waits */
    uint64_t faulted;   /* those in the pipeline of which a check has failed */
    uint64_t fetched;   /* DISABLED: sequence of the instruction that the warp waits for */
    uint32_t may_fetch; /* gpump_reason */
    uint32_t may_issue; /* gpump_reason */
    uint32_t state;     /* gpump_replay_state */
    uint32_t flags;     /* GPUMPI_REPLAY_... */
    uint32_t block;     /* GPUMP_NONE: no warp is here */
    uint32_t log_units; /* log entries of its instructions */
    uint32_t queued;    /* entries that were issued: they fill config.entries */
    uint32_t unused;
} gpumpi_replay_warp;
/* The head of the component. Behind it: warps, then their 64 entries each, then the log units of each block. */
typedef struct gpump_replay {
    gpumpi_head head;
    uint64_t active[4]; /* warps that may have an action */
    gpump_replay_statistics statistics;
    gpump_replay_config config;
    uint32_t partition; /* log entries of each block */
    uint32_t running;   /* blocks that share the log */
    uint32_t unused;
} gpump_replay;
typedef char gpumpi_replay_has_no_padding[sizeof(gpump_replay) == sizeof(gpumpi_head) + (4 + 15) * 8 + (11 + 3) * 4 &&
                                                  sizeof(gpumpi_replay_warp) == 104 && sizeof(gpumpi_replay_slot) == 64
                                              ? 1
                                              : -1];
enum { GPUMPI_REPLAY_DISABLED = 1, GPUMPI_REPLAY_AWAITS = 2, GPUMPI_REPLAY_SERVED = 4, GPUMPI_REPLAY_LEAVES = 8 };
enum { GPUMPI_REPLAY_DRAINED = 16, GPUMPI_REPLAY_FETCHES = 32, GPUMPI_REPLAY_FLAGS = 63 };
GPUMP_INLINE const gpumpi_replay_warp *gpumpi_replay_at(const gpump_replay *replay, uint32_t warp) {
    return (const gpumpi_replay_warp *)(const void *)(replay + 1) + warp;
}
GPUMP_INLINE const gpumpi_replay_slot *gpumpi_replay_slot_at(const gpump_replay *replay, uint32_t entry) {
    return (const gpumpi_replay_slot *)(const void *)gpumpi_replay_at(replay, replay->config.warps) + entry;
}

/* ---- blocks and warps come and go ---- */

/* The queue and log for the verbs of base/component.h: gpump_init makes them without warps; the log is shared by
 * config.blocks. Presets: "stall", "wd_commit", "wd_check", "queue", "log8", "log16", "log32", "log64" (KB of log)
 * and "regions", on an SM of Tanasic Table 6.1 (64 warps, 16 blocks). gpump_bits counts what the scheme adds to its
 * baseline: a bit or two per warp for its state; per queue entry PC, lanes, kind, flags and a row of the age matrix;
 * the log, and a counter per block. ADDRESS adds segments. What was fetched and not issued stays in the issue queue,
 * which the baseline has. gpump_check costs warps x 64 x 64 at worst. */
GPUMP_API const gpumpi_methods *gpumpi_replay_methods(void);
GPUMPI_CONSTANT gpump_component gpump_replay_component = {gpumpi_replay_methods, GPUMP_LAYOUT_FAULT, 0};

/* Shares the log among `blocks` running blocks: the kernel's occupancy, when the SM is set up for it; config.blocks
 * where kernels mix. GPUMP_ERROR_STATE while a log entry is taken. */
GPUMP_API gpump_result gpump_replay_set_blocks(gpump_replay *replay, uint32_t blocks);
/* Begins a warp in slot `warp`, of the block in slot `block`. The warp's state is RUN. GPUMP_ERROR_STATE: the slot
 * holds a warp. */
GPUMP_API gpump_result gpump_replay_open(gpump_replay *replay, uint32_t warp, uint32_t block);
/* Ends the warp in slot `warp`, which has exited, was flushed or killed, or is saved. Its entries are dropped, and its
 * log entries are freed. GPUMP_ERROR_STATE: the slot holds no warp. */
GPUMP_API gpump_result gpump_replay_close(gpump_replay *replay, uint32_t warp);

/* ---- questions. Hot: a load and a mask unless said otherwise; `warp` and `entry` are trusted ---- */

/* What a warp asks to do; gpump_replay_may says whether it may. */
typedef enum gpump_replay_wish {
    GPUMP_REPLAY_TO_FETCH = 0,      /* refused with WARP_DISABLED, FAULTED or REPLAYING */
    GPUMP_REPLAY_TO_ISSUE = 1,      /* an instruction that cannot fault; refused with FAULTED or REPLAYING */
    GPUMP_REPLAY_TO_SYNCHRONISE = 2 /* pass a barrier or fence, or exit, once all its memory instructions have taken
                                     * effect; refused with MEMORY_ORDER, FAULTED or REPLAYING */
} gpump_replay_wish;
/* Returns GPUMP_REASON_YES when the warp may do `wish`, else the reason that gpump_replay_wish names. */
GPUMP_INLINE gpump_reason gpump_replay_may(const gpump_replay *replay, uint32_t warp, gpump_replay_wish wish) {
    const gpumpi_replay_warp *w = gpumpi_replay_at(replay, warp);
    if (wish == GPUMP_REPLAY_TO_FETCH) return (gpump_reason)w->may_fetch;
    if (w->may_issue || wish == GPUMP_REPLAY_TO_ISSUE) return (gpump_reason)w->may_issue;
    return w->memory & ~w->effective ? GPUMP_REASON_MEMORY_ORDER : GPUMP_REASON_YES;
}
/* Returns how many log entries a memory instruction takes: one for the addresses, and for each of its `operands` data
 * operands one per 8 bytes of a lane. A load: 0 operands, 1 entry. A store or atomic: 1 operand, 2 entries, 3 when it
 * stores 16 bytes per lane; a CAS: 2 operands, 3 entries. `operand_bytes` is of one lane. Cost: a division by a
 * constant. Source: Tanasic 6.3.3; atomics and wide stores are derived. */
GPUMP_INLINE uint32_t gpump_replay_log_units(uint32_t operands, uint32_t operand_bytes) {
    return 1u + operands * ((operand_bytes + 7u) / 8u);
}
/* Returns GPUMP_REASON_YES when the warp may issue a memory instruction that takes `log_units` log entries (any number
 * unless the scheme is LOG), else the reason for GPUMP_REPLAY_TO_ISSUE, or REPLAY_ROOM or LOG_ROOM. */
GPUMP_INLINE gpump_reason gpump_replay_may_issue_memory(const gpump_replay *replay, uint32_t warp, uint32_t log_units);
/* Returns 1 when the sources of memory instruction `entry` are released at operand read; 0: at its effect, which
 * gpump_replay_report_checked or the action EFFECT says. */
GPUMP_INLINE int gpump_replay_releases_sources(const gpump_replay *replay, uint32_t entry) {
    return replay->config.scheme != GPUMP_REPLAY_QUEUE &&
           !(gpumpi_replay_slot_at(replay, entry)->entry.flags & GPUMP_REPLAY_HOLDS);
}
/* Returns GPUMP_REASON_YES when no older instruction prevents the effect of memory instruction `entry` once its checks
 * have passed. MEMORY_ORDER: an older instruction has not taken effect. FAULTED: an older instruction is squashed, so
 * `entry` will be squashed too. Cost: ADDRESS may compare it with each older one. */
GPUMP_INLINE gpump_reason gpumpi_replay_may_take_effect(const gpump_replay *replay, uint32_t entry);
/* Returns GPUMP_REASON_YES when the pending `entry` of a warp in REPLAY may be issued as far as this component is
 * concerned: memory instructions issue in program order, SYNC waits for effects, and what was never issued needs room.
 * Else MEMORY_ORDER, REPLAY_ROOM, LOG_ROOM or FAULTED. */
GPUMP_API gpump_reason gpump_replay_may_reissue(const gpump_replay *replay, uint32_t entry);
/* Returns the state of a warp. */
GPUMP_INLINE gpump_replay_state gpump_replay_state_of(const gpump_replay *replay, uint32_t warp) {
    return (gpump_replay_state)gpumpi_replay_at(replay, warp)->state;
}
/* Returns 1 when the warp has faulted on pages that have not been reported as served. */
GPUMP_INLINE int gpumpi_replay_awaits_page(const gpump_replay *replay, uint32_t warp) {
    return (gpumpi_replay_at(replay, warp)->flags & GPUMPI_REPLAY_AWAITS) != 0;
}
/* Returns 1 when a warp that needs `log_units` log entries cannot get them before a page of another warp is served: it
 * counts as blocked, or its block would never be switched. Cost: linear in warps. */
GPUMP_API int gpump_replay_waits_for_page(const gpump_replay *replay, uint32_t warp, uint32_t log_units);
/* Returns the instruction behind the handle `entry`. */
GPUMP_INLINE gpump_replay_entry gpump_replay_look(const gpump_replay *replay, uint32_t entry) {
    return gpumpi_replay_slot_at(replay, entry)->entry;
}
/* Returns 1 when gpump_replay_next may have an action. */
GPUMP_INLINE int gpump_replay_has_actions(const gpump_replay *replay) {
    return (replay->active[0] | replay->active[1] | replay->active[2] | replay->active[3]) != 0;
}

/* ---- facts ---- */

/* Reports that the warp has fetched a memory instruction that can fault, `sequence` in program order: warp disable
 * stops its fetch here, until that instruction commits, or passes its last check. Hot; `warp` is trusted. */
GPUMP_INLINE void gpump_replay_report_fetched(gpump_replay *replay, uint32_t warp, uint64_t sequence) {
    gpumpi_replay_warp *w = (gpumpi_replay_warp *)(void *)(replay + 1) + warp;
    if (replay->config.scheme != GPUMP_REPLAY_WD_COMMIT && replay->config.scheme != GPUMP_REPLAY_WD_CHECK) return;
    if (w->block == GPUMP_NONE) return;
    w->flags |= GPUMPI_REPLAY_DISABLED;
    w->fetched = sequence;
    if (w->state == GPUMP_REPLAY_RUN) w->may_fetch = GPUMP_REASON_WARP_DISABLED;
}
/* Reports that the warp has issued memory instruction *instruction (its flags are ignored) and sets *entry to its
 * handle, which holds until it commits or REFETCH takes it. GPUMP_ERROR_STATE unless the warp is in RUN,
 * GPUMP_ERROR_ARGUMENT unless its sequence is above those before it, GPUMP_BUSY without room. Cost: linear in the
 * warp's memory instructions. */
GPUMP_API gpump_result gpump_replay_report_issued(gpump_replay *replay, uint32_t warp,
                                                  const gpump_replay_entry *instruction, uint32_t *entry);
/* Reports which segments[count] memory instruction `entry` touches, of any one size that no access crosses: only
 * ADDRESS uses them, and compares ranges and 64-bit signatures, so that disjoint ones may still count as common. Cost:
 * linear in count. */
GPUMP_API gpump_result gpump_replay_report_segments(gpump_replay *replay, uint32_t entry, const uint64_t *segments,
                                                    uint32_t count);
/* Reports that the last check of memory instruction `entry` has passed. *answer GPUMP_REASON_YES: it takes effect now,
 * and its sources are released. Else (see gpumpi_replay_may_take_effect) it waits for the action EFFECT or SQUASH.
 * GPUMP_ERROR_STATE when that has been reported already, or it is not in the pipeline. */
GPUMP_API gpump_result gpump_replay_report_checked(gpump_replay *replay, uint32_t entry, gpump_reason *answer);
/* Reports that a check of memory instruction `entry` has failed: once per page. Under EAGER the warp drains, and SQUASH
 * or REFETCH will take it; under STALL and LAZY it stays, and gpump_replay_report_checked follows when its pages have
 * come. GPUMP_ERROR_STATE when its last check has passed, or it is not in the pipeline. */
GPUMP_API gpump_result gpump_replay_report_faulted(gpump_replay *replay, uint32_t entry);
/* Reports that memory instruction `entry` has committed. GPUMP_ERROR_STATE before its effect. */
GPUMP_API gpump_result gpump_replay_report_committed(gpump_replay *replay, uint32_t entry);
/* Reports that no instruction of a drained warp is in flight. The warp is then HELD. entries[count] are the
 * instructions that the warp had fetched and not issued, in program order (flags are ignored). Entries of an earlier
 * replay that were not issued again are still in the queue and must not be among them. Only QUEUE and LOG take entries;
 * under other schemes the host sets the PC back to the oldest instruction. GPUMP_ERROR_STATE before the action DRAINED,
 * GPUMP_ERROR_ARGUMENT when sequences do not ascend or exist already, GPUMP_ERROR_FULL beyond GPUMP_REPLAY_WINDOW.
 * Cost: count x entries. */
GPUMP_API gpump_result gpump_replay_report_unissued(gpump_replay *replay, uint32_t warp,
                                                    const gpump_replay_entry *entries, uint32_t count);
/* Reports that all pages on which the warp has faulted are resident. A HELD warp then replays. A warp in DRAIN replays
 * after it is HELD. */
GPUMP_API gpump_result gpump_replay_report_served(gpump_replay *replay, uint32_t warp);
/* Reports that pending `entry` of a warp in REPLAY has been issued. Memory instructions are in flight again under the
 * same handle; others leave the queue. GPUMP_BUSY when gpump_replay_may_reissue says no. */
GPUMP_API gpump_result gpump_replay_report_reissued(gpump_replay *replay, uint32_t entry);
/* Orders the warp to leave, faulted or not. The warp drains, and instructions that have not taken effect are squashed.
 * The warp is then HELD until gpump_replay_report_served, also when it never faulted. GPUMP_BUSY: under STALL the host
 * must wait. */
GPUMP_API gpump_result gpump_replay_squash(gpump_replay *replay, uint32_t warp);

/* ---- actions ---- */

/* Pulls the next action into *action. The lowest warp with an action is first. The order within a warp is SQUASH and
 * REFETCH, then EFFECT (each oldest first), then DRAINED, REPLAY, FETCH. GPUMP_EMPTY: there is no action. Cost: linear
 * in the warp's entries. */
GPUMP_API gpump_result gpump_replay_next(gpump_replay *replay, gpump_replay_action *action);
/* Lists the handles of a warp's entries that wait to be issued again, in program order. Cost: linear. */
GPUMP_API gpump_result gpump_replay_pending(const gpump_replay *replay, uint32_t warp, uint32_t *entries,
                                            uint32_t capacity, uint32_t *count);

/* ---- contexts ---- */

/* Copies the queue of a warp that leaves into entries[capacity], in program order; gpump_replay_close comes next. The
 * host adds the operands of those with log_units above 0 and the flag ISSUED. GPUMP_ERROR_STATE unless the warp is
 * HELD, or in RUN with nothing in flight. Cost: linear. */
GPUMP_API gpump_result gpump_replay_save(const gpump_replay *replay, uint32_t warp, gpump_replay_entry *entries,
                                         uint32_t capacity, uint32_t *count);
/* Restores entries[count] of a saved warp into slot `warp`, which has just been opened. The warp is HELD, and its pages
 * count as awaited until gpump_replay_report_served. Under STALL the warp stays in RUN, because it could not leave
 * before its pages were resident. GPUMP_ERROR_STATE: the warp has entries. GPUMP_ERROR_FORMAT: the entries contradict
 * each other or the scheme. GPUMP_ERROR_FULL: the block's share of the log is too small, because this SM is set up for
 * more blocks than the SM that saved. Cost: count squared. */
GPUMP_API gpump_result gpump_replay_restore(gpump_replay *replay, uint32_t warp, const gpump_replay_entry *entries,
                                            uint32_t count, gpump_diag *diag);
/* Puts entries[count] into words[4 * count], the payload of a section GPUMP_CONTEXT_REPLAY. Cost: linear. */
GPUMP_API void gpump_replay_pack(const gpump_replay_entry *entries, uint32_t count, uint64_t *words);
/* Reads entries[count] back from words[4 * count]; gpump_replay_restore checks them. Cost: linear. */
GPUMP_API void gpump_replay_unpack(const uint64_t *words, uint32_t count, gpump_replay_entry *entries);
/* Returns the bytes that entries[count] of a warp add to a saved block, section headers included: 32 per entry, and for
 * those with logged operands 16 and 8 x lanes per log entry. Cost: linear. */
GPUMP_API uint64_t gpump_replay_context_bytes(const gpump_replay_config *config, const gpump_replay_entry *entries,
                                              uint32_t count);

/* ---- the longer questions ---- */

/* Returns those of the older entries `older` whose segments may be common with those of `entry`. */
GPUMP_API uint64_t gpumpi_replay_common(const gpump_replay *replay, uint32_t entry, uint64_t older);
/* Returns the older memory instructions that stand against the effect of `entry`. */
GPUMP_INLINE uint64_t gpumpi_replay_blockers(const gpump_replay *replay, uint32_t entry) {
    const gpumpi_replay_warp *w = gpumpi_replay_at(replay, entry / GPUMP_REPLAY_WINDOW);
    uint64_t older = w->memory & ~w->effective & gpumpi_replay_slot_at(replay, entry)->older;
    if (gpump_bits_get(&w->loads, entry % GPUMP_REPLAY_WINDOW)) older &= ~w->loads;
    if (!older || replay->config.order == GPUMP_REPLAY_PRINTED) return 0;
    return replay->config.order == GPUMP_REPLAY_ADDRESS ? gpumpi_replay_common(replay, entry, older) : older;
}
/* May `entry` take effect? Declared above. */
GPUMP_INLINE gpump_reason gpumpi_replay_may_take_effect(const gpump_replay *replay, uint32_t entry) {
    const gpumpi_replay_warp *w = gpumpi_replay_at(replay, entry / GPUMP_REPLAY_WINDOW);
    uint64_t blockers = gpumpi_replay_blockers(replay, entry);
    if (!blockers) return GPUMP_REASON_YES;
    return w->state == GPUMP_REPLAY_DRAIN && (blockers & (w->faulted | ~w->issued)) ? GPUMP_REASON_FAULTED
                                                                                    : GPUMP_REASON_MEMORY_ORDER;
}
/* Room in queue and log for one more memory instruction of a warp. */
GPUMP_INLINE gpump_reason gpumpi_replay_room(const gpump_replay *replay, uint32_t warp, uint32_t log_units) {
    const gpumpi_replay_warp *w = gpumpi_replay_at(replay, warp);
    const uint64_t *used =
        (const uint64_t *)(const void *)gpumpi_replay_slot_at(replay, replay->config.warps * GPUMP_REPLAY_WINDOW);
    if (replay->config.scheme != GPUMP_REPLAY_QUEUE && replay->config.scheme != GPUMP_REPLAY_LOG)
        return GPUMP_REASON_YES;
    if (w->queued >= replay->config.entries) return GPUMP_REASON_REPLAY_ROOM;
    if (replay->config.scheme != GPUMP_REPLAY_LOG || used[w->block] + log_units <= replay->partition)
        return GPUMP_REASON_YES;
    return log_units > replay->partition && replay->config.wide == GPUMP_REPLAY_WIDE_HOLDS ? GPUMP_REASON_YES
                                                                                           : GPUMP_REASON_LOG_ROOM;
}
/* May `warp` issue a memory instruction of `log_units` log entries? Declared above. */
GPUMP_INLINE gpump_reason gpump_replay_may_issue_memory(const gpump_replay *replay, uint32_t warp, uint32_t log_units) {
    const gpumpi_replay_warp *w = gpumpi_replay_at(replay, warp);
    if (w->state != GPUMP_REPLAY_RUN || w->block == GPUMP_NONE)
        return w->state == GPUMP_REPLAY_DRAIN ? GPUMP_REASON_FAULTED : (gpump_reason)w->may_issue;
    if (!~w->present) return GPUMP_REASON_REPLAY_ROOM;
    return gpumpi_replay_room(replay, warp, log_units);
}

GPUMP_END
#endif
