/* block_switch: which blocks of an SM are switched out on a page fault, and which blocks replace them (hardware; per
 * SM; Tanasic 6.4.1 and 6.5.3)
 *
 * The thread block scheduler of an SM. The unit tracks the blocks on the SM and the blocks that it has switched off the
 * chip, by their cookies. A block is blocked when none of its warps can run and it waits for pages. A block off the
 * chip is ready when it waits for no page.
 *
 *   gpump_block_switch_report_warp, _report_pending
 *     -> OUT, when the block is blocked and another block can replace it; the host switches the block, saves its
 *        context, and answers with gpump_block_switch_report_left, or with _report_stayed when there is no room for the
 *        context
 *   room on the SM (after _report_left and _report_ended)
 *     -> IN, for the block that has been ready longest; answered by gpump_block_switch_report_residents
 *     -> NEW otherwise, while the SM driver has blocks and the SM has at most config.extra more blocks than it holds;
 *        answered by gpump_block_switch_report_residents, or by _report_none
 *
 * An SM asks this unit before it takes a block from the SM driver. A host that is vacating the SM does not pull
 * actions; blocks off the chip then move to the kernel's queue of preempted blocks (gpump_block_switch_blocks lists
 * them, _report_ended removes them), and the waiters of the fault unit follow the cookie. */
#ifndef GPUMP_BLOCK_SWITCH_H
#define GPUMP_BLOCK_SWITCH_H

#include "base/component.h"
#include "gpu/block.h"
#include "gpu/gpu.h"

GPUMP_BEGIN

/* State of a block. */
typedef enum gpump_block_switch_state {
    GPUMP_BLOCK_SWITCH_FREE = 0, /* no block */
    GPUMP_BLOCK_SWITCH_ON,       /* on the SM */
    GPUMP_BLOCK_SWITCH_LEAVING,  /* on the SM, OUT was handed over */
    GPUMP_BLOCK_SWITCH_OFF,      /* off the chip */
    GPUMP_BLOCK_SWITCH_COMING,   /* off the chip, IN was handed over */
    GPUMP_BLOCK_SWITCH_STATES
} gpump_block_switch_state;

typedef enum gpump_block_switch_action_kind {
    GPUMP_BLOCK_SWITCH_ACT_OUT = 1, /* switch block `cookie` out and save it */
    GPUMP_BLOCK_SWITCH_ACT_IN,      /* restore block `cookie` */
    GPUMP_BLOCK_SWITCH_ACT_NEW      /* take a new block from the SM driver */
} gpump_block_switch_action_kind;
typedef struct gpump_block_switch_action {
    uint64_t cookie; /* OUT, IN */
    uint32_t kind;   /* gpump_block_switch_action_kind */
    uint32_t fair;   /* OUT: 1: the block can run, and leaves because another has been ready for fair_cycles */
} gpump_block_switch_action;

/* A block that the unit knows. */
typedef struct gpump_block_switch_view {
    uint64_t cookie;
    uint64_t since;       /* when the present state began */
    uint64_t ready_cycle; /* when the last page that it waits for is there; 0: it waits for none */
    uint64_t stopped;     /* warps that cannot run; bits */
    uint32_t state;       /* gpump_block_switch_state */
    uint32_t warps;
    uint32_t pending; /* granules that it waits for */
    uint32_t unused;
} gpump_block_switch_view;

/* The configuration of a unit. gpump_preset fills the struct; the host may then change every
 * field. */
typedef struct gpump_block_switch_config {
    uint32_t blocks; /* blocks on the SM at most; 1 to 64; 16 (Tanasic Table 6.1) */
    uint32_t extra;  /* blocks that it may have beyond those that fit; 0 to 64; 4 (Tanasic 6.5.3) */
    /* 1: a block leaves only when its pages are further away than the switch takes: ready_cycle - now > the time in
     * which `port` moves its context there and back. 0: it always leaves (Tanasic 6.4.1). */
    uint32_t priced;
    uint32_t unused;
    /* A ready block that has waited so long forces the block out that has been on the SM longest; at least 1; 1 ms
     * (assumed). Without it, a block that spins on a flag which the ready block would set keeps the SM for ever. */
    uint64_t fair_cycles;
    gpump_port port; /* carries the contexts; its free_cycle is ignored */
} gpump_block_switch_config;

/* clang-format off */
#define GPUMPI_BLOCK_SWITCH_STATISTICS(X)                                                           \
    X(placed, "blocks", "new blocks that were placed")                                             \
    X(ended, "blocks", "that ended, or were taken away")                                           \
    X(outs, "blocks", "told to leave because of faults")                                           \
    X(fair_outs, "blocks", "told to leave because another had been ready for long")                \
    X(ins, "blocks", "told to come back")                                                          \
    X(news, "blocks", "asked for from the SM driver")                                              \
    X(stayed, "blocks", "told to leave whose context found no room")                               \
    X(none, "blocks", "asked for that the SM driver did not have")                                 \
    X(blocked_cycles, "cycles", "summed over blocks: blocked on the SM")                           \
    X(off_cycles, "cycles", "summed over blocks: from having left to being told to come back")     \
    X(ready_cycles, "cycles", "of these, with all pages there")
