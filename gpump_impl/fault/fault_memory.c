#include "fault/fault_parts.h"

/* ---- lists of granules ---- */

static void gpumpi_fault_link(gpump_fault *f, gpumpi_fault_list *list, uint32_t granule) {
    gpumpi_fault_granule *granules = gpumpi_fault_granules(f);
    granules[granule].previous = list->last;
    granules[granule].next = GPUMP_NONE;
    if (list->last == GPUMP_NONE)
        list->first = granule;
    else
        granules[list->last].next = granule;
    list->last = granule;
}
static void gpumpi_fault_unlink(gpump_fault *f, gpumpi_fault_list *list, uint32_t granule) {
    gpumpi_fault_granule *granules = gpumpi_fault_granules(f), *one = granules + granule;
    if (one->previous == GPUMP_NONE)
        list->first = one->next;
    else
        granules[one->previous].next = one->next;
    if (one->next == GPUMP_NONE)
        list->last = one->previous;
    else
        granules[one->next].previous = one->previous;
    one->previous = one->next = GPUMP_NONE;
}

/* ---- pins ---- */

GPUMP_API void gpumpi_fault_pin(gpump_fault *f, uint32_t granule) {
    if (gpumpi_fault_granules(f)[granule].pinned || f->pins == f->config.touches) return;
    gpumpi_fault_granules(f)[granule].pinned = 1;
    f->pinned[f->pins++] = granule;
}

/* The warp that has waited longest; none when no fault is open. */
static void gpumpi_fault_choose_holder(gpump_fault *f) {
    const gpumpi_fault_record *oldest = NULL;
    f->holder = 0;
    for (uint32_t i = 0, seen = 0; i < f->config.faults && seen < f->open; i++) {
        const gpumpi_fault_record *record = gpumpi_fault_records(f) + i;
        if (record->state == GPUMPI_FAULT_FREE) continue;
        seen++;
        if (record->state != GPUMPI_FAULT_MAPPED && record->count && (!oldest || record->opened < oldest->opened))
            oldest = record;
    }
    if (!oldest) return;
    f->holder = 1;
    f->holder_cookie = gpumpi_fault_waiters(f)[oldest->first].cookie;
    f->holder_warp = gpump_bits_lowest64(gpumpi_fault_waiters(f)[oldest->first].warps);
}

GPUMP_API void gpumpi_fault_end_hold(gpump_fault *f) {
    while (f->pins) {
        gpumpi_fault_granules(f)[f->pinned[--f->pins]].pinned = 0;
        f->pinned[f->pins] = 0;
    }
    f->holder_cookie = f->holder_warp = 0;
    gpumpi_fault_choose_holder(f);
    gpumpi_fault_share_frames(f, f->now);
}

/* ---- frames ---- */

GPUMP_API void gpumpi_fault_enter_memory(gpump_fault *f, uint32_t granule) {
    if (gpumpi_fault_is_finite(f)) gpumpi_fault_link(f, &f->mapped, granule);
}

GPUMP_API void gpumpi_fault_leave_memory(gpump_fault *f, uint32_t granule) {
    if (!gpumpi_fault_is_finite(f) || gpumpi_fault_granules(f)[granule].owner != GPUMP_FAULT_GPU) return;
    gpumpi_fault_unlink(f, &f->mapped, granule);
    f->frames--;
    for (uint32_t i = 0; i < f->pins; i++)
        if (f->pinned[i] == granule) {
            f->pinned[i] = f->pinned[--f->pins];
            f->pinned[f->pins] = 0;
        }
}

/* The granule to evict: the one mapped longest ago that is not pinned, and if possible one that does not thrash; of
 * those, only the first 64 are looked at. GPUMP_NONE without one. */
static uint32_t gpumpi_fault_victim(const gpump_fault *f) {
    const gpumpi_fault_granule *granules = gpumpi_fault_granules(f);
    uint32_t oldest = GPUMP_NONE, looked = 0;
    for (uint32_t i = f->mapped.first; i != GPUMP_NONE && looked < 64; i = granules[i].next) {
        if (granules[i].pinned) continue;
        if (granules[i].uvm.pinned_until <= f->now) return i;
        if (oldest == GPUMP_NONE) oldest = i;
        looked++;
    }
    return oldest;
}

