/* machine: the mini-GPU's whole state in one place, and the loop that drives it.
 *
 * Who does what:
 *   dispatcher       which block goes to which SM
 *   warp_scheduler   which warp of an SM issues next
 *   scoreboard       which instructions of a warp must wait for others
 *   pipeline         issue, operand read, execute, commit; branches and barriers
 *   simt_stack       which lanes of a warp stand where
 *   memory_access    what loads, stores and atomics do to memory, and when
 *   memory_path      coalesced requests through L1, miss queue, network, L2 and DRAM
 *   page_faults      absent pages: found by checks, brought by a handler
 *   restart          warps go back to the start of their idempotent region
 *   read_set         what a block has read and written: may it still be flushed?
 *   preemption       every call of gpump: how blocks leave SMs and come back
 *   victims          which blocks leave when a kernel with a latency limit arrives
 *
 * All of it lies in one arena (arena.h); nothing is allocated once machine_build has returned. */
#ifndef MINIGPU_MACHINE_H
#define MINIGPU_MACHINE_H

#include "machine/arena.h"
#include "gpump.h"
#include "launch/config.h"
#include "ptx/instruction.h"
#include "lanes/lanes.h"
#include "launch/launch_file.h"
#include "memory/cache.h"
#include "memory/memory.h"
#include "machine/simt_stack.h"

#define NONE GPUMP_NONE
#define NEVER GPUMP_UNKNOWN
#define SCOREBOARD_IDS 1024u /* registers, then predicates, of one thread */
#define BARRIERS 16u
#define SCHEDULERS_MAX 8u
#define BLOCK_ENTRIES_MAX 64u
#define REQUESTS_PER_SM 512u
#define PAGE_BYTES 4096u
/* What the page table says of a page. */
#define PAGE_READ 1u           /* whose it is may read it */
#define PAGE_WRITE 2u          /* and write it */
#define PAGE_ABSENT_READ 4u    /* but it is not there (page_faults.h) */
#define PAGE_ABSENT_WRITE 8u   /* or not for writing */
#define PAGE_REPORTED_READ 16u /* a check has found that */
#define PAGE_REPORTED_WRITE 32u
/* Where device memory begins: address 0 and its neighbours belong to nobody. */
#define DEVICE_BASE UINT64_C(0x10000000)
#define PREEMPTION_LOG_ENTRIES 1024u

/* ---- kernels ---- */

/* What executing an instruction does to the flush bit of its block. */
typedef enum clobber_rule {
    CLOBBERS_WATCHED, /* clears it when it overwrites what its block has read (read_set.h) */
    CLOBBERS_NEVER,   /* nothing, says the analysis */
    CLOBBERS_ALWAYS   /* clears it, says the analysis */
} clobber_rule;

/* What issue needs to know of an instruction, prepared once: its scoreboard ids and a few bits. */
typedef struct issue_info {
    uint16_t ids[22]; /* sources first, then destinations: register r is r, predicate p is registers + p */
    uint8_t sources, destinations;
    uint8_t unit;              /* functional_unit */
    uint8_t pipe;              /* pipe_kind of its execution */
    uint8_t needs_environment; /* reads special registers or parameters */
    uint8_t is_barrier;
    uint8_t is_global;   /* may touch device memory */
    uint8_t is_boundary; /* starts an idempotent region */
    uint8_t serialises;  /* waits for everything of its warp in flight: boundaries, calls of the fault handler */
    uint8_t is_checked;  /* finds absent pages instead of failing on them */
    uint8_t clobbers;    /* clobber_rule */
    uint8_t is_point;    /* a preemption point */
    uint8_t counted;     /* counted_kind */
} issue_info;

/* Instructions that are there for preemption or page faults alone, counted apart. */
typedef enum counted_kind {
    COUNTED_NOT,
    COUNTED_CHECK, /* pfchk, checked loads */
    COUNTED_CALL,  /* sw_call, taken or not */
    COUNTED_POINT, /* pp and the instruction behind it; bar.pp is a barrier all the same */
    COUNTED
} counted_kind;

typedef enum kernel_state { KERNEL_WAITING, KERNEL_ACTIVE, KERNEL_DONE } kernel_state;

