/* kernel: a launch as the machine sees it: its program, what a block of it takes, how far it is, and its blocks that
 * wait to come back. */
#ifndef MINIGPU_KERNEL_H
#define MINIGPU_KERNEL_H

#include "gpump.h"
#include "lanes/lanes.h"
#include "lanes/lanes_quick.h"
#include "launch/config.h"
#include "launch/launch_file.h"
#include "ptx/instruction.h"

#define NONE GPUMP_NONE
#define NEVER GPUMP_UNKNOWN
#define SCOREBOARD_IDS 1024u /* registers, then predicates, of one thread */
#define SCOREBOARD_WORDS (SCOREBOARD_IDS / 64)
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
#define PAGE_REMOTE 64u /* the CPU has it, and the GPU accesses it over the link (fault_memory.h) */
/* Where device memory begins: address 0 and its neighbours belong to nobody. */
#define DEVICE_BASE UINT64_C(0x10000000)
/* What a kernel has for the barriers of its whole grid (%envreg1, %envreg2). */
#define GRID_WORKSPACE_BYTES 256u
#define PREEMPTION_LOG_ENTRIES 1024u

/* What executing an instruction does to the flush bit of its block. */
typedef enum clobber_rule {
    CLOBBERS_WATCHED, /* clears it when it overwrites what its block has read (gpump_read_set) */
    CLOBBERS_NEVER,   /* nothing, says the analysis */
    CLOBBERS_ALWAYS   /* clears it, says the analysis */
} clobber_rule;

/* What an instruction has to do with its warp's asynchronous copies. */
typedef enum copies_rule {
    COPIES_NOTHING,
    COPIES_STARTS,     /* cp.async */
    COPIES_ENDS_GROUP, /* commit_group */
    COPIES_WAITS       /* wait_group, wait_all */
} copies_rule;

/* The registers and predicates of an instruction in one word of the scoreboard: register r is bit r, predicate p bit
 * registers + p. */
typedef struct issue_word {
    uint64_t sources, destinations;
} issue_word;
#define ISSUE_WORDS 2u /* most instructions name no more */
typedef struct issue_more_words {
    uint8_t word[SCOREBOARD_WORDS - ISSUE_WORDS];
    issue_word bits[SCOREBOARD_WORDS - ISSUE_WORDS];
} issue_more_words;

/* What a warp must have behind it before an instruction may issue: bits. Errors may happen: errors.h. */
typedef enum issue_wait {
    ISSUE_WHEN_ALONE = 1,    /* everything in flight: boundaries, calls of the fault handler */
    ISSUE_WHEN_VERIFIED = 2, /* with errors: until then the instruction could not be undone */
    ISSUE_WHEN_STORED = 4    /* with errors: its stores in the store queue */
} issue_wait;

/* What stands behind a boundary. */
enum {
    BOUNDARY_ANY = 1,
    BOUNDARY_OVERWRITES = 2 /* a store to shared memory, where that must be saved first (shared_log.h) */
};

/* What issue needs to know of an instruction, prepared once: its bits in the scoreboard and a few of its own, in one
 * cache line; and how it is executed, in another. */
typedef struct issue_info {
    const instruction *instruction; /* NULL: the program has ended */
    uint8_t words;                  /* of the scoreboard that it names */
    uint8_t writes;                 /* 1: has destinations */
    uint8_t unit;                   /* functional_unit */
    uint8_t pipe;                   /* pipe_kind of its execution */
    uint8_t needs_environment;      /* reads special registers or parameters */
    uint8_t is_barrier;
    uint8_t is_global;            /* may touch device memory */
    uint8_t is_boundary;          /* starts an idempotent region: BOUNDARY_... */
    uint8_t serialises;           /* issue_wait bits: what its warp must have behind it first */
    uint8_t is_checked;           /* finds absent pages instead of failing on them */
    uint8_t clobbers;             /* clobber_rule */
    uint8_t is_point;             /* a preemption point */
    uint8_t copies;               /* copies_rule */
    uint8_t counted;              /* counted_kind */
    uint8_t word[ISSUE_WORDS];    /* which words ... */
    issue_word bits[ISSUE_WORDS]; /* ... and its bits in them */
    issue_more_words *more;       /* the others */
    LINE_ALIGNED lanes_quick quick;
    uint8_t next_overwrites; /* 1: the instruction behind it overwrites a source of it */
    uint32_t guard;          /* predicate register that guards it; INSTRUCTION_NONE */
    uint32_t guard_negated;
} issue_info;

