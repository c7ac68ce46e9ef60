/* sm: slots, register and shared-memory allocation tables, block life cycle, preemption (hardware)
 *
 * One streaming multiprocessor (SM) as preemption sees it (Lin 2.3.1, Tanasic 5.2.2, Shieh 3.2 and 3.4.4). The host
 * executes instructions. The SM records the registers and shared memory that each block holds, the state of each block,
 * and the next action:
 *
 *   gpump_sm_place            -> RUNNING; for a saved block RESTORING, and a RESTORE action
 *   gpump_sm_preempt, flush   -> FLUSHED, DROP action;  report_dropped -> FREED action
 *   gpump_sm_preempt, drain   -> DRAINING;              report_done    -> FREED action
 *   gpump_sm_preempt, switch  -> STOPPING, STOP action; report_waits 0 -> SAVING, SAVE action;
 *                                report_saved -> FREED action
 *   gpump_sm_preempt, rewind  -> STOPPING, REWIND action; then as for switch
 *   gpump_sm_preempt, a technique of your own -> as the built-in technique that begins alike (gpump_technique.begin)
 *   gpump_sm_kill             -> KILLED, DROP action;  report_dropped -> FREED action, and no block comes back
 *   report_done, at any point before report_dropped or report_saved -> FREED action
 *   switch or rewind that keeps registers or shared memory in place -> PARKED action instead of FREED;
 *                                gpump_sm_unpark brings the block back
 *
 * The room of a block is free, and its slot can be used again, when gpump_sm_next hands over FREED.
 *
 * The SM keeps no account of the space for contexts in memory, because several SMs share it: see gpump_context_room. */
#ifndef GPUMP_SM_H
#define GPUMP_SM_H

#include "base/component.h"
#include "gpu/gpu.h"
#include "gpu/block.h"
#include "gpu/technique.h"

GPUMP_BEGIN

/* How the SM chooses ranges of registers and shared memory. */
typedef enum gpump_sm_placement {
    /* The lowest free range, for registers and for shared memory separately. */
    GPUMP_SM_FIRST_FIT = 0,
    /* The lowest position at which both are free (Shieh 3.2). Position i starts at register i x registers per block and
     * at byte i x shared bytes per block. */
    GPUMP_SM_ALIGNED = 1
} gpump_sm_placement;

/* What determines the time of a context transfer. */
typedef enum gpump_sm_timing {
    /* The host moves the bytes through its own memory model and reports when they are saved and restored. */
    GPUMP_SM_TIMING_HOST = 0,
    /* The SM's memory port moves them at its share of the bandwidth, one transfer after the other. */
    GPUMP_SM_TIMING_PORT = 1
} gpump_sm_timing;

/* The configuration of an SM. gpump_preset or gpump_sm_config_from_gpu fills it; every field may then be
 * changed. */
typedef struct gpump_sm_config {
    uint32_t lanes;       /* threads of a warp; 1 to 64 */
    uint32_t block_slots; /* blocks that hold warps at the same time; 1 to 64 */
    /* Entries of the allocation tables: blocks at the same time, parked blocks included; block_slots to 64 (Lin 2.3.1:
     * 16). */
    uint32_t entries;
    uint32_t warp_slots;           /* warps at the same time; 1 to 256 */
    uint32_t thread_slots;         /* threads at the same time; at least 1 */
    uint32_t registers;            /* 32-bit registers of the register file */
    uint32_t register_granule;     /* registers are allocated in multiples of this; at least 1 */
    uint32_t shared_bytes;         /* bytes of shared memory */
    uint32_t shared_granule_bytes; /* shared memory is allocated in multiples of this; at least 1 */
    uint32_t kernels;              /* kernels with blocks here at the same time, parked blocks included; 1 to 64 */
    uint32_t placement;            /* gpump_sm_placement */
    /* Techniques that the host can carry out, as bits 1 << number (gpump_technique_at). Only a host that records the
     * region boundaries of warps can rewind; the presets take every technique of the list that does not rewind. */
    uint32_t techniques;
    uint32_t waits;  /* gpump_sm_wait bits that this host reports; 0: a stopped block is complete at once */
    uint32_t timing; /* gpump_sm_timing */
    /* The room in which another component places blocks (gpump_sm_request.placed), as gpump_duet does: the SM allocates
     * behind it. Preset: all 0, nobody does. Its registers and bytes are multiples of the granules. */
    gpump_room placed;
    gpump_port port; /* carries the contexts */
} gpump_sm_config;

