/* scheduler: the tables that share one GPU between processes, and the driver of its SMs (hardware)
 *
 * The tables are those of Tanasic 5.2: command buffers, active queue, kernel and SM status tables, preempted-block
 * queues (PTBQs). The host reports facts: a command was submitted, an SM is set up, a block finished, a block left with
 * its context saved. The host pulls actions: set up an SM, issue a block, preempt an SM. A policy, a const struct of
 * hooks, decides which kernel gets which SM. The configuration's `technique` decides how an SM is vacated: by
 * one technique, or per block as the victim component chooses. Policies do not depend on it.
 *
 *   gpump_scheduler_submit fills a command buffer
 *   -> action KERNEL_START, once the policy's hook `admit` has let the command into the active queue
 *   -> action SETUP, once the policy's hook `step` has given the kernel an SM; answered by gpump_scheduler_report_ready
 *   -> actions ISSUE; each block ends in gpump_scheduler_report_finished or gpump_scheduler_report_preempted
 *   -> action PREEMPT, when the policy reserves the SM for another kernel; SETUP follows when the SM is empty
 *   -> action KERNEL_DONE after the kernel's last block; then its queue may submit again
 *   gpump_scheduler_abort -> actions KILL and KERNEL_DONE for all that the process has
 *
 * A kernel in the active queue has a number from 1, its row of the kernel status table. 0 is no kernel. The SM and the
 * gpump_block_ref of the ISSUE action identify a block on an SM. */
#ifndef GPUMP_SCHEDULER_H
#define GPUMP_SCHEDULER_H

#include "base/component.h"
#include "gpu/block.h"
#include "gpu/technique.h"

GPUMP_BEGIN

#define GPUMP_SCHEDULER_MAX_BLOCKS (((uint64_t)1 << 40) - 1)
#define GPUMP_SCHEDULER_MAX_BUDGET (1u << 20)
/* Token counts may be negative (debt); rows hold count + this, so that they compare as they are. */
#define GPUMP_SCHEDULER_TOKEN_ZERO (1u << 30)

/* The scheduling hardware. gpump_preset fills the struct; the host may then change every field. */
typedef struct gpump_scheduler_config {
    uint32_t sms;           /* SMs; 1 to 65536; preset: the machine's (published) */
    uint32_t blocks_per_sm; /* blocks on an SM at most (Tmax); 1 to 64; preset: the machine's (published) */
    uint32_t processes;     /* rows of the process table; 1 to 4096; preset 32 (assumed) */
    /* Command queues, each with a buffer of one command; 1 to 4096; preset 32 (assumed: Hyper-Q). */
    uint32_t queues;
    /* Rows of the active queue and of the KSRT; 1 to 4096; preset: the SM count (Tanasic 5.2.3). */
    uint32_t active_kernels;
    /* Entries of each kernel's PTBQ; 0 to sms x blocks_per_sm; preset: that product (Tanasic 5.2.3). */
    uint32_t saved_blocks;
    /* How an SM is vacated: the number of a technique (gpump_technique_at), or GPUMP_TECHNIQUE_SELECT. Blocks that a
     * technique stops or drops are issued again from the PTBQ (Tanasic 5.2.2). While an SM drains, no block is issued
     * there. Preset GPUMP_TECHNIQUE_SWITCH. */
    uint32_t technique;
    /* Kernels on an SM, 1 or 2. 2: a reserved SM may take blocks of its next kernel beside the leaving blocks (Shieh
     * 3.2). Preset 1. */
    uint32_t kernels_per_sm;
    /* Cycles from an event to the policy's decision; preset: one per SM (Tanasic 5.2.4). */
    uint32_t decision_cycles;
    uint32_t slice_cycles; /* time slice of the `time_slice` policy, cycles; at least 1; preset 1 ms (assumed) */
    /* Policy `dss_fault`: time with few warps able to run after which a kernel lends its SMs, cycles; preset 12 us
     * (derived: service time of a fault over NVLink, Tanasic 6.5.3). */
    uint32_t lend_cycles;
    /* What it costs to bring a kernel onto SMs that another process had: host, driver, front end and trap together,
     * from the moment at which the first of these SMs is vacant. The cost is at least `command_least_cycles`, to which
     * an even spread of 0 to `command_spread_cycles` and an exponential tail are added. `command_mean_cycles` is the
     * mean; at least command_least_cycles + command_spread_cycles / 2. Presets 0: no cost. docs/silicon.md has the
     * costs of real devices. */
    uint32_t command_least_cycles, command_spread_cycles, command_mean_cycles;
    /* Commands of a queue that the device holds beyond the running one, at most; 0 to 65535. They have been launched:
     * the policy's hook `admit` cannot hold them back any more. Preset 0: every command waits for the policy. Source:
     * XSched (OSDI 2025), level 1. */
    uint32_t launch_ahead;
    /* A queue is refilled when at least so many more commands may be launched, and no process of higher priority
     * waits; at most launch_ahead + 1; preset 0. */
    uint32_t launch_refill;
} gpump_scheduler_config;

