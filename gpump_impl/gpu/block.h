/* block: a thread block on an SM as decisions see it: reference, state, parts, techniques, choice (calculation)
 *
 * gpump_sm_blocks fills views of its blocks. A host that keeps an SM of its own fills the same views itself. Every
 * decision (cost, victim, in_place) reads views and nothing else. Decisions call the predicates below instead of
 * comparing states. */
#ifndef GPUMP_BLOCK_H
#define GPUMP_BLOCK_H

#include "base/base.h"

GPUMP_BEGIN

/* Reference to a block on one SM. The generation tells the block from earlier and later blocks of the same slot. */
typedef struct gpump_block_ref {
    uint32_t slot;       /* entry of the SM's allocation tables */
    uint32_t generation; /* of that entry */
} gpump_block_ref;

/* Parts of a block; bits. An SM holds REGISTERS, SHARED_MEMORY and SLOTS. A saved context
 * holds the first four, REPLAY and LOG. */
typedef enum gpump_part {
    GPUMP_PART_REGISTERS = 1,     /* its range of the register file, or what that range held */
    GPUMP_PART_SHARED_MEMORY = 2, /* its range of shared memory, or what that range held */
    GPUMP_PART_STACKS = 4,        /* the SIMT stacks of its warps */
    GPUMP_PART_BLOCK = 8,         /* the block's index and its progress */
    GPUMP_PART_SLOTS = 16,        /* its block slot, warp slots and thread slots */
    GPUMP_PART_REPLAY = 32,       /* instructions of its warps that wait to be issued again */
    GPUMP_PART_LOG = 64,          /* operands that the instructions waiting for replay have logged */
    GPUMP_PARTS_IN_PLACE = 3,     /* registers and shared memory: what a preempted block can leave on its SM */
    GPUMP_PARTS_METADATA = 12     /* SIMT stacks and block: what a save writes behind registers and shared memory */
} gpump_part;

/* How a block leaves an SM: the number of a technique. gpump_technique_at returns what a technique is. */
typedef enum gpump_technique_number {
    GPUMP_TECHNIQUE_FLUSH = 0,  /* drop the block, start it again later */
    GPUMP_TECHNIQUE_SWITCH = 1, /* save its context, restore it later */
    GPUMP_TECHNIQUE_DRAIN = 2,  /* let it run to its end */
    GPUMP_TECHNIQUE_REWIND = 3, /* drop its work since the last region boundaries, save what is live at them */
    GPUMP_TECHNIQUE_OWN = 4,    /* the first of at most four techniques of your own (gpu/technique.h) */
    GPUMP_TECHNIQUES = 8,       /* entries of every array that has one entry for each technique */
    /* No technique: a victim policy chooses one for each block. Where a whole SM is vacated. */
    GPUMP_TECHNIQUE_SELECT = 8
} gpump_technique_number;

/* The life of a block on an SM. */
typedef enum gpump_block_state {
    GPUMP_BLOCK_FREE = 0,  /* no block in this slot */
    GPUMP_BLOCK_RUNNING,   /* may issue */
    GPUMP_BLOCK_BLOCKED,   /* resident; waits for an event that the host reports */
    GPUMP_BLOCK_DRAINING,  /* issues to its end, then leaves */
    GPUMP_BLOCK_STOPPING,  /* about to be saved: waits until its state is complete */
    GPUMP_BLOCK_SAVING,    /* its context is being written */
    GPUMP_BLOCK_SAVED,     /* saved, its storage about to be freed */
    GPUMP_BLOCK_RESTORING, /* its context is being read */
    GPUMP_BLOCK_FLUSHED,   /* dropped, its storage about to be freed */
    GPUMP_BLOCK_DONE,      /* ended, its storage about to be freed */
    GPUMP_BLOCK_PARKED,    /* preempted, out of its slots; its registers, its shared memory or both still in place */
    GPUMP_BLOCK_KILLED,    /* dropped for good, its storage about to be freed */
    GPUMP_BLOCK_STATES
} gpump_block_state;

/* The bytes of a block's context, by what becomes of them when a part of the block stays in place. */
typedef struct gpump_context_sizes {
    uint64_t register_bytes; /* moved unless the registers stay in place */
    uint64_t shared_bytes;   /* moved unless the shared memory stays in place */
    uint64_t state_bytes;    /* moved whenever the block leaves or comes: SIMT stacks, predicates, barriers, heads */
} gpump_context_sizes;

