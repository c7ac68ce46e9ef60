/* restart: restart PCs of warps, and recovery from exceptions and circuit errors (hardware; per SM; iGPU 3.2 to 4.3)
 *
 * A warp that has idempotent regions can execute the region again in which it stands. The component keeps two restart
 * PCs per warp, one for its sparse and one for its short region, each with the SIMT stack of that moment. Rewind, page
 * faults under the scheme REGIONS, exceptions of arithmetic and circuit errors all go back the same way:
 *
 *   asker          goes back to       and there
 *   rewind         the sparse region  the block leaves, with what is live there
 *   page fault     the sparse region  waits for the page, and runs
 *   exception      the short region   emulates the instruction that raised it, and runs
 *   circuit error  the short region   runs
 *
 * Exceptions. The warp goes back, and the instruction at the exception PC is patched: when the warp comes there again,
 * all its lanes are emulated. A second exception of the region at another PC would undo that, for ever: a live-lock
 * (iGPU Figure 6). It is detected when an exception recurs that the warp has gone back for before. Two cures exist: a
 * compiler puts both PCs into regions of their own (gpump_regions_split), or the warp executes the region in single
 * steps, where exceptions are emulated in place.
 *
 * Errors. The circuit detects an error `latency_cycles` after the instruction. Until then the instruction is
 * unverified. A warp may not cross a boundary, end, or do what must not be done twice before all that it has executed
 * is verified. Its stores wait in a store queue, because a store to a wrong address cannot be undone.
 *
 * The host keeps instructions, registers and time. A short region that starts where a sparse one starts is recorded
 * once. Without short regions both restart PCs are the same. Departures from the paper: docs/papers.md. */
#ifndef GPUMP_RESTART_H
#define GPUMP_RESTART_H

#include "base/component.h"
#include "gpu/gpu.h"

GPUMP_BEGIN

/* The restart PC to which a warp rewinds. */
typedef enum gpump_restart_region {
    GPUMP_RESTART_SPARSE = 0,
    GPUMP_RESTART_SHORT,
    GPUMP_RESTART_REGIONS
} gpump_restart_region;
/* What cures a live-lock. */
typedef enum gpump_restart_cure {
    GPUMP_RESTART_CURE_SPLIT = 0, /* the host puts both PCs into regions of their own (iGPU 4.1) */
    GPUMP_RESTART_CURE_STEP,      /* the warp executes its region in single steps of one lane (iGPU 4.1) */
    GPUMP_RESTART_CURES
} gpump_restart_cure;
/* How long the instruction at the exception PC is emulated. */
typedef enum gpump_restart_patch {
    GPUMP_RESTART_PATCH_ONCE = 0, /* once, as printed: an exception in a later round of a loop then recurs for ever */
    GPUMP_RESTART_PATCH_REGION,   /* until the next boundary; ours */
    GPUMP_RESTART_PATCHES
} gpump_restart_patch;
/* How an exception is repaired. */
typedef enum gpump_restart_repair {
    GPUMP_RESTART_SERVED = 0, /* by another component; the instruction then executes (a page fault) */
    GPUMP_RESTART_EMULATED,   /* by emulating the instruction (an arithmetic exception) */
    GPUMP_RESTART_REPAIRS
} gpump_restart_repair;
/* How a warp executes. */
typedef enum gpump_restart_mode {
    GPUMP_RESTART_RUN = 0, /* normally */
    GPUMP_RESTART_AGAIN,   /* again, with the instruction at its exception PC patched */
    GPUMP_RESTART_STEP,    /* one instruction at a time, and each lane by itself, until the next boundary */
    GPUMP_RESTART_MODES
} gpump_restart_mode;
/* The host's response to an exception. */
typedef enum gpump_restart_answer {
    GPUMP_RESTART_GO_BACK = 0, /* gpump_restart_go_back, then run */
    GPUMP_RESTART_SPLIT,       /* a live-lock of the two PCs: gpump_regions_split, then gpump_restart_go_back; where the
                                * program cannot be split: gpump_restart_step, then gpump_restart_go_back */
    GPUMP_RESTART_GO_STEP,     /* a live-lock: gpump_restart_go_back; the warp then steps */
    GPUMP_RESTART_IN_PLACE,    /* handle it where it is: the warp steps, or the instruction is patched already */
    GPUMP_RESTART_IGNORE,      /* an undetected error of the warp may have raised it: it goes back soon in any case */
    GPUMP_RESTART_STUCK,       /* the warp must not go back before its next boundary: the instruction waits in place */
    GPUMP_RESTART_ANSWERS
} gpump_restart_answer;