/* A process as the process table holds it (Tanasic calls it the context table). */
typedef struct gpump_scheduler_process {
    uint64_t cookie;          /* the host's name for it */
    uint64_t page_table_base; /* goes to an SM's base page table register */
    uint32_t priority;        /* higher goes first under npq, ppq and ppq_shared */
    uint32_t weight; /* share under `weighted`, SM budget in tokens under `dss`; 0 to GPUMP_SCHEDULER_MAX_BUDGET */
} gpump_scheduler_process;

/* A kernel launch. */
typedef struct gpump_scheduler_command {
    uint64_t cookie;  /* the host's name for the launch */
    uint64_t blocks;  /* blocks of the grid; 1 to GPUMP_SCHEDULER_MAX_BLOCKS */
    uint32_t process; /* row of the process table, from gpump_scheduler_open */
    /* Blocks of the launch that one SM holds; 1 to config.blocks_per_sm. gpump_scheduler_issue_extra issues more. */
    uint32_t blocks_per_sm;
    /* Contexts that the kernel's memory holds when it is submitted (gpump_context_room.contexts); 0: the kernel can
     * only be drained. */
    uint32_t saved_limit;
    /* config.launch_ahead: commands of the same queue that follow this one. The host submits each when the KERNEL_DONE
     * of its predecessor has been pulled; commands of other processes may wait for it. */
    uint32_t pending;
} gpump_scheduler_command;

/* ---- rows of the tables: policies and observers read them, only the scheduler writes them ---- */

/* Context table. */
typedef struct gpump_scheduler_process_row {
    uint64_t cookie, page_table_base;
    uint64_t serial; /* tells processes apart that had this row at different times; 0: the row is free */
    uint32_t priority, weight;
    uint32_t commands; /* commands of it that are buffered or active */
    uint32_t aborted;  /* 1: gpump_scheduler_abort ended the process; its submissions are refused */
} gpump_scheduler_process_row;

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
    uint32_t process, blocks_per_sm, saved_limit;
    uint32_t state;  /* gpump_scheduler_buffer_state */
    uint32_t kernel; /* its number when ACTIVE; otherwise 0 */
    uint32_t pending;
    /* Commands of the queue that are launched and not done, the buffered one included when it is; only with
     * config.launch_ahead. It outlives the command. */
    uint32_t held;
    uint32_t unused;
} gpump_scheduler_buffer;

/* Kernel status register table (KSRT). Row k belongs to kernel k; row 0 is never used. Only rows that the active queue
 * names are in use. */
