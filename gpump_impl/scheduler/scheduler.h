/* scheduler: command buffers, active queue, kernel and SM status tables, preempted-block queues, SM driver (floor 4,
 * hardware)
 *
 * Many processes on one GPU (Tanasic 5.2). The host reports facts (a command was submitted, an SM is set up, a block
 * finished or left with its context saved) and pulls actions (set up an SM, issue a block, preempt an SM). Between the
 * two stands a policy, a const struct of hooks that says which kernel gets which SM; how an SM is vacated (switch,
 * drain, or per block as the victim component chooses) is the configuration's `mechanism`, and no policy knows it.
 *
 *   submit -> command buffer -> KERNEL_START (policy: admit) -> policy: step -> SETUP -> report_ready -> ISSUE ...
 * report_finished policy: reserve -> PREEMPT -> report_preempted / report_finished until the SM is empty -> SETUP for
 * the next kernel last block of a kernel -> KERNEL_DONE, and its queue may submit again */
#ifndef GPUMP_SCHEDULER_H
#define GPUMP_SCHEDULER_H

#include "base/base.h"

GPUMP_BEGIN

#define GPUMP_SCHEDULER_MAX_BLOCKS (((uint64_t)1 << 40) - 1)
#define GPUMP_SCHEDULER_MAX_BUDGET (1u << 20)
/* Token counts may be negative (debt); rows hold count + this, so that they compare as they are. */
#define GPUMP_SCHEDULER_TOKEN_ZERO (1u << 30)

/* How an SM is vacated. */
typedef enum gpump_scheduler_mechanism {
    GPUMP_SCHEDULER_SWITCH = 0, /* its blocks stop, are saved, and come back through the PTBQ (Tanasic 5.2.2) */
    GPUMP_SCHEDULER_DRAIN = 1,  /* its blocks run to their ends, none is issued */
    GPUMP_SCHEDULER_SELECT = 2  /* the host asks the victim component, which picks a technique for every block */
} gpump_scheduler_mechanism;

/* The scheduling hardware. Filled by gpump_scheduler_config_preset only; every field may then be changed. */
typedef struct gpump_scheduler_config {
    uint32_t struct_size;   /* sizeof(gpump_scheduler_config) */
    uint32_t sms;           /* SMs; 1 to 65536; preset: the machine's (published) */
    uint32_t blocks_per_sm; /* blocks on an SM at most (Tmax); 1 to 64; preset: the machine's (published) */
    uint32_t contexts;      /* rows of the context table; 1 to 4096; preset 32 (assumed) */
    uint32_t queues; /* command queues, each with a buffer of one command; 1 to 4096; preset 32 (assumed: Hyper-Q) */
    uint32_t
        active_kernels;    /* rows of the active queue and the KSRT; 1 to 4096; preset: the SM count (Tanasic 5.2.3) */
    uint32_t saved_blocks; /* entries of each kernel's PTBQ; 0 to sms x blocks_per_sm; preset: that product
                              (Tanasic 5.2.3) */
    uint32_t mechanism;    /* gpump_scheduler_mechanism; preset SWITCH */
    uint32_t kernels_per_sm;  /* 1; or 2: a reserved SM may take blocks of its next kernel beside those leaving
                                 (Shieh 3.2); preset 1 */
    uint32_t decision_cycles; /* cycles from an event to the policy's decision; preset: one per SM (Tanasic 5.2.4) */
    uint32_t slice_cycles;    /* time slice of the `time_slice` policy, cycles; at least 1; preset 1 ms (assumed) */
    uint32_t reserved;        /* 0 */
} gpump_scheduler_config;

/* A process as the context table holds it. */
typedef struct gpump_scheduler_context {
    uint64_t cookie;          /* the host's name for it */
    uint64_t page_table_base; /* goes to an SM's base page table register */
    uint32_t priority;        /* higher goes first under npq, ppq and ppq_shared */
    uint32_t weight; /* share under `weighted`, SM budget in tokens under `dss`; 0 to GPUMP_SCHEDULER_MAX_BUDGET */
} gpump_scheduler_context;

