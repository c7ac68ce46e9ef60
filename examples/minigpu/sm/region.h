/* region: where a warp would go back to, and whether it may (iGPU 3.2); restart.h sends it there.
 *
 * A boundary is an instruction that analysis_lower has put in. It issues once nothing of its warp is in flight, and
 * writes down the PC behind it and the SIMT stack: two such records per warp, one for sparse regions and one for short
 * ones. */
#ifndef MINIGPU_REGION_H
#define MINIGPU_REGION_H

#include "state/state.h"

/* The SIMT stack with which the warp would resume there; depth 0: nowhere. */
static inline void restart_stack(simt_stack *to, const gpump_restart_frame *frames, uint32_t depth) {
    uint32_t i;
    to->depth = depth;
    for (i = 0; i < depth; i++) {
        to->entries[i].mask = (uint32_t)frames[i].lanes;
        to->entries[i].pc = frames[i].pc;
        to->entries[i].reconvergence = frames[i].reconvergence_pc;
    }
}
static inline void restart_where(const sm *s, const warp *w, uint32_t region, simt_stack *to) {
    gpump_restart_frame frames[SIMT_DEPTH];
    uint32_t depth = 0;
    if (gpump_restart_where(s->restart, w->number, region, frames, SIMT_DEPTH, &depth) != GPUMP_OK) depth = 0;
    restart_stack(to, frames, depth);
}

/* What happened must not happen twice: until the next boundary the warp cannot go back. */
static inline void restart_forbid(sm *s, const warp *w) {
    if (!IS_PLAIN && s->restart) gpump_restart_forbid(s->restart, w->number);
}

/* Returns whether the warp may be sent back now. 0: it has ended, waits at a barrier, or must reach the boundary ahead.
 */
static inline int restart_may(const sm *s, const warp *w, uint32_t region) {
    return w->stack.depth && w->barrier == NONE && gpump_restart_may_go_back(s->restart, w->number, region);
}

/* Dynamic sparse regions: for each that ended, the kernel, the boundary that ended it (NONE: the warp's end) and its
 * instructions. Full entries are counted and dropped. */
typedef struct region_log_entry {
    uint32_t kernel, pc;
    uint64_t instructions;
} region_log_entry;
typedef struct region_log {
    region_log_entry *entries;
    uint64_t capacity, count, dropped;
} region_log;
static inline void region_log_add(region_log *log, uint32_t kernel, uint32_t pc, uint64_t instructions) {
    if (log->count == log->capacity) {
        log->dropped++;
        return;
    }
    log->entries[log->count].kernel = kernel;
    log->entries[log->count].pc = pc;
    log->entries[log->count++].instructions = instructions;
}

#endif