typedef struct gpump_scheduler_kernel {
    uint64_t cookie;
    uint64_t blocks;      /* blocks of the grid */
    uint64_t next_block;  /* the first block never issued */
    uint64_t start_cycle; /* when it entered the active queue */
    uint64_t arrival;     /* sequence number of its submission */
    uint64_t waits_since; /* cycle since which few of its warps can run (gpump_scheduler_report_running); GPUMP_UNKNOWN:
                             enough can run */
    uint64_t change_cycle; /* when the command that brings its process onto SMs of another one is through; 0: none was
                              needed since it last had no SM */
    uint32_t queue, process;
    uint32_t blocks_per_sm, saved_limit;
    uint32_t resident;    /* blocks on SMs now, leaving ones included */
    uint32_t saved;       /* blocks in its PTBQ */
    uint32_t saved_first; /* ring position of the next saved block to issue */
    uint32_t leaving;     /* blocks that are being switched; room in the PTBQ is kept for them */
    uint32_t budget;      /* tokens it was given */
    uint32_t tokens;      /* GPUMP_SCHEDULER_TOKEN_ZERO + budget - owned - reserved */
    uint32_t owned;       /* SMs that run it or are being set up for it, reserved ones not counted */
    uint32_t reserved;    /* SMs being vacated for it */
    uint32_t setting_up;  /* of `owned`: SMs not ready yet */
    /* The SM that the kernel was given last: head of a list through previous_sm and next_sm. GPUMP_NONE: it owns none.
     */
    uint32_t first_sm;
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
    GPUMP_SCHEDULER_SM_PREEMPT_DUE = 1,    /* PREEMPT is about to be handed over */
    GPUMP_SCHEDULER_SM_SETUP_DUE = 2,      /* SETUP is about to be handed over */
    GPUMP_SCHEDULER_SM_SETUP_RUNNING = 4,  /* SETUP handed over, report_ready awaited */
    GPUMP_SCHEDULER_SM_SETUP_STALE = 8,    /* ... for a kernel that no longer gets the SM */
    GPUMP_SCHEDULER_SM_NEXT_READY = 16,    /* kernels_per_sm 2: set up for its next kernel beside the leaving one */
    GPUMP_SCHEDULER_SM_SWITCHING = 32,     /* its blocks switch, or leave as selected; they do not drain */
    GPUMP_SCHEDULER_SM_KILL_DUE = 64,      /* KILL is about to be handed over, for the blocks of kernel */
    GPUMP_SCHEDULER_SM_KILL_NEXT_DUE = 128 /* likewise, for the blocks of next (kernels_per_sm 2) */
} gpump_scheduler_sm_flag;
/* SM status table. */
typedef struct gpump_scheduler_sm {
    uint64_t process_serial; /* serial of the process that the SM was last set up for; 0: none yet */
    uint64_t slots;          /* bit per slot that holds a block */
    uint32_t state;          /* gpump_scheduler_sm_state */
    uint32_t flags;          /* gpump_scheduler_sm_flag bits */
    uint32_t kernel;         /* the kernel it runs; 0 when idle */
    uint32_t next;           /* the kernel it is reserved for; 0 when that kernel has ended, or when not reserved */
    uint32_t blocks;         /* resident blocks of kernel */
    uint32_t next_blocks;    /* resident blocks of next (kernels_per_sm 2) */
    uint32_t room;           /* blocks of next that may be issued at once (gpump_scheduler_report_room) */
    uint32_t leaving;        /* blocks that are being switched and are still on the SM */
    uint32_t previous_sm, next_sm; /* neighbours in the owner's list */
} gpump_scheduler_sm;

/* The tables as a hook reads them. All pointers are valid until the hook returns. */
typedef struct gpump_scheduler_view {
    const gpump_scheduler_config *config;
    const gpump_scheduler_process_row *processes; /* config->processes rows */
    const gpump_scheduler_buffer *buffers;        /* config->queues rows */
    const uint32_t *waiting;                      /* queues whose buffers hold a command, in order of arrival */
    const gpump_scheduler_kernel *kernels;        /* config->active_kernels + 1 rows, by kernel number */
    const uint32_t *active;                       /* the active queue: kernel numbers, oldest first */
    const gpump_scheduler_sm *sms;                /* config->sms rows */
    uint64_t *state;                              /* the policy's own words inside the block (16, zero at first) */
    uint64_t now;
    uint32_t waiting_count, active_count;
    uint32_t open_processes; /* processes open now */
    uint32_t idle_sm;        /* the lowest idle SM; GPUMP_NONE: none is idle */
    uint32_t reserved_sms;   /* SMs in state reserved */
    uint32_t queue;          /* hook `tokens`: queue of the command that enters; otherwise GPUMP_NONE */
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
    uint32_t kernel; /* a kernel of the active queue */
} gpump_scheduler_step;

