/* memory_order: whether the memory instructions, barriers and boundaries of a warp allow its next instruction to issue.
 */
#ifndef MINIGPU_MEMORY_ORDER_H
#define MINIGPU_MEMORY_ORDER_H

#include "state/state.h"

/* Must an instruction that ends a group or waits for groups still wait for copies? */
static inline int memory_order_waits_for_copies(const warp *w, const issue_info *info) {
    const instruction *instruction = info->instruction;
    uint32_t i, left = instruction->variant == VARIANT_ALL ? 0 : instruction->lookup + 1u;
    if (info->copies == COPIES_ENDS_GROUP) return w->copies[(w->copy_group + 1) % COPY_GROUPS] != 0;
    for (i = left; i < COPY_GROUPS; i++)
        if (w->copies[(w->copy_group + COPY_GROUPS - i) % COPY_GROUPS]) return 1;
    return 0;
}

static inline int memory_order_waits_for_warp(const warp *w, const issue_info *info, uint32_t itself) {
    return ((info->serialises & ISSUE_WHEN_ALONE) && w->in_flight > itself) || (info->serialises & w->speculates);
}

/* May an instruction issue, as far as memory order goes? A barrier orders memory: what the warp sent before it must be
 * past its last check, and so in effect. A region's boundary waits until nothing of the region before can fail any
 * more, a call of the fault handler is an execution barrier (Kim 2.1). `itself` counts in w->in_flight: 1, or 0. */
static inline int memory_order_clear(const warp *w, const issue_info *info, uint32_t itself) {
    if (!(info->is_barrier | info->serialises | (info->copies > COPIES_STARTS))) return 1; /* most instructions */
    return !(info->is_barrier && w->unchecked) && !(info->serialises && memory_order_waits_for_warp(w, info, itself)) &&
           !(info->copies > COPIES_STARTS && memory_order_waits_for_copies(w, info));
}

#endif