/* What happened to a block before its present residence on the SM. SAVE and FREED hand the history to the host.
 * gpump_sm_place takes the history of a saved block as an argument. */
typedef struct gpump_sm_history {
    uint64_t executed;           /* warp instructions since the block was launched */
    uint64_t cycles;             /* cycles that the block has been on an SM since its launch */
    gpump_context_sizes context; /* bytes of its saved context */
    uint32_t clobbered;          /* 1: the block has overwritten something that it read, and may never be flushed */
    uint32_t unused;
} gpump_sm_history;

/* A request to place a block on the SM. */
typedef struct gpump_sm_request {
    uint64_t cookie;      /* the host's name for the block's whole life */
    uint32_t kernel;      /* number of the launch, from 1; gpump_sm_reserve uses this number */
    uint32_t group;       /* blocks of one group leave together; 0: no group */
    gpump_footprint need; /* threads, registers, shared memory of the whole block */
    /* Number of the function that the launch executes, from 1. Every launch of the function has the same number. Views
     * and actions carry the number, and the host indexes its cost histories by it. 0: the launch's number is used. */
    uint32_t function;
    /* gpump_part bits (registers, shared memory, slots) that another component places in gpump_sm_config.placed, as
     * gpump_duet places homes and frames. The SM allocates none of them and asks no room for them, and the block cannot
     * leave them in place. */
    uint32_t placed;
    uint32_t unused;
} gpump_sm_request;

/* Orders to the host, and notices for the host. */
typedef enum gpump_sm_action_kind {
    /* Issue no more instructions of this block. With to_point each warp first runs to its preemption point. Then report
     * waits. */
    GPUMP_SM_ACTION_STOP = 1,
    /* Send the warps of the block back to their last region boundaries, as gpump_sm_action says. Then report waits. */
    GPUMP_SM_ACTION_REWIND,
    /* Write `parts` of the context. Under timing HOST, report saved. */
    GPUMP_SM_ACTION_SAVE,
    /* Read `parts` of the context into the given ranges. Under timing HOST, report restored. */
    GPUMP_SM_ACTION_RESTORE,
    /* The restore has ended and the block may issue. Only under timing PORT: under HOST the host itself reports the
     * end. */
    GPUMP_SM_ACTION_RESUME,
    /* Squash the block's instructions in flight and discard the block. Then report dropped. If the exit of the block's
     * last thread is in flight, the host may let the exit commit instead and report done. After kill the host reports
     * dropped in every case. */
    GPUMP_SM_ACTION_DROP,
    /* The block has left its warp slots. `parts` stay in place. */
    GPUMP_SM_ACTION_PARKED,
    /* The room is free. `why` and the history say how the block left. */
    GPUMP_SM_ACTION_FREED
} gpump_sm_action_kind;

/* One action. Ranges are the block's own. With DROP and FREED they are the ranges that the block held before.
 *
 * REWIND: a warp that has neither ended nor waits at a barrier goes back to the region boundary that it passed last.
 * What the warp has in flight is squashed, its PC and SIMT stack become those recorded at the boundary, and
 * gpump_sm_report_rewound counts the instructions given up. A warp that has since done something that must not happen
 * twice (an atomic, a volatile access) runs on to its next boundary instead. Until all warps stand at a boundary, the
 * host reports GPUMP_SM_WAIT_PREEMPTION_POINT, if that bit is among config.waits, and warps may issue. */
