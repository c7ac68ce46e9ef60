/* state: the mini-GPU's whole state in one place.
 *
 * Who does what:
 *   dispatcher       which block goes to which SM
 *   warp_scheduler   which warp of an SM issues next
 *   scoreboard       which instructions of a warp must wait for others
 *   pipeline         issue, operand read, execute, commit; branches and barriers
 *   simt_stack       which lanes of a warp stand where
 *   memory_access    what loads, stores and atomics do to memory, and when
 *   memory_path      coalesced requests through L1, miss queue, network, L2 and DRAM
 *   runtime_calls    printf, assert, malloc and free of kernels
 *   page_faults      absent pages: found by checks, brought by a handler
 *   code_pages       absent pages of code, found by fetching
 *   errors           results that are wrong, exceptions of arithmetic, and what is done about both
 *   shared_log       shared memory that can go back, too
 *   restart          warps go back to the start of their idempotent region
 *   preemption       every call of gpump: how blocks leave SMs and come back
 *   window           SMs advance side by side for some cycles (--threads)
 *   victims          which blocks leave when a kernel with a latency limit arrives
 *
 * All of it lies in one arena (arena.h); nothing is allocated once machine_build has returned. */
#ifndef MINIGPU_STATE_H
#define MINIGPU_STATE_H

#include "base/arena.h"
#include "state/kernel.h"
#include "base/pipe.h"
#include "base/team.h"
#include "state/part.h"
#include "state/warp.h"
#include "memory/cache.h"
#include "memory/memory.h"
#include "memory/store_log.h"

/* ---- memory path ---- */

typedef struct memory_request {
    uint64_t address;
    uint64_t sequence; /* of the instruction in its warp */
    uint64_t life;     /* of the block; a reply for a block that has left is dropped */
    uint32_t process, kernel, block, warp;
    uint32_t kind;   /* request_kind */
    uint32_t record; /* in-flight record of an atomic */
    uint32_t miss;   /* L1 line of a load */
    uint32_t bytes;  /* of the line that it names */
    uint32_t next_free;
    uint32_t unused;
} memory_request;

typedef struct miss_queue {
    uint32_t *requests;
    uint32_t head, count;
    uint32_t kernel; /* whose it is at present; 0: nobody's */
    uint32_t unused;
} miss_queue;

/* What memory_path_take hands over. */
typedef enum arrival_kind { ARRIVAL_RECORD, ARRIVAL_STORE, ARRIVAL_CONTEXT } arrival_kind;
typedef struct arrival {
    uint32_t kind; /* arrival_kind */
    uint32_t item; /* the in-flight record that has everything, or the block */
} arrival;

/* ---- an SM ---- */

typedef struct sm_statistics {
    uint64_t issued;
    uint64_t l1_hits, l1_misses, transfer_requests;
    uint64_t saved_bytes, restored_bytes;
} sm_statistics;

/* An error of one SM while others run beside it. */
typedef struct sm_failure {
    uint32_t failed;
    char text[LAUNCH_ERROR_BYTES];
} sm_failure;

struct sm_translation;

/* Free blocks and free warps, linked. All SMs share one; or each has its own, so that what an SM uses does not lie
 * between what others use (window.h). */
typedef struct block_pool {
    PAIR_ALIGNED uint32_t free_block; /* NONE */
    uint32_t free_warp;
} block_pool;