/* A kernel launch. */
typedef struct gpump_scheduler_command {
    uint64_t cookie;        /* the host's name for the launch */
    uint64_t blocks;        /* blocks of the grid; 1 to GPUMP_SCHEDULER_MAX_BLOCKS */
    uint32_t context;       /* row of the context table, from gpump_scheduler_open */
    uint32_t blocks_per_sm; /* how many of them one SM holds; 1 to the configuration's */
    uint32_t saved_limit;   /* how many saved contexts its preallocated memory holds; 0: it can only be drained */
    uint32_t unused;
} gpump_scheduler_command;

/* ---- rows of the tables: policies and observers read them, only the scheduler writes them ---- */

/* Context table. */
typedef struct gpump_scheduler_context_row {
    uint64_t cookie, page_table_base;
    uint64_t serial; /* tells contexts apart that had this row at different times; 0: the row is free */
    uint32_t priority, weight;
    uint32_t commands; /* commands of it that are buffered or active */
    uint32_t unused;
} gpump_scheduler_context_row;

typedef enum gpump_scheduler_buffer_state {
    GPUMP_SCHEDULER_BUFFER_EMPTY = 0,
    GPUMP_SCHEDULER_BUFFER_WAITING, /* holds a command */
    GPUMP_SCHEDULER_BUFFER_ACTIVE,  /* the command is in the active queue */
    GPUMP_SCHEDULER_BUFFER_DONE     /* the kernel has ended; KERNEL_DONE is about to be handed over */
} gpump_scheduler_buffer_state;
/* Command buffer, one per queue. */
typedef struct gpump_scheduler_buffer {
    uint64_t cookie, blocks;
    uint64_t arrival; /* sequence number of the submission */
    uint32_t context, blocks_per_sm, saved_limit;
    uint32_t state;  /* gpump_scheduler_buffer_state */
    uint32_t kernel; /* row of the KSRT when ACTIVE */
    uint32_t unused;
} gpump_scheduler_buffer;

/* Kernel status register table. Only rows named by the active queue are in use. */
typedef struct gpump_scheduler_kernel {
    uint64_t cookie;
    uint64_t blocks;      /* blocks of the grid */
    uint64_t next_block;  /* the first block never issued */
    uint64_t start_cycle; /* when it entered the active queue */
    uint64_t arrival;     /* sequence number of its submission */
    uint32_t queue, context;
    uint32_t blocks_per_sm, saved_limit;
    uint32_t resident;    /* blocks on SMs now, leaving ones included */
    uint32_t saved;       /* blocks in its PTBQ */
    uint32_t saved_first; /* ring position of the next one to come back */
    uint32_t leaving;     /* blocks that have been told to switch: room in the PTBQ is kept for them */
    uint32_t budget;      /* tokens it was given */
    uint32_t tokens;      /* GPUMP_SCHEDULER_TOKEN_ZERO + budget - owned - reserved */
    uint32_t owned;       /* SMs that run it or are being set up for it, reserved ones not counted */
    uint32_t reserved;    /* SMs being vacated for it */
    uint32_t setting_up;  /* of `owned`: SMs not ready yet */
    uint32_t
        first_sm; /* the SM it was given last, head of a list through previous_sm and next_sm; GPUMP_NONE: owns none */
    uint32_t in_use; /* 1: the row belongs to a kernel of the active queue */
    uint32_t unused;
} gpump_scheduler_kernel;

