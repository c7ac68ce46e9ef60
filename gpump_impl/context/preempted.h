/* preempted: the blocks that have left their SM and come back later, in the order in which they left (hardware;
 * Tanasic 5.2.2: the queues of preempted blocks)
 *
 * The host adds a block when its SM has freed it (gpump_preempted_add). A block says where and when it may come back:
 * on any SM, only on the SM where a part of it lies, not on one SM, not before a cycle. When SMs may have room, the
 * host asks them in the order of gpump_preempted_order, and takes what gpump_preempted_find names
 * (gpump_preempted_take). A host that gives each SM one block per round comes round to all SMs: the blocks come back
 * breadth-first. A host whose own tables decide on the SM (the scheduler) takes blocks by their handles alone.
 *
 * A handle is an index below config.blocks, so the host can keep what else it knows of a block in an array. */
#ifndef GPUMP_PREEMPTED_H
#define GPUMP_PREEMPTED_H

#include "base/component.h"

GPUMP_BEGIN

typedef struct gpump_preempted gpump_preempted;
/* The configuration. The caller fills every field. */
typedef struct gpump_preempted_config {
    uint32_t blocks; /* blocks that wait at the same time; 1 to 2^24 */
    uint32_t sms;    /* SMs of the machine; 1 to 65536 */
} gpump_preempted_config;

/* A block that has left. */
typedef struct gpump_preempted_block {
    uint64_t cookie;      /* the host's name for the block */
    uint64_t ready_cycle; /* gpump_preempted_find does not name it before; 0: at once; GPUMP_UNKNOWN: never */
    uint32_t kernel;      /* kernel number, from 1 */
    uint32_t only_sm;     /* the only SM on which it may come back; GPUMP_NONE: it may come back on any */
    uint32_t not_sm;      /* an SM on which it may not come back; GPUMP_NONE: there is none */
    uint32_t unused;      /* 0 */
} gpump_preempted_block;

/* The list for the verbs of base/component.h: gpump_init makes an empty list. No presets. gpump_bits counts the whole
 * list. gpump_check and gpump_hash are linear in config.blocks. */
GPUMP_API const gpumpi_methods *gpumpi_preempted_methods(void);
GPUMPI_CONSTANT gpump_component gpump_preempted_component = {gpumpi_preempted_methods, GPUMP_LAYOUT_CONTEXT, 0};

/* Appends *block to the list and sets *handle. GPUMP_ERROR_FULL: config.blocks blocks wait. GPUMP_ERROR_ARGUMENT: no SM
 * may take the block. Cost: constant. */
GPUMP_API gpump_result gpump_preempted_add(gpump_preempted *preempted, const gpump_preempted_block *block,
                                           uint32_t *handle);
/* Replaces what is known of the block `handle` by *block. The block keeps its place in the order. GPUMP_ERROR_STATE: no
 * block has this handle. Cost: constant. */
GPUMP_API gpump_result gpump_preempted_change(gpump_preempted *preempted, uint32_t handle,
                                              const gpump_preempted_block *block);
/* Removes the block `handle`, which comes back on `sm`; GPUMP_NONE: it is dropped. That SM is the last to be asked next
 * time. GPUMP_ERROR_STATE: no block has this handle. Cost: constant. */
GPUMP_API gpump_result gpump_preempted_take(gpump_preempted *preempted, uint32_t handle, uint32_t sm);
/* Sets *block to what is known of the block `handle`. GPUMP_ERROR_STATE: no block has this handle. */
GPUMP_API gpump_result gpump_preempted_get(const gpump_preempted *preempted, uint32_t handle,
                                           gpump_preempted_block *block);
/* Returns the handle of the first block of `kernel` (0: of any kernel) that may come back on `sm` at cycle `now`, or
 * GPUMP_NONE. `only` 1: among the blocks that may come back on no other SM; 0: among the others. Cost: linear in the
 * blocks that wait. */
GPUMP_API uint32_t gpump_preempted_find(const gpump_preempted *preempted, uint64_t now, uint32_t kernel, uint32_t sm,
                                        int only);
/* Returns the handle of the next block of `kernel` (0: of any kernel) in the order behind the block `handle`
 * (GPUMP_NONE: the first block), or GPUMP_NONE behind the last. Cost: linear in the blocks of other kernels. */
GPUMP_API uint32_t gpump_preempted_after(const gpump_preempted *preempted, uint32_t kernel, uint32_t handle);
/* Sets order[config.sms] to the SMs in the order in which a host asks them for room: those that hold the fewest blocks
 * first (loads[config.sms]; NULL: all alike), and among equals in turn behind the SM that took a block last. Cost:
 * linear in the SMs while no load is above 64; else quadratic at worst. */
GPUMP_API gpump_result gpump_preempted_order(const gpump_preempted *preempted, const uint32_t *loads, uint32_t *order);

GPUMP_END
#endif