/* A scheduling policy: constant, with any hook NULL for the default that is stated. Each hook takes the policy itself
 * and one struct of arguments. A hook reads nothing else, so that the same state always gives the same decision. The
 * scheduler checks every result. An invalid result ends the run of the policy and increments policy_errors. */
typedef struct gpump_scheduler_policy {
    const char *name;
    const char *description; /* one sentence */
    void *user;
    /* Returns the queue whose waiting command enters the active queue next, or GPUMP_NONE for none. Called while the
     * active queue has a free row. NULL: commands enter in the order of their arrival. */
    uint32_t (*admit)(const struct gpump_scheduler_policy *policy, const gpump_scheduler_view *view);
    /* Returns the tokens that the kernel of view->queue starts with, 0 to GPUMP_SCHEDULER_MAX_BUDGET. NULL: 0. */
    uint32_t (*tokens)(const struct gpump_scheduler_policy *policy, const gpump_scheduler_view *view);
    /* Sets *step to the next step of a repartitioning and returns GPUMP_OK. GPUMP_EMPTY: no SM changes its kernel.
     * Called until the result is GPUMP_EMPTY. NULL: idle SMs go to the first kernel of the active queue that has blocks
     * to issue. */
    gpump_result (*step)(const struct gpump_scheduler_policy *policy, const gpump_scheduler_view *view,
                         gpump_scheduler_step *step);
    /* Returns the cycle at which the policy runs without a report; GPUMP_UNKNOWN: never. Called after every run. NULL:
     * never. */
    uint64_t (*wake)(const struct gpump_scheduler_policy *policy, const gpump_scheduler_view *view);
} gpump_scheduler_policy;

/* Returns the number of blocks of a kernel that can be issued now: saved blocks and blocks never issued. */
GPUMP_INLINE uint64_t gpump_scheduler_to_issue(const gpump_scheduler_kernel *kernel) {
    return kernel->blocks - kernel->next_block + kernel->saved;
}
/* Returns 1 when a kernel can use an idle SM: it has more blocks to issue than the SMs being set up for it will
 * hold. */
GPUMP_INLINE int gpump_scheduler_wants_idle(const gpump_scheduler_kernel *kernel) {
    return gpump_scheduler_to_issue(kernel) > (uint64_t)kernel->setting_up * kernel->blocks_per_sm;
}
/* Returns 1 when one more SM may be reserved for a kernel: it has more blocks to issue than the SMs being set up or
 * vacated for it will hold. */
GPUMP_INLINE int gpump_scheduler_wants_more(const gpump_scheduler_kernel *kernel) {
    return gpump_scheduler_to_issue(kernel) > (uint64_t)(kernel->setting_up + kernel->reserved) * kernel->blocks_per_sm;
}
/* Returns a kernel's token count, negative when in debt. */
GPUMP_INLINE int32_t gpumpi_scheduler_tokens(const gpump_scheduler_kernel *kernel) {
    return (int32_t)kernel->tokens - (int32_t)GPUMP_SCHEDULER_TOKEN_ZERO;
}

/* ---- actions ---- */
typedef enum gpump_scheduler_action_kind {
    GPUMP_SCHEDULER_KERNEL_START = 1, /* `kernel` entered the active queue */
    GPUMP_SCHEDULER_KERNEL_DONE,      /* the kernel of `queue` has ended; the queue may submit again */
    /* Vacate `sm` by `technique`. Report each of its blocks of `kernel` as preempted or finished. `next` is the
     * kernel that gets the SM according to the decisions so far. */
    GPUMP_SCHEDULER_PREEMPT,
    /* Set `sm` up for `kernel`: load process id and page table base, invalidate what is named. Then report ready. */
    GPUMP_SCHEDULER_SETUP,
    /* Start a block of `kernel` on `sm`: a saved block by its handle, otherwise the block of that index. */
    GPUMP_SCHEDULER_ISSUE,
    /* The process of `kernel` is aborted: kill its blocks on `sm` (gpump_sm_kill), and report each as finished
     * when it is gone. */
    GPUMP_SCHEDULER_KILL
} gpump_scheduler_action_kind;

