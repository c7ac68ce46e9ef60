/* state: the mini-GPU's whole state in one place.
 *
 * Responsibilities of the files that work on this state:
 *   dispatcher       which block goes to which SM
 *   warp_scheduler   which warp of an SM issues next
 *   scoreboard       which instructions of a warp wait for earlier instructions
 *   pipeline         issue, operand read, execute, commit; branches and barriers
 *   simt_stack       which lanes of a warp are at which PC
 *   memory_access    what loads, stores and atomics do to memory, and when
 *   memory_path      coalesced requests through L1, miss queue, network, L2 and DRAM
 *   runtime_calls    printf, assert, malloc and free of kernels
 *   page_faults      absent pages that compiler-inserted checks find and a handler brings
 *   code_pages       absent pages of code that fetches find
 *   errors           wrong results, exceptions of arithmetic, and the recovery from both
 *   shared_log       the rewind of shared memory
 *   restart          the return of warps to the start of their idempotent region
 *   preemption       every call of gpump: how blocks leave SMs and resume
 *   window           SMs that advance side by side for some cycles (--threads)
 *   victims          which blocks leave when a kernel with a latency limit arrives
 *
 * The whole state lies in one arena (arena.h). Nothing is allocated once machine_build has returned. */
#ifndef MINIGPU_STATE_H
#define MINIGPU_STATE_H

#include "base/arena.h"
#include "state/kernel.h"
#include "base/pipe.h"
#include "base/team.h"
#include "state/part.h"
#include "state/warp.h"
#include "l1/l1.h"
#include "memory/memory.h"
#include "memory/store_log.h"

/* ---- memory path ---- */

typedef struct memory_request {
    uint64_t address;
    uint64_t sequence; /* sequence number of the instruction in its warp */
    uint64_t life;     /* life of the block; a reply for a block that has left is dropped */
    uint32_t process, kernel, block, warp;
    uint32_t kind;   /* request_kind */
    uint32_t record; /* in-flight record of an atomic */
    uint32_t miss;   /* L1 line of a load */
    uint32_t bytes;  /* bytes that the request moves of its line */
    uint32_t next_free;
    uint32_t unused;
} memory_request;

typedef struct miss_queue {
    uint32_t *requests;
    uint32_t head, count;
    uint32_t kernel; /* number of the kernel that the queue belongs to at present; 0: none */
    uint32_t unused;
} miss_queue;

/* What memory_path_take returns. */
typedef enum arrival_kind { ARRIVAL_RECORD, ARRIVAL_STORE, ARRIVAL_CONTEXT } arrival_kind;
typedef struct arrival {
    uint32_t kind; /* arrival_kind */
    uint32_t item; /* index of the completed in-flight record, or of the block */
} arrival;

/* ---- an SM ---- */

typedef struct sm_statistics {
    uint64_t issued;
    uint64_t l1_hits, l1_misses, transfer_requests;
    uint64_t saved_bytes, restored_bytes;
} sm_statistics;

/* An error of one SM while other SMs run in other threads. */
typedef struct sm_failure {
    uint32_t failed;
    char text[LAUNCH_ERROR_BYTES];
} sm_failure;

/* Linked lists of free blocks and of free warps. All SMs share one pool, or each SM has its own. With SMs
 * side by side, an own pool keeps the data of one SM apart from those of others (window.h). */
typedef struct block_pool {
    PAIR_ALIGNED uint32_t free_block; /* NONE: the pool is empty */
    uint32_t free_warp;
} block_pool;