typedef struct sm {
    /* What the main loop looks at, for every SM: one cache line. */
    uint64_t wake;            /* the next cycle in which something can happen */
    uint64_t now;             /* the SM's own clock: the cycle that it is in, or was in last */
    uint64_t progress_cycle;  /* when it last issued an instruction */
    uint64_t stall_cycle;     /* the next one in which a context counts as moved (config.switch_stalls); NEVER */
    uint32_t resident;        /* blocks */
    uint32_t stopping;        /* blocks whose waits are being reported */
    uint32_t dropping;        /* blocks that vanish as soon as nothing of them is on its way */
    uint32_t contexts_moving; /* blocks in the pipeline of contexts */
    uint32_t ended_count;     /* blocks that have ended */
    uint32_t ends_wait;       /* 1: they leave at the end of the window */
    sm_failure failure;       /* what went wrong there while SMs run side by side */
    gpump_sm *gpump;
    uint32_t *registers;                          /* the register file: gpu.registers 32-bit registers */
    uint8_t *shared;                              /* shared memory */
    gpump_read_set *read_sets[BLOCK_ENTRIES_MAX]; /* by block entry; NULL: no block is watched */
    store_log *log; /* what it has written in this window (store_log.h); NULL: it writes to memory at once */
    in_flight *records;
    uint32_t free_record;
    uint32_t records_left; /* instructions that may issue beside those in flight, with a record or without */
    uint32_t index;
    uint32_t *waiters; /* next waiter, by record * 32 + segment */
    pipe_stage pipes[PIPES];
    uint64_t executed_cycle; /* the next cycle in which an instruction leaves its unit; 0 before the first cycle */
    struct sm_translation *translation; /* its L1 TLB (translation.h); NULL: none */
    gpump_restart *restart;             /* where its warps can go back to; NULL: kernels have no regions */
    executed_instructions *executed;    /* per kernel, since machine_run was called */
    /* warp slots, one bit each */
    uint64_t present;                /* a warp sits there that has not ended */
    uint64_t fetched;                /* its next instruction is there */
    uint64_t clear;                  /* the scoreboard lets that instruction issue */
    uint64_t held;                   /* its gate is closed for issue */
    uint64_t occupied;               /* the slot belongs to a resident block */
    uint64_t calling;                /* its gate is closed for fetch by a page fault: the handler works for it */
    uint64_t unit_slots[UNIT_COUNT]; /* by the unit of the next instruction, as the scoreboard saw it last */
    const issue_info *slot_info[WARP_SLOTS_MAX]; /* that instruction */
    uint32_t slot_warp[WARP_SLOTS_MAX];
    const uint32_t *warp_of;             /* the warp by its number: slot_warp, unless a part gives the numbers */
    uint64_t slot_age[WARP_SLOTS_MAX];   /* when the warp came: smaller is older */
    uint64_t slot_older[WARP_SLOTS_MAX]; /* the slots whose warp is older */
    uint64_t scheduler_slots[SCHEDULERS_MAX];
    uint32_t scheduler_last[SCHEDULERS_MAX];
    uint32_t first_scheduler; /* who issues first: the one after that which had the load-store unit last */
    uint64_t scheduler_free[SCHEDULERS_MAX]; /* when it may issue again */
    uint64_t unit_free[UNIT_COUNT];
    uint64_t units_free; /* when all of them are */
    uint32_t block_of_entry[BLOCK_ENTRIES_MAX];
    struct block_pool *pool;              /* where its blocks and their warps are taken from */
    uint32_t starting[BLOCK_ENTRIES_MAX]; /* new blocks whose warps are still to come ... */
    uint32_t starting_count, starting_warps;
    uint32_t ended[BLOCK_ENTRIES_MAX];       /* blocks that have ended, until block life takes them ... */
    uint64_t ended_cycle[BLOCK_ENTRIES_MAX]; /* ... and when */
    /* load-store unit */
    uint32_t *check_queue, check_head, check_count;    /* records before their last translation check */
    uint32_t checks_wait;                              /* 1: a part keeps all of them waiting for a turn (look_up) */
    uint32_t *access_queue, access_head, access_count; /* records on their way to L1 or shared memory */
    uint32_t access_waits;                             /* 1: the first record there finds no room behind */
    uint32_t misses_are_full; /* 1: it misses L1 and waits until fewer than config.l1_misses are outstanding */
    uint32_t memory_reserved; /* memory instructions issued and not yet sent to the end */
    uint32_t outstanding_misses;
    miss_queue *miss_queues;
    uint32_t queued_misses; /* in all of them */
    uint32_t next_queue;
    memory_request *requests;
    uint32_t *completed, completed_first,
        completed_count; /* records that have all they waited for, until memory_path_take */
    uint32_t free_request;
    gpump_spill *spill;    /* the pipeline of contexts (context_pipeline.c) */
    uint32_t shared_bytes; /* of its shared memory */
    uint32_t parked;       /* blocks that have left but for what stays in place */
    cache l1;
    uint32_t resume_first, resume_last; /* the SM's own resume list */
    uint32_t reserved_for;              /* kernel number; 0: nobody */
    uint32_t whole;                     /* 1: its new owner waits until everybody else has left */
    sm_statistics statistics;
    void *of_part[PARTS];        /* the state of parts on this SM, by PART_...; NULL: it has none */
    uint32_t l1_is_store;        /* 1: loads bypass L1, which holds contexts */
    gpump_meter *meter;          /* traffic per kernel from issue to L1; behind it the memory's own meter counts */
    uint64_t *resident_since;    /* per kernel: when its first block of those here came */
    uint32_t kernel_resident[1]; /* blocks per kernel, machine.kernel_count of them: last member */
} sm;

