/* machine_options: what a run says of a machine beside its launch file. Parts read what is theirs (state/part.h). */
#ifndef MINIGPU_MACHINE_OPTIONS_H
#define MINIGPU_MACHINE_OPTIONS_H

#include "state/state.h"

#define THREADS_MAX 64u

/* ---- kernels that share SMs as a group (parts/corun) ---- */

/* All zero: every kernel is measured on its part of the SMs, and blocks above their caps drain. */
typedef struct corun_options {
    const gpump_partition_policy *policy; /* NULL: no group */
    const char *division;                 /* a fixed division as it was given, green:8:7; NULL: policy says it */
    uint32_t dram_sustainable_permille;   /* of DRAM's peak; 0: gpump_partition_config's */
    uint32_t in_turn;                     /* 1: kernels are measured one after the other on all SMs */
    uint32_t unsampled;                   /* 1: the policy decides without measuring */
    uint32_t places;                      /* members at most; 0: every kernel of the launch */
    const gpump_victim_policy *leave;     /* how blocks above a cap leave; NULL: they drain */
    uint32_t parks;                       /* 1: what nobody needs of them stays in place */
    uint32_t group;                       /* under a schedule: the first so many kernels are one command; 0: none */
    uint32_t window_cycles;               /* how often classes are looked at while kernels run; 0: never */
    uint32_t priorities;                  /* 1: policies see the launch's priorities, 1 more than there */
} corun_options;

/* ---- page faults: --faults, --link and those beside them (parts/faults, parts/fault_unit) ---- */

/* What a fault maps remotely (gpump_uvm_config.remote). */
typedef enum fault_remote { FAULT_REMOTE_NONE, FAULT_REMOTE_THRASHING, FAULT_REMOTE_ALL, FAULT_REMOTES } fault_remote;

#define LOG_UNITS_MAX 256u /* of the largest operand log, 64 KB */

typedef struct faults_options {
    const char *scheme; /* a preset of gpump_replay: "stall", "wd_commit", "wd_check", "queue", "log8" to "log64",
                           "regions"; NULL: absent pages end the run */
    uint32_t order;     /* gpump_replay_order */
    uint32_t lazy;      /* 1: gpump_replay_on_fault LAZY */
    uint64_t check;     /* that look-up evicts its page first, counted from 1 over all SMs; NEVER: none */
    uint64_t interval;  /* and so does every N-th one behind it; 0: none */
    const char *link;   /* a link of fault_unit.h: what serves faults; NULL: pages come after a fixed time */
    const char *absent; /* with a link: "all": the CPU has every buffer at first; NULL: as the launch file says */
    uint32_t local;     /* with a link, 1: SMs allocate pages themselves (Tanasic 6.4.2) */
    uint32_t extra;     /* with a link: blocks that wait for pages give way to so many more than fit; 0: they stay */
    uint64_t memory;    /* with a link: bytes of GPU memory, beyond which pages are evicted; 0: all pages fit */
    uint32_t unpinned;  /* with memory, 1: nobody's pages are kept, so that instructions may evict each other's */
    uint32_t remote;    /* with a link: pages that stay with the CPU and are accessed over the link (fault_remote) */
} faults_options;

/* ---- errors and exceptions of arithmetic (parts/errors) ---- */

/* What arithmetic traps on: bits. */
enum {
    ERRORS_TRAP_DIVISION = 1, /* an integer divided by zero */
    ERRORS_TRAP_INVALID = 2,  /* a NaN of operands that are none */
    ERRORS_TRAP_LINES = 4     /* arithmetic of one of two lines of the PTX file, whenever it executes */
};
enum { ERRORS_LINES = 2 };

/* The instruction whose turn it is, counted from 1 over all SMs, and every `interval`-th behind it. */
typedef struct error_turns {
    uint64_t at;       /* NEVER: none */
    uint64_t interval; /* 0: only one */
} error_turns;

/* What may go wrong. */
typedef struct errors_options {
    const char *detection;   /* a preset of gpump_restart: "razor2", ...; NULL: no errors */
    uint64_t rate_q32;       /* errors per warp instruction, times 2^32; NEVER: the detection's, or none with `errs` */
    error_turns errs;        /* of all instructions: these err, beside the rate */
    error_turns traps_at;    /* of arithmetic: these trap, once each */
    uint32_t latency_cycles; /* of the detection; NONE: the preset's */
    uint32_t traps;          /* ERRORS_TRAP_... */
    uint32_t cure;           /* gpump_restart_cure: of a live-lock */
    uint32_t patch;          /* gpump_restart_patch */
    uint32_t no_store_queue; /* 1: tests: stores do not wait for verification */
    uint32_t lines[ERRORS_LINES]; /* of ERRORS_TRAP_LINES, from 1; 0: none */
    uint32_t unused;
} errors_options;

