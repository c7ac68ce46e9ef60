/* warp: warps, their blocks, and their instructions in flight.
 *
 * A warp has its own state, the base of its registers, a slot, and a gate (gpump_warp_gate). The gate is one
 * word with a bit for each right of the warp and each unit that may forbid it. The SM's masks of slots are
 * indices of the warps. An in-flight record names its warp, never a slot. */
#ifndef MINIGPU_WARP_H
#define MINIGPU_WARP_H

#include "base/arena.h"
#include "sass/trace_reader.h"
#include "state/kernel.h"
#include "state/simt_stack.h"

typedef struct barrier {
    uint64_t arrived;    /* mask of the warps that wait or have arrived, by index in the block */
    uint32_t threads;    /* number of threads that have arrived */
    uint32_t expected;   /* threads that the barrier waits for; 0: all threads that have not ended */
    uint32_t population; /* bar.red: number of lanes whose predicate holds */
    uint32_t all, any;
} barrier;

#define COPY_GROUPS 8u /* groups of asynchronous copies that one warp may have in flight */

#define HELD_BITS 8u /* width of the scoreboard's counters of the instructions that hold one source */

/* The scoreboard's state of 64 registers or predicates of a warp, one bit each (scoreboard.h). */
typedef struct scoreboard_word {
    uint64_t pending;    /* the register is a destination of an instruction in flight */
    uint64_t held;       /* the register is a source that has not been released */
    uint64_t held_again; /* several instructions hold the source */
} scoreboard_word;

/* Prefetches a place into the host's caches, for a write. */
#define FETCH_AHEAD(place) __builtin_prefetch(place, 1)

#define WARP_NUMBERS_MAX 256u /* most warps of one SM, switched-out warps included */
#define WARP_SET_WORDS (WARP_NUMBERS_MAX / 64)

/* Returns the lowest member of a set of warps from `number` on; NONE: there is none. */
static inline uint32_t warp_set_from(const uint64_t set[WARP_SET_WORDS], uint32_t number) {
    for (; number < WARP_NUMBERS_MAX; number = (number | 63u) + 1) {
        const uint64_t rest = set[number / 64] >> (number % 64);
        if (rest) return number + gpump_bits_lowest64(rest);
    }
    return NONE;
}
static inline int warp_set_any(const uint64_t set[WARP_SET_WORDS]) { return warp_set_from(set, 0) != NONE; }
#define FOR_EACH_NUMBER(set, n) for (n = warp_set_from(set, 0); n != NONE; n = warp_set_from(set, n + 1))

/* The trace that a warp executes (sm/front_end.h). */
typedef struct warp_trace {
    struct trace_block *block;    /* that the warp belongs to; NULL: the kernel is PTX */
    const trace_step *steps;      /* NULL: it has none */
    const trace_reach *accesses;  /* addresses of its accesses */
    struct trace_memory *memory;  /* tags of the words that it writes */
    const uint32_t *value_places; /* values that the steps write (trace_block); NULL: tags */
    uint64_t origin;              /* first address of the block's first access; 0: it has none */
    uint32_t count;               /* number of steps */
    uint32_t seed;                /* seed of the warp's tags */
} warp_trace;

/* A warp is identified by its block's residence and its index in the block. A warp has a physical slot while it can
 * issue. Its registers are found through a base, so an SM may hold more warps than slots. */