typedef enum gpump_scheduler_sm_state {
    GPUMP_SCHEDULER_SM_IDLE = 0,
    GPUMP_SCHEDULER_SM_RUNNING,
    GPUMP_SCHEDULER_SM_RESERVED
} gpump_scheduler_sm_state;
/* Bits of gpump_scheduler_sm.flags. */
typedef enum gpump_scheduler_sm_flag {
    GPUMP_SCHEDULER_SM_PREEMPT_DUE = 1,   /* PREEMPT is about to be handed over */
    GPUMP_SCHEDULER_SM_SETUP_DUE = 2,     /* SETUP is about to be handed over */
    GPUMP_SCHEDULER_SM_SETUP_RUNNING = 4, /* SETUP handed over, report_ready awaited */
    GPUMP_SCHEDULER_SM_SETUP_STALE = 8,   /* ... for a kernel that no longer gets the SM */
    GPUMP_SCHEDULER_SM_NEXT_READY = 16,   /* kernels_per_sm 2: set up for its next kernel beside the leaving one */
    GPUMP_SCHEDULER_SM_SWITCHING = 32     /* its blocks were told to switch (or to leave as selected), not to drain */
} gpump_scheduler_sm_flag;
/* SM status table. */
typedef struct gpump_scheduler_sm {
    uint64_t context_serial; /* whose page table and caches it was last set up for; 0: none yet */
    uint64_t slots;          /* bit per slot that holds a block */
    uint32_t state;          /* gpump_scheduler_sm_state */
    uint32_t flags;          /* gpump_scheduler_sm_flag bits */
    uint32_t kernel;         /* KSRT row of the kernel it runs; GPUMP_NONE when idle */
    uint32_t next;           /* KSRT row it is reserved for; GPUMP_NONE when that kernel has ended, or not reserved */
    uint32_t blocks;         /* resident blocks of kernel */
    uint32_t next_blocks;    /* resident blocks of next (kernels_per_sm 2) */
    uint32_t room;           /* blocks of next that may be issued at once (gpump_scheduler_report_room) */
    uint32_t leaving;        /* blocks told to switch that are still here */
    uint32_t previous_sm, next_sm; /* neighbours in the owner's list */
} gpump_scheduler_sm;

/* What a hook sees: the tables as they are. All pointers are good until the hook returns. */
typedef struct gpump_scheduler_view {
    const gpump_scheduler_config *config;
    const gpump_scheduler_context_row *contexts; /* config->contexts rows */
    const gpump_scheduler_buffer *buffers;       /* config->queues rows */
    const uint32_t *waiting;                     /* queues whose buffers hold a command, in order of arrival */
    const gpump_scheduler_kernel *kernels;       /* config->active_kernels rows */
    const uint32_t *active;                      /* the active queue: rows of `kernels`, oldest first */
    const gpump_scheduler_sm *sms;               /* config->sms rows */
    uint64_t *state;                             /* the policy's own words inside the block (16, zero at first) */
    const void *user;                            /* the policy's `user` */
    uint64_t now;
    uint32_t waiting_count, active_count;
    uint32_t open_contexts; /* contexts open now */
    uint32_t idle_sm;       /* the lowest idle SM; GPUMP_NONE: none is idle */
    uint32_t reserved_sms;  /* SMs in state reserved */
    uint32_t queue;         /* tokens: whose command enters; otherwise GPUMP_NONE */
} gpump_scheduler_view;

#define GPUMP_SCHEDULER_STATE_WORDS 16

typedef enum gpump_scheduler_step_kind {
    GPUMP_SCHEDULER_STEP_ASSIGN = 1, /* give idle `sm` to `kernel` */
    GPUMP_SCHEDULER_STEP_RESERVE,    /* vacate running `sm` and give it to `kernel` */
    GPUMP_SCHEDULER_STEP_CHANGE_NEXT /* `sm` is reserved; it goes to `kernel` instead of its present next */
} gpump_scheduler_step_kind;
typedef struct gpump_scheduler_step {
    uint32_t kind; /* gpump_scheduler_step_kind */
    uint32_t sm;
    uint32_t kernel; /* KSRT row, of the active queue */
} gpump_scheduler_step;

/* A scheduling policy. Hooks decide from the view alone, so that the same state always gives the same decision; every
 * answer is checked, and a wrong one ends the run of the policy (statistics: policy_errors). NULL hooks mean the
 * default stated. */
typedef struct gpump_scheduler_policy {
    uint32_t struct_size; /* sizeof(gpump_scheduler_policy) */
    const char *name;
    const void *user;
    /* Which waiting command enters the active queue next: a queue number, GPUMP_NONE for none. Asked while there is a
     * free row. Default: in order of arrival. */
    uint32_t (*admit)(const gpump_scheduler_view *view);
    /* How many tokens the kernel of view->queue starts with, 0 to GPUMP_SCHEDULER_MAX_BUDGET. Default: 0. */
    uint32_t (*tokens)(const gpump_scheduler_view *view);
    /* The next step of a repartitioning: GPUMP_OK and *step, or GPUMP_EMPTY when all is as it should be. Called until
     * it is. Default: idle SMs go to the first kernel in active-queue order that has blocks to issue. */
    gpump_result (*step)(const gpump_scheduler_view *view, gpump_scheduler_step *step);
    /* When the policy wants to run although nothing happens: a cycle, GPUMP_UNKNOWN for never. Asked after every run.
     * Default: never. */
    uint64_t (*wake)(const gpump_scheduler_view *view);
} gpump_scheduler_policy;

