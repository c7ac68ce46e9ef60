/* warp_scheduler: which of the ready warps issues. Each SM has gpu.schedulers of them. Scheduler s owns the warp slots
 * that leave remainder s when divided by their number.
 *
 * A new policy is a case in warp_scheduler_pick and a name in warp_scheduler_name. */
#ifndef MINIGPU_WARP_SCHEDULER_H
#define MINIGPU_WARP_SCHEDULER_H

#include "state/state.h"

/* Returns the warps that may issue by fetch, scoreboard, barriers and preemption. */
static inline uint64_t warp_scheduler_ready(const sm *s) { return s->present & s->fetched & s->clear & ~s->held; }

/* Records the age of new warps in these slots: `age` for the lowest slot, then ascending. Smaller is older, and no
 * other warp arrived between them. */
static inline void warp_scheduler_came(sm *s, uint64_t slots, uint64_t age) {
    uint64_t older = 0;
    uint32_t i;
    for (i = 0; i < WARP_SLOTS_MAX; i++) {
        const uint64_t is_older = s->slot_age[i] < age;
        older |= is_older << i;
        s->slot_older[i] = (s->slot_older[i] & ~slots) | (is_older ? 0 : slots);
    }
    for (older &= ~slots; slots; slots &= slots - 1) {
        const uint32_t slot = gpump_bits_lowest64(slots);
        s->slot_age[slot] = age++;
        s->slot_older[slot] = older;
        older |= UINT64_C(1) << slot;
    }
}

/* Warps give up these slots. */
static inline void warp_scheduler_left(sm *s, uint64_t slots) {
    uint32_t unit;
    s->occupied &= ~slots;
    s->present &= ~slots;
    s->fetched &= ~slots;
    s->clear &= ~slots;
    s->held &= ~slots;
    s->calling &= ~slots;
    for (unit = 0; unit < UNIT_COUNT; unit++) s->unit_slots[unit] &= ~slots;
    for (; slots; slots &= slots - 1) s->slot_info[gpump_bits_lowest64(slots)] = NULL;
}

/* Returns the slot among `candidates` (at least one bit, all of this scheduler) whose warp issues first. */
static inline uint32_t warp_scheduler_pick(const machine *m, const sm *s, uint32_t scheduler, uint64_t candidates) {
    uint32_t last = s->scheduler_last[scheduler];
    if (m->config.scheduler == SCHEDULER_GTO) {
        /* Greedy: the last warp as long as it can issue, then the oldest one: the block placed first, and in it the
         * lowest warp. */
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
