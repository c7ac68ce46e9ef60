/* kernel: a launch as the machine sees it: its program, the needs of a block, its progress, and its preempted
 * blocks. */
#ifndef MINIGPU_KERNEL_H
#define MINIGPU_KERNEL_H

#include "gpump_once.h"
#include "lanes/lanes.h"
#include "lanes/lanes_quick.h"
#include "launch/config.h"
#include "launch/launch_file.h"
#include "ptx/instruction.h"

#define NONE GPUMP_NONE
#define NEVER GPUMP_UNKNOWN
#define SCOREBOARD_IDS 1024u /* bits of the scoreboard: registers, then predicates, of one thread */
#define SCOREBOARD_WORDS (SCOREBOARD_IDS / 64)
#define BARRIERS 16u
#define SCHEDULERS_MAX 8u
#define BLOCK_ENTRIES_MAX 64u
#define REQUESTS_PER_SM 512u
#define PAGE_BYTES 4096u
/* Bits of a page in the page table. */
#define PAGE_READ 1u           /* its process may read the page */
#define PAGE_WRITE 2u          /* its process may write the page */
#define PAGE_ABSENT_READ 4u    /* the page is absent for reads (page_faults.h) */
#define PAGE_ABSENT_WRITE 8u   /* the page is absent for writes */
#define PAGE_REPORTED_READ 16u /* a check has reported the absence for reads */
#define PAGE_REPORTED_WRITE 32u
#define PAGE_REMOTE 64u /* the page is in CPU memory, and the GPU accesses it over the link (fault_memory.h) */
#define PAGE_SYSTEM                                                                                   \
    128u /* the page table and the list of frames: warps in user mode may not access them (handler.h) \
          */
/* First address of device memory. Address 0 and its neighbours are never valid. */
#define DEVICE_BASE UINT64_C(0x10000000)
/* Bytes of a kernel for the barriers of its whole grid (%envreg1, %envreg2). */
#define GRID_WORKSPACE_BYTES 256u
#define PREEMPTION_LOG_ENTRIES 1024u

/* What the execution of an instruction does to the flush bit of its block. */
typedef enum clobber_rule {
    CLOBBERS_WATCHED, /* clears the bit when the instruction overwrites what its block has read (gpump_read_set) */
    CLOBBERS_NEVER,   /* never clears the bit, by the analysis */
    CLOBBERS_ALWAYS   /* always clears the bit, by the analysis */
} clobber_rule;

/* What an instruction does to its warp's asynchronous copies. */
typedef enum copies_rule {
    COPIES_NOTHING,
    COPIES_STARTS,     /* cp.async */
    COPIES_ENDS_GROUP, /* commit_group */
    COPIES_WAITS       /* wait_group, wait_all */
} copies_rule;

/* The registers and predicates of an instruction in one word of the scoreboard. Register r is bit r.
 * Predicate p is bit registers + p. */
typedef struct issue_word {
    uint64_t sources, destinations;
} issue_word;
#define ISSUE_WORDS 2u /* words of the scoreboard that most instructions suffice with */
typedef struct issue_more_words {
    uint8_t word[SCOREBOARD_WORDS - ISSUE_WORDS];
    issue_word bits[SCOREBOARD_WORDS - ISSUE_WORDS];
} issue_more_words;

/* Bits: what a warp must have completed before an instruction may issue. The last two apply to machines with errors
 * (errors.h). */
typedef enum issue_wait {
    ISSUE_WHEN_ALONE = 1,    /* all instructions in flight; for boundaries and calls of the fault handler */
    ISSUE_WHEN_VERIFIED = 2, /* verification of earlier instructions; for instructions that cannot be undone */
    ISSUE_WHEN_STORED = 4    /* the warp's stores in the store queue */
} issue_wait;

/* What follows a boundary of regions. */
enum {
    BOUNDARY_ANY = 1,
    BOUNDARY_OVERWRITES = 2 /* a store to shared memory whose old value must be saved first (shared_log.h) */
};