/* ---- the machine ---- */

/* One preemption, for reports: an SM emptied, by one technique. */
typedef struct preemption_entry {
    uint64_t request_cycle, end_cycle; /* end: the last block's room is free; NEVER: not yet */
    uint64_t bytes_saved;
    uint64_t wasted_warp_instructions;
    uint32_t sm, technique;
    uint32_t blocks, left;
    uint32_t kernel;     /* kernel number that lost the SM, from 1; of its first block */
    uint32_t for_kernel; /* that gets it; 0: nobody in particular */
    uint32_t refused;    /* gpump_reason: a block that had to leave by switch instead; 0 */
    uint32_t refused_blocks;
} preemption_entry;

/* Pages that were absent at first, whoever brings them. */
typedef struct page_fault_counts {
    uint64_t absent;
    uint64_t served; /* faults */
    uint64_t calls;  /* of the handler */
} page_fault_counts;

/* Where the code lies in device memory; the handler's page is the last one. */
typedef struct code_range {
    uint64_t first; /* page number */
    uint32_t count, unused;
} code_range;

/* What has come of a process: its kernels, in order, are one run. */
typedef struct process_runs {
    uint32_t ended; /* runs */
    uint32_t unused;
    uint64_t first_end_cycle, last_end_cycle; /* of its first and of its latest run; NEVER: none has ended */
    uint8_t *first_results; /* its buffers, one behind the other, when the first run had ended; NULL: it runs once */
} process_runs;

struct stream;

