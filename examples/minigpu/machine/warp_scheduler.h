/* warp_scheduler: which of the ready warps issues. Each SM has gpu.schedulers of them; scheduler s owns the warp slots
 * that leave remainder s when divided by their number.
 *
 * A new policy is a case in warp_scheduler_pick and a name in warp_scheduler_name. */
#ifndef MINIGPU_WARP_SCHEDULER_H
#define MINIGPU_WARP_SCHEDULER_H

#include "machine/state.h"

/* Warps that may issue as far as fetch, scoreboard, barriers and preemption go. */
static inline uint64_t warp_scheduler_ready(const sm *s) { return s->present & s->fetched & s->clear & ~s->held; }

/* The warp in a slot came when `age` says: smaller is older. */
static inline void warp_scheduler_came(sm *s, uint32_t slot, uint64_t age) {
    const uint64_t bit = UINT64_C(1) << slot;
    uint64_t older = 0;
    uint32_t i;
    s->slot_age[slot] = age;
    for (i = 0; i < WARP_SLOTS_MAX; i++) {
        const uint64_t is_older = s->slot_age[i] < age;
        older |= is_older << i;
        s->slot_older[i] = (s->slot_older[i] & ~bit) | (is_older ? 0 : bit);
    }
    s->slot_older[slot] = older;
}

/* Returns the slot among `candidates` (at least one bit, all of this scheduler) whose warp comes first. */
static inline uint32_t warp_scheduler_pick(const machine *m, const sm *s, uint32_t scheduler, uint64_t candidates) {
    uint32_t last = s->scheduler_last[scheduler];
    if (m->config.scheduler == SCHEDULER_GTO) {
        /* Greedy: stay with the last warp while it can issue. Then the oldest: the block placed first, in it the lowest
         * warp. */
        uint32_t slot;
        if (candidates >> last & 1) return last;
        slot = gpump_bits_lowest64(candidates);
        while ((candidates &= s->slot_older[slot])) slot = gpump_bits_lowest64(candidates);
        return slot;
    } else {
        /* Loose round-robin: the next slot after the last one that can issue. */
        uint64_t after = last >= 63 ? 0 : candidates & ~((UINT64_C(2) << last) - 1);
        return gpump_bits_lowest64(after ? after : candidates);
    }
}

static inline const char *warp_scheduler_name(uint32_t policy) { return policy == SCHEDULER_GTO ? "gto" : "lrr"; }

#endif
