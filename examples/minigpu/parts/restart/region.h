/* region: where a warp would go back to, and whether it may (iGPU 3.2); restart.h sends it there.
 *
 * A boundary is an instruction that analysis_lower has put in. It issues once nothing of its warp is in flight, and
 * writes down the PC behind it and the SIMT stack: two such records per warp, one for sparse regions and one for short
 * ones. */
#ifndef MINIGPU_REGION_H
#define MINIGPU_REGION_H

#include "parts/shared_log/shared_log.h"

/* The warp executes a boundary, and stands behind it; or it starts. */
static inline void restart_record(machine *m, sm *s, warp *w, int is_short) {
    gpump_restart_frame frames[SIMT_DEPTH];
    uint32_t i;
    if (!is_short) w->pinned = PINNED_NONE;
    if (s->shared_log) shared_log_boundary(s, w->slot, is_short);
    for (i = 0; i < w->stack.depth; i++) {
        frames[i].lanes = w->stack.entries[i].mask;
        frames[i].pc = w->stack.entries[i].pc;
        frames[i].reconvergence_pc = w->stack.entries[i].reconvergence;
    }
    machine_must(m, "gpump_restart_report_boundary",
                 gpump_restart_report_boundary(s->restart, w->slot,
                                               is_short ? GPUMP_RESTART_SHORT : GPUMP_RESTART_SPARSE, frames,
                                               w->stack.depth),
                 NULL);
}

/* The SIMT stack with which it would go on there; depth 0: nowhere. */
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
    if (gpump_restart_where(s->restart, w->slot, region, frames, SIMT_DEPTH, &depth) != GPUMP_OK) depth = 0;
    restart_stack(to, frames, depth);
}

/* What happened must not happen twice: until the next boundary the warp cannot go back. */
static inline void restart_forbid(sm *s, const warp *w) {
    if (HAS(s, restart)) gpump_restart_forbid(s->restart, w->slot);
}

/* May the warp go back now? 0: it has ended, waits at a barrier, or must go on to the boundary ahead. */
static inline int restart_may(const sm *s, const warp *w, uint32_t region) {
    return w->stack.depth && w->barrier == NONE && gpump_restart_may_go_back(s->restart, w->slot, region);
}

/* Words of the section RESTART of one warp, at most. */
#define RESTART_WORDS (3u + 4u * SIMT_DEPTH)
/* The bytes that they add to the context of a block at most. */
static inline uint64_t restart_context_bytes(const kernel *k) {
    return (uint64_t)k->warps * (GPUMP_CONTEXT_SECTION_BYTES + RESTART_WORDS * 8u);
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