/* Returns the blocks of a kernel that could be issued now: saved ones and those never issued. */
GPUMP_INLINE uint64_t gpump_scheduler_to_issue(const gpump_scheduler_kernel *kernel) {
    return kernel->blocks - kernel->next_block + kernel->saved;
}
/* Returns 1 when a kernel has blocks to issue beyond what the SMs being set up for it will take: it can use an idle SM.
 */
GPUMP_INLINE int gpump_scheduler_wants_idle(const gpump_scheduler_kernel *kernel) {
    return gpump_scheduler_to_issue(kernel) > (uint64_t)kernel->setting_up * kernel->blocks_per_sm;
}
/* Returns 1 when it has some even beyond what the SMs being vacated for it will take: one more may be reserved for it.
 */
GPUMP_INLINE int gpump_scheduler_wants_more(const gpump_scheduler_kernel *kernel) {
    return gpump_scheduler_to_issue(kernel) > (uint64_t)(kernel->setting_up + kernel->reserved) * kernel->blocks_per_sm;
}
/* Returns a kernel's token count, negative when in debt. */
GPUMP_INLINE int32_t gpump_scheduler_tokens(const gpump_scheduler_kernel *kernel) {
    return (int32_t)kernel->tokens - (int32_t)GPUMP_SCHEDULER_TOKEN_ZERO;
}

/* ---- actions ---- */
typedef enum gpump_scheduler_action_kind {
    GPUMP_SCHEDULER_KERNEL_START = 1, /* `kernel` entered the active queue */
    GPUMP_SCHEDULER_KERNEL_DONE,      /* the kernel of `queue` has ended; the queue may submit again */
    GPUMP_SCHEDULER_PREEMPT, /* vacate `sm`: as `mechanism` says, each of its blocks of `kernel` must be reported
                                preempted or finished; `next` is the kernel it is for as things stand */
    GPUMP_SCHEDULER_SETUP, /* set `sm` up for `kernel`: context id, page table base, and invalidate what is named; then
                              report_ready */
    GPUMP_SCHEDULER_ISSUE  /* start a block of `kernel` on `sm`: a saved one by its handle, else the block of that index
                            */
} gpump_scheduler_action_kind;

/* What a change of process makes stale on an SM; bits of gpump_scheduler_action.invalidate. */
typedef enum gpump_scheduler_invalidate {
    GPUMP_SCHEDULER_INVALIDATE_TLB = 1,         /* the L1 TLB holds the other process's translations */
    GPUMP_SCHEDULER_INVALIDATE_L1 = 2,          /* the private L1 is virtually tagged */
    GPUMP_SCHEDULER_INVALIDATE_INSTRUCTIONS = 4 /* so are instruction and constant caches */
} gpump_scheduler_invalidate;

typedef struct gpump_scheduler_action {
    uint64_t block;           /* ISSUE: the name to report this residence by; never used again */
    uint64_t index;           /* ISSUE of a new block: its linear index, from 0 */
    uint64_t handle;          /* ISSUE of a saved block: the handle it was reported preempted with */
    uint64_t kernel_cookie;   /* the launch (KERNEL_*, SETUP, ISSUE; PREEMPT: of the kernel that leaves) */
    uint64_t context_cookie;  /* its process (not PREEMPT, KERNEL_DONE) */
    uint64_t page_table_base; /* SETUP */
    uint32_t kind;            /* gpump_scheduler_action_kind */
    uint32_t sm;              /* GPUMP_NONE for KERNEL_* */
    uint32_t kernel;          /* KSRT row */
    uint32_t next;            /* PREEMPT: KSRT row of the next kernel */
    uint32_t queue, context;
    uint32_t mechanism;  /* PREEMPT: gpump_scheduler_mechanism; DRAIN when the context memory or the PTBQ could not take
                            all blocks */
    uint32_t reason;     /* PREEMPT: gpump_reason why it is DRAIN after all; 0 */
    uint32_t invalidate; /* SETUP: gpump_scheduler_invalidate bits; 0 within one process */
    uint32_t beside;     /* SETUP: 1: the blocks of another kernel are still leaving (kernels_per_sm 2) */
    uint32_t saved;      /* ISSUE: 1: a saved block */
    uint32_t slot;       /* ISSUE: its slot on the SM, 0 to blocks_per_sm - 1 */
} gpump_scheduler_action;