typedef struct warp {
    uint64_t sequence; /* sequence number of the next instruction; in a trace, of its step */
    uint32_t block, index;
    uint32_t slot;             /* physical slot on the block's SM; NONE: switched out (duet.h) */
    uint32_t number;           /* constant name of the warp on its SM; its slot may change */
    uint32_t register_base;    /* index of its first register in the SM's register file, in 32-bit registers */
    uint32_t in_flight;        /* number of instructions between issue and commit */
    uint32_t unchecked;        /* number of memory instructions before their last translation check */
    gpump_warp_gate gate;      /* what the warp may do, and which units forbid it */
    uint32_t sm;               /* index of its SM; NONE: the warp is on no SM */
    const issue_info *program; /* issue information of its kernel, by PC */
    uint64_t sources_until;    /* cycle until which the last instruction reads a source that the next one overwrites */
    uint64_t region_instructions; /* instructions since its region began, for a region log (region.h) */
    scoreboard_word scoreboard[SCOREBOARD_WORDS];
    /* Of a warp whose next instruction is not clear (sm/simple.h): the bits, in any word of the scoreboard, of the
     * registers that it waits for. It is looked at when one of them is written. All bits: when any is. */
    uint64_t waits_for;
    uint32_t lanes;               /* mask of the lanes that exist */
    uint32_t barrier;             /* barrier that the warp waits at; NONE: it waits at none */
    uint32_t barrier_pc;          /* PC of the instruction that waits at the barrier */
    uint32_t barrier_lanes;       /* mask of the lanes that execute that instruction */
    uint32_t stores;              /* number of store requests without acknowledgement */
    uint64_t called_until;        /* cycle at which the fault handler has brought the page */
    uint16_t copies[COPY_GROUPS]; /* number of asynchronous copies in flight, by group */
    uint32_t copy_group;          /* group of the next copy, modulo COPY_GROUPS */
    uint32_t speculates; /* issue_wait bits: the warp has unverified instructions, or queued stores (errors.h) */
    /* Absent pages, as schedulers and the report see them. */
    uint64_t fault_cycle;   /* arrival of the last page that the warp has faulted on; 0: it has not faulted */
    uint64_t fault_since;   /* cycle of the first fault */
    uint64_t fault_address; /* address of the first fault; 0: the warp waits for no page */
    uint32_t awaited_count; /* granules that the warp waits for, with a part that serves faults; 0: none */
    /* Where the plain form finds what an instruction needs (sm/simple.h). A part may move registers in other forms. */
    struct block *home;
    uint32_t *registers, *predicates;
    LINE_ALIGNED warp_trace trace;
    LINE_ALIGNED trace_step step; /* of a trace: a copy of the next step, which lies beside the stack's entry of it */
    simt_stack stack;             /* take_warps clears every member above, and of the rest stack.depth alone */
    uint64_t held_count[SCOREBOARD_WORDS][HELD_BITS]; /* how often each source is held beyond once: bit i of all
                                                         counters of a word in [word][i]; while none is (held_again),
                                                         it means nothing */
} warp;

typedef struct block {
    LINE_ALIGNED lanes_environment environment;
    gpump_sm_history history; /* progress of the block from earlier residences; `clobbered`: or of this one */
    barrier barriers[BARRIERS];
    uint64_t linear;
    uint64_t life;  /* number of this residence, unique in the machine; 0: the entry is free */
    uint64_t slots; /* mask of its warp slots */
    uint64_t start_cycle;
    uint64_t local_base;   /* device address of the local memory of its first thread; 0: none */
    uint64_t context;      /* place of its context in the context pool; NEVER: none */
    uint64_t transfer_end; /* config.switch_stalls: cycle at which its context counts as moved; 0: none */
    uint64_t stop_cycle;   /* cycle of the order to stop for a save */
    uint64_t rewound;      /* instructions that its warps have discarded by a rewind */
    uint32_t
        rewinding; /* 1: it leaves by rewind: its warps go back to the start of their regions instead of draining */
    gpump_block_ref ref; /* reference to the block in its SM's gpump_sm */
    uint32_t kernel, sm;
    uint32_t register_base, shared_base; /* start of its ranges in the SM's register file and shared memory */
    uint32_t registers, shared_bytes;    /* lengths of these ranges */
    uint32_t overwritten;                /* 1: the values in these ranges have been overwritten */
    uint64_t first_age;                  /* age of its first warp; the others follow by index */
    uint32_t warps[BLOCK_WARPS_MAX];
    /* Counters that are tested together are not adjacent. A compiler reads two adjacent counters as one word,
     * and the processor then stalls until earlier stores to them have left its store buffer. */
    uint32_t live_warps, warp_count;
    uint32_t in_flight, atomics;
    uint32_t stores;
    uint32_t registers_pending; /* number of instructions in flight with destinations */
    uint32_t uncounted;         /* number of instructions of this run that have ended (sm/simple.h) */
    uint64_t reported;          /* mask of the warps of a stopping block whose registers are in the context pipeline */
    uint64_t moved_bytes, sent_bytes;
    uint32_t transfers;     /* number of save or restore requests without acknowledgement */
    uint64_t context_bytes; /* size of its context */
    uint64_t handler_until; /* cycle until which one of its warps serves a fault itself (fault_unit.h) */
    uint64_t fault_cycle;   /* arrival of the last page that warps of this restored block have faulted on */
    uint32_t gives_up;      /* 1: the entry is the rest of a parked block, which is being saved (preemption/parked.h) */
    uint32_t keep;          /* gpump_part bits that stay in place at a save, or have stayed before a restore */
    uint32_t job;           /* job of the context pipeline; NONE: none */
    uint32_t moving;        /* direction of the transfer: REQUEST_SAVE or REQUEST_RESTORE */
    uint32_t ended;         /* 1: its warps have ended, which block_life handles next */
    uint32_t stopping;      /* 1: the block is stopping, and its waits are reported to gpump_sm */
    uint32_t dropping;      /* 1: the block is dropped once none of its warps is in transfer (duet.h) */
    uint32_t to_point;      /* 1: warps of the stopping block still run on to their preemption points */
    uint32_t last_waits;
    uint32_t local_frame;
    uint32_t flushes;    /* number of its flushes so far */
    uint32_t preemption; /* entry of the preemption log for its departure; NONE: none */
    uint32_t victim;     /* its entry in a victim request (victims.h); NONE: none */
    uint32_t next_free;
} block;