typedef struct machine {
    arena arena;
    const part *parts[PARTS + 1];   /* those that it has, and NULL */
    const part *on_path[PARTS + 1]; /* of them, those on the way of an instruction, and NULL */
    uint32_t traits;                /* what they mean for the others: PART_... */
    uint32_t traits_unused;
    void *of_part[PARTS]; /* their state, by PART_...; NULL: it has none */
    minigpu_config config;
    uint64_t now;
    uint64_t next_cycle;     /* the cycle after `now` in which something happens next (machine_next_cycle) */
    uint64_t progress_cycle; /* when an instruction was last issued */
    uint64_t lives;
    uint64_t ages;
    uint8_t *memory; /* device memory, from DEVICE_BASE */
    uint64_t memory_bytes;
    uint8_t *page_table; /* per page: PAGE_... bits; 0: nobody's */
    uint16_t *page_ends; /* per page: bytes from its start that are somebody's (buffer_ends.h) */
    page_fault_counts page_faults;
    code_range code;                      /* count 0: code is always there */
    uint32_t local_is_absent;             /* 1: arrays in local memory are, at first */
    struct translation_unit *translation; /* the L2 TLB and the page walkers; NULL: none */
    uint32_t fault_scheme, fault_order;   /* gpump_replay_scheme, gpump_replay_order */
    uint32_t sources_released;            /* source_release: config.sources_released, or as a replay queue says */
    uint32_t sources_timed;               /* 1: an instruction reads its sources within two cycles, so only the
                                             next one of its warp could overwrite them too early: that one waits by
                                             time (warp.sources_until), and the scoreboard holds no sources */
    uint32_t faults_untold;               /* studies: 1: who decides about blocks is not told who waits for pages */
    uint32_t faults_stall;                /* 1: a link serves faults, and a block that waits for one cannot leave */
    uint32_t faults_may_happen;           /* 1: an absent page is a fault; 0: it ends the run */
    uint64_t checks;                      /* look-ups of all SMs that can be forced to fault */
    uint64_t forced_check,
        forced_interval; /* the look-up whose page is evicted, and how many later the next; NEVER, 0 */
    sm **sms;
    uint32_t sm_count;
    kernel *kernels;
    uint32_t kernel_count;
    uint32_t *kernel_order; /* by priority, then arrival in the file */
    uint32_t kernels_done;
    block *blocks;
    uint32_t block_count;
    warp *warps;
    uint32_t warp_count;
    uint32_t *predicates; /* predicate_stride lane masks per warp */
    uint32_t predicate_stride;
    gpump_preempted *preempted_list; /* the blocks that come back (preemption/preempted.h) ... */
    preempted_block *preempted;      /* ... and by handle what else is known of them: preempted_count entries */
    uint32_t preempted_count;
    uint32_t *sm_order; /* scratch of preempted_order */
    gpump_context_pool *context_pool;
    uint64_t context_base; /* device address of the saved contexts */
    uint64_t context_stride;
    gpump_port port;       /* of an SM: what decisions take for the time of a save */
    void *context_scratch; /* a context is written here to learn its size; NULL where the size is known */
    void *parked_scratch;  /* where a context is completed whose parts were in place (preemption/parked.h) */
    uint64_t local_base, local_stride; /* local memory: one frame per block that exists */
    uint32_t *local_free, local_count, local_count_free;
    uint64_t grid_workspaces;      /* device address; GRID_WORKSPACE_BYTES for each kernel */
    uint64_t heap_base, heap_next; /* of malloc (runtime_calls.h): device address, and where it looks first */
    struct printed_entry *printed; /* what kernels have printed ... */
    char *printed_text;            /* ... and the text of it */
    uint32_t printed_count, printed_capacity, printed_bytes;
    uint64_t printed_lost;        /* calls for whose text there was no room */
    memory_system *memory_system; /* what lies behind the L1s */
    uint32_t dispatch_needed;
    uint32_t parts_ask;        /* 1: a part wants its turn before placing (before_placing), whatever else is due */
    uint32_t settling;         /* SMs that went ahead (ahead.h) and in whose last cycle a block ended, or they failed */
    uint32_t plain;            /* 1: no SM of it has a part that the plain form lacks (sm_form.h) */
    uint32_t memory_is_finite; /* 1: GPU memory holds less than the buffers: pages leave it, and instructions of a warp
                                  are translated one after the other */
    uint32_t failed;           /* 1: error says why */
    char error[LAUNCH_ERROR_BYTES];
    preemption_entry preemptions[PREEMPTION_LOG_ENTRIES];
    uint32_t preemption_count;
    uint32_t leaves_by;      /* with a policy: machine_options.leaves_by */
    uint32_t technique;      /* number of the technique that arriving kernels preempt by */
    uint32_t context_form;   /* how registers are saved: a context_form (context_forms.h) */
    uint32_t regions;        /* 1: kernels have idempotent regions, and warps can go back */
    uint32_t shared_restart; /* how shared memory goes back then: a shared_restart (shared_log.h) */
    uint32_t
        restarts_travel; /* 1: warps take their restart PCs along when they are switched, since errors, traps or page
                            faults may send them back behind the restore; 0: the next boundary gives new ones */
    gpump_restart_config restart_config; /* of the SMs, where there are regions */
    uint32_t stop_at_points; /* 1: warps of a block that is switched run on to their next preemption point; 0: they stop
                                anywhere; 2: each warp does what is estimated to be over earlier */
    uint32_t beyond_room; /* SMs hold more blocks than they have room for, in 1 / beyond_room of each; 0: no (duet.h) */
    gpump_room placed;    /* the room of an SM in which a part places blocks (duet.h); all 0: none does */
    uint32_t is_aligned;  /* 1: blocks lie at multiples of their size, so that those of one kernel always find room */
    uint32_t in_place;    /* 1: preempted blocks leave in place what the next kernel does not need */
    struct context_view *
        *views; /* per kernel what its analyses say; outside the arena, never changes; NULL: nobody needs it */
    const gpump_victim_policy *policy; /* who makes room for a kernel that arrives; NULL: whole SMs by `technique` */
    struct stream *stream;             /* runs of a process are requests (stream.h); NULL: of none */
    uint64_t limit_cycles;             /* its latency limit; NEVER: none */
    uint64_t late_price;               /* of the policy's requests, warp instructions per cycle */
    gpump_cost_history *histories;     /* of finished blocks, by kernel number */
    const launch_file *launch;         /* whose loops these are */
    uint32_t *loop_rounds;             /* per loop of the launch file: rounds that have begun (loops.h) */
    process_runs *runs;                /* per process of the launch file */
    team_account lost;                 /* with threads: whether they save time */
    uint64_t stop_cycle;               /* the run ends then; NEVER: when all kernels have ended */
    const uint64_t *true_ends;         /* for an oracle: when each block of kernel 1 ends if it drains; NULL */
    uint64_t *ends;                    /* where such a table is written; NULL */
    uint32_t omit_section;             /* tests: the context section type that is left out of every save; 0: none */
    uint64_t preempt_cycle;            /* --preempt; NEVER: never */
    struct machine_programs *programs; /* decoded PTX: never changes, so it lives outside the arena */
    uint32_t deadlocked;
    uint32_t window_cycles; /* SMs advance side by side for so many cycles (window.h); 0: cycle by cycle, in turn */
    uint32_t threads;       /* that advance them, the caller's among them; changes nothing else */
    struct region_log *region_log; /* another: which regions ran and how long (restart.h); NULL */
    void (*on_access)(struct machine *m,
                      const in_flight *access); /* another: told of each memory instruction that takes effect; NULL */
    void (*on_barrier)(struct machine *m, const block *b); /* and when a barrier of a block opens; NULL */
    void *on_access_user;                                  /* of both */
    uint8_t *clobbered_at; /* another: set to 1 at the PC of every instruction that was seen to clobber; NULL */
} machine;