/* One block that holds room on an SM. */
typedef struct gpump_block_view {
    uint64_t cookie;      /* the host's name for the block's whole life */
    uint64_t executed;    /* warp instructions executed in this launch of the block */
    uint64_t start_cycle; /* cycle at which the block started, or was restored, on this SM */
    uint64_t cycles;      /* cycles that the block has run, earlier residences included */
    /* Bytes that a switch would save: registers and shared memory, unless the host reports the true sizes. */
    uint64_t context_bytes;
    gpump_block_ref block;
    uint32_t kernel;        /* number of the launch, from 1; room is reserved per launch */
    uint32_t function;      /* number of the executed function, from 1; selects the cost history; 0: `kernel` is used */
    uint32_t state;         /* gpump_block_state */
    uint32_t register_base; /* first 32-bit register of its range */
    uint32_t registers;     /* length of that range; 0 when a parked block has given its registers up */
    uint32_t shared_base;   /* first byte of its shared memory */
    uint32_t shared_bytes;  /* length of that range; 0 likewise */
    uint32_t threads;       /* thread slots of the block; 0 when the block is parked */
    uint32_t warps;         /* warp slots of the block; 0 when the block is parked */
    uint32_t may;       /* bit t set: technique t is allowed now or after a bounded wait (see gpump_technique_number) */
    uint32_t group;     /* blocks of one kernel with the same group leave together; 0: no group */
    uint32_t technique; /* STOPPING, SAVING: gpump_technique_number the block leaves by */
    uint32_t keep;      /* STOPPING, SAVING: gpump_part bits that stay in place when the block is PARKED; 0: none */
    uint32_t faults;    /* granules of memory that the block waits for; 0: none */
    /* Cycles until the last awaited granule is resident. GPUMP_UNKNOWN: no estimate. 0 without faults. */
    uint64_t fault_cycles;
    /* 1: the block cannot be saved before its pages are resident (stall on fault). 0: the block is saved with its
     * faults pending. */
    uint32_t fault_stalls;
    uint32_t unused;
} gpump_block_view;

/* How one block is to leave its SM. gpump_victim_decide, _reconsider and _vacate write choices. gpump_sm_preempt takes
 * these choices unchanged. A host that chooses by itself sets all to zero, then block and technique. */
typedef struct gpump_block_choice {
    gpump_block_ref block;
    uint32_t technique; /* gpump_technique_number */
    uint32_t keep; /* with techniques that save: gpump_part bits that stay in place (Lin 2.3.1); 0: the block leaves */
    /* With techniques that begin with STOP. 1: warps issue until the host reports that no warp is still short of its
     * preemption point. */
    uint32_t to_point;
    /* gpump_sm_preempt reads none of the fields from here on.
     *
     * The technique to apply at gpump_victim_decision.ask_again if the block still runs then. Equal to `technique` when
     * the block has no second technique. */
    uint32_t otherwise;
    uint32_t sm; /* number of the SM (gpump_victim_sm.sm) */
    uint32_t unused;
    uint64_t cookie;
    uint64_t latency;  /* estimated cycles until the block's room is free; GPUMP_UNKNOWN: no estimate */
    uint64_t overhead; /* estimated loss, warp instructions; GPUMP_UNKNOWN likewise */
} gpump_block_choice;

/* Checks that blocks[count], the views of one SM, describe a state that an SM can have. Decisions assume that views
 * pass this check. A host under development calls the check before each decision.
 *
 * The check refuses: a block that is FREE or of no kernel; an unknown state, technique or part; a block without threads
 * that is not parked; the same block twice; overlapping ranges of registers or shared memory.
 *
 * GPUMP_ERROR_ARGUMENT: diag->field names the field, diag->index the block, and diag->value the value. Cost: linear in
 * count while the blocks are listed nearly in the order of their places, at most count squared (bench/micro,
 * sm_view_check). */
GPUMP_API gpump_result gpump_block_view_check(const gpump_block_view *blocks, uint32_t count, gpump_diag *diag);

/* ---- predicates ---- */