/* An entry of a SIMT stack, bottom first. */
typedef struct gpump_restart_frame {
    uint64_t lanes;
    uint32_t pc, reconvergence_pc;
} gpump_restart_frame;
/* The decision about an exception. */
typedef struct gpump_restart_order {
    uint32_t answer; /* gpump_restart_answer */
    uint32_t region; /* gpump_restart_region to go back to */
    uint32_t pc;     /* of the exception */
    uint32_t other;  /* the other PC of a live-lock; GPUMP_NONE where only a count of restarts showed it */
} gpump_restart_order;

/* The configuration of the component. gpump_preset fills the struct; the host may then change every
 * field. */
typedef struct gpump_restart_config {
    uint32_t warps;          /* of the SM, switched-out ones included; 1 to 256; 48 (iGPU 3.2) */
    uint32_t lanes;          /* threads of a warp, for gpump_bits only; 1 to 64 */
    uint32_t frames;         /* entries of a SIMT stack at most; 1 to 256 */
    uint32_t latency_cycles; /* from an instruction's end until its errors are known; 0: no speculation; up to 4096 */
    uint32_t error_rate_q32; /* errors per warp instruction, times 2^32 */
    uint32_t voltage_q16;    /* by how much the supply voltage is lower, as a part of it, times 2^16; up to 65536 */
    uint32_t store_entries;  /* stores that wait for verification at most; 0: no store queue; up to 65536 */
    uint32_t cure;           /* gpump_restart_cure */
    uint32_t patch;          /* gpump_restart_patch; REGION (ours; printed: ONCE) */
    uint32_t most_restarts; /* restarts for exceptions without a boundary between them; one more is a live-lock; 1 up */
} gpump_restart_config;

/* clang-format off */
#define GPUMPI_RESTART_STATISTICS(X)                                                                  \
    X(boundaries, "boundaries", "crossed, starts of warps among them")                               \
    X(restarts, "warps", "that went back")                                                           \
    X(given_up, "warp instructions", "executed since the restart PC by warps that went back")        \
    X(errors, "errors", "of instructions")                                                           \
    X(detected, "errors", "detected, later ones of the same restart not counted")                    \
    X(exceptions, "exceptions", "reported and repaired by emulation")                                \
    X(faults, "exceptions", "reported and served by somebody else")                                  \
    X(ignored, "exceptions", "that an undetected error may have raised")                             \
    X(stuck, "exceptions", "of warps that had to go on to their next boundary")                      \
    X(emulated, "warp instructions", "emulated")                                                     \
    X(live_locks, "live-locks", "detected")                                                          \
    X(steps, "warp instructions", "executed in single steps")                                        \
    X(stores, "stores", "that waited in the store queue")                                            \
    X(restored, "warps", "that came back with their restart PCs")
/* clang-format on */
typedef struct gpump_restart_statistics {
#define GPUMPI_FIELD(name, unit, description) uint64_t name;
    GPUMPI_RESTART_STATISTICS(GPUMPI_FIELD)
#undef GPUMPI_FIELD
} gpump_restart_statistics;

/* A warp, or a number that no warp has at present. */
typedef struct gpumpi_restart_warp {
    uint64_t since[2];       /* warp instructions since the start of the sparse and of the short region */
    uint64_t verified_cycle; /* then all that it has executed is verified */
    uint64_t detect_cycle;   /* then its first error is detected; GPUMP_UNKNOWN: it has none */
    uint32_t depth[2];       /* of the SIMT stacks at its restart PCs; 0: none. SHORT: 0 where both are the same.
                              * SPARSE: 0 when it has crossed short boundaries only since it came back */
    uint32_t exception_pc;   /* what it went back for last in this region; GPUMP_NONE: nothing */
    uint32_t earlier_pc;     /* what it went back for before that */
    uint32_t mode;           /* gpump_restart_mode */
    uint32_t flags;          /* GPUMPI_RESTART_... */
    uint32_t restarts;       /* for exceptions, in this region */
    uint32_t stores;         /* of it in the store queue */
} gpumpi_restart_warp;
/* FORBIDDEN << region: something has taken effect since that restart PC which must not be done twice. */
enum { GPUMPI_RESTART_OPEN = 1, GPUMPI_RESTART_FORBIDDEN = 2, GPUMPI_RESTART_BOTH_FORBIDDEN = 6 };
enum { GPUMPI_RESTART_SET_WORDS = 4 }; /* of a set of warps */
/* The head of the component. Behind it: warps, then the frames of their sparse and of their short region. */
typedef struct gpump_restart {
    gpumpi_head head;
    uint64_t erring[GPUMPI_RESTART_SET_WORDS]; /* warps with an error that is not detected yet, as a set of bits */
    gpump_restart_statistics statistics;
    gpump_restart_config config;
    uint32_t stores; /* in the store queue */
    uint32_t unused;
} gpump_restart;
typedef char gpumpi_restart_has_no_padding[sizeof(gpump_restart) == sizeof(gpumpi_head) + (4 + 14) * 8 + (10 + 2) * 4 &&
                                                   sizeof(gpumpi_restart_warp) == 64 &&
                                                   sizeof(gpump_restart_frame) == 16
                                               ? 1
                                               : -1];