/* The name of a block for components of gpump that know neither kernels nor grids (the `cookie`). */
static inline uint64_t block_cookie_of(uint32_t kernel, uint64_t linear) {
    return (uint64_t)(kernel + 1) << 40 | linear;
}
static inline uint64_t block_cookie(const block *b) { return block_cookie_of(b->kernel, b->linear); }
static inline uint32_t cookie_kernel(uint64_t cookie) { return (uint32_t)(cookie >> 40) - 1; }
static inline uint64_t cookie_linear(uint64_t cookie) { return cookie & ((UINT64_C(1) << 40) - 1); }

/* ---- instructions in flight ---- */

typedef enum record_stage {
    RECORD_FREE,
    RECORD_ISSUED,
    RECORD_EXECUTING,
    RECORD_CHECKING,
    RECORD_MEMORY,
    RECORD_HELD /* squashed; its operands in the log are kept for its replay */
} record_stage;

/* Values of in_flight.next_free: the load has left L1, or its warp has also counted it (load_leaves). */
#define RECORD_MISSED (NONE - 1)
#define RECORD_COUNTED (NONE - 2)

/* One instruction in flight. Its record is the only place with its state. Until the instruction commits, no
 * other instruction sees what it writes to registers. Stores and atomics change memory once they have passed
 * their last translation check. */
typedef struct in_flight {
    /* The first cache line: everything that arithmetic needs except its results. */
    uint64_t sequence;
    const instruction *instruction;
    const issue_info *info;
    uint32_t block, warp;
    uint32_t pc;
    uint32_t mask;         /* mask of the lanes at the PC */
    uint32_t active;       /* mask of those lanes whose guard lets them execute */
    uint32_t stage;        /* record_stage */
    uint32_t squashed;     /* 1: squashed, so it ends without effect */
    uint32_t unusual;      /* bits with special cases of operand read (pipeline.c); 0: none */
    uint16_t sources_held; /* 1: the scoreboard still holds its sources */
    uint16_t has_results;  /* 1: `results` holds values that the commit writes; 0: nothing is left to write */
    uint32_t next_free;    /* next free record; in a load in flight, whether it has left L1 (duet.h) */
    /* The next cache line. */
    uint32_t outstanding; /* number of replies that it waits for */
    uint32_t segment_count;
    uint32_t unchecked;       /* number of outstanding translation checks */
    uint32_t next_segment;    /* next segment to send to L1 */
    uint32_t in_queue;        /* 1: some of its segments have not been sent */
    uint32_t conflict_cycles; /* cycles in the load-store unit that shared-memory bank conflicts take */
    uint32_t copy_group;      /* group of an asynchronous copy */
    uint32_t straight;        /* 1: all 32 lanes access one array, one element after the other, in global or shared
                                 memory */
    uint32_t faulted;         /* mask of the lanes whose page check found the page absent */
    LINE_ALIGNED lanes_operand results[INSTRUCTION_DESTINATIONS];
    lanes_operand sources[INSTRUCTION_SOURCES]; /* of memory and control instructions; arithmetic needs none: it is
                                                   computed when they are read */
    uint64_t addresses[LANES];
    uint64_t segments[LANES]; /* 128-byte segments of device memory that it accesses */
    uint32_t words[LANES];    /* mask of the 4-byte words that it accesses in each segment */
    uint64_t unused[8];       /* padding: it makes the index of a record one multiplication */
} in_flight;

typedef enum pipe_kind {
    PIPE_FETCH,
    PIPE_OPERANDS,
    PIPE_SOURCES, /* warps that wait until sources have been read (sources_until) */
    PIPE_ALU,
    PIPE_SFU,
    PIPE_DIVIDE,
    PIPE_DOUBLE,
    PIPE_CONTROL,
    PIPE_CONSTANT,
    PIPE_SHARED,
    PIPE_L1,
    PIPE_LINK, /* replies that arrive by a link instead of the network; parts/fault_unit makes this pipe */
    PIPES
} pipe_kind;

#endif
