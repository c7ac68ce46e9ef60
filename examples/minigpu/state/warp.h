/* warp: warps, their blocks, and their instructions in flight.
 *
 * A warp is an object of its own: its state, the base of its registers, its slot, and what it may do as one word with a
 * bit per right and asker (gpump_warp_gate). An SM's masks of slots are indices to those words. An in-flight record
 * names its warp, never a slot. */
#ifndef MINIGPU_WARP_H
#define MINIGPU_WARP_H

#include "base/arena.h"
#include "sass/trace_reader.h"
#include "state/kernel.h"
#include "state/simt_stack.h"

typedef struct barrier {
    uint64_t arrived;    /* warps that wait or have arrived, by index */
    uint32_t threads;    /* threads that have arrived */
    uint32_t expected;   /* threads awaited; 0: all that have not ended */
    uint32_t population; /* bar.red: lanes whose predicate holds */
    uint32_t all, any;
} barrier;

#define COPY_GROUPS 8u /* of one warp with asynchronous copies in flight */

#define HELD_BITS 8u /* of the scoreboard's counters: so many instructions of a warp can hold one source */

/* 64 registers and predicates of a warp (scoreboard.h). */
typedef struct scoreboard_word {
    uint64_t pending;    /* destinations of instructions in flight */
    uint64_t held;       /* sources not yet released ... */
    uint64_t held_again; /* ... and those of them that several instructions hold */
} scoreboard_word;

/* The host's caches may fetch this already. */
#define FETCH_AHEAD(place) __builtin_prefetch(place, 1)

#define WARP_NUMBERS_MAX 256u /* of the warps of one SM, those included that are switched out */
#define WARP_SET_WORDS (WARP_NUMBERS_MAX / 64)

/* Returns the lowest number of a set of warps from `number` on; NONE. */
static inline uint32_t warp_set_from(const uint64_t set[WARP_SET_WORDS], uint32_t number) {
    for (; number < WARP_NUMBERS_MAX; number = (number | 63u) + 1) {
        const uint64_t rest = set[number / 64] >> (number % 64);
        if (rest) return number + gpump_bits_lowest64(rest);
    }
    return NONE;
}
static inline int warp_set_any(const uint64_t set[WARP_SET_WORDS]) { return warp_set_from(set, 0) != NONE; }
#define FOR_EACH_NUMBER(set, n) for (n = warp_set_from(set, 0); n != NONE; n = warp_set_from(set, n + 1))

/* The way of a warp through the trace of its kernel (sm/front_end.h). */
typedef struct warp_trace {
    const trace_step *steps;   /* NULL: the kernel is PTX */
    const uint64_t *addresses; /* of the block */
    uint32_t count;            /* steps */
    uint32_t seed;             /* of its tags */
} warp_trace;

/* A warp is (block instance, index in it). It sits in a physical slot while its block is resident; its registers are
 * found through a base, so that more warps than slots can exist. */
typedef struct warp {
    uint64_t sequence; /* of the next instruction; in a trace, of its step */
    uint32_t block, index;
    uint32_t slot;                /* physical slot on the block's SM; NONE: switched out (duet.h) */
    uint32_t number;              /* names it on its SM as long as its block is there; a slot may change */
    uint32_t register_base;       /* of its first vector register in the SM's register file, in 32-bit registers */
    uint32_t in_flight;           /* instructions between issue and commit */
    uint32_t unchecked;           /* memory instructions before their last translation check */
    gpump_warp_gate gate;         /* what it may do, and who objects */
    uint32_t sm;                  /* where it is; NONE: nowhere */
    const issue_info *program;    /* its kernel's */
    uint64_t sources_until;       /* the last instruction reads until then what the next one overwrites; or past */
    uint64_t region_instructions; /* since its region began, for a region log (region.h) */
    scoreboard_word scoreboard[SCOREBOARD_WORDS];
    uint32_t lanes;               /* lanes that exist */
    uint32_t barrier;             /* it waits at this barrier; NONE: at none */
    uint32_t barrier_pc;          /* the instruction that waits there ... */
    uint32_t barrier_lanes;       /* ... and the lanes that execute it */
    uint32_t stores;              /* store requests without acknowledgement */
    uint64_t called_until;        /* when the fault handler has what it asked for */
    uint16_t copies[COPY_GROUPS]; /* asynchronous copies in flight, by group; all 0 when nothing of it is in flight */
    uint32_t copy_group;          /* the group that the next copy belongs to, modulo COPY_GROUPS */
    uint32_t speculates; /* issue_wait bits: it has executed what is not verified, it has queued stores (errors.h) */
    /* absent pages: what the schedulers and the report ask */
    uint64_t fault_cycle;   /* when all pages that it has faulted on are there; 0: it has not faulted */
    uint64_t fault_since;   /* of the first of them ... */
    uint64_t fault_address; /* ... and where; 0: it waits for no page */
    uint32_t awaited_count; /* granules that it waits for, where somebody serves its faults; 0: it waits for none */
    warp_trace trace;
    LINE_ALIGNED simt_stack stack; /* of it and of what follows, a warp that comes begins with stack.depth alone */
    uint64_t held_count[SCOREBOARD_WORDS][HELD_BITS]; /* how often each source is held beyond once: bit i of all
                                                         counters of a word in [word][i]; while none is (held_again),
                                                         it means nothing */
} warp;