typedef enum next_overwrites {
    NEXT_OVERWRITES_NOT,
    NEXT_OVERWRITES,
    NEXT_WAITS /* the next instruction also names a register that this one writes */
} next_overwrites;

/* Instructions with a path of their own in the plain form (sm/simple.h). */
typedef enum simple_kind {
    SIMPLE_NOT,
    SIMPLE_ARITHMETIC, /* of the ALU, at most ISSUE_WORDS words of the scoreboard; of PTX, with a quick form */
    SIMPLE_BRANCH      /* of a trace, any control instruction but barriers and exits */
} simple_kind;

/* What issue needs of an instruction, prepared when the kernel is built. The first cache line has the
 * instruction's scoreboard bits and properties. The next has the quick form of its execution. */
typedef struct issue_info {
    const instruction *instruction; /* NULL: the program has ended */
    uint8_t words;                  /* words of the scoreboard that the instruction names */
    uint8_t writes;                 /* 1: the instruction has destinations */
    uint8_t unit;                   /* functional_unit */
    uint8_t pipe;                   /* pipe_kind of the execution */
    uint8_t needs_environment;      /* 1: reads special registers or parameters */
    uint8_t is_barrier;
    uint8_t is_global;            /* 1: may access device memory */
    uint8_t is_boundary;          /* BOUNDARY_...: starts an idempotent region; 0: no */
    uint8_t serialises;           /* issue_wait bits */
    uint8_t is_checked;           /* 1: an absent page sets a predicate instead of ending the run */
    uint8_t clobbers;             /* clobber_rule */
    uint8_t is_point;             /* 1: a preemption point */
    uint8_t copies;               /* copies_rule */
    uint8_t counted;              /* counted_kind */
    uint8_t word[ISSUE_WORDS];    /* indices of the first ISSUE_WORDS words */
    issue_word bits[ISSUE_WORDS]; /* bits of the instruction in these words */
    issue_more_words *more;       /* further words */
    LINE_ALIGNED lanes_quick quick;
    uint8_t next_overwrites; /* next_overwrites: whether the next instruction overwrites a source of this one */
    uint8_t is_simple;       /* simple_kind */
    uint8_t is_ordered;      /* 1: memory_order_clear has something to test */
    uint8_t asks_more;       /* COMMITS_MORE, ISSUES_MORE (scoreboard.h): not like most simple instructions */
    uint32_t guard;          /* predicate register of its guard; INSTRUCTION_NONE */
    uint32_t guard_negated;
    uint64_t names[ISSUE_WORDS]; /* sources and destinations of `bits` */
} issue_info;

/* What gpump_replay needs of an instruction (faults.h). */
typedef struct replay_info {
    uint8_t kind;      /* gpump_replay_kind; kinds above GPUMP_REPLAY_SYNC are tracked */
    uint8_t can_fault; /* 1: may fault, so its fetch disables the warp in the schemes that do so */
    uint8_t log_units; /* units of the operand log for its operands */
} replay_info;

/* Instructions that the compiler inserts for preemption or page faults. They are counted separately. */
typedef enum counted_kind {
    COUNTED_NOT,
    COUNTED_CHECK, /* pfchk, checked loads */
    COUNTED_CALL,  /* sw_call, taken or not */
    COUNTED_POINT, /* pp and its next instruction; bar.pp counts as a barrier */
    COUNTED
} counted_kind;

/* Instructions of a kernel that have committed. */
typedef struct executed_instructions {
    uint64_t warp_instructions, thread_instructions;
    uint64_t counted[COUNTED]; /* of these, inserted instructions by counted_kind */
} executed_instructions;

/* What an SM counts of a kernel, from issue to L1; the fields of gpump_traffic with these names. */
typedef struct sm_traffic {
    uint64_t issued, resident_cycles;
    uint64_t l1_load_hits, l1_load_misses, l1_store_hits, l1_store_misses, l1_atomics;
    uint64_t resident_since; /* cycle since which the SM has had a block of the kernel */
} sm_traffic;