/* Every fact and request is right by construction; if gpump objects, the wiring is wrong, and the machine stops with
 * gpump's words. */
void machine_must(machine *m, const char *what, gpump_result result, const gpump_diag *diag);
/* Stops the machine with an error; the first one stays. */
void machine_fail(machine *m, const char *format, ...) __attribute__((format(printf, 2, 3), cold));
/* From now on this thread's machine_fail writes there instead: it works for one SM of several. NULL: no more. */
void machine_fail_into(sm_failure *failure);

/* What a kernel's regions can be split from while it runs (recompile.h); NULL: they cannot. */
struct analysis_source *machine_source(machine *m, uint32_t kernel_index);

/* The bit of a warp's slot in the SM's masks; 0: the warp is switched out. In the plain form every warp has a slot. */
static inline uint64_t warp_bit(const warp *w) { return IS_PLAIN || w->slot != NONE ? UINT64_C(1) << w->slot : 0; }
/* Returns whether a mask of slots has the warp's. */
static inline int warp_is_in(const warp *w, uint64_t slots) {
    return (IS_PLAIN || w->slot != NONE) && (slots >> w->slot & 1);
}
/* How many numbers the warps of an SM have at most: tables by warp.number are so long. */
static inline uint32_t warp_numbers(const machine *m) {
    return m->beyond_room ? WARP_NUMBERS_MAX : m->config.gpu.warp_slots;
}
static inline warp *warp_numbered(const machine *m, const sm *s, uint32_t number) {
    return &m->warps[s->warp_of[number]];
}
/* The same; NULL: the warp has ended or left, or is still being restored. */
static inline warp *warp_present(const machine *m, const sm *s, uint32_t number) {
    warp *w = warp_numbered(m, s, number);
    if (w->sm != s->index || w->number != number || !w->stack.depth) return NULL;
    return w->slot == NONE || s->present >> w->slot & 1 ? w : NULL;
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
/* Global memory as an SM sees it: with what it has written itself and memory does not have yet. A line (128 bytes) is
 * in one piece. */
static inline const uint8_t *sm_memory(machine *m, const sm *s, uint64_t address) {
    const uint8_t *line = s->log ? store_log_line(s->log, address / SEGMENT_BYTES) : NULL;
    return line ? line + address % SEGMENT_BYTES : device_memory(m, address);
}

#endif