typedef struct gpump_sm_action {
    uint64_t cookie;
    uint64_t bytes;       /* SAVE, RESTORE: bytes to move, the state beside `parts` included */
    uint64_t start_cycle; /* SAVE, RESTORE: cycle at which the SM's memory port starts the transfer */
    uint64_t end_cycle;   /* SAVE, RESTORE: cycle of the last byte, at the SM's share of the bandwidth */
    gpump_sm_history history;
    gpump_block_ref block;
    uint32_t kind;      /* gpump_sm_action_kind */
    uint32_t why;       /* gpump_block_state: FLUSHED or KILLED with DROP; SAVED, FLUSHED, KILLED or DONE with FREED */
    uint32_t technique; /* number of the technique by which the block was ordered to leave; GPUMP_NONE: none */
    uint32_t parts;     /* gpump_part bits: what to move (SAVE, RESTORE), what stays (PARKED) */
    uint32_t kernel;
    uint32_t register_base, registers;
    uint32_t shared_base, shared_bytes;
    uint32_t threads, warps;
    uint32_t function; /* index of the host's cost history: gpump_sm_request.function, or `kernel` when that is 0 */
} gpump_sm_action;

/* Counters since gpump_init; names, units and descriptions by gpump_statistics_field. */
/* clang-format off */
#define GPUMPI_SM_STATISTICS(X)                                                                          \
    X(placed, "blocks", "new blocks placed")                                                            \
    X(restored, "blocks", "saved blocks placed again")                                                  \
    X(unparked, "blocks", "parked blocks brought back")                                                 \
    X(done, "blocks", "blocks that ran to their end, drained ones included")                            \
    X(drained, "blocks", "blocks that ran to their end after being told to")                            \
    X(flushed, "blocks", "blocks dropped")                                                              \
    X(saved, "blocks", "blocks whose context was written")                                              \
    X(killed, "blocks", "blocks dropped for good")                                                      \
    X(rewound, "blocks", "blocks told to go back to their last region boundaries and be saved there")   \
    X(parked, "blocks", "blocks of which a part stayed in place")                                       \
    X(executed, "warp instructions", "instructions executed here by blocks that have left; " \
      "those before a restore not again") \
    X(wasted, "warp instructions", "instructions thrown away by flushes and rewinds")                   \
    X(bytes_saved, "bytes", "context bytes written")                                                    \
    X(bytes_restored, "bytes", "context bytes read")                                                    \
    X(stop_cycles, "cycles", "summed over blocks: from being told to switch to the state being complete") \
    X(save_cycles, "cycles", "summed over blocks: from complete state to saved, or to its end")                        \
    X(restore_cycles, "cycles", "summed over blocks: from placed to running again")                     \
    X(drain_cycles, "cycles", "summed over blocks: from being told to drain to done")                   \
    X(drop_cycles, "cycles", "summed over blocks: from being told to flush or killed to dropped, or to its end")       \
    X(port_cycles, "cycles", "cycles the memory port was reserved for contexts")                        \
    X(port_returned_cycles, "cycles", "of these, given back because a transfer ended early")
/* clang-format on */
typedef struct gpump_sm_statistics {
#define GPUMPI_FIELD(name, unit, description) uint64_t name;
    GPUMPI_SM_STATISTICS(GPUMPI_FIELD)
#undef GPUMPI_FIELD
} gpump_sm_statistics;