typedef struct sm {
    /* The first cache line has what the main loop reads of every SM. */
    uint64_t wake;            /* the next cycle in which something can happen */
    uint64_t now;             /* the SM's own clock: its present or latest cycle */
    uint64_t progress_cycle;  /* cycle of its latest issue */
    uint64_t stall_cycle;     /* next cycle in which a context counts as moved (config.switch_stalls); NEVER */
    uint32_t resident;        /* number of blocks on the SM */
    uint32_t stopping;        /* blocks that are stopping, and whose waits are reported to gpump_sm */
    uint32_t dropping;        /* blocks that are dropped once none of their warps is in transfer */
    uint32_t contexts_moving; /* blocks in the context pipeline */
    uint32_t ended_count;     /* blocks that have ended */
    uint16_t ends_wait;       /* 1: ended blocks leave at the end of the window */
    uint16_t sends_ahead;     /* 1: the SM is ahead of the memory, which takes its requests all the same (ahead.h) */
    sm_failure failure;       /* error on this SM while SMs run side by side */
    gpump_sm *gpump;
    uint32_t *registers;                          /* the register file: gpu.registers 32-bit registers */
    uint8_t *shared;                              /* shared memory */
    gpump_read_set *read_sets[BLOCK_ENTRIES_MAX]; /* by entry of the block; NULL: no block is watched */
    store_log *log; /* stores of the SM in this window (store_log.h); NULL: stores change memory at once */
    in_flight *records;
    uint32_t free_record;
    uint32_t records_left; /* instructions that may still issue, with a record or without */
    uint32_t index;
    uint32_t *waiters; /* linked lists of waiters for L1 lines: the next waiter, by record * 32 + segment */
    pipe_stage pipes[PIPES];
    const uint64_t *reply_cycle; /* when the SM should look at the memory (memory_sm_cycle_at) */
    const uint8_t *network_full; /* MEMORY_FULL bits of its input, when it sends requests ahead of the memory; NULL: it
                                    does not */
    uint64_t ahead_end; /* first cycle in which others may look at the SM again (ahead.h, window.h); 0: the next */
    uint32_t touched[BLOCK_ENTRIES_MAX]; /* blocks with `uncounted` instructions (sm/simple.h) */
    uint32_t touched_count;
    uint64_t executed_cycle; /* next cycle in which an instruction leaves its unit; 0 before the first cycle */
    gpump_restart *restart;  /* restart points of its warps, which several parts report to (sm/region.h); NULL: kernels
                                have no regions */
    executed_instructions *executed; /* by kernel, since machine_run was called */
    /* Masks of warp slots. */
    uint64_t present;  /* the slot's warp has not ended */
    uint64_t fetched;  /* the warp's next instruction has been fetched */
    uint64_t clear;    /* the scoreboard lets that instruction issue */
    uint64_t held;     /* the warp's gate is closed for issue */
    uint64_t occupied; /* the slot belongs to a resident block */
    uint64_t calling;  /* the warp's gate is closed for fetch because of a page fault (sm/gate.h) */
    uint64_t changed;  /* what the warp has in flight, or waits for, has changed since the mask was cleared, which its
                          reader does; not plain. The path sets a bit here because it ends an instruction in most
                          cycles, and a hook for that event would cost a call each time */
    uint64_t unit_slots[UNIT_COUNT]; /* slots by the unit of their next instruction, as of the latest scoreboard test */
    const issue_info *slot_info[WARP_SLOTS_MAX]; /* next instruction, by slot */
    uint32_t slot_warp[WARP_SLOTS_MAX];
    const uint32_t *warp_of;             /* index of the warp, by number: slot_warp, unless a part assigns numbers */
    uint64_t slot_age[WARP_SLOTS_MAX];   /* age of the warp; a smaller number is older */
    uint64_t slot_older[WARP_SLOTS_MAX]; /* mask of the slots whose warp is older */
    uint64_t scheduler_slots[SCHEDULERS_MAX];
    uint32_t scheduler_last[SCHEDULERS_MAX];
    uint32_t
        first_scheduler; /* scheduler that issues first: the successor of the one that used the load-store unit last */
    uint64_t scheduler_free[SCHEDULERS_MAX]; /* cycle from which the scheduler may issue again */
    uint64_t unit_free[UNIT_COUNT];
    uint64_t units_free; /* cycle from which all units are free */
    uint32_t block_of_entry[BLOCK_ENTRIES_MAX];
    struct block_pool *pool;              /* pool of free blocks and warps */
    uint32_t starting[BLOCK_ENTRIES_MAX]; /* new blocks whose warps have not been made */
    uint32_t starting_count, starting_warps;
    uint32_t ended[BLOCK_ENTRIES_MAX];       /* blocks that have ended and that block_life has not handled */
    uint64_t ended_cycle[BLOCK_ENTRIES_MAX]; /* cycle of the end of each */
    /* Load-store unit. */
    uint32_t *check_queue, check_head, check_count; /* queue of records before their last translation check */
    uint64_t check_due;   /* plain form: the cycle of the first record's last check, when all were found good at its
                             first; NEVER: each is made in its cycle */
    uint32_t checks_wait; /* 1: the queue has no turn until a part's look-ups are answered (part.look_up) */
    uint32_t *access_queue, access_head, access_count; /* queue of records on their way to L1 or shared memory */
    uint32_t access_waits; /* 1: the first record of the access queue waits for room in the next stage */
    /* Why that record waits for a reply. 0: not for one in particular; BLOCKED_BY_MISSES: config.l1_misses misses are
     * outstanding; others, less BLOCKED_BY_SET: the first line of the set of L1 that has no line to replace. */
    uint32_t blocked_by;
    uint32_t memory_reserved; /* memory instructions that have issued and are not completely sent */
    uint32_t outstanding_misses;
    miss_queue *miss_queues;
    uint32_t queued_misses; /* misses in all miss queues */
    uint32_t queued_data;   /* those of them that carry data */
    uint32_t next_queue;
    uint64_t sent_cycle; /* plain form: the cycle in which the last miss entered that left its queue a cycle early */
    memory_request *requests;
    uint32_t *completed, completed_first,
        completed_count; /* ring of completed records that memory_path_take has not returned */
    uint32_t free_request;
    gpump_spill *spill;    /* the context pipeline (preemption/context_pipeline.c) */
    uint32_t shared_bytes; /* size of its shared memory */
    uint32_t parked;       /* number of parked blocks */
    l1 l1;
    uint32_t reserved_for; /* number of the kernel that the SM is reserved for; 0: none */
    uint32_t whole;        /* 1: the kernel waits until all blocks of other kernels have left */
    sm_statistics statistics;
    void *of_part[PARTS];        /* state of each part on this SM, by its number PART_NAME; NULL: none */
    uint32_t l1_is_store;        /* 1: loads bypass L1, which holds contexts */
    sm_traffic *traffic;         /* by kernel (machine/traffic.h) */
    uint32_t kernel_resident[1]; /* number of blocks, by kernel: machine.kernel_count entries, so this member is last */
} sm;