/* clang-format off */
#define GPUMP_SCHEDULER_STATISTICS(X)                                                                             \
    X(submitted, "commands", "commands taken into a buffer")                                                      \
    X(kernels_started, "kernels", "kernels that entered the active queue")                                        \
    X(kernels_done, "kernels", "kernels that ended")                                                              \
    X(blocks_new, "blocks", "blocks issued for the first time")                                                   \
    X(blocks_resumed, "blocks", "saved blocks issued again")                                                      \
    X(blocks_finished, "blocks", "blocks that ran to their end")                                                  \
    X(blocks_preempted, "blocks", "blocks that went to a PTBQ")                                                   \
    X(preemptions, "SMs", "SMs reserved by the policy")                                                           \
    X(next_changes, "SMs", "reserved SMs given to another kernel before they were vacant")                        \
    X(drained_instead, "SMs", "SMs drained because saved contexts had no room")                                   \
    X(setups, "SMs", "SMs set up for a kernel")                                                                   \
    X(context_changes, "SMs", "of these, with a change of process")                                               \
    X(policy_runs, "runs", "runs of the policy")                                                                  \
    X(policy_steps, "steps", "steps it took")                                                                     \
    X(policy_errors, "steps", "steps refused because the policy's answer made no sense")
/* clang-format on */
typedef struct gpump_scheduler_statistics {
#define GPUMPI_FIELD(name, unit, description) uint64_t name;
    GPUMP_SCHEDULER_STATISTICS(GPUMPI_FIELD)
#undef GPUMPI_FIELD
} gpump_scheduler_statistics;

typedef struct gpump_scheduler gpump_scheduler;

/* Fills *config for a machine of gpump_gpu_config_preset. GPUMP_ERROR_UNKNOWN_NAME otherwise. */
GPUMP_API gpump_result gpump_scheduler_config_preset(gpump_scheduler_config *config, const char *preset);
/* Sets *bytes to the memory it needs. GPUMP_ERROR_CONFIG names the field at fault. */
GPUMP_API gpump_result gpump_scheduler_bytes(const gpump_scheduler_config *config, size_t *bytes, gpump_diag *diag);
/* Makes a scheduler with all SMs idle in `memory` (8-byte aligned, at least that size). Nothing is allocated, then or
 * later. GPUMP_ERROR_CONFIG, GPUMP_ERROR_CAPACITY. Cost: linear in the memory. */
GPUMP_API gpump_result gpump_scheduler_init(void *memory, size_t bytes, const gpump_scheduler_config *config,
                                            gpump_scheduler **scheduler, gpump_diag *diag);
/* Takes over a byte copy of a scheduler of the same configuration and build. GPUMP_ERROR_FORMAT for anything else. */
GPUMP_API gpump_result gpump_scheduler_adopt(void *memory, size_t bytes, const gpump_scheduler_config *config,
                                             gpump_scheduler **scheduler, gpump_diag *diag);
/* Returns a hash of the whole state, the same on every machine. Cost: linear in the tables. */
GPUMP_API uint64_t gpump_scheduler_hash(const gpump_scheduler *scheduler);

/* The SRAM the tables take, in bits (Tanasic 5.2.3). */
typedef struct gpump_scheduler_storage {
    uint64_t command_buffers, ksrt, smst, active_queue; /* the paper: under 512 B together at 13 SMs */
    uint64_t ptbqs;                                     /* 8 B per entry: 21,632 B at 13 SMs x 16 blocks */
    uint64_t context_table;
} gpump_scheduler_storage;
/* Computes it into *storage. GPUMP_ERROR_CONFIG. */
GPUMP_API gpump_result gpump_scheduler_bits(const gpump_scheduler_config *config, gpump_scheduler_storage *storage,
                                            gpump_diag *diag);

/* ---- facts; an error leaves the state as it was ---- */