/* ---- private, here so that hot facts and questions can be inline ---- */
typedef struct gpumpi_sm_slot {
    uint64_t cookie;             /* the host's name for the block */
    uint64_t executed;           /* warp instructions of this launch */
    uint64_t start_cycle;        /* when it began, or was restored, here */
    uint64_t cycles;             /* cycles it ran before start_cycle; all of them once it is being saved */
    gpump_context_sizes context; /* what a save of it moves */
    uint64_t port_start;         /* the transfer under way: when the port is free for it */
    uint64_t port_end;           /* the transfer under way: when its last byte has passed */
    uint64_t since;              /* when the present state began, or the order to leave came */
    uint64_t moved;              /* bytes of the transfer under way */
    uint64_t brought;            /* `executed` when it was placed */
    uint64_t ready_cycle;        /* when the last page that it waits for is there; 0: it waits for none */
    uint32_t generation;         /* of the slot: counts its blocks */
    uint32_t kernel;             /* number of the launch, from 1 */
    uint32_t function;           /* number of what it executes, from 1 */
    uint32_t state;              /* gpump_block_state */
    uint32_t group;              /* blocks of one kernel and group leave together; 0: none */
    uint32_t register_base;      /* first 32-bit register of its range */
    uint32_t registers;          /* length of that range, also while it has given the range up */
    uint32_t shared_base;        /* first byte of its shared memory */
    uint32_t shared_bytes;       /* length of that range, likewise */
    uint32_t threads;            /* thread slots it takes while it is active */
    uint32_t warps;              /* warp slots it takes while it is active */
    uint32_t waits;              /* STOPPING: gpump_sm_wait bits that are still to end */
    uint32_t clobbered;          /* 1: it has overwritten something it read, and may not be flushed */
    uint32_t technique;          /* number of the technique it was told to leave by; GPUMP_NONE */
    uint32_t keep;               /* gpump_part bits that stay in place when it is preempted */
    uint32_t to_point;           /* 1: warps issue until they are at a preemption point or region boundary */
    uint32_t pending;            /* actions to be handed over: bit k is gpump_sm_action_kind k */
    uint32_t held;               /* gpump_part bits of the ranges that it holds */
    uint32_t parts;              /* gpump_part bits that the transfer under way moves */
    uint32_t why;                /* FREED: the state in which it left */
    uint32_t active;             /* 1: it holds a block slot, warp slots and thread slots, here or elsewhere */
    uint32_t faults;             /* granules that it waits for */
    uint32_t placed;             /* gpump_part bits that another component places: their ranges are empty here */
    uint32_t unused;
} gpumpi_sm_slot;
typedef struct gpumpi_sm_kernel {
    uint32_t kernel, blocks;
} gpumpi_sm_kernel;
typedef struct gpump_sm {
    gpumpi_head head;
    uint64_t now;
    gpump_port port;     /* as it stands: config.port is what it was at first */
    uint64_t wake_cycle; /* no transfer under way ends before; GPUMP_UNKNOWN: none is under way, or timing HOST */
    uint64_t pending;    /* bit i: slot i has an action to hand over */
    gpump_sm_config config;
    gpump_sm_statistics statistics;
    uint32_t blocks, warps, threads, reserved_for, shared_bytes, unused;
} gpump_sm;
GPUMP_INLINE gpumpi_sm_slot *gpumpi_sm_slots(gpump_sm *sm) { return (gpumpi_sm_slot *)(void *)(sm + 1); }
GPUMP_INLINE const gpumpi_sm_slot *gpumpi_sm_slots_const(const gpump_sm *sm) {
    return (const gpumpi_sm_slot *)(const void *)(sm + 1);
}
GPUMP_INLINE int gpumpi_sm_names(const gpump_sm *sm, gpump_block_ref block) {
    return block.slot < sm->config.entries && gpumpi_sm_slots_const(sm)[block.slot].generation == block.generation &&
           gpumpi_sm_slots_const(sm)[block.slot].state != GPUMP_BLOCK_FREE;
}
/* ---- end of the private part ---- */

/* Fills *config for an SM of any valid *gpu, with the defaults of gpump_preset. `shared_bytes` is one of the
 * GPU's shared-memory sizes, in bytes (gpump_occupancy.shared_bytes). GPUMP_ERROR_ARGUMENT. */
GPUMP_API gpump_result gpump_sm_config_from_gpu(gpump_sm_config *config, const gpump_gpu *gpu, uint32_t shared_bytes);

/* The SM for the verbs of base/component.h: gpump_init makes an empty SM. Presets are those of gpump_gpu_component:
 * an SM with its largest shared-memory size, every block may be of another kernel, first fit, all waits, host timing.
 * gpump_bits counts all tables together (gpump_table_bits). gpump_check costs slots
 * squared. The counters leave out the instructions of resident blocks: gpump_sm_blocks has these. */
GPUMP_API const gpumpi_methods *gpumpi_sm_methods(void);
GPUMPI_CONSTANT gpump_component gpump_sm_component = {gpumpi_sm_methods, GPUMP_LAYOUT_SM, 0};