/* Why a block that has run before waits for a place. */
typedef struct preempted_block {
    gpump_sm_history history;
    uint64_t linear;
    uint64_t context;       /* of the context pool; NEVER: it starts anew */
    uint32_t next;          /* in its list; NONE ends it */
    uint32_t left_sm;       /* the SM it left */
    uint32_t home_sm;       /* the only SM it may go to; NONE: any */
    gpump_block_ref parked; /* home_sm set: its name there; registers, shared memory or both are still in place */
    uint32_t kept;          /* gpump_part bits of those */
    uint64_t context_bytes; /* what of it is in memory */
    uint32_t flushes;       /* how often it has been flushed so far */
    uint32_t kernel;
} preempted_block;

typedef struct kernel {
    const kernel_program *program;
    const issue_info *info;
    const launch_kernel *launch;
    uint8_t *parameters;     /* the parameter block */
    lanes_texture *textures; /* by argument; the handle of argument i is i + 1. Width 0: that argument is no texture */
    lanes_texture *texture_references;                           /* by .texref of its module */
    uint64_t arrival_cycle, ready_cycle, start_cycle, end_cycle; /* ready: it has arrived and it is its turn */
    uint64_t blocks, next_block, done_blocks;
    uint64_t warp_instructions, thread_instructions; /* committed, flushed work included */
    uint64_t counted[COUNTED];                       /* of them, those put in for a purpose */
    uint64_t wasted_warp_instructions;               /* of flushed blocks */
    uint64_t context_bytes;                          /* of one saved block, as the raw format writes it */
    uint64_t resident_cycles;                        /* summed over blocks */
    uint64_t resumed,
        resumed_elsewhere; /* preempted blocks that came back, and those of them that came back on another SM */
    uint64_t ran_on;       /* SMs it has been on, as a mask (SM index modulo 64) */
    gpump_footprint need;  /* of one block */
    uint32_t shared_bytes; /* static and dynamic, of one block */
    uint32_t registers;    /* 32-bit registers per thread */
    uint32_t process, priority;
    uint32_t state;                           /* kernel_state */
    uint32_t warps;                           /* of one block */
    uint32_t block_cap;                       /* blocks on one SM at most */
    uint32_t only_reserved;                   /* 1: it goes only to SMs that are reserved for it */
    uint32_t first_preempted, last_preempted; /* list of preempted_block */
    uint32_t preempted;                       /* its length */
    uint32_t resident;                        /* blocks on SMs */
    uint32_t iteration;                       /* rounds of its loop that it has ended (loops.h) */
} kernel;

/* ---- blocks and warps ---- */

typedef struct barrier {
    uint64_t arrived;    /* warps that wait or have arrived, by index */
    uint32_t threads;    /* threads that have arrived */
    uint32_t expected;   /* threads awaited; 0: all that have not ended */
    uint32_t population; /* bar.red: lanes whose predicate holds */
    uint32_t all, any;
} barrier;

/* A warp is (block instance, index in it). It sits in a physical slot while its block is resident; its registers are
 * found through a base, so that more warps than slots can exist. */
typedef struct warp {
    simt_stack stack;
    uint64_t pending[SCOREBOARD_IDS / 64];  /* scoreboard: destinations of instructions in flight */
    uint64_t held_any[SCOREBOARD_IDS / 64]; /* scoreboard: sources not yet released, as a set ... */
    uint8_t held[SCOREBOARD_IDS];           /* ... and how often each */
    uint64_t sequence;                      /* of the next instruction */
    uint32_t block, index;
    uint32_t slot;          /* physical slot on the block's SM */
    uint32_t register_base; /* of its first vector register in the SM's register file, in 32-bit registers */
    uint32_t lanes;         /* lanes that exist */
    uint32_t in_flight;     /* instructions between issue and commit */
    uint32_t unchecked;     /* memory instructions before their last translation check */
    uint32_t barrier;       /* it waits at this barrier; NONE: at none */
    uint32_t barrier_pc;    /* the instruction that waits there ... */
    uint32_t barrier_lanes; /* ... and the lanes that execute it */
    uint32_t stores;        /* store requests without acknowledgement */
    uint32_t fetch_enabled; /* 0: fetches no further instruction */
    uint32_t control;       /* 1: a branch, barrier or end is in flight: the next PC is not known */
    uint32_t sm;            /* where it is; NONE: nowhere */
    uint64_t called_until;  /* when the fault handler has what it asked for */
    /* idempotent regions (restart.h) */
    simt_stack sparse_start, short_start; /* where it goes back to */
    uint64_t executed_since[2];           /* instructions since the start of its sparse and of its short region */
    uint32_t must_go_on;                  /* 1: it cannot go back before the next boundary */
    uint32_t restarts;
} warp;