GPUMP_INLINE const gpumpi_restart_warp *gpumpi_restart_at(const gpump_restart *restart, uint32_t warp) {
    return (const gpumpi_restart_warp *)(const void *)(restart + 1) + warp;
}

/* The component for the verbs of base/component.h: gpump_init makes it without warps. Presets, on an SM of iGPU 3.2
 * (48 warps): "igpu" without speculation, or one of Table 2 with its error rate and lower voltage: "decor" (1%, 10%),
 * "emergency" (0.01%, 10%), "razor" (1%, 15%), "razor2" (0.1%, 15%). The paper prints detection latencies "of the
 * order of a few cycles" only: 1 cycle for razor, 4 for razor2, 8 for the others, and 64 entries of the store queue
 * are assumed. gpump_bits counts the whole storage: the two restart PCs of each warp, which is all that the paper
 * counts (3.2), SIMT stacks, exception PCs, modes, and with speculation a verification counter per warp and the store
 * queue (per entry a 64-bit address, 64 bits of data and a bit per lane). */
GPUMP_API const gpumpi_methods *gpumpi_restart_methods(void);
GPUMPI_CONSTANT gpump_component gpump_restart_component = {gpumpi_restart_methods, GPUMP_LAYOUT_FAULT, 0};

/* Returns the name of the index-th preset of Table 2; NULL past the last. */
GPUMP_API const char *gpump_restart_detection_name(uint32_t index);
/* What the tables cost in SRAM, bits. */
typedef struct gpump_restart_storage {
    uint64_t pc_bits;    /* the two restart PCs of each warp, which is all that the paper counts (iGPU 3.2) */
    uint64_t warp_bits;  /* stacks, modes and counts of the warps */
    uint64_t store_bits; /* entries of the store queue */
} gpump_restart_storage;

/* ---- warps come and go ---- */

/* Begins warp `warp`. It cannot go back before gpump_restart_report_boundary. GPUMP_ERROR_STATE when one is
 * there. */
GPUMP_API gpump_result gpump_restart_open(gpump_restart *restart, uint32_t warp);
/* Ends warp `warp`, which has ended, was flushed, or is saved. Its stores in the store queue are dropped.
 * GPUMP_ERROR_STATE: there is none. */
GPUMP_API gpump_result gpump_restart_close(gpump_restart *restart, uint32_t warp);

/* ---- questions. Hot: a load or two; `warp` is trusted ---- */

/* Returns 1 when the warp may go back to the start of `region` now: it has a restart PC there, and has done nothing
 * since that must not be done twice. */
GPUMP_INLINE int gpump_restart_may_go_back(const gpump_restart *restart, uint32_t warp, uint32_t region) {
    const gpumpi_restart_warp *w = gpumpi_restart_at(restart, warp);
    const uint32_t record = w->depth[region] ? region : (uint32_t)GPUMP_RESTART_SPARSE;
    return w->depth[record] && !(w->flags & (uint32_t)GPUMPI_RESTART_FORBIDDEN << record);
}
/* Returns 1 when all that the warp has executed is verified: it may cross a boundary, pass a barrier, end, or do what
 * must not be done twice, once it has nothing in flight. */
GPUMP_INLINE int gpump_restart_is_verified(const gpump_restart *restart, uint32_t warp, uint64_t now) {
    return gpumpi_restart_at(restart, warp)->verified_cycle <= now;
}
/* Returns 1 while an error of the warp has not been detected. The circuit cannot observe this. A host that injects
 * errors asks, so that it does not stop on addresses that are wrong because of an injected error. */