/* What a change of process makes stale on an SM; bits of gpump_scheduler_action.invalidate. */
typedef enum gpump_scheduler_invalidate {
    GPUMP_SCHEDULER_INVALIDATE_TLB = 1,         /* the L1 TLB holds the other process's translations */
    GPUMP_SCHEDULER_INVALIDATE_L1 = 2,          /* the private L1 is virtually tagged */
    GPUMP_SCHEDULER_INVALIDATE_INSTRUCTIONS = 4 /* so are instruction and constant caches */
} gpump_scheduler_invalidate;

typedef struct gpump_scheduler_action {
    uint64_t index;           /* ISSUE of a new block: its linear index, from 0 */
    uint64_t handle;          /* ISSUE of a saved block: the handle it was reported preempted with */
    uint64_t kernel_cookie;   /* the launch (KERNEL_*, SETUP, ISSUE; PREEMPT: of the kernel that leaves) */
    uint64_t process_cookie;  /* its process (not PREEMPT, KERNEL_DONE) */
    uint64_t page_table_base; /* SETUP */
    gpump_block_ref block;    /* ISSUE: the name of this residence, for the reports; slot 0 to blocks_per_sm - 1 */
    uint32_t kind;            /* gpump_scheduler_action_kind */
    uint32_t sm;              /* GPUMP_NONE for KERNEL_* */
    uint32_t kernel;          /* kernel number, from 1 */
    uint32_t next;            /* PREEMPT: the number of the next kernel; 0: none any more */
    uint32_t queue, process;
    /* PREEMPT: config.technique. GPUMP_TECHNIQUE_DRAIN when context memory or PTBQ could not take all blocks. */
    uint32_t technique;
    uint32_t reason;     /* PREEMPT: gpump_reason why it is DRAIN after all; 0 */
    uint32_t invalidate; /* SETUP: gpump_scheduler_invalidate bits; 0 within one process */
    uint32_t beside;     /* SETUP: 1: blocks of another kernel are still leaving the SM (kernels_per_sm 2) */
    uint32_t saved;      /* ISSUE: 1: a saved block */
    uint32_t aborted;    /* KERNEL_DONE: 1: its process was aborted. A kernel that never started has the number 0 */
} gpump_scheduler_action;

/* clang-format off */
#define GPUMPI_SCHEDULER_STATISTICS(X)                                                                             \
    X(submitted, "commands", "commands taken into a buffer")                                                      \
    X(kernels_started, "kernels", "kernels that entered the active queue")                                        \
    X(kernels_done, "kernels", "kernels that ended")                                                              \
    X(blocks_new, "blocks", "blocks issued for the first time")                                                   \
    X(blocks_resumed, "blocks", "saved blocks issued again")                                                      \
    X(blocks_finished, "blocks", "blocks that ran to their end")                                                  \
    X(blocks_preempted, "blocks", "blocks that went to a PTBQ")                                                   \
    X(blocks_killed, "blocks", "blocks of aborted processes that left their SMs")                                 \
    X(commands_cancelled, "commands", "commands of aborted processes that never started")                         \
    X(aborts, "processes", "processes that were aborted")                                                         \
    X(preemptions, "SMs", "SMs reserved by the policy")                                                           \
    X(next_changes, "SMs", "reserved SMs given to another kernel before they were vacant")                        \
    X(drained_instead, "SMs", "SMs drained because saved contexts had no room")                                   \
    X(setups, "SMs", "SMs set up for a kernel")                                                                   \
    X(process_changes, "SMs", "of these, with a change of process")                                               \
    X(commands_paid, "commands", "commands that brought another process onto SMs at a cost")                      \
    X(command_cycles, "cycles", "what these commands cost together")                                              \
    X(policy_runs, "runs", "runs of the policy")                                                                  \
    X(policy_steps, "steps", "steps it took")                                                                     \
    X(policy_errors, "steps", "steps refused because the policy's answer made no sense")
