/* scoreboard: which registers of a warp instructions in flight will still write (destinations) or read (sources).
 *
 * The next instruction waits while one of its operands is a destination in flight, or one of its destinations a source
 * that has not been released. When sources are released is a matter of configuration (config.h, sources_released):
 * exactly this decides which instructions can be executed again after a fault. */
#ifndef MINIGPU_SCOREBOARD_H
#define MINIGPU_SCOREBOARD_H

#include "machine/state.h"

static inline int scoreboard_get(const uint64_t *set, uint32_t id) { return (int)(set[id >> 6] >> (id & 63u)) & 1; }

/* May an instruction issue, as far as registers go? */
static inline int scoreboard_clear(const warp *w, const issue_info *info) {
    uint32_t i, count = (uint32_t)info->sources + info->destinations;
    for (i = 0; i < count; i++) {
        if (scoreboard_get(w->pending, info->ids[i])) return 0;
    }
    for (i = info->sources; i < count; i++) {
        if (scoreboard_get(w->held_any, info->ids[i])) return 0;
    }
    return 1;
}
static inline void scoreboard_reserve(warp *w, const issue_info *info) {
    uint32_t i, count = (uint32_t)info->sources + info->destinations;
    for (i = 0; i < info->sources; i++) {
        w->held[info->ids[i]]++;
        w->held_any[info->ids[i] >> 6] |= UINT64_C(1) << (info->ids[i] & 63u);
    }
    for (; i < count; i++) w->pending[info->ids[i] >> 6] |= UINT64_C(1) << (info->ids[i] & 63u);
}
static inline void scoreboard_release_sources(warp *w, const issue_info *info) {
    uint32_t i;
    for (i = 0; i < info->sources; i++) {
        if (--w->held[info->ids[i]] == 0) w->held_any[info->ids[i] >> 6] &= ~(UINT64_C(1) << (info->ids[i] & 63u));
    }
}
static inline void scoreboard_release_destinations(warp *w, const issue_info *info) {
    uint32_t i, count = (uint32_t)info->sources + info->destinations;
    for (i = info->sources; i < count; i++) w->pending[info->ids[i] >> 6] &= ~(UINT64_C(1) << (info->ids[i] & 63u));
}

/* Prepares issue_info for every instruction of a program. Returns 0, or -1 when it has more registers and predicates
 * than the scoreboard. */
int scoreboard_prepare(const kernel_program *program, issue_info *info);

#endif