typedef struct block {
    lanes_environment environment;
    gpump_sm_history history; /* from earlier residences */
    barrier barriers[BARRIERS];
    uint64_t linear;
    uint64_t life;  /* distinguishes this residence from all others of the machine; 0: free */
    uint64_t slots; /* warp slots it holds, as a mask */
    uint64_t start_cycle;
    uint64_t local_base;   /* local memory of its first thread; 0: none */
    uint64_t context;      /* where it is being saved or restored from; NEVER: neither */
    uint64_t transfer_end; /* config.switch_stalls: when its context counts as moved; 0 */
    uint64_t stop_cycle;   /* when it was told to stop for a save */
    uint64_t rewound;      /* instructions that its warps gave up by going back */
    uint32_t
        rewinding; /* 1: it leaves by rewind: its warps go back to the start of their regions instead of draining */
    gpump_block_ref ref; /* its name on its SM's gpump_sm */
    uint32_t kernel, sm;
    uint32_t register_base, shared_base;
    uint32_t warps[BLOCK_WARPS_MAX];
    uint32_t warp_count, live_warps;
    uint32_t in_flight, stores, atomics;
    uint32_t registers_pending; /* instructions in flight with destinations */
    uint64_t reported;          /* stopping: warps whose registers have gone into the pipeline, by index */
    uint64_t moved_bytes, sent_bytes;
    uint32_t transfers;     /* save or restore requests not yet acknowledged */
    uint64_t context_bytes; /* of the context it is saved to or restored from */
    uint32_t keep;     /* gpump_part bits that stay in place when it is saved, or have stayed when it is restored */
    uint32_t job;      /* of its SM's pipeline; NONE */
    uint32_t moving;   /* REQUEST_SAVE or REQUEST_RESTORE */
    uint32_t stopping; /* issues no more, waits are being reported */
    uint32_t to_point; /* stopping: warps still run on to their preemption points */
    uint32_t last_waits;
    uint32_t local_frame;
    uint32_t flushes;    /* how often it has been flushed so far */
    uint32_t preemption; /* entry of the preemption log it leaves under; NONE */
    uint32_t victim;     /* its entry in a victim request (victims.h); NONE */
    uint32_t next_free;
} block;

/* ---- instructions in flight ---- */

typedef enum record_stage { RECORD_FREE, RECORD_ISSUED, RECORD_EXECUTING, RECORD_CHECKING, RECORD_MEMORY } record_stage;

/* One instruction in flight: nothing else knows its state, and until it commits (loads, arithmetic) or passes its last
 * translation check (stores, atomics) nothing of it shows in registers or memory. */
typedef struct in_flight {
    lanes_operand sources[INSTRUCTION_SOURCES];
    lanes_operand results[INSTRUCTION_DESTINATIONS];
    uint64_t addresses[LANES];
    uint64_t segments[LANES]; /* 128-byte segments it touches in device memory */
    uint32_t words[LANES];    /* which 4-byte words of each */
    uint64_t sequence;
    uint64_t issue_cycle;
    const instruction *instruction;
    const issue_info *info;
    uint32_t block, warp;
    uint32_t pc;
    uint32_t mask;     /* lanes at the PC */
    uint32_t active;   /* of those, lanes whose guard lets them execute */
    uint32_t stage;    /* record_stage */
    uint32_t squashed; /* 1: vanishes without effect */
    uint32_t segment_count;
    uint32_t unchecked;       /* translation checks outstanding */
    uint32_t next_segment;    /* the next one to go to L1 */
    uint32_t outstanding;     /* replies awaited */
    uint32_t in_queue;        /* 1: not all of it has been sent */
    uint32_t conflict_cycles; /* shared-memory bank conflicts: cycles in the load-store unit */
    uint32_t sources_held;    /* 1: the scoreboard still holds its sources */
    uint32_t faulted;         /* lanes whose check found the page absent */
    uint32_t next_free;
} in_flight;