/* What one run of simple instructions has counted (sm/simple.h). */
typedef struct simple_counts {
    uint64_t issued, ended, threads; /* threads: of the instructions that have ended */
    executed_instructions *executed; /* of the kernel whose blocks are on the SM */
} simple_counts;

typedef enum kernel_state { KERNEL_WAITING, KERNEL_ACTIVE, KERNEL_DONE } kernel_state;

/* A preempted block: what the host keeps of a block that has left its SM and will resume. */
typedef struct preempted_block {
    gpump_sm_history history;
    uint64_t linear;
    uint64_t context; /* place in the context pool; NEVER: the block starts from its beginning */
    uint32_t left_sm; /* the SM it left */
    uint32_t kept; /* gpump_part bits of what is in place on that SM; 0: nothing, so the block may resume elsewhere */
    gpump_block_ref parked; /* with `kept`: reference to the block in that SM's gpump_sm */
    uint32_t gives_up;      /* 1: what is in place is being saved (preemption/parked.h) */
    uint64_t context_bytes; /* bytes of its context in memory */
    uint64_t fault_cycle;   /* arrival of the last page that its warps have faulted on */
    uint32_t flushes;       /* number of its flushes so far */
    uint32_t kernel;
    uint32_t fault_sm;    /* SM that the block has left on a fault and belongs to (fault_switch.h); NONE */
    uint32_t local_frame; /* frame of its local memory, if it has a context; NONE */
    /* Lines read and written until the save, where blocks are watched; room for three quarters of
     * read_set_segments. */
    gpump_read_set_segment *read_segments;
    uint32_t read_segment_count;
} preempted_block;

typedef struct kernel {
    const kernel_program *program;
    const issue_info *info;
    struct code_version *version; /* newest version of its code after the built one (recompile.h); NULL: none */
    const replay_info *replay;    /* by instruction; NULL: there are no TLBs and no faults */
    const launch_kernel *launch;
    uint8_t *parameters;               /* the parameter block */
    lanes_texture *textures;           /* by argument; the handle of argument i is i + 1; width 0: not a texture */
    lanes_texture *texture_references; /* by .texref of the kernel's module */
    uint64_t arrival_cycle, ready_cycle, start_cycle,
        end_cycle; /* ready: the kernel has arrived, and earlier kernels of its process have ended */
    uint64_t blocks, next_block, done_blocks;
    uint64_t warp_instructions,
        thread_instructions; /* instructions that had committed when machine_run last returned, flushed work included */
    uint64_t counted[COUNTED];         /* of these, inserted instructions by counted_kind */
    uint64_t wasted_warp_instructions; /* work of flushed blocks */
    uint64_t context_bytes;            /* most bytes of the context of one block */
    uint64_t resident_cycles;          /* residence on SMs, summed over blocks */
    uint64_t resumed,
        resumed_elsewhere; /* number of preempted blocks that have resumed, and of those that resumed on another SM */
    uint64_t ran_on;       /* mask of the SMs that the kernel has run on (index modulo 64) */
    gpump_footprint need;  /* resources of one block */
    uint32_t shared_bytes; /* shared memory of one block, static and dynamic */
    uint32_t registers;    /* 32-bit registers per thread */
    uint32_t process, priority;
    uint32_t state;         /* kernel_state */
    uint32_t warps;         /* warps of one block */
    uint32_t block_cap;     /* most blocks on one SM */
    uint32_t only_reserved; /* 1: its blocks go only to SMs that are reserved for it */
    uint32_t resident;      /* blocks on SMs */
    uint64_t round_cycle;   /* cycle in which its present round became ready */
    uint32_t iteration;     /* number of rounds of its loop that have ended (loops.h) */
    uint64_t code_page;     /* page of its first instruction, where code is absent at first */
    uint32_t code_pages;    /* number of its code pages (code_pages.h); 0: code is always present */
    uint32_t killed;        /* 1: its process was aborted (fault_unit.h) */
} kernel;

#endif
