/* machine_options: the options of a run besides its launch file. Each part reads its own options
 * (state/part.h). */
#ifndef MINIGPU_MACHINE_OPTIONS_H
#define MINIGPU_MACHINE_OPTIONS_H

#include "state/state.h"

#define THREADS_MAX 64u
#define FUNCTIONAL_ALL UINT32_MAX /* machine_options.functional: every launch */

/* ---- kernels that share SMs as a group (parts/corun) ---- */

/* All zero: every kernel is measured on its part of the SMs, and blocks above their caps drain. */
typedef struct corun_options {
    const gpump_partition_policy *policy; /* NULL: kernels do not share SMs as a group */
    const char *division;                 /* text of a fixed division, such as green:8:7; NULL: the policy divides */
    uint32_t dram_sustainable_permille; /* sustainable share of DRAM's peak; 0: the default of gpump_partition_config */
    uint32_t in_turn;                   /* 1: kernels are measured one after the other on all SMs */
    uint32_t unsampled;                 /* 1: the policy decides without measuring */
    uint32_t places;                    /* most members of the group; 0: every kernel of the launch */
    const gpump_victim_policy *leave;   /* victim policy for blocks above a cap; NULL: they drain */
    uint32_t parks;         /* 1: registers and shared memory of these blocks that no kernel needs stay in place */
    uint32_t group;         /* under a schedule: number of leading kernels that form one command; 0: none */
    uint32_t window_cycles; /* interval at which running kernels are classified again; 0: never */
    uint32_t priorities;    /* 1: policies see the launch's priorities, each plus 1 */
} corun_options;

/* ---- page faults: --faults, --link and those beside them (parts/faults, parts/fault_unit) ---- */

/* The pages that a fault maps remotely instead of moving them (gpump_uvm_config.remote). */
typedef enum fault_remote { FAULT_REMOTE_NONE, FAULT_REMOTE_THRASHING, FAULT_REMOTE_ALL, FAULT_REMOTES } fault_remote;

#define LOG_UNITS_MAX 256u /* units of the largest operand log, 64 KB */

typedef struct faults_options {
    const char *scheme;  /* a preset of gpump_replay: "stall", "wd_commit", "wd_check", "queue", "log8" to "log64",
                            "regions"; NULL: absent pages end the run */
    uint32_t order;      /* gpump_replay_order */
    uint32_t lazy;       /* 1: the gpump_replay_on_fault is LAZY */
    uint64_t check;      /* number of the look-up that evicts its page first, from 1 over all SMs; NEVER: none */
    uint64_t interval;   /* each interval-th look-up after `check` evicts its page, too; 0: none */
    const char *link;    /* link of fault_unit.h that serves faults; NULL: pages arrive after a fixed time */
    const char *absent;  /* with a link: "all": every buffer is in CPU memory at first; NULL: as the launch file says */
    const char *handler; /* with a link: PTX file of the handler that SMs run for their faults; NULL: none */
    uint32_t frames;     /* of that handler's list at first; NONE: as faults_frames says */
    uint32_t local;      /* with a link, 1: SMs allocate pages themselves (Tanasic 6.4.2) */
    uint32_t extra; /* with a link: blocks beyond those that fit, which take the place of blocks that wait for pages; 0:
                       none */
    uint64_t memory;   /* with a link: bytes of GPU memory; pages beyond them are evicted; 0: all pages fit */
    uint32_t unpinned; /* with `memory`: 1: no pages are pinned, so instructions may evict each other's pages */
    uint32_t remote;   /* with a link: fault_remote: pages that stay in CPU memory and are accessed over the link */
} faults_options;

/* Returns the frames of the handlers' list at first. With finite memory half of its `granules` unless the options say
 * otherwise, but the CPU keeps as many as one instruction may touch. NONE: one for each granule that is mapped. */
static inline uint32_t faults_frames(const faults_options *o, uint64_t granules, uint32_t touches) {
    const uint64_t left = granules > touches ? granules - touches : 0;
    if (o->frames != NONE || !o->memory) return o->frames;
    return (uint32_t)(left < granules / 2 ? left : granules / 2);
}

/* ---- errors and exceptions of arithmetic (parts/errors) ---- */

/* Bits: the conditions on which arithmetic traps. */
enum {
    ERRORS_TRAP_DIVISION = 1, /* integer division by zero */
    ERRORS_TRAP_INVALID = 2,  /* a result that is NaN from operands that are not */
    ERRORS_TRAP_LINES = 4     /* every execution of arithmetic on one of two lines of the PTX file */
};
enum { ERRORS_LINES = 2 };

/* Selects instruction number `at`, counted from 1 over all SMs, and every interval-th instruction after it. */
typedef struct error_turns {
    uint64_t at;       /* NEVER: none */
    uint64_t interval; /* 0: only one */
} error_turns;