/* Opens a context (a process) and sets *row. GPUMP_ERROR_FULL: the context table has no free row. */
GPUMP_API gpump_result gpump_scheduler_open(gpump_scheduler *scheduler, uint64_t now,
                                            const gpump_scheduler_context *context, uint32_t *row, gpump_diag *diag);
/* Changes priority and weight of an open context, from the next run of the policy on (weights: from the next kernel).
 */
GPUMP_API gpump_result gpump_scheduler_set_priority(gpump_scheduler *scheduler, uint64_t now, uint32_t context,
                                                    uint32_t priority, uint32_t weight);
/* Closes a context. GPUMP_ERROR_STATE while it has commands. */
GPUMP_API gpump_result gpump_scheduler_close(gpump_scheduler *scheduler, uint64_t now, uint32_t context);
/* Puts a kernel launch into the buffer of `queue`. GPUMP_BUSY while the queue's last command has not been reported
 * done. */
GPUMP_API gpump_result gpump_scheduler_submit(gpump_scheduler *scheduler, uint64_t now, uint32_t queue,
                                              const gpump_scheduler_command *command, gpump_diag *diag);
/* Says that the SETUP of `sm` is finished. GPUMP_ERROR_STATE when none was under way. */
GPUMP_API gpump_result gpump_scheduler_report_ready(gpump_scheduler *scheduler, uint64_t now, uint32_t sm);
/* Says that a block ran to its end; block: from ISSUE. GPUMP_ERROR_STALE when it does not name a resident block. */
GPUMP_API gpump_result gpump_scheduler_report_finished(gpump_scheduler *scheduler, uint64_t now, uint64_t block);
/* A block of an SM under preemption has left; `handle` (id and where its context lies) comes back with the ISSUE that
 * resumes it. A flushed block is one whose handle names no context. GPUMP_ERROR_STATE when the SM is not being
 * preempted, GPUMP_ERROR_FULL when its kernel can hold no more saved blocks. */
GPUMP_API gpump_result gpump_scheduler_report_preempted(gpump_scheduler *scheduler, uint64_t now, uint64_t block,
                                                        uint64_t handle);
/* kernels_per_sm 2: so many blocks of the next kernel fit beside what is still leaving `sm`. GPUMP_ERROR_STATE when it
 * is not reserved and ready for one. */
GPUMP_API gpump_result gpump_scheduler_report_room(gpump_scheduler *scheduler, uint64_t now, uint32_t sm,
                                                   uint32_t blocks);

/* Hands over the next action: ended kernels, then starting ones, then SM by SM, then whatever the policy decides, once
 * its time has come. GPUMP_EMPTY: none now. GPUMP_ERROR_REFUSED: the policy gave an impossible answer, which was
 * dropped. */
GPUMP_API gpump_result gpump_scheduler_next(gpump_scheduler *scheduler, const gpump_scheduler_policy *policy,
                                            uint64_t now, gpump_scheduler_action *action);
/* Returns when the next action may come if nothing is reported: a cycle, GPUMP_UNKNOWN for never. */
GPUMP_API uint64_t gpump_scheduler_next_cycle(const gpump_scheduler *scheduler);

/* ---- views ---- */
/* Returns the tables as a policy sees them, good until the next call that changes them. */
GPUMP_API gpump_scheduler_view gpump_scheduler_look(const gpump_scheduler *scheduler);
/* Returns the counters since gpump_scheduler_init; they live in the scheduler. */
GPUMP_API const gpump_scheduler_statistics *gpump_scheduler_count(const gpump_scheduler *scheduler);
/* Returns the difference after - before, field by field. */
GPUMP_API gpump_scheduler_statistics gpump_scheduler_statistics_diff(const gpump_scheduler_statistics *after,
                                                                     const gpump_scheduler_statistics *before);
/* Sets *name, *unit and *description (each may be NULL) of the index-th counter; GPUMP_EMPTY past the last. */
GPUMP_API gpump_result gpump_scheduler_statistics_field(uint32_t index, const char **name, const char **unit,
                                                        const char **description);
/* Checks every invariant of the tables against each other (tests, debugging). Returns NULL, or what is wrong. Cost:
 * quadratic at worst. */
GPUMP_API const char *gpump_scheduler_check(const gpump_scheduler *scheduler);

GPUMP_END
#endif