GPUMP_API void gpumpi_fault_share_frames(gpump_fault *f, uint64_t cycle) {
    gpumpi_fault_record *records = gpumpi_fault_records(f);
    if (!gpumpi_fault_is_finite(f)) return;
    while (f->wanting && f->frames < f->config.memory) {
        const uint32_t at = f->frameless.first;
        f->frameless.first = records[at].frame_next;
        if (f->frameless.first == GPUMP_NONE) f->frameless.last = GPUMP_NONE;
        records[at].frame_next = GPUMP_NONE;
        f->wanting--;
        f->frames++;
        records[at].framed = cycle;
        records[at].has_frame = 1;
        if (records[at].state != GPUMPI_FAULT_LATE ||
            gpumpi_fault_granules(f)[records[at].granule].owner == GPUMP_FAULT_LEAVING)
            continue;
        records[at].state = GPUMPI_FAULT_SERVED;
        records[at].end = gpumpi_fault_later(records[at].end, cycle);
        gpumpi_fault_push(f, at);
    }
    while (f->wanting > f->leaving) {
        const uint32_t victim = gpumpi_fault_victim(f);
        gpumpi_fault_granule *granule = gpumpi_fault_granules(f) + victim;
        if (victim == GPUMP_NONE) break;
        gpumpi_fault_unlink(f, &f->mapped, victim);
        gpumpi_fault_link(f, &f->unmaps, victim);
        granule->owner = GPUMP_FAULT_LEAVING;
        granule->evictions = granule->epoch == f->epoch ? granule->evictions + 1 : 1;
        granule->epoch = f->epoch;
        f->leaving++;
        f->statistics.evicted++;
    }
}

GPUMP_API void gpumpi_fault_ask_frame(gpump_fault *f, uint32_t record) {
    if (f->frameless.last == GPUMP_NONE)
        f->frameless.first = record;
    else
        gpumpi_fault_records(f)[f->frameless.last].frame_next = record;
    f->frameless.last = record;
    f->wanting++;
    gpumpi_fault_share_frames(f, f->now);
}

GPUMP_API gpump_result gpumpi_fault_next_at_once(gpump_fault *f, gpump_fault_action *action) {
    gpumpi_fault_record *record;
    if (f->aborts) {
        gpumpi_fault_process *process = gpumpi_fault_processes(f);
        while (!process->pending) process++;
        process->pending = 0;
        f->aborts--;
        memset(action, 0, sizeof *action);
        action->kind = GPUMP_FAULT_ACT_ABORT;
        action->access = process->access;
        action->process = process->access.process;
    } else if (f->local.first != GPUMP_NONE) {
        record = gpumpi_fault_records(f) + f->local.first;
        f->local.first = record->next;
        if (f->local.first == GPUMP_NONE) f->local.last = GPUMP_NONE;
        record->next = GPUMP_NONE;
        if (record->state == GPUMPI_FAULT_CALLING) record->start = f->now;
        record->state = record->state == GPUMPI_FAULT_CALLING ? GPUMPI_FAULT_RUNNING : GPUMPI_FAULT_SERVED;
        gpumpi_fault_describe(f, record, GPUMP_FAULT_ACT_LOCAL, record->cookie, (uint64_t)1 << (record->warp & 63u),
                              action);
    } else {
        const uint32_t granule = f->unmaps.first;
        const gpumpi_fault_range *range = gpumpi_fault_range_of(f, granule);
        gpumpi_fault_unlink(f, &f->unmaps, granule);
        memset(action, 0, sizeof *action);
        action->kind = GPUMP_FAULT_ACT_UNMAP;
        action->process = range->process;
        action->page = (range->first + (granule - range->granule)) << f->granule_shift;
        action->pages = f->config.granule_pages;
        action->rights = range->rights;
        action->owner = GPUMP_FAULT_GPU;
    }
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_fault_stuck(const gpump_fault *fault, uint32_t evictions, gpump_fault_bounce *bounces,
                                         uint32_t capacity, uint32_t *count) {
    const gpump_fault *f = fault;
    if (!f || !count || !evictions || (capacity && !bounces)) return GPUMP_ERROR_ARGUMENT;
    *count = 0;
    for (uint32_t i = 0; i < f->granules; i++) {
        const gpumpi_fault_granule *granule = gpumpi_fault_granules(f) + i;
        *count += granule->epoch == f->epoch && granule->evictions >= evictions;
    }
    if (*count > capacity) return GPUMP_ERROR_CAPACITY;
    *count = 0;
    for (uint32_t r = 0; r < f->ranges; r++) {
        const gpumpi_fault_range *range = gpumpi_fault_ranges(f) + r;
        for (uint64_t i = 0; i < range->count; i++) {
            const gpumpi_fault_granule *granule = gpumpi_fault_granules(f) + range->granule + i;
            if (granule->epoch != f->epoch || granule->evictions < evictions) continue;
            bounces[*count].page = (range->first + i) << f->granule_shift;
            bounces[*count].process = range->process;
            bounces[(*count)++].evictions = granule->evictions;
        }
    }
    return GPUMP_OK;
}