/* Stages of fixed length are queues: what goes in at cycle c comes out at c + length, in order. */
typedef enum pipe_kind {
    PIPE_FETCH,
    PIPE_OPERANDS,
    PIPE_ALU,
    PIPE_SFU,
    PIPE_DIVIDE,
    PIPE_DOUBLE,
    PIPE_CONTROL,
    PIPE_CONSTANT,
    PIPE_SHARED,
    PIPE_L1,
    PIPES
} pipe_kind;
typedef struct pipe_entry {
    uint64_t cycle;
    uint32_t item; /* in-flight record; PIPE_FETCH: warp */
    uint32_t unused;
} pipe_entry;
typedef struct pipe_stage {
    pipe_entry *entries;
    uint32_t head, count, mask;
    uint32_t length; /* cycles */
} pipe_stage;

/* ---- memory path ---- */

typedef enum translation { TRANSLATION_HIT, TRANSLATION_PENDING, TRANSLATION_ABSENT, TRANSLATION_FAULT } translation;

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

typedef struct read_set_entry {
    uint64_t key; /* life of the block, and segment */
    uint32_t read, written;
} read_set_entry;

/* ---- an SM ---- */

typedef struct sm_statistics {
    uint64_t issued;
    uint64_t l1_hits, l1_misses, transfer_requests;
    uint64_t saved_bytes, restored_bytes;
} sm_statistics;