typedef struct block {
    LINE_ALIGNED lanes_environment environment;
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
    uint32_t register_base, shared_base; /* of its ranges in the SM's register file and shared memory ... */
    uint32_t registers, shared_bytes;    /* ... and their lengths */
    uint32_t overwritten;                /* 1: nothing of what it had there is left */
    uint64_t first_age;                  /* of its warps: when they came, by index */
    uint32_t warps[BLOCK_WARPS_MAX];
    /* Counters that are asked for together do not lie side by side: a compiler reads such a pair as one word, and a
     * processor then waits until it has left the store buffer. */
    uint32_t live_warps, warp_count;
    uint32_t in_flight, atomics;
    uint32_t stores;
    uint32_t registers_pending; /* instructions in flight with destinations */
    uint64_t reported;          /* stopping: warps whose registers have gone into the pipeline, by index */
    uint64_t moved_bytes, sent_bytes;
    uint32_t transfers;     /* save or restore requests not yet acknowledged */
    uint64_t context_bytes; /* of the context it is saved to or restored from */
    uint64_t handler_until; /* a warp of it serves a fault itself until then (fault_unit.h) */
    uint64_t fault_cycle;   /* restored: when all pages are there that its warps have faulted on */
    uint32_t gives_up;      /* 1: it is the rest of a block that has left, which is being saved (preemption/parked.h) */
    uint32_t keep;     /* gpump_part bits that stay in place when it is saved, or have stayed when it is restored */
    uint32_t job;      /* of its SM's pipeline; NONE */
    uint32_t moving;   /* REQUEST_SAVE or REQUEST_RESTORE */
    uint32_t ended;    /* 1: nothing of it is left, and block life will be told */
    uint32_t stopping; /* issues no more, waits are being reported */
    uint32_t dropping; /* 1: it vanishes as soon as none of its warps is on its way to a frame or home (duet.h) */
    uint32_t to_point; /* stopping: warps still run on to their preemption points */
    uint32_t last_waits;
    uint32_t local_frame;
    uint32_t flushes;    /* how often it has been flushed so far */
    uint32_t preemption; /* entry of the preemption log it leaves under; NONE */
    uint32_t victim;     /* its entry in a victim request (victims.h); NONE */
    uint32_t next_free;
} block;

/* The name of a block for components that know neither kernels nor grids (their `cookie`). */
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
    RECORD_HELD /* squashed; it keeps its operands, the log's, until it is replayed */
} record_stage;

/* in_flight.next_free of a load that has left L1, and of one that its warp has counted (load_leaves). */
#define RECORD_MISSED (NONE - 1)
#define RECORD_COUNTED (NONE - 2)

/* One instruction in flight: nothing else knows its state. Until it commits, no instruction sees what it writes to
 * registers; stores and atomics show in memory once they have passed their last translation check. */
typedef struct in_flight {
    /* one cache line: all that arithmetic needs beside its results */
    uint64_t sequence;
    const instruction *instruction;
    const issue_info *info;
    uint32_t block, warp;
    uint32_t pc;
    uint32_t mask;         /* lanes at the PC */
    uint32_t active;       /* of those, lanes whose guard lets them execute */
    uint32_t stage;        /* record_stage */
    uint32_t squashed;     /* 1: vanishes without effect */
    uint32_t unusual;      /* not 0: what operand read must know beside (pipeline.c) */
    uint16_t sources_held; /* 1: the scoreboard still holds its sources */
    uint16_t has_results;  /* 1: what it writes stands in `results` until it commits; 0: it writes nothing, or has */
    uint32_t next_free;    /* of free records; of loads in flight, whether they have left L1 (duet.h) */
    /* the next ones */
    uint32_t outstanding; /* replies awaited */
    uint32_t segment_count;
    uint32_t unchecked;       /* translation checks outstanding */
    uint32_t next_segment;    /* the next one to go to L1 */
    uint32_t in_queue;        /* 1: not all of it has been sent */
    uint32_t conflict_cycles; /* shared-memory bank conflicts: cycles in the load-store unit */
    uint32_t copy_group;      /* of a copy */
    uint32_t straight;        /* 1: all 32 lanes access one array, one element after the other, in global or shared
                                 memory */
    uint32_t faulted;         /* lanes whose check found the page absent */
    LINE_ALIGNED lanes_operand results[INSTRUCTION_DESTINATIONS];
    lanes_operand sources[INSTRUCTION_SOURCES]; /* of memory and control instructions; arithmetic needs none: it is
                                                   computed when they are read */
    uint64_t addresses[LANES];
    uint64_t segments[LANES]; /* 128-byte segments it touches in device memory */
    uint32_t words[LANES];    /* which 4-byte words of each */
    uint64_t unused[8];       /* an index into records is one multiplication with this, else shifts and an addition */
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
    PIPE_LINK, /* replies that come another way than the network: who has such a way makes it (parts/fault_unit) */
    PIPES
} pipe_kind;

#endif