void errors_options_default(errors_options *options);
/* Do the options want traps? */
static inline int traps_wanted(const errors_options *options) {
    return options->traps || options->traps_at.at != NEVER;
}
/* Do they want errors or traps? */
static inline int errors_wanted(const errors_options *options) { return options->detection || traps_wanted(options); }

/* ---- how shared memory goes back (parts/shared_log) ---- */

typedef enum shared_restart {
    SHARED_CUTS = 0, /* regions end where shared memory is overwritten */
    SHARED_SAVED,
    SHARED_BUFFERED,
    SHARED_VERSIONED,
    SHARED_RESTARTS
} shared_restart;

/* ---- all of it ---- */

/* What machine_build needs beside the launch file. */
struct machine_options {
    const char *gpu;         /* preset; NULL: the launch file's, or gtx480_shieh */
    const char *config;      /* "NAME=VALUE,..." of config.h, after the launch file's; NULL: none */
    uint64_t preempt_cycle;  /* NEVER: none */
    uint64_t until_ns;       /* the run ends then, if the launch file does not end it earlier; 0: it does not */
    uint32_t technique;      /* number of a technique; GPUMP_TECHNIQUES: the launch file's, or switch */
    uint32_t skip_idle;      /* 1, or 0 to tick every cycle */
    uint32_t threads;        /* SMs advance side by side on so many (window.h), 1 to THREADS_MAX; 0: in turn */
    uint32_t context_form;   /* context_form: how registers are saved */
    uint32_t point_interval; /* K: blocks that are switched stop at preemption points, instructions that the compiler
                                puts in, one for every K others outside loops; 0: they stop anywhere */
    uint32_t regions;  /* idempotent regions: REGIONS_NONE, REGIONS_SPARSE, or N: short ones of at most N instructions
                          too (analysis.h) */
    uint32_t spilling; /* with regions, what sparse boundaries store: SPILLING_NONE, _ALL or _CHANGED (analysis.h) */
    uint32_t shared_restart; /* with regions, how shared memory goes back: a shared_restart (shared_log.h) */
    const gpump_regions_config *regions_config; /* experiments: other regions than the presets'; NULL */
    uint32_t page_checks;                       /* page_check_form (analysis.h): the compiler puts checks in; 0: none */
    const char
        *absent; /* pages that are absent at first: "all", or names of buffers with commas between them; NULL: none */
    uint32_t in_place; /* 1: a switch leaves registers and shared memory in place that the next kernel does not need
                          (Lin 2.3.1) */
    uint32_t choose;   /* 1: with points, each warp stops now or runs on, whichever is estimated to be over earlier */
    const gpump_victim_policy *policy; /* NULL: none, `technique` */
    uint32_t leaves_by;                /* with a policy: the technique of each block that can leave by it;
                                          GPUMP_TECHNIQUES: as the policy says */
    uint64_t limit_cycles;             /* for the policy; NEVER: none */
    const char *schedule;              /* a policy of gpump_scheduler_find; NULL: none */
    uint32_t vacate;                   /* technique by which the schedule vacates an SM, or GPUMP_TECHNIQUE_SELECT */
    uint64_t slice_ns;                 /* for the schedule time_slice; 0: 1 ms */
    uint64_t command_ns[3]; /* with a schedule: what it costs to bring another process onto SMs: at least, evenly
                               spread, on average (gpump_scheduler_config.command_least_cycles) */
    uint32_t launch_ahead, launch_refill; /* with a schedule: of gpump_scheduler_config */
    uint32_t switch_stalls;               /* 1: the model of Shieh 4.1 (config.h) */
    faults_options faults;                /* what becomes of accesses to absent pages */
    errors_options errors;                /* what goes wrong in the pipeline */
    uint64_t fault_service_ns;            /* how long a page takes to come; 0: config.page_service_cycles. With a link:
                                             the CPU's part of it; 0: the link's */
    const char *duet;                     /* PRESET[:EXTRA[:PORT]] (duet.h); NULL: off */
    corun_options sharing;                /* kernels share SMs as a group */
    uint64_t of_part[PARTS][PART_OPTION_WORDS]; /* what the options of other parts say, all 0: not given */
};
void machine_options_default(machine_options *options);

#endif