typedef struct sm {
    gpump_sm *gpump;
    uint32_t *registers;       /* the register file: gpu.registers 32-bit registers */
    uint8_t *shared;           /* shared memory */
    read_set_entry *read_sets; /* one table per block entry */
    uint32_t *read_set_used;
    in_flight *records;
    uint32_t free_record;
    uint32_t index;
    uint32_t *waiters; /* next waiter, by record * 32 + segment */
    pipe_stage pipes[PIPES];
    uint64_t wake; /* the next cycle in which something can happen */
    uint64_t now;
    /* warp slots, one bit each */
    uint64_t present;  /* a warp sits there that has not ended */
    uint64_t fetched;  /* its next instruction is there */
    uint64_t clear;    /* the scoreboard lets that instruction issue */
    uint64_t waiting;  /* at a barrier */
    uint64_t stopped;  /* its block must not issue */
    uint64_t occupied; /* the slot belongs to a resident block */
    uint64_t calling;  /* the fault handler works for it */
    uint32_t slot_warp[WARP_SLOTS_MAX];
    uint64_t slot_age[WARP_SLOTS_MAX]; /* when the warp came: smaller is older */
    uint64_t scheduler_slots[SCHEDULERS_MAX];
    uint32_t scheduler_last[SCHEDULERS_MAX];
    uint32_t first_scheduler; /* who issues first: the one after that which had the load-store unit last */
    uint64_t scheduler_free[SCHEDULERS_MAX]; /* when it may issue again */
    uint64_t alu_free[SCHEDULERS_MAX];       /* each scheduler has its own lanes for arithmetic */
    uint64_t unit_free[UNIT_COUNT];
    uint32_t block_of_entry[BLOCK_ENTRIES_MAX];
    uint32_t resident; /* blocks */
    uint32_t stopping; /* blocks whose waits are being reported */
    /* load-store unit */
    uint32_t *check_queue, check_head, check_count;    /* records before their last translation check */
    uint32_t *access_queue, access_head, access_count; /* records on their way to L1 or shared memory */
    uint32_t access_waits;                             /* 1: the first record there finds no room behind */
    uint32_t memory_reserved;                          /* memory instructions issued and not yet sent to the end */
    uint32_t outstanding_misses;
    miss_queue *miss_queues;
    uint32_t next_queue;
    memory_request *requests;
    uint32_t free_request;
    gpump_spill *spill;       /* the pipeline of contexts (context_pipeline.c) */
    uint32_t contexts_moving; /* blocks in it */
    uint32_t shared_bytes;    /* of its shared memory */
    uint32_t parked;          /* blocks that have left but for what stays in place */
    uint64_t stall_cycle;     /* the next one in which a context counts as moved (config.switch_stalls); NEVER */
    cache l1;
    uint32_t resume_first, resume_last; /* the SM's own resume list */
    uint32_t reserved_for;              /* kernel number; 0: nobody */
    uint32_t whole;                     /* 1: its new owner waits until everybody else has left */
    sm_statistics statistics;
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

/* Page faults that have been reported and not served yet, in the order of their report (page_faults.h). */
typedef struct fault_buffer {
    pipe_stage buffer;
    uint64_t absent;   /* pages that were absent at first */
    uint64_t served;   /* faults */
    uint64_t calls;    /* of the handler */
    uint32_t reported; /* at the buffer's end: not asked for yet */
    uint32_t unused;
} fault_buffer;

struct timeline;
struct victim_request;

typedef struct machine {
    arena arena;
    minigpu_config config;
    uint64_t now;
    uint64_t progress_cycle; /* when an instruction was last issued */
    uint64_t lives;
    uint64_t ages;
    uint8_t *memory; /* device memory, from DEVICE_BASE */
    uint64_t memory_bytes;
    uint8_t *page_table; /* per page: PAGE_... bits; 0: nobody's */
    fault_buffer page_faults;
    sm **sms;
    uint32_t sm_count;
    kernel *kernels;
    uint32_t kernel_count;
    uint32_t *kernel_order; /* by priority, then arrival in the file */
    uint32_t kernels_done;
    block *blocks;
    uint32_t block_count, free_block;
    warp *warps;
    uint32_t warp_count, free_warp;
    uint32_t *predicates; /* predicate_stride lane masks per warp */
    uint32_t predicate_stride;
    preempted_block *preempted;
    uint32_t preempted_count, free_preempted;
    gpump_context_pool *context_pool;
    uint64_t context_base; /* device address of the saved contexts */
    uint64_t context_stride;
    uint64_t local_base, local_stride; /* local memory: one frame per block that exists */
    uint32_t *local_free, local_count, local_count_free;
    memory_system *memory_system; /* what lies behind the L1s */
    uint32_t dispatch_needed;
    uint32_t failed; /* 1: error says why */
    char error[LAUNCH_ERROR_BYTES];
    preemption_entry preemptions[PREEMPTION_LOG_ENTRIES];
    uint32_t preemption_count;
    uint32_t technique;      /* gpump_technique that arriving kernels preempt by */
    uint32_t context_form;   /* how registers are saved: a context_form (context_forms.h) */
    uint32_t regions;        /* 1: kernels have idempotent regions, and warps can go back */
    uint32_t stop_at_points; /* 1: warps of a block that is switched run on to their next preemption point; 0: they stop
                                anywhere; 2: each warp does what is estimated to be over earlier */
    uint32_t in_place;       /* 1: preempted blocks leave in place what the next kernel does not need */
    struct context_view *
        *views; /* per kernel what its analyses say; outside the arena, never changes; NULL: nobody needs it */
    const gpump_victim_policy *policy; /* who makes room for a kernel that arrives; NULL: whole SMs by `technique` */
    struct schedule
        *schedule; /* the scheduler decides which kernel gets which SM (preemption_schedule.c); NULL: priorities do */
    uint64_t limit_cycles;                  /* its latency limit; NEVER: none */
    uint64_t late_price;                    /* of the policy's requests, warp instructions per cycle */
    uint64_t ask_again;                     /* the policy wants to be asked again at this cycle; NEVER: not */
    gpump_cost_history *histories;          /* of finished blocks, by kernel number */
    struct victim_request *victim_requests; /* one per kernel (victims.h) */
    const launch_file *launch;              /* whose loops these are */
    uint32_t *loop_rounds;                  /* per loop of the launch file: rounds that have begun (loops.h) */
    const uint64_t *true_ends;              /* for an oracle: when each block of kernel 1 ends if it drains; NULL */
    uint64_t *ends;                         /* where such a table is written; NULL */
    uint32_t omit_section;             /* tests: the context section type that is left out of every save; 0: none */
    uint64_t preempt_cycle;            /* --preempt; NEVER: never */
    struct machine_programs *programs; /* decoded PTX: never changes, so it lives outside the arena */
    uint32_t deadlocked;
    struct timeline *trace;        /* an observer outside the arena (trace.h); NULL: nobody looks */
    struct region_log *region_log; /* another: which regions ran and how long (restart.h); NULL */
    void (*on_access)(struct machine *m,
                      const in_flight *access); /* another: told of each memory instruction that takes effect; NULL */
    void *on_access_user;
    uint8_t *clobbered_at; /* another: set to 1 at the PC of every instruction that was seen to clobber; NULL */
} machine;

/* What machine_build needs beside the launch file. */
typedef struct machine_options {
    const char *gpu;         /* preset; NULL: the launch file's, or gtx480_shieh */
    const char *config;      /* "NAME=VALUE,..." of config.h, after the launch file's; NULL: none */
    uint64_t preempt_cycle;  /* NEVER: none */
    uint32_t technique;      /* gpump_technique; GPUMP_TECHNIQUES: the launch file's, or switch */
    uint32_t skip_idle;      /* 1, or 0 to tick every cycle */
    uint32_t context_form;   /* context_form: how registers are saved */
    uint32_t point_interval; /* K: blocks that are switched stop at preemption points, instructions that the compiler
                                puts in, one for every K others outside loops; 0: they stop anywhere */
    uint32_t regions;  /* idempotent regions: REGIONS_NONE, REGIONS_SPARSE, or N: short ones of at most N instructions
                          too (analysis.h) */
    uint32_t spilling; /* with regions, what sparse boundaries store: SPILLING_NONE, _ALL or _CHANGED (analysis.h) */
    const gpump_regions_config *regions_config; /* experiments: other regions than the presets'; NULL */
    uint32_t page_checks;                       /* page_check_form (analysis.h): the compiler puts checks in; 0: none */
    const char
        *absent; /* pages that are absent at first: "all", or names of buffers with commas between them; NULL: none */
    uint32_t in_place; /* 1: a switch leaves registers and shared memory in place that the next kernel does not need
                          (Lin 2.3.1) */
    uint32_t choose;   /* 1: with points, each warp stops now or runs on, whichever is estimated to be over earlier */
    const gpump_victim_policy *policy; /* NULL: none, `technique` */
    uint64_t limit_cycles;             /* for the policy; NEVER: none */
    const char *schedule;              /* a policy of gpump_scheduler_find; NULL: none */
    uint32_t mechanism;                /* gpump_scheduler_mechanism, for the schedule */
    uint64_t slice_ns;                 /* for the schedule time_slice; 0: 1 ms */
    uint32_t switch_stalls;            /* 1: the model of Shieh 4.1 (config.h) */
} machine_options;
void machine_options_default(machine_options *options);

/* Builds a machine for a launch file: reads its PTX, lays out device memory, checks that every kernel fits. Returns
 * NULL with the reason in error (file:line:column: ...). The launch file must outlive the machine. */
machine *machine_build(launch_file *launch, const machine_options *options, char error[LAUNCH_ERROR_BYTES]);
void machine_free(machine *m);
/* Runs until every kernel is done, or until cycle `until`. Returns 1 when done, 0 when it stopped at `until`, -1 on an
 * error (m->error). */
int machine_run(machine *m, uint64_t until);
/* Returns a hash of the state: memory, registers, shared memory, caches, gpump's blocks, cycle. */
uint64_t machine_hash(const machine *m);
/* Returns a hash of the launch file's buffers alone. */
uint64_t machine_result_hash(const machine *m, const launch_file *launch);
/* Stops the machine with an error; the first one stays. */
void machine_fail(machine *m, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Writes who waits for what. */
void machine_dump(const machine *m, void *file);

static inline kernel *block_kernel(machine *m, const block *b) { return &m->kernels[b->kernel]; }
static inline uint32_t *warp_predicates(machine *m, const warp *w) {
    return &m->predicates[(size_t)(w - m->warps) * m->predicate_stride];
}
static inline uint32_t *warp_registers(machine *m, const block *b, const warp *w) {
    return m->sms[b->sm]->registers + w->register_base;
}
static inline uint8_t *device_memory(machine *m, uint64_t address) { return m->memory + (address - DEVICE_BASE); }

/* ---- queues of fixed length ---- */
static inline void pipe_put(pipe_stage *p, uint64_t now, uint32_t item) {
    pipe_entry *entry = &p->entries[(p->head + p->count++) & p->mask];
    entry->cycle = now + p->length;
    entry->item = item;
}
static inline uint64_t pipe_next(const pipe_stage *p) { return p->count ? p->entries[p->head].cycle : NEVER; }
/* Takes out the next item that is due; NONE when there is none. */
static inline uint32_t pipe_take(pipe_stage *p, uint64_t now) {
    uint32_t item;
    if (!p->count || p->entries[p->head].cycle > now) return NONE;
    item = p->entries[p->head].item;
    p->head = (p->head + 1) & p->mask;
    p->count--;
    return item;
}

#endif