GPUMP_INLINE int gpump_restart_errs(const gpump_restart *restart, uint32_t warp) {
    return gpump_bits_get(restart->erring, warp);
}
/* Returns how the warp executes the instruction at `pc`: RUN; AGAIN: it is patched, emulate it; STEP. */
GPUMP_INLINE gpump_restart_mode gpump_restart_mode_at(const gpump_restart *restart, uint32_t warp, uint32_t pc) {
    const gpumpi_restart_warp *w = gpumpi_restart_at(restart, warp);
    return w->mode == GPUMP_RESTART_AGAIN && w->exception_pc != pc ? GPUMP_RESTART_RUN : (gpump_restart_mode)w->mode;
}
/* Returns the warp instructions executed since the start of a region (gpump_restart_region). */
GPUMP_INLINE uint64_t gpump_restart_since(const gpump_restart *restart, uint32_t warp, uint32_t region) {
    return gpumpi_restart_at(restart, warp)->since[region];
}
/* Returns 1 when a store may enter the store queue. Without one: 1. */
GPUMP_INLINE int gpumpi_restart_may_store(const gpump_restart *restart) {
    return !restart->config.store_entries || restart->stores < restart->config.store_entries;
}
/* Returns 1 while a store of the warp waits in the store queue: its later loads and stores wait, because the queue does
 * not forward. */
GPUMP_INLINE int gpump_restart_has_stores(const gpump_restart *restart, uint32_t warp) {
    return gpumpi_restart_at(restart, warp)->stores != 0;
}
/* Copies the SIMT stack at a restart PC, that of `region`, into frames[capacity] and sets *depth; the PC is that of the
 * last frame.
 * GPUMP_EMPTY: the warp has none; GPUMP_ERROR_CAPACITY: *depth says how many. Cost: linear in depth. */
GPUMP_API gpump_result gpump_restart_where(const gpump_restart *restart, uint32_t warp, uint32_t region,
                                           gpump_restart_frame *frames, uint32_t capacity, uint32_t *depth);

/* ---- facts ---- */

/* Reports that the warp stands behind a boundary of `region`, or at its first instruction (SPARSE), with the SIMT stack
 * frames[depth], depth 1 to config.frames. A sparse boundary starts a short region as well. The warp runs normally
 * again. GPUMP_ERROR_STATE while it has an undetected error. Hot: linear in depth. */
GPUMP_API gpump_result gpump_restart_report_boundary(gpump_restart *restart, uint32_t warp, uint32_t region,
                                                     const gpump_restart_frame *frames, uint32_t depth);
/* Reports that an instruction of the warp has ended. Hot; `warp` is trusted. */
GPUMP_INLINE void gpump_restart_report_executed(gpump_restart *restart, uint32_t warp) {
    gpumpi_restart_warp *w = (gpumpi_restart_warp *)(void *)(restart + 1) + warp;
    w->since[0]++;
    w->since[1]++;
    restart->statistics.steps += w->mode == GPUMP_RESTART_STEP;
}
/* Reports that the part of an instruction that can err has ended at cycle `now`: arithmetic, or the address of an
 * access. It is verified `latency_cycles` later. Hot; `warp` is trusted. */
GPUMP_INLINE void gpump_restart_report_unverified(gpump_restart *restart, uint32_t warp, uint64_t now) {
    gpumpi_restart_warp *w = (gpumpi_restart_warp *)(void *)(restart + 1) + warp;
    w->verified_cycle = now + restart->config.latency_cycles;
}
/* Reports that something has taken effect which must not be done twice (an atomic, a barrier): until the next boundary
 * the warp cannot go back, and until the next sparse one not to its sparse region. Hot; `warp` is trusted. */
GPUMP_INLINE void gpump_restart_forbid(gpump_restart *restart, uint32_t warp) {
    ((gpumpi_restart_warp *)(void *)(restart + 1) + warp)->flags |= GPUMPI_RESTART_BOTH_FORBIDDEN;
}
/* Reports that an instruction of the warp that has ended at cycle `now` has an error: gpump_restart_next hands it over
 * once it is detected. GPUMP_ERROR_STATE without speculation, or when the warp may not go back. */
