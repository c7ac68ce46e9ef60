/* region: where a warp would go back to, and whether it may (iGPU 3.2); restart.h sends it there.
 *
 * A boundary is an instruction that analysis_lower has put in. It issues once nothing of its warp is in flight, and
 * writes down the PC behind it and the SIMT stack: two such records per warp, one for sparse regions and one for short
 * ones. */
#ifndef MINIGPU_REGION_H
#define MINIGPU_REGION_H

#include "machine/warp.h"

static inline void restart_copy_stack(simt_stack *to, const simt_stack *from) {
    uint32_t i;
    to->depth = from->depth;
    for (i = 0; i < from->depth; i++) to->entries[i] = from->entries[i];
}

/* The warp executes a boundary, and stands behind it; or it starts. */
static inline void restart_record(warp *w, int is_short) {
    restart_copy_stack(&w->short_start, &w->stack);
    if (!is_short) restart_copy_stack(&w->sparse_start, &w->stack);
    w->executed_since[1] = 0;
    if (!is_short) w->executed_since[0] = 0;
    if (!is_short) w->pinned = PINNED_NONE;
    w->must_go_on = 0;
}

/* What happened must not happen twice: until the next boundary the warp cannot go back. */
static inline void restart_forbid(warp *w) { w->must_go_on = 1; }

/* May the warp go back now? 0: it has ended, waits at a barrier, or must go on to the boundary ahead. */
static inline int restart_may(const warp *w) { return w->stack.depth && w->barrier == NONE && !w->must_go_on; }

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