/* sm.blocked_by */
enum { BLOCKED_BY_MISSES = 1, BLOCKED_BY_SET = 2 };

/* ---- the machine ---- */

/* One preemption, for reports: an order to blocks of one SM to leave by one technique. */
typedef struct preemption_entry {
    uint64_t request_cycle, end_cycle; /* end: the room of the last block is free; NEVER: not yet */
    uint64_t bytes_saved;
    gpump_context_sizes saved; /* contexts that were written, by part */
    uint64_t wasted_warp_instructions;
    uint32_t sm, technique;
    uint32_t blocks, left;
    uint32_t kernel;     /* number of the kernel of the first block that leaves, from 1 */
    uint32_t for_kernel; /* number of the kernel that gets the SM; 0: none in particular */
    uint32_t refused;    /* gpump_reason why blocks had to leave by another technique; 0: none */
    uint32_t refused_blocks;
} preemption_entry;

/* Counts of absent pages and of faults on them. */
typedef struct page_fault_counts {
    uint64_t absent;
    uint64_t served; /* number of faults served */
    uint64_t calls;  /* number of calls of the fault handler */
} page_fault_counts;

/* Pages of device memory that hold code. The last page is the fault handler's. */
typedef struct code_range {
    uint64_t first; /* number of the first page */
    uint32_t count, unused;
} code_range;

/* The runs of a process. One run is all of its kernels, in order. */
typedef struct process_runs {
    uint32_t ended;                           /* number of runs that have ended */
    uint32_t next_kernel;                     /* first of its kernels that is not done */
    uint64_t first_end_cycle, last_end_cycle; /* end of its first and of its latest run; NEVER: none has ended */
    uint8_t *first_results; /* contents of its buffers after the first run, concatenated; NULL: the process runs once */
} process_runs;