GPUMP_API gpump_result gpump_restart_report_error(gpump_restart *restart, uint32_t warp, uint64_t now);
/* Reports that the instruction at `pc` has raised an exception, and sets *order to what the host does about it.
 * `repair` is a gpump_restart_repair. GPUMP_ERROR_STATE when no warp is there. */
GPUMP_API gpump_result gpump_restart_report_exception(gpump_restart *restart, uint32_t warp, uint32_t pc,
                                                      uint32_t repair, gpump_restart_order *order);
/* Reports that the warp's instruction has been emulated; patched as printed, it then runs normally. Hot. */
GPUMP_API void gpump_restart_report_emulated(gpump_restart *restart, uint32_t warp);
/* Makes the warp execute in single steps until its next boundary: the cure of a host that could not split. */
GPUMP_API gpump_result gpump_restart_step(gpump_restart *restart, uint32_t warp);
/* Rewinds the warp to the start of `region`. Copies the SIMT stack with which the warp resumes into frames[capacity]
 * and sets *depth. The instructions executed since then count as given up. Undetected errors and queued stores of the
 * warp are discarded. A patched instruction stays patched. The exceptions of a short region are discarded when the warp
 * rewinds to its sparse region and the short region began later. GPUMP_BUSY: the warp may not rewind; the state is
 * unchanged. GPUMP_ERROR_CAPACITY: the state is unchanged. Cost: linear in depth. */
GPUMP_API gpump_result gpump_restart_go_back(gpump_restart *restart, uint32_t warp, uint32_t region,
                                             gpump_restart_frame *frames, uint32_t capacity, uint32_t *depth);
/* Reports that a store of the warp enters the store queue, where it waits `latency_cycles`; GPUMP_BUSY: it is full. */
GPUMP_API gpump_result gpump_restart_report_store(gpump_restart *restart, uint32_t warp);
/* Reports that a store of the warp has left the store queue, verified or squashed. GPUMP_ERROR_STATE: it has none. */
GPUMP_API gpump_result gpump_restart_report_stored(gpump_restart *restart, uint32_t warp);

/* ---- actions ---- */

/* Sets *warp to the lowest warp with an error that is detected at cycle `now`: it goes back to its short region.
 * GPUMP_EMPTY when there is none; *warp is then GPUMP_NONE. Cost: linear in warps that err. */
GPUMP_API gpump_result gpump_restart_next(const gpump_restart *restart, uint64_t now, uint32_t *warp);

/* ---- contexts ---- */

/* Writes the restart state of a leaving warp into words[capacity], the payload of a section GPUMP_CONTEXT_RESTART, and
 * sets *count. The words are: depths, mode and flags; the exception PCs; the restarts; then two words per frame.
 * GPUMP_BUSY: the warp has an undetected error; *count says how many words it would be. GPUMP_ERROR_CAPACITY. Cost:
 * linear in depth. */
GPUMP_API gpump_result gpump_restart_save(const gpump_restart *restart, uint32_t warp, uint64_t *words,
                                          uint32_t capacity, uint32_t *count);
/* Puts words[count] of a saved warp back into slot `warp`, which has just been opened. GPUMP_ERROR_STATE when it has a
 * restart PC, GPUMP_ERROR_FORMAT when the words contradict each other or the configuration. Cost: linear. */
GPUMP_API gpump_result gpump_restart_restore(gpump_restart *restart, uint32_t warp, const uint64_t *words,
                                             uint32_t count, gpump_diag *diag);

/* ---- closed forms: calculations ---- */

/* Returns the warp instructions, times 2^16, that a region of `instructions` (1 to 2^20) executes until it has passed
 * without an error, when each instruction errs with probability error_rate_q32 / 2^32 by itself and an error is
 * detected `latency` instructions later, at the region's end at the latest. latency 0: ((1-p)^-n - 1) / p. Saturates at
 * UINT64_MAX. Cost: linear in instructions. Source: iGPU 5.5 (the figure); the formula is derived. */
GPUMP_API uint64_t gpump_restart_expected(uint32_t instructions, uint32_t error_rate_q32, uint32_t latency);
/* Returns the dynamic energy, times 2^16, of a run at a supply voltage that is lower by the part voltage_q16 / 2^16 and
 * takes time_q16 / 2^16 times as long: (1-v)^2 T/T0. Rounded to nearest. Source: iGPU 5.5. */
GPUMP_API uint64_t gpump_restart_energy(uint32_t voltage_q16, uint64_t time_q16);

GPUMP_END
#endif