/* The SRAM an SM of this configuration needs, bits. */
typedef struct gpump_sm_storage {
    /* Register and shared-memory tables: start, length, slot and 5-bit kernel per entry (Lin 2.3.1: 160 B). */
    uint64_t allocation_bits;
    uint64_t status_bits; /* executed (32), issue cycle (32), flush bit per block slot (Shieh 3.4.4) */
    uint64_t life_bits;   /* state, technique, parts kept, waits per entry; warps and threads per entry */
    uint64_t total_bits;
} gpump_sm_storage;

/* ---- facts ---- */

/* Places the block *request on the SM at cycle `now` and sets *block. `saved` is NULL for a block that starts. For a
 * saved block, `saved` is the history from its SAVE or FREED action; the block then is RESTORING, and a RESTORE action
 * follows. GPUMP_BUSY: there is no room now; diag holds the reason (threads, warps, slots, registers, shared memory,
 * kernels, reserved). GPUMP_ERROR_REFUSED with NEVER_FITS: the block is larger than an empty SM. Cost: slots squared at
 * worst. */
GPUMP_API gpump_result gpump_sm_place(gpump_sm *sm, uint64_t now, const gpump_sm_request *request,
                                      const gpump_sm_history *saved, gpump_block_ref *block, gpump_diag *diag);
/* Places a block as gpump_sm_place does from `request` and `saved`, but in the entry `slot` of the tables: for a host
 * whose hardware slots have the numbers of gpump's. slot = GPUMP_NONE takes the lowest free entry. GPUMP_BUSY with
 * BLOCK_SLOTS in diag when a block holds the entry: it is free once FREED has been pulled. GPUMP_ERROR_ARGUMENT when
 * `slot` is not below config.entries; else as gpump_sm_place. */
GPUMP_API gpump_result gpump_sm_place_in(gpump_sm *sm, uint64_t now, uint32_t slot, const gpump_sm_request *request,
                                         const gpump_sm_history *saved, gpump_block_ref *block, gpump_diag *diag);
/* Adds `warp_instructions` to the executed warp instructions of `block`. GPUMP_ERROR_STALE: the block is not on this
 * SM. Hot: no search. */
GPUMP_INLINE gpump_result gpump_sm_report_executed(gpump_sm *sm, gpump_block_ref block, uint32_t warp_instructions) {
    if (!gpumpi_sm_names(sm, block)) return GPUMP_ERROR_STALE;
    gpumpi_sm_slots(sm)[block.slot].executed += warp_instructions;
    return GPUMP_OK;
}
/* Moves `warp_instructions` of `block` from executed to wasted, because its warps have rewound to a region boundary.
 * GPUMP_ERROR_STATE: the block is not STOPPING by rewind. GPUMP_ERROR_ARGUMENT: the block has executed fewer.
 * GPUMP_ERROR_STALE. Cost: constant. */
GPUMP_API gpump_result gpump_sm_report_rewound(gpump_sm *sm, gpump_block_ref block, uint64_t warp_instructions);
/* Clears the flush bit of `block`, which has executed an atomic, or a store to an address that its launch has read. The
 * block is never flushed again in this launch. GPUMP_ERROR_STALE. Hot. */
GPUMP_INLINE gpump_result gpump_sm_report_clobber(gpump_sm *sm, gpump_block_ref block) {
    if (!gpumpi_sm_names(sm, block)) return GPUMP_ERROR_STALE;
    gpumpi_sm_slots(sm)[block.slot].clobbered = 1;
    return GPUMP_OK;
}
/* Reports `waits`, the events that the STOPPING block still waits for over all its warps: gpump_sm_wait bits among
 * config.waits. 0: the block's state is complete, and SAVE follows. GPUMP_ERROR_STATE: the block is not STOPPING. */
GPUMP_API gpump_result gpump_sm_report_waits(gpump_sm *sm, uint64_t now, gpump_block_ref block, uint32_t waits);
/* Reports the bytes that a switch of `block` would move, *sizes: for example live or compressed registers, and the
 * state beside them. Without a report the SM counts the allocated registers and shared memory, and no state.
 * GPUMP_ERROR_STATE: the block is already SAVING. */
GPUMP_API gpump_result gpump_sm_report_context_bytes(gpump_sm *sm, gpump_block_ref block,
                                                     const gpump_context_sizes *sizes);