struct stream;

typedef struct machine {
    arena arena;
    const part *parts[PARTS + 1];   /* parts that are present, then NULL */
    const part *on_path[PARTS + 1]; /* those of them with PART_ON_PATH, then NULL */
    uint32_t traits;                /* traits of all parts that are present */
    uint32_t traits_unused;
    void *of_part[PARTS]; /* state of each part, by its number PART_NAME; NULL: none */
    minigpu_config config;
    uint64_t now;
    uint64_t next_cycle;     /* next cycle with an event (machine_next_cycle) */
    uint64_t progress_cycle; /* cycle of the latest issue */
    uint64_t lives;
    uint64_t ages;
    uint8_t *memory; /* device memory, from address DEVICE_BASE on */
    uint64_t memory_bytes;
    uint8_t *page_table; /* by page: PAGE_... bits; 0: the page belongs to nothing */
    uint16_t *page_ends; /* by page: bytes from its start that belong to a buffer (buffer_ends.h) */
    page_fault_counts page_faults;
    code_range code;           /* count 0: code is always present */
    uint32_t local_is_absent;  /* 1: local memory is absent at first */
    uint32_t fault_scheme;     /* gpump_replay_scheme: how a faulted warp leaves the pipeline */
    uint32_t sources_released; /* source_release: config.sources_released, or the choice of a replay queue */
    uint32_t sources_timed; /* 1: an instruction reads its sources within two cycles. Only the next instruction of its
                               warp could overwrite them earlier. That instruction waits until warp.sources_until, so
                               the scoreboard holds no sources */
    uint32_t block_waits;   /* GPUMP_SM_WAIT_ bits that parts report for blocks, beyond those of the machine */
    uint32_t faults_may_happen; /* 1: an absent page is a fault; 0: it ends the run */
    uint32_t in_turn;           /* 1: a part counts events of all SMs together, so SMs advance in turn (window.h) */
    sm **sms;
    uint32_t sm_count;
    kernel *kernels;
    uint32_t kernel_count;
    uint32_t *kernel_order; /* kernels by priority, then by order in the launch file */
    uint32_t *kernels_open; /* the kernels that run, and the next one of each process: by their order in the launch
                               file, and from place kernel_count on as in kernel_order (dispatcher.c) */
    uint32_t open_count;
    uint32_t kernels_changed; /* 1: a kernel has ended, or waits again, since kernels_open was made */
    uint32_t kernels_done;
    block *blocks;
    uint32_t block_count;
    warp *warps;
    uint32_t warp_count;
    uint32_t *predicates; /* lane masks: predicate_stride for each warp */
    uint32_t predicate_stride;
    gpump_preempted *preempted_list; /* blocks that will resume (preemption/preempted.h) */
    preempted_block *preempted;      /* host's data of these blocks, by handle: preempted_count entries */
    uint32_t preempted_count;
    uint32_t *sm_order; /* scratch space of preempted_order */
    gpump_context_pool *context_pool;
    uint64_t context_base; /* device address of the saved contexts */
    uint64_t context_stride;
    gpump_port port;       /* memory port of an SM: decisions estimate the time of a save from it */
    void *context_scratch; /* scratch space: a context is written here to measure it; NULL: the size is known */
    void *parked_scratch;  /* scratch space to complete the context of a parked block (preemption/parked.h) */
    uint64_t local_base, local_stride; /* local memory: one frame for each block */
    uint32_t *local_free, local_count, local_count_free;
    uint64_t grid_workspaces;      /* device address of GRID_WORKSPACE_BYTES for each kernel */
    uint64_t heap_base, heap_next; /* heap of malloc (runtime_calls.h): device address, and start of the next search */
    struct printed_entry *printed; /* calls of printf */
    char *printed_text;            /* text of these calls */
    uint32_t printed_count, printed_capacity, printed_bytes;
    uint64_t printed_lost;        /* number of printf calls whose text found no room */
    memory_system *memory_system; /* network, L2 and DRAM */
    uint32_t dispatch_needed;
    uint32_t parts_ask;  /* 1: a part needs before_placing in the next cycle, whatever else is due */
    uint32_t settling;   /* SMs that ran ahead (ahead.h) and whose last cycle ended a block or failed */
    uint32_t functional; /* 1: blocks execute without time (machine/functional.h) */
    uint32_t functional_unused;
    uint32_t plain;            /* 1: no SM has a mechanism that the plain form lacks (sm_form.h) */
    uint32_t memory_is_finite; /* 1: GPU memory is smaller than the buffers, so pages are evicted, and the instructions
                                  of a warp are translated one after the other */
    uint32_t failed;           /* 1: `error` has the reason */
    char error[LAUNCH_ERROR_BYTES];
    preemption_entry preemptions[PREEMPTION_LOG_ENTRIES];
    uint32_t preemption_count;
    uint32_t leaves_by;       /* machine_options.leaves_by, with a policy */
    uint32_t technique;       /* number of the technique by which arriving kernels preempt */
    uint32_t context_form;    /* context_form: how registers are saved (context_forms.h) */
    uint32_t regions;         /* 1: kernels have idempotent regions, so warps can be rewound */
    uint32_t shared_restart;  /* shared_restart: how a rewind restores shared memory (shared_log.h) */
    uint32_t restarts_travel; /* 1: a context includes restart PCs, because errors, traps or page faults may rewind a
                                 warp after its restore; 0: the next boundary sets new ones */
    gpump_restart_config restart_config; /* configuration of each SM's gpump_restart, with regions */
    uint32_t stop_at_points; /* 1: warps of a switched block run on to their next preemption point; 0: they stop
                                anywhere; 2: each warp takes the way with the earlier estimated end */
    uint32_t beyond_room;    /* SMs hold more blocks than fit, in 1 / beyond_room of each SM; 0: no (duet.h) */
    gpump_room placed;       /* room of an SM in which a part places blocks (duet.h); all 0: none */
    uint32_t
        is_aligned; /* 1: blocks lie at multiples of their size, so that blocks of one kernel never fragment the room */
    uint32_t in_place; /* 1: preempted blocks leave registers and shared memory in place that the next kernel does not
                          need */
    struct context_view **views;       /* analyses of each kernel; constant, so outside the arena; NULL: not needed */
    const gpump_victim_policy *policy; /* victim policy for an arriving kernel; NULL: whole SMs by `technique` */
    struct stream *stream;             /* process whose runs are requests (stream.h); NULL: none */
    uint64_t limit_cycles;             /* latency limit of the policy; NEVER: none */
    uint64_t late_price;               /* price of lateness in the policy's requests, warp instructions per cycle */
    gpump_cost_history *histories;     /* history of finished blocks, by kernel number */
    const launch_file *launch;         /* the launch file of the loops */
    uint32_t *loop_rounds;             /* by loop of the launch file: rounds that have begun (loops.h) */
    process_runs *runs;                /* by process of the launch file */
    team_account lost;                 /* with threads: the account of whether threads save time */
    uint64_t stop_cycle;               /* the run ends in this cycle; NEVER: when all kernels have ended */
    uint64_t *ends;                    /* table of such ends that this run writes; NULL: none */
    uint32_t omit_section;             /* for tests: context section type that every save omits; 0: none */
    struct machine_programs *programs; /* decoded PTX; constant, so outside the arena */
    uint32_t deadlocked;
    uint32_t
        window_cycles; /* length of a window in which SMs advance side by side (window.h); 0: cycle by cycle, in turn */
    uint32_t threads;  /* threads that advance the SMs, the caller's included; no effect on results */
    struct region_log *region_log; /* observer: log of the regions that ran and their lengths (restart.h); NULL: none */
    void (*on_access)(
        struct machine *m,
        const in_flight *access); /* observer: called for each memory instruction that takes effect; NULL: none */
    void (*on_barrier)(struct machine *m,
                       const block *b); /* observer: called when a barrier of a block opens; NULL: none */
    void *on_access_user;               /* argument of both observers */
    uint8_t *clobbered_at; /* observer: set to 1 at the PC of every instruction that was seen to clobber; NULL: none */
} machine;