/* clang-format on */
typedef struct gpump_scheduler_statistics {
#define GPUMPI_FIELD(name, unit, description) uint64_t name;
    GPUMPI_SCHEDULER_STATISTICS(GPUMPI_FIELD)
#undef GPUMPI_FIELD
} gpump_scheduler_statistics;

typedef struct gpump_scheduler gpump_scheduler;

/* The scheduler for the verbs of base/component.h: gpump_init makes a scheduler with all SMs idle. Presets are those
 * of gpump_gpu_component. gpump_bits counts all tables together (gpump_table_bits). gpump_check costs SMs x
 * active kernels / 64, gpump_hash is linear in the tables. */
GPUMP_API const gpumpi_methods *gpumpi_scheduler_methods(void);
GPUMPI_CONSTANT gpump_component gpump_scheduler_component = {gpumpi_scheduler_methods, GPUMP_LAYOUT_SCHEDULER, 0};

/* The SRAM that the tables take, in bits (Tanasic 5.2.3). */
typedef struct gpump_scheduler_storage {
    uint64_t command_buffers, ksrt, smst, active_queue; /* the paper: under 512 B together at 13 SMs */
    uint64_t ptbqs;                                     /* 8 B per entry: 21,632 B at 13 SMs x 16 blocks */
    uint64_t process_table;
} gpump_scheduler_storage;

/* ---- facts; an error leaves the state as it was ---- */

/* Opens the process *process and sets *row, its row of the process table. GPUMP_ERROR_FULL: the table has no free
 * row. */
GPUMP_API gpump_result gpump_scheduler_open(gpump_scheduler *scheduler, uint64_t now,
                                            const gpump_scheduler_process *process, uint32_t *row, gpump_diag *diag);
/* Changes `priority` and `weight` of the open process in row `process`. The policy runs after config.decision_cycles,
 * and uses the new priority. The new weight applies to kernels that enter the active queue later. GPUMP_ERROR_STATE:
 * the process is not open. */
GPUMP_API gpump_result gpump_scheduler_set_priority(gpump_scheduler *scheduler, uint64_t now, uint32_t process,
                                                    uint32_t priority, uint32_t weight);
/* Aborts the process in row `process`, after an invalid access (gpump_fault_next, ABORT).
 *   commands  The process's waiting commands end at once. KERNEL_DONE follows for each command of the process.
 *   kernels   The process's kernels issue no further block, and the blocks in their PTBQs are discarded.
 *   SMs       KILL follows for every SM that holds blocks of the process.
 * The host drops the saved contexts of the process. The process can be closed after its last KERNEL_DONE. Other
 * processes keep their SMs, tokens and queues. GPUMP_ERROR_STATE: the process is not open, or is already aborted. Cost:
 * linear in SMs and queues, for each kernel of the process. */
GPUMP_API gpump_result gpump_scheduler_abort(gpump_scheduler *scheduler, uint64_t now, uint32_t process);
/* Closes the process in row `process`. GPUMP_ERROR_STATE: the process has commands. */
GPUMP_API gpump_result gpump_scheduler_close(gpump_scheduler *scheduler, uint64_t now, uint32_t process);
/* Puts a kernel launch, *command, into the buffer of `queue`. GPUMP_BUSY: the KERNEL_DONE of the queue's last command
 * has not been pulled. GPUMP_ERROR_STATE: the process is not open, or is aborted. */
GPUMP_API gpump_result gpump_scheduler_submit(gpump_scheduler *scheduler, uint64_t now, uint32_t queue,
                                              const gpump_scheduler_command *command, gpump_diag *diag);
/* Reports that the SETUP of `sm` is finished. GPUMP_ERROR_STATE: no SETUP of this SM was under way. */
GPUMP_API gpump_result gpump_scheduler_report_ready(gpump_scheduler *scheduler, uint64_t now, uint32_t sm);
/* Reports that `block` of `sm` ran to its end, or was killed. `block` is the reference from its ISSUE action.
 * GPUMP_ERROR_STALE: the block is not resident. */