/* Reports that a running block is blocked as a whole (`blocked` = 1), or that it runs again (0). GPUMP_ERROR_STATE: the
 * block's state would not change. */
GPUMP_API gpump_result gpump_sm_report_blocked(gpump_sm *sm, uint64_t now, gpump_block_ref block, uint32_t blocked);
/* Reports that `block` waits for `faults` granules, of which the last is resident at cycle `ready_cycle`
 * (gpump_fault_pending, gpump_fault_ready_cycle). 0, 0: the block waits for none. gpump_block_view.faults and
 * .fault_cycles carry the report. GPUMP_ERROR_STATE: the block has left. */
GPUMP_API gpump_result gpump_sm_report_faults(gpump_sm *sm, gpump_block_ref block, uint32_t faults,
                                              uint64_t ready_cycle);
/* Reports that the context of `block` is written (timing HOST). GPUMP_ERROR_STATE: its SAVE action was not pulled. */
GPUMP_API gpump_result gpump_sm_report_saved(gpump_sm *sm, uint64_t now, gpump_block_ref block);
/* Reports that the context of `block` is read (timing HOST). The block runs from then on. GPUMP_ERROR_STATE: its
 * RESTORE action was not pulled. */
GPUMP_API gpump_result gpump_sm_report_restored(gpump_sm *sm, uint64_t now, gpump_block_ref block);
/* Reports that the last thread of `block` has ended. FREED follows, with why DONE. The call is allowed while the block
 * runs, is blocked, drains, stops, is being flushed or is being saved, because its last exit may be in the pipeline. In
 * all of these cases the block counts as done, and no instruction is wasted. A pending STOP, REWIND, DROP or SAVE is
 * withdrawn. The host ignores such an action that it has already pulled: the host reports neither dropped nor saved.
 * GPUMP_ERROR_STATE: the block is saved, dropped or parked. */
GPUMP_API gpump_result gpump_sm_report_done(gpump_sm *sm, uint64_t now, gpump_block_ref block);
/* Reports that no instruction of the flushed or killed `block` is in flight. GPUMP_ERROR_STATE: its DROP action was not
 * pulled. */
GPUMP_API gpump_result gpump_sm_report_dropped(gpump_sm *sm, uint64_t now, gpump_block_ref block);
/* Advances the SM to cycle `now`. Only a host under timing PORT that asks questions before it pulls actions needs this
 * call. Cost: linear in the slots. */
GPUMP_API gpump_result gpumpi_sm_advance(gpump_sm *sm, uint64_t now);

/* Reserves the SM for one kernel (Tanasic 5.2.2): only blocks of `kernel` are placed. `kernel` 0 ends the
 * reservation. */
GPUMP_API gpump_result gpump_sm_reserve(gpump_sm *sm, uint32_t kernel);
/* Changes the size of shared memory to `bytes`. GPUMP_ERROR_ARGUMENT: `bytes` is larger than config.shared_bytes was at
 * gpump_init. GPUMP_ERROR_STATE: a block holds shared memory beyond the new end. Cost: linear in the slots. */
GPUMP_API gpump_result gpump_sm_set_shared_bytes(gpump_sm *sm, uint32_t bytes, gpump_diag *diag);

/* ---- questions ---- */

/* Returns 1 when warps of the block in `slot` may issue: running, draining, or stopping on the way to a preemption
 * point. Hot. */
GPUMP_INLINE int gpump_sm_may_issue(const gpump_sm *sm, uint32_t slot) {
    const gpumpi_sm_slot *block = &gpumpi_sm_slots_const(sm)[slot];
    return block->state == GPUMP_BLOCK_RUNNING || block->state == GPUMP_BLOCK_DRAINING ||
           (block->state == GPUMP_BLOCK_STOPPING && block->to_point && (block->waits & GPUMP_SM_WAIT_PREEMPTION_POINT));
}
/* Returns the state of the block in `slot` (gpump_block_state). Hot. */
GPUMP_INLINE uint32_t gpump_sm_state(const gpump_sm *sm, uint32_t slot) {
    return gpumpi_sm_slots_const(sm)[slot].state;
}
/* Returns 0 when gpump_sm_next would return GPUMP_EMPTY at cycle `now`, and 1 when gpump_sm_next may have an action.
 * While the result is 0 a host need not call gpump_sm_next or gpumpi_sm_advance. Hot: two loads, no search. */
