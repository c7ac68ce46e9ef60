/* technique: how a block leaves an SM, as a constant struct (calculation; Shieh 3.2, Lin 2.3, Tanasic 5.2.2)
 *
 * A technique says in which states a block may leave by it, what the SM does first, what the SM then waits for, and
 * what the cost estimate starts from. The SM, the cost estimates, victim selection, the scheduler, the sharing of SMs
 * and the hosts name a technique by its number: its place in one list of at most eight. The four built-in techniques
 * have the numbers of gpump_technique_number.
 *
 * Up to four techniques of your own take the numbers 4 to 7. Define each as `const gpump_technique NAME = {...}` in a C
 * file, and define GPUMP_TECHNIQUE_4 (then _5, _6, _7) as NAME where the library is compiled.
 * `cmake -DGPUMP_TECHNIQUE=FILE` does both (docs/extending.md).
 *
 * Being killed is no technique: gpump_sm_kill drops a block for good because its process is aborted. */
#ifndef GPUMP_TECHNIQUE_H
#define GPUMP_TECHNIQUE_H

#include "base/base.h"
#include "gpu/port.h"
#include "gpu/block.h"

GPUMP_BEGIN

/* What an SM does first with a block that is told to leave. The rest follows from it: what is left of the block, and
 * the estimate that gpump_cost_estimate_blocks starts from. The values are the numbers of the built-in techniques that
 * begin so. */
typedef enum gpump_technique_begin {
    /* Drop the block (FLUSHED). Nothing is left: the block starts again. Cost: all that it has executed. */
    GPUMP_TECHNIQUE_BEGIN_DROP = GPUMP_TECHNIQUE_FLUSH,
    /* Stop its warps where they are, then save the block (STOPPING, SAVING). A context is left. Cost: the save and the
     * restore. */
    GPUMP_TECHNIQUE_BEGIN_STOP = GPUMP_TECHNIQUE_SWITCH,
    /* Let the block run to its end (DRAINING). Nothing is left. Cost: none. */
    GPUMP_TECHNIQUE_BEGIN_RUN = GPUMP_TECHNIQUE_DRAIN,
    /* Send its warps back to their last region boundaries, then save the block (STOPPING, SAVING). A context is left.
     * Cost: what was executed since the boundaries, the save and the restore. */
    GPUMP_TECHNIQUE_BEGIN_REWIND = GPUMP_TECHNIQUE_REWIND
} gpump_technique_begin;

/* What a stopped block may wait for before its state is complete; bits. A host reports the bits that it knows. */
typedef enum gpump_sm_wait {
    GPUMP_SM_WAIT_PIPELINE = 1,
    GPUMP_SM_WAIT_STORES = 2,
    GPUMP_SM_WAIT_ATOMICS = 4,
    GPUMP_SM_WAIT_INSTRUCTION_MISSES = 8,
    GPUMP_SM_WAIT_SCOREBOARD = 16,
    GPUMP_SM_WAIT_PREEMPTION_POINT = 32,
    GPUMP_SM_WAIT_FAULT = 64, /* pages that the block waits for; only where a faulted block cannot be saved (stall) */
    GPUMP_SM_WAIT_ALL = 127
} gpump_sm_wait;

struct gpump_technique;

/* Arguments of the estimate hook. */
typedef struct gpump_technique_estimate_args {
    const struct gpump_technique *technique;
    const gpump_port *port; /* the port through which the SM's contexts pass */
    const gpump_block_view *block;
    uint64_t ipc; /* mean warp instructions per cycle of a block of this function on this SM, Q16.16; GPUMP_UNKNOWN */
} gpump_technique_estimate_args;

/* A technique: a constant struct. */
typedef struct gpump_technique {
    uint32_t states;      /* in which a block may be told to leave by it: bits 1 << gpump_block_state */
    uint32_t unclobbered; /* 1: only a block that has overwritten nothing that it read */
    uint32_t begin;       /* gpump_technique_begin */
    /* STOP, REWIND: gpump_sm_wait bits that must end before the save, of those that the host reports. With
     * PREEMPTION_POINT warps issue until each of them has reached its point. */
    uint32_t waits;
    uint32_t keeps;   /* STOP, REWIND: gpump_part bits that a choice may leave in place (gpump_block_choice.keep) */
    const char *name; /* as hosts print it and read it */
    const char *description; /* one sentence */
    /* Changes the estimate of one block. *latency (cycles) and *overhead (warp instructions) come with the estimate of
     * the built-in technique that begins alike. NULL: that estimate holds. */
    void (*estimate)(const gpump_technique_estimate_args *args, uint64_t *latency, uint64_t *overhead);
} gpump_technique;

/* Returns the technique of a number, NULL where no technique has it. The numbers in use have no gap. Cost: constant. */
GPUMP_API const gpump_technique *gpump_technique_at(uint32_t number);
/* Returns what the SM does first under technique `number` (gpump_technique_begin); GPUMP_NONE where no technique has
 * the number. Hot: a built-in technique begins as its number says. */
GPUMP_INLINE uint32_t gpump_technique_begins(uint32_t number) {
    const gpump_technique *own;
    if (number <= GPUMP_TECHNIQUE_REWIND) return number;
    own = gpump_technique_at(number);
    return own ? own->begin : GPUMP_NONE;
}
/* Returns the number of the technique called `name`; GPUMP_NONE: no technique is called so. */
GPUMP_API uint32_t gpump_technique_find(const char *name);

/* What is left of the space in memory for the contexts of one kernel. gpump_context_pool_room fills one; a host without
 * that pool fills it from an account of its own. */
typedef struct gpump_context_room {
    uint64_t context_bytes; /* bytes that one context may have; UINT64_MAX: any number */
    uint32_t kernel;        /* kernel number, from 1, as in the views or tables that the room is held against */
    uint32_t contexts;      /* contexts that still fit; UINT32_MAX: any number */
} gpump_context_room;

/* Removes from `may` of each of blocks[count] the techniques that save a context, where rooms[room_count] has no space
 * for the context. A kernel without a room has all the space that it asks for. A parked block has its context already.
 * A host calls this before a decision, and takes the context (gpump_context_pool_take) before it tells the block to
 * leave: two blocks may both be allowed to take the last context. Cost: count x room_count. */
GPUMP_API void gpump_technique_limit_by_room(gpump_block_view *blocks, uint32_t count, const gpump_context_room *rooms,
                                             uint32_t room_count);

/* Private: the numbers in use, as bits. */
GPUMP_API uint32_t gpumpi_techniques(void);
/* Private: 1 when a block that leaves by the technique writes a context. */
GPUMP_INLINE int gpumpi_technique_saves(uint32_t number) {
    const uint32_t begins = gpump_technique_begins(number);
    return begins == GPUMP_TECHNIQUE_BEGIN_STOP || begins == GPUMP_TECHNIQUE_BEGIN_REWIND;
}
/* Private: GPUMP_ERROR_CONFIG for a configuration's field `technique` that is neither a technique nor
 * GPUMP_TECHNIQUE_SELECT. */
GPUMP_API gpump_result gpumpi_technique_check(uint32_t technique, gpump_diag *diag);

GPUMP_END
#endif