/* Stops the machine with gpump's words if a call of gpump has failed. The host's facts and requests are right
 * by construction, so a failure means that the host calls gpump wrongly. */
void machine_must(machine *m, const char *what, gpump_result result, const gpump_diag *diag);
/* Stops the machine with an error. Later errors do not replace the first one. */
void machine_fail(machine *m, const char *format, ...) __attribute__((format(printf, 2, 3), cold));
/* Redirects this thread's machine_fail to the failure of one SM. NULL: ends the redirection. */
void machine_fail_into(sm_failure *failure);

/* Returns the analysis that splits a kernel's regions while the kernel runs (recompile.h); NULL: regions are fixed. */
struct analysis_source *machine_source(machine *m, uint32_t kernel_index);

/* Returns the present cycle of an SM: its own clock within the SM's cycle, the machine's clock between the SMs' cycles.
 */
static inline uint64_t sm_time(const machine *m, const sm *s) { return s->now > m->now ? s->now : m->now; }
/* Returns the bit of a warp's slot in the SM's masks; 0: the warp is switched out. In the plain form every warp has a
 * slot. */
static inline uint64_t warp_bit(const warp *w) { return IS_PLAIN || w->slot != NONE ? UINT64_C(1) << w->slot : 0; }
/* Returns whether a mask of slots has the slot of the warp. */
static inline int warp_is_in(const warp *w, uint64_t slots) {
    return (IS_PLAIN || w->slot != NONE) && (slots >> w->slot & 1);
}
/* Returns the length of tables by warp.number: the most numbers of an SM's warps. */
static inline uint32_t warp_numbers(const machine *m) {
    return m->beyond_room ? WARP_NUMBERS_MAX : m->config.gpu.warp_slots;
}
/* Returns warp `number` of an SM. */
static inline warp *warp_numbered(const machine *m, const sm *s, uint32_t number) {
    return &m->warps[s->warp_of[number]];
}
/* Returns warp `number` of an SM; NULL: the warp has ended or left, or is still being restored. */
static inline warp *warp_present(const machine *m, const sm *s, uint32_t number) {
    warp *w = warp_numbered(m, s, number);
    if (w->sm != s->index || w->number != number || !w->stack.depth) return NULL;
    return w->slot == NONE || s->present >> w->slot & 1 ? w : NULL;
}
/* Returns whether a warp fetches an instruction again whose access has faulted: under warp disable. The other schemes
 * keep the instruction. */