/* clang-format on */
typedef struct gpump_block_switch_statistics {
#define GPUMPI_FIELD(name, unit, description) uint64_t name;
    GPUMPI_BLOCK_SWITCH_STATISTICS(GPUMPI_FIELD)
#undef GPUMPI_FIELD
} gpump_block_switch_statistics;

typedef struct gpump_block_switch gpump_block_switch;

/* The unit for the verbs of base/component.h: gpump_init makes a unit without blocks. Presets: "table61" (Tanasic
 * 6.5.3), and "priced" (the same, switching by price). gpump_bits counts per block its state, its pending granules
 * (16 bits), one bit per warp, and two cycle counts of 32 bits; the cookies of blocks (16 bits). */
GPUMP_API const gpumpi_methods *gpumpi_block_switch_methods(void);
GPUMPI_CONSTANT gpump_component gpump_block_switch_component = {gpumpi_block_switch_methods, GPUMP_LAYOUT_FAULT, 0};

/* ---- facts; an error changes nothing ---- */

/* Sets the number of blocks of the present kernel that the SM holds: `blocks`, 1 to config.blocks. The initial value is
 * config.blocks. GPUMP_ERROR_ARGUMENT. */
GPUMP_API gpump_result gpump_block_switch_set_blocks(gpump_block_switch *unit, uint32_t blocks);
/* Sets the supply outside the SM. `new_blocks` is the number of blocks that the SM driver can give this SM. `contexts`
 * is the number of further contexts that have room in memory. UINT32_MAX: any number. The unit subtracts its own blocks
 * from then on. Initially there are no new blocks, and any number of contexts. */
GPUMP_API gpump_result gpump_block_switch_set_outside(gpump_block_switch *unit, uint32_t new_blocks, uint32_t contexts);
/* Reports residents of the SM, blocks[count] (gpump_sm_blocks, or filled by the host), when some have come: all of
 * them, or those that have come. A running block that the unit does not know is new, in answer to NEW or without it,
 * and all of its warps run; its context_bytes are the price of a switch. A block for which IN was pulled is on the SM
 * again. Others stay as they are. GPUMP_ERROR_FULL: the SM would have more than its maximum of blocks.
 * GPUMP_ERROR_ARGUMENT: `blocks` is NULL, or a block does not have 1 to 64 warps. Cost: count x blocks. */
GPUMP_API gpump_result gpump_block_switch_report_residents(gpump_block_switch *unit, uint64_t now,
                                                           const gpump_block_view *blocks, uint32_t count);
/* Reports that the SM driver had no block for NEW. GPUMP_ERROR_STATE: NEW was not pulled. */
GPUMP_API gpump_result gpump_block_switch_report_none(gpump_block_switch *unit, uint64_t now);
/* Reports that `warp` of the block `cookie` can run (`runs` 1) or cannot run (0). A warp cannot run when it has
 * faulted, waits at a barrier, has ended, or waits for room in the operand log that faulted warps hold. A faulted warp
 * can run when its pages are there, also while its block is off the chip. GPUMP_EMPTY when the unit does not know the
 * block. */
GPUMP_API gpump_result gpump_block_switch_report_warp(gpump_block_switch *unit, uint64_t now, uint64_t cookie,
                                                      uint32_t warp, uint32_t runs);
/* Reports that the block `cookie` waits for `pending` granules, of which the last is resident at cycle `ready_cycle`
 * (gpump_fault_pending, gpump_fault_ready_cycle). GPUMP_EMPTY when the unit does not know the block. */
GPUMP_API gpump_result gpump_block_switch_report_pending(gpump_block_switch *unit, uint64_t now, uint64_t cookie,
                                                         uint32_t pending, uint64_t ready_cycle);
/* Reports that the block `cookie` is saved after OUT, and that its room is free. GPUMP_ERROR_STATE: OUT was not
 * pulled. */
GPUMP_API gpump_result gpump_block_switch_report_left(gpump_block_switch *unit, uint64_t now, uint64_t cookie);
/* Reports that the block `cookie` stays after OUT, because its context has no room. GPUMP_ERROR_STATE: OUT was not
 * pulled. */
GPUMP_API gpump_result gpump_block_switch_report_stayed(gpump_block_switch *unit, uint64_t now, uint64_t cookie);
/* Reports that the block `cookie` has ended, was dropped or was removed, in any state. GPUMP_EMPTY: the unit does not
 * track the block. */
GPUMP_API gpump_result gpump_block_switch_report_ended(gpump_block_switch *unit, uint64_t now, uint64_t cookie);

/* ---- questions and actions ---- */

/* Lists the blocks in blocks[capacity], in the order in which the unit came to know them, and sets *count.
 * GPUMP_ERROR_CAPACITY. */
GPUMP_API gpump_result gpump_block_switch_blocks(const gpump_block_switch *unit, gpump_block_switch_view *blocks,
                                                 uint32_t capacity, uint32_t *count);
/* Pulls the next action into *action: IN and NEW while there is room, then OUT of the blocked block whose ready_cycle
 * is latest. GPUMP_EMPTY: there is no action. Cost: linear in the blocks. */
GPUMP_API gpump_result gpump_block_switch_next(gpump_block_switch *unit, uint64_t now,
                                               gpump_block_switch_action *action);

GPUMP_END
#endif