GPUMP_API gpump_result gpump_scheduler_report_finished(gpump_scheduler *scheduler, uint64_t now, uint32_t sm,
                                                       gpump_block_ref block);
/* Reports that `block` has left `sm`, which is being preempted. `handle` is the host's number for the block and its
 * context. The ISSUE action that resumes the block carries `handle`. The handle of a flushed block names no context. A
 * block of an aborted process counts as killed. GPUMP_ERROR_STATE: the SM is not being preempted. GPUMP_ERROR_FULL: the
 * kernel can hold no more saved blocks. */
GPUMP_API gpump_result gpump_scheduler_report_preempted(gpump_scheduler *scheduler, uint64_t now, uint32_t sm,
                                                        gpump_block_ref block, uint64_t handle);
/* Reports that `running` of the `warps` warps of `kernel` can run, and that the others wait for pages. `warps` includes
 * the warps of preempted blocks. The running warps count as few below a quarter of `warps` (assumed). Only the policy
 * `dss_fault` uses this report. GPUMP_ERROR_STATE: the kernel is not active. Source: Tanasic 7.2.3. */
GPUMP_API gpump_result gpump_scheduler_report_running(gpump_scheduler *scheduler, uint64_t now, uint32_t kernel,
                                                      uint32_t running, uint32_t warps);
/* Reports the space that is left for contexts of the kernel in row room->kernel: room->contexts of them fit beside
 * those of its saved and leaving blocks. *room is what gpump_context_pool_room returns, with the row as its kernel, or
 * the host fills it. A host whose contexts are taken by others too (faults, blocks that keep parts in place) calls this
 * when the space changes; without it the command's saved_limit holds. A switch for which no space is left becomes a
 * drain. GPUMP_ERROR_STATE: the kernel is not active. */
GPUMP_API gpump_result gpump_scheduler_report_contexts(gpump_scheduler *scheduler, uint64_t now,
                                                       const gpump_context_room *room);
/* kernels_per_sm 2: reports that `blocks` blocks of the next kernel fit on `sm` beside the blocks that are still
 * leaving. GPUMP_ERROR_STATE: the SM is not reserved, or not set up for its next kernel. */
GPUMP_API gpump_result gpump_scheduler_report_room(gpump_scheduler *scheduler, uint64_t now, uint32_t sm,
                                                   uint32_t blocks);

/* Pulls the next action into *action: first ended kernels, then starting kernels, then SM by SM, then the steps of
 * *policy once its decision is due. `now` is below GPUMP_UNKNOWN. GPUMP_EMPTY: there is no action now.
 * GPUMP_ERROR_REFUSED: the policy's result was invalid and was dropped. */
GPUMP_API gpump_result gpump_scheduler_next(gpump_scheduler *scheduler, const gpump_scheduler_policy *policy,
                                            uint64_t now, gpump_scheduler_action *action);
/* Issues a block on `sm` at once and sets *action to that ISSUE, also when the SM holds as many blocks as its kernel's
 * command said. A host calls the function when it has moved blocks that wait for pages off the SM and has room for
 * another block (gpump_block_switch, NEW). The moved blocks stay counted on the SM. gpump_scheduler_report_preempted
 * puts them into the PTBQ once the SM is being preempted. GPUMP_EMPTY when the SM is not ready, when its kernel has no
 * block to issue, or when all slots of config.blocks_per_sm are taken. Source: Tanasic 6.4.1. */
GPUMP_API gpump_result gpump_scheduler_issue_extra(gpump_scheduler *scheduler, uint64_t now, uint32_t sm,
                                                   gpump_scheduler_action *action);

/* ---- views ---- */
/* Returns the tables as a policy reads them. The pointers are valid until the next call that changes the scheduler. */
GPUMP_API gpump_scheduler_view gpump_scheduler_look(const gpump_scheduler *scheduler);

GPUMP_END
#endif