static inline int machine_fetches_again(const machine *m) {
    return m->fault_scheme == GPUMP_REPLAY_WD_COMMIT || m->fault_scheme == GPUMP_REPLAY_WD_CHECK;
}
static inline kernel *block_kernel(machine *m, const block *b) { return &m->kernels[b->kernel]; }
static inline uint32_t *predicates_of(const machine *m, uint32_t warp_index) {
    return &m->predicates[(size_t)warp_index * m->predicate_stride];
}
static inline uint32_t *warp_predicates(const machine *m, const warp *w) {
    return predicates_of(m, (uint32_t)(w - m->warps));
}
static inline uint32_t *warp_registers(machine *m, const block *b, const warp *w) {
    return m->sms[b->sm]->registers + w->register_base;
}
static inline uint8_t *device_memory(machine *m, uint64_t address) { return m->memory + (address - DEVICE_BASE); }
/* Returns an address of global memory as the SM sees it: with its own stores that have not reached memory
 * yet. Only bytes of the same line (128 bytes) are contiguous. */
static inline const uint8_t *sm_memory(machine *m, const sm *s, uint64_t address) {
    const uint8_t *line = s->log ? store_log_line(s->log, address / SEGMENT_BYTES) : NULL;
    return line ? line + address % SEGMENT_BYTES : device_memory(m, address);
}

#endif