/* What gpump_replay needs to know of an instruction (faults.h). */
typedef struct replay_info {
    uint8_t kind;      /* gpump_replay_kind; above GPUMP_REPLAY_SYNC: it is kept track of */
    uint8_t can_fault; /* fetching it disables the warp, where the scheme has that */
    uint8_t log_units; /* of the operand log, for its operands */
} replay_info;

/* Instructions that are there for preemption or page faults alone, counted apart. */
typedef enum counted_kind {
    COUNTED_NOT,
    COUNTED_CHECK, /* pfchk, checked loads */
    COUNTED_CALL,  /* sw_call, taken or not */
    COUNTED_POINT, /* pp and the instruction behind it; bar.pp is a barrier all the same */
    COUNTED
} counted_kind;

/* Instructions of a kernel that have committed. */
typedef struct executed_instructions {
    uint64_t warp_instructions, thread_instructions;
    uint64_t counted[COUNTED]; /* of them, those put in for a purpose */
} executed_instructions;

typedef enum kernel_state { KERNEL_WAITING, KERNEL_ACTIVE, KERNEL_DONE } kernel_state;

/* Why a block that has run before waits for a place. */
typedef struct preempted_block {
    gpump_sm_history history;
    uint64_t linear;
    uint64_t context;       /* of the context pool; NEVER: it starts anew */
    uint32_t left_sm;       /* the SM it left */
    uint32_t kept;          /* gpump_part bits of what is still in place there; 0: nothing, and it may go elsewhere */
    gpump_block_ref parked; /* kept set: its name there */
    uint32_t gives_up;      /* 1: what is in place is being saved, too (preemption/parked.h) */
    uint64_t context_bytes; /* what of it is in memory */
    uint64_t fault_cycle;   /* when all pages are there that its warps have faulted on */
    uint32_t flushes;       /* how often it has been flushed so far */
    uint32_t kernel;
    uint32_t fault_sm;    /* it has left that SM on a fault and belongs to it (fault_switch.h); NONE */
    uint32_t local_frame; /* its local memory, when its context has it; NONE */
    /* What it has read and written so far, when it was saved and blocks are watched; room for three quarters of
     * read_set_segments. */
    gpump_read_set_segment *read_segments;
    uint32_t read_segment_count;
} preempted_block;

typedef struct kernel {
    const kernel_program *program;
    const issue_info *info;
    struct code_version *version; /* the newest one behind the kernel as it was built (recompile.h); NULL: none */
    const replay_info *replay;    /* by instruction; NULL: no TLBs, and nobody faults */
    const launch_kernel *launch;
    uint8_t *parameters;     /* the parameter block */
    lanes_texture *textures; /* by argument; the handle of argument i is i + 1. Width 0: that argument is no texture */
    lanes_texture *texture_references;                           /* by .texref of its module */
    uint64_t arrival_cycle, ready_cycle, start_cycle, end_cycle; /* ready: it has arrived and it is its turn */
    uint64_t blocks, next_block, done_blocks;
    uint64_t warp_instructions,
        thread_instructions;           /* committed when machine_run last returned, flushed work included */
    uint64_t counted[COUNTED];         /* of them, those put in for a purpose */
    uint64_t wasted_warp_instructions; /* of flushed blocks */
    uint64_t context_bytes;            /* of one saved block, as the raw format writes it */
    uint64_t resident_cycles;          /* summed over blocks */
    uint64_t resumed,
        resumed_elsewhere; /* preempted blocks that came back, and those of them that came back on another SM */
    uint64_t ran_on;       /* SMs it has been on, as a mask (SM index modulo 64) */
    gpump_footprint need;  /* of one block */
    uint32_t shared_bytes; /* static and dynamic, of one block */
    uint32_t registers;    /* 32-bit registers per thread */
    uint32_t process, priority;
    uint32_t state;         /* kernel_state */
    uint32_t warps;         /* of one block */
    uint32_t block_cap;     /* blocks on one SM at most */
    uint32_t only_reserved; /* 1: it goes only to SMs that are reserved for it */
    uint32_t resident;      /* blocks on SMs */
    uint64_t round_cycle;   /* when its present round became ready */
    uint32_t iteration;     /* rounds of its loop that it has ended (loops.h) */
    uint64_t code_page;     /* of its first instruction, where code is absent at first */
    uint32_t code_pages;    /* code_pages.h; 0: code is always there */
    uint32_t killed;        /* 1: its process was aborted (fault_unit.h) */
} kernel;

#endif