GPUMP_INLINE int gpump_sm_has_action(const gpump_sm *sm, uint64_t now) {
    return sm->pending != 0 || now >= sm->wake_cycle;
}
/* Returns GPUMP_REASON_YES when `block` may leave by `technique` now, or after a wait that ends without a further
 * decision. Any other reason is the cause of the refusal. Cost: constant. */
GPUMP_API gpump_reason gpump_sm_may(const gpump_sm *sm, gpump_block_ref block, uint32_t technique);
/* Returns the first event that the STOPPING `block` waits for, or GPUMP_REASON_YES when it waits for none. *waits gets
 * all gpump_sm_wait bits, and *since the cycle at which the block was stopped; both may be NULL. NOT_RUNNING: the block
 * is not STOPPING. */
GPUMP_API gpump_reason gpump_sm_waits_for(const gpump_sm *sm, gpump_block_ref block, uint32_t *waits, uint64_t *since);
/* Returns GPUMP_REASON_YES when a block of `kernel` with the footprint *need has room now. Any other reason names the
 * resource that is short. Cost: slots squared at worst. */
GPUMP_API gpump_reason gpumpi_sm_room(const gpump_sm *sm, uint32_t kernel, const gpump_footprint *need);
/* Writes the views of this SM's blocks to blocks[capacity], in slot order, and sets *count. A capacity of 64 always
 * suffices. The field `cycles` of each view counts up to `now`. GPUMP_ERROR_CAPACITY. Cost: linear in the slots. */
GPUMP_API gpump_result gpump_sm_blocks(const gpump_sm *sm, uint64_t now, gpump_block_view *blocks, uint32_t capacity,
                                       uint32_t *count);
/* Fills the view of one block. GPUMP_ERROR_STALE. */
GPUMP_API gpump_result gpump_sm_block(const gpump_sm *sm, uint64_t now, gpump_block_ref block, gpump_block_view *view);

/* ---- decisions carried out ---- */

/* Preempts the blocks of choices[count], each by its own technique. On an error no block is preempted. The states in
 * which a block may be told to leave are those of gpump_technique.states:
 *   flush         running, blocked, draining, stopping, parked
 *   switch        running, blocked, draining; a parked block may be switched again to give up more parts
 *   drain         running, blocked
 *   rewind        running, blocked, draining
 * The choices must contain every block of a group. GPUMP_ERROR_REFUSED: diag->index is the choice at fault, and
 * diag->reason the cause. Cost: linear in the slots and choices. */
GPUMP_API gpump_result gpump_sm_preempt(gpump_sm *sm, uint64_t now, const gpump_block_choice *choices, uint32_t count,
                                        gpump_diag *diag);
/* Drops `block` for good, because its process is aborted: whatever its flush bit, group and config.techniques. A DROP
 * action follows. A kill ends a save or restore under way, and the host then reports neither. GPUMP_ERROR_STATE: the
 * block is about to be freed. GPUMP_ERROR_STALE. Cost: linear in the slots. */
GPUMP_API gpump_result gpump_sm_kill(gpump_sm *sm, uint64_t now, gpump_block_ref block);
/* Reactivates the parked `block`: the SM allocates its warp slots and the ranges that it gave up. A RESTORE action
 * follows, of the state alone when every part stayed in place. GPUMP_BUSY: there is no room; diag holds the reason.
 * GPUMP_ERROR_STATE: the block is not parked. */
GPUMP_API gpump_result gpump_sm_unpark(gpump_sm *sm, uint64_t now, gpump_block_ref block, gpump_diag *diag);
/* Pulls the next action into *action. Actions are ordered by slot, then by time within a slot. GPUMP_EMPTY: there is no
 * action (gpump_sm_has_action is the inline test). Cost: constant; linear in the slots in a cycle in which a transfer
 * ends (timing PORT). */
GPUMP_API gpump_result gpump_sm_next(gpump_sm *sm, uint64_t now, gpump_sm_action *action);

GPUMP_END
#endif