/* Errors and traps of a run. */
typedef struct errors_options {
    const char *detection; /* a preset of gpump_restart: "razor2", ...; NULL: no errors */
    uint64_t
        rate_q32; /* errors per warp instruction, times 2^32; NEVER: the rate of the detection, or none with `errs` */
    error_turns errs;             /* instructions that err in addition to the rate, among all */
    error_turns traps_at;         /* instructions that trap once each, among arithmetic */
    uint32_t latency_cycles;      /* latency of the detection; NONE: the preset's */
    uint32_t traps;               /* ERRORS_TRAP_... */
    uint32_t cure;                /* gpump_restart_cure: remedy for a live-lock */
    uint32_t patch;               /* gpump_restart_patch */
    uint32_t no_store_queue;      /* for tests: 1: stores do not wait for verification */
    uint32_t lines[ERRORS_LINES]; /* lines of ERRORS_TRAP_LINES, from 1; 0: none */
    uint32_t unused;
} errors_options;

void errors_options_default(errors_options *options);
/* Returns whether the options enable traps. */
static inline int traps_wanted(const errors_options *options) {
    return options->traps || options->traps_at.at != NEVER;
}
/* Returns whether the options enable errors or traps. */
static inline int errors_wanted(const errors_options *options) { return options->detection || traps_wanted(options); }

/* ---- how a rewind restores shared memory (parts/shared_log) ---- */

typedef enum shared_restart {
    SHARED_CUTS = 0, /* regions end where shared memory is overwritten */
    SHARED_SAVED,
    SHARED_BUFFERED,
    SHARED_VERSIONED,
    SHARED_RESTARTS
} shared_restart;

/* ---- all options ---- */

/* The options of machine_build, besides the launch file. */
struct machine_options {
    const char *gpu;        /* preset of a GPU; NULL: the launch file's, or gtx480_shieh */
    const char *config;     /* "NAME=VALUE,...": fields of config.h, applied after the launch file's; NULL: none */
    uint64_t preempt_cycle; /* cycle of --preempt; NEVER: none */
    uint64_t preempt_every; /* again after so many cycles; 0: once */
    uint64_t until_ns;      /* end of the run, if the launch file does not end it earlier; 0: no such end */
    uint32_t technique;     /* number of a technique; GPUMP_TECHNIQUES: the launch file's, or switch */
    uint32_t skip_idle;     /* 1: skips idle cycles; 0: simulates every cycle */
    uint32_t
        threads; /* threads on which SMs advance side by side (window.h), 1 to THREADS_MAX; 0: SMs advance in turn */
    uint32_t functional; /* launches of a device that execute without time (machine/functional.h); FUNCTIONAL_ALL: all.
                            A machine executes without time unless it is 0 */
    uint32_t context_form;   /* context_form: how registers are saved */
    uint32_t point_interval; /* K: switched blocks stop at preemption points, which the compiler inserts, one for every
                                K other instructions outside loops; 0: blocks stop anywhere */
    uint32_t regions;  /* idempotent regions: REGIONS_NONE, REGIONS_SPARSE, or N for additional short regions of at most
                          N instructions (analysis.h) */
    uint32_t spilling; /* with regions: registers that sparse boundaries store: SPILLING_NONE, _ALL or _CHANGED
                          (analysis.h) */
    uint32_t shared_restart; /* with regions: shared_restart: how a rewind restores shared memory (shared_log.h) */
    const gpump_regions_config *regions_config; /* for experiments: regions other than the presets'; NULL: none */
    uint32_t page_checks; /* page_check_form (analysis.h): page checks that the compiler inserts; 0: none */
    const char
        *absent; /* pages that are absent at first: "all", or names of buffers with commas between them; NULL: none */
    uint32_t in_place; /* 1: a switch leaves registers and shared memory in place that the next kernel does not need
                          (Lin 2.3.1) */
    uint32_t choose;   /* 1: with points, each warp stops now or runs on, whichever has the earlier estimated end */
    const gpump_victim_policy *policy; /* victim policy; NULL: none, `technique` applies */
    uint32_t leaves_by;                /* with a policy: the technique of each block that can leave by it;
                                          GPUMP_TECHNIQUES: as the policy says */
    uint64_t limit_cycles;             /* latency limit for the policy; NEVER: none */
    const char *schedule;              /* a policy of gpump_scheduler_find; NULL: none */
    uint32_t vacate;                   /* technique by which the schedule vacates an SM, or GPUMP_TECHNIQUE_SELECT */
    const char *priority_at; /* changes of priorities under the schedule (schedule_priorities.h); NULL: none */
    uint64_t slice_ns;       /* slice of the schedule time_slice; 0: 1 ms */
    uint64_t command_ns[3]; /* with a schedule: cost of bringing another process onto SMs: least, evenly spread, average
                               (gpump_scheduler_config.command_least_cycles) */
    uint32_t launch_ahead, launch_refill; /* with a schedule: fields of gpump_scheduler_config */
    uint32_t switch_stalls;               /* 1: the model of Shieh 4.1 (config.h) */
    faults_options faults;                /* handling of accesses to absent pages */
    errors_options errors;                /* errors and traps in the pipeline */
    uint64_t fault_service_ns; /* service time of a page; 0: config.page_service_cycles. With a link: the CPU's share of
                                  the time; 0: the link's value */
    const char *duet;          /* PRESET[:EXTRA[:PORT]] (duet.h); NULL: off */
    corun_options sharing;     /* kernels that share SMs as a group */
    uint64_t of_part[PARTS][PART_OPTION_WORDS]; /* options of the other parts, by PART_NAME; all 0: not given */
};
void machine_options_default(machine_options *options);

#endif