/* Returns 1 when `state` is in `states` (bit s stands for gpump_block_state s). Hot. */
GPUMP_INLINE int gpumpi_block_state_in(uint32_t state, uint32_t states) {
    return state < GPUMP_BLOCK_STATES && (states >> state & 1u);
}
/* Returns 1 when a block in `state` holds its slots and is not leaving: RUNNING, BLOCKED or RESTORING. Hot. */
GPUMP_INLINE int gpump_block_stays(uint32_t state) {
    return gpumpi_block_state_in(state,
                                 1u << GPUMP_BLOCK_RUNNING | 1u << GPUMP_BLOCK_BLOCKED | 1u << GPUMP_BLOCK_RESTORING);
}
/* Returns 1 when a block in `state` gives up its slots, and the parts that it does not keep, without a further
 * decision. Returns 0 for PARKED, because a parked block keeps its parts until a decision names the block. Hot. */
GPUMP_INLINE int gpumpi_block_leaves(uint32_t state) {
    return gpumpi_block_state_in(state, 1u << GPUMP_BLOCK_DRAINING | 1u << GPUMP_BLOCK_STOPPING |
                                            1u << GPUMP_BLOCK_SAVING | 1u << GPUMP_BLOCK_SAVED |
                                            1u << GPUMP_BLOCK_FLUSHED | 1u << GPUMP_BLOCK_DONE |
                                            1u << GPUMP_BLOCK_KILLED);
}
/* Returns 1 when the cycles of a block in `state` are counted: from the block's start until its state is complete.
 * Hot. */
GPUMP_INLINE int gpumpi_block_executes(uint32_t state) {
    return gpumpi_block_state_in(state, 1u << GPUMP_BLOCK_RUNNING | 1u << GPUMP_BLOCK_BLOCKED |
                                            1u << GPUMP_BLOCK_DRAINING | 1u << GPUMP_BLOCK_STOPPING);
}
/* Returns 1 when a block in `state` is about to be saved, or is being saved. gpump_block_view.technique and .keep then
 * hold the technique and the parts that stay in place. Hot. */
GPUMP_INLINE int gpumpi_block_is_saved_now(uint32_t state) {
    return state == GPUMP_BLOCK_STOPPING || state == GPUMP_BLOCK_SAVING;
}

/* Returns the number by which histories of the block's function are kept (gpump_cost_estimate_blocks): its function, or
 * its kernel where the view names no function. Hot. */
GPUMP_INLINE uint32_t gpumpi_block_function(const gpump_block_view *view) {
    return view->function ? view->function : view->kernel;
}
/* Returns the gpump_part bits that the block of a view holds on its SM now. Hot. */
GPUMP_INLINE uint32_t gpumpi_block_parts_held(const gpump_block_view *view) {
    return (view->registers ? (uint32_t)GPUMP_PART_REGISTERS : 0u) |
           (view->shared_bytes ? (uint32_t)GPUMP_PART_SHARED_MEMORY : 0u) |
           (view->state != GPUMP_BLOCK_PARKED && (view->threads | view->warps) ? (uint32_t)GPUMP_PART_SLOTS : 0u);
}
/* Returns the gpump_part bits that the block of a view gives up without a further decision; gpumpi_block_freed_after
 * returns the time. 0 for a block that stays or is parked. Hot. */
GPUMP_INLINE uint32_t gpumpi_block_parts_freed(const gpump_block_view *view) {
    uint32_t keep = gpumpi_block_is_saved_now(view->state) ? view->keep : 0;
    return gpumpi_block_leaves(view->state) ? gpumpi_block_parts_held(view) & ~keep : 0;
}
/* Returns the cycles until what the block of a view gives up (gpumpi_block_parts_freed) is free:
 * latency[GPUMP_TECHNIQUES] are the estimates of this block (gpump_cost_estimate.latency). 0: at once, as for a block
 * that has ended. GPUMP_UNKNOWN for a block that stays or is parked. Hot. */
GPUMP_INLINE uint64_t gpumpi_block_freed_after(const gpump_block_view *view, const uint64_t *latency) {
    if (!gpumpi_block_leaves(view->state)) return GPUMP_UNKNOWN;
    if (view->state == GPUMP_BLOCK_DRAINING) return latency[GPUMP_TECHNIQUE_DRAIN];
    if (!gpumpi_block_is_saved_now(view->state)) return 0;
    return latency[view->technique - GPUMP_TECHNIQUE_REWIND < GPUMP_TECHNIQUES - GPUMP_TECHNIQUE_REWIND
                       ? view->technique
                       : (uint32_t)GPUMP_TECHNIQUE_SWITCH];
}

GPUMP_END
#endif
