#include "fault/fault_parts.h"

/* ---- buffers ---- */

static void gpumpi_fault_move(uint32_t *granule, uint32_t from, uint32_t to) {
    if (*granule >= from && *granule != GPUMP_NONE) *granule = *granule - from + to;
}
/* Granules from `from` on move to `to`; their ranges, faults, lists and pins follow. */
static void gpumpi_fault_shift(gpump_fault *f, uint32_t from, uint32_t to) {
    gpumpi_fault_granule *granules = gpumpi_fault_granules(f);
    if (from == to) return;
    memmove(granules + to, granules + from, (f->granules - from) * sizeof *granules);
    f->granules = f->granules - from + to;
    for (uint32_t i = 0; i < f->ranges; i++) gpumpi_fault_move(&gpumpi_fault_ranges(f)[i].granule, from, to);
    for (uint32_t i = 0, seen = 0; seen < f->open; i++) {
        if (gpumpi_fault_records(f)[i].state == GPUMPI_FAULT_FREE) continue;
        gpumpi_fault_move(&gpumpi_fault_records(f)[i].granule, from, to);
        seen++;
    }
    for (uint32_t i = 0; i < f->pins; i++) gpumpi_fault_move(&f->pinned[i], from, to);
    if (!gpumpi_fault_is_finite(f)) return;
    for (uint32_t i = 0; i < f->granules; i++) {
        gpumpi_fault_move(&granules[i].previous, from, to);
        gpumpi_fault_move(&granules[i].next, from, to);
    }
    gpumpi_fault_move(&f->mapped.first, from, to);
    gpumpi_fault_move(&f->mapped.last, from, to);
    gpumpi_fault_move(&f->unmaps.first, from, to);
    gpumpi_fault_move(&f->unmaps.last, from, to);
}

GPUMP_API gpump_result gpump_fault_map(gpump_fault *fault, uint32_t process, uint64_t first, uint64_t pages,
                                       uint32_t owner, uint32_t rights) {
    gpump_fault *f = fault;
    gpumpi_fault_range *range;
    uint64_t count;
    uint32_t at, granule;
    if (!f || process >= f->config.processes || owner > GPUMP_FAULT_GPU || !pages || !rights ||
        rights > GPUMP_TLB_RIGHTS || ((first | pages) & (f->config.granule_pages - 1)) || first > UINT64_MAX - pages)
        return GPUMP_ERROR_ARGUMENT;
    first >>= f->granule_shift;
    count = pages >> f->granule_shift;
    at = gpumpi_fault_at(f, process, first);
    range = gpumpi_fault_ranges(f) + at;
    if (at < f->ranges && range->process == process && range->first < first + count) return GPUMP_ERROR_STATE;
    if (f->ranges == f->config.ranges || count > f->config.granules - f->granules ||
        (owner == GPUMP_FAULT_GPU && gpumpi_fault_is_finite(f) && f->frames + count > f->config.memory))
        return GPUMP_ERROR_FULL;
    granule = at < f->ranges ? range->granule : f->granules;
    gpumpi_fault_shift(f, granule, granule + (uint32_t)count);
    memmove(range + 1, range, (f->ranges - at) * sizeof *range);
    f->ranges++;
    range->first = first;
    range->count = count;
    range->process = process;
    range->rights = rights;
    range->granule = granule;
    range->unused = 0;
    for (uint32_t i = granule; i < granule + (uint32_t)count; i++) {
        gpumpi_fault_granule *one = gpumpi_fault_granules(f) + i;
        memset(one, 0, sizeof *one);
        one->owner = owner;
        one->fault = one->previous = one->next = GPUMP_NONE;
        if (owner != GPUMP_FAULT_GPU || !gpumpi_fault_is_finite(f)) continue;
        f->frames++;
        gpumpi_fault_enter_memory(f, i);
    }
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_fault_unmap(gpump_fault *fault, uint32_t process) {
    gpump_fault *f = fault;
    uint32_t first, end, from, to;
    if (!f || process >= f->config.processes) return GPUMP_ERROR_ARGUMENT;
    for (uint32_t i = 0, seen = 0; i < f->config.faults && seen < f->open; i++) {
        if (gpumpi_fault_records(f)[i].state == GPUMPI_FAULT_FREE) continue;
        if (gpumpi_fault_records(f)[i].process == process) return GPUMP_BUSY;
        seen++;
    }
    first = gpumpi_fault_at(f, process, 0);
    for (end = first; end < f->ranges && gpumpi_fault_ranges(f)[end].process == process;) end++;
    to = first < end ? gpumpi_fault_ranges(f)[first].granule : 0;
    from = end < f->ranges ? gpumpi_fault_ranges(f)[end].granule : f->granules;
    for (uint32_t i = to; f->leaving && first < end && i < from; i++)
        if (gpumpi_fault_granules(f)[i].owner == GPUMP_FAULT_LEAVING) return GPUMP_BUSY;
    f->aborts -= gpumpi_fault_processes(f)[process].pending;
    memset(gpumpi_fault_processes(f) + process, 0, sizeof(gpumpi_fault_process));
    if (first == end) return GPUMP_OK;
    for (uint32_t i = to; gpumpi_fault_is_finite(f) && i < from; i++) gpumpi_fault_leave_memory(f, i);
    memmove(gpumpi_fault_ranges(f) + first, gpumpi_fault_ranges(f) + end,
            (f->ranges - end) * sizeof(gpumpi_fault_range));
    f->ranges -= end - first;
    gpumpi_fault_shift(f, from, to);
    gpumpi_fault_share_frames(f, f->now);
    return GPUMP_OK;
}

/* ---- faults ---- */

/* Adds a warp, whose block does not wait for the fault yet, to its waiters; a waiter is free. */
GPUMP_INLINE void gpumpi_fault_add_waiter(gpump_fault *f, uint32_t fault, gpumpi_fault_record *record,
                                          const gpump_fault_access *access) {
    const uint32_t at = f->free_waiter;
    gpumpi_fault_waiter *waiter = gpumpi_fault_waiters(f) + at;
    f->free_waiter = waiter->next;
    waiter->cookie = access->cookie;
    waiter->warps = (uint64_t)1 << access->warp;
    waiter->next = GPUMP_NONE;
    waiter->owner = fault;
    if (record->last == GPUMP_NONE)
        record->first = at;
    else
        gpumpi_fault_waiters(f)[record->last].next = at;
    record->last = at;
    record->count++;
    f->statistics.waits++;
}
/* Adds a warp of a block to the waiters of a fault; 0: no waiter is free. */
static int gpumpi_fault_wait(gpump_fault *f, uint32_t fault, const gpump_fault_access *access) {
    gpumpi_fault_waiter *waiters = gpumpi_fault_waiters(f);
    uint32_t at = gpumpi_fault_records(f)[fault].first;
    while (at != GPUMP_NONE && waiters[at].cookie != access->cookie) at = waiters[at].next;
    if (at != GPUMP_NONE)
        waiters[at].warps |= (uint64_t)1 << access->warp;
    else if (f->free_waiter != GPUMP_NONE)
        gpumpi_fault_add_waiter(f, fault, gpumpi_fault_records(f) + fault, access);
    else
        return 0;
    return 1;
}
static void gpumpi_fault_free_waiter(gpump_fault *f, uint32_t at) {
    gpumpi_fault_waiters(f)[at].owner = GPUMP_NONE;
    gpumpi_fault_waiters(f)[at].next = f->free_waiter;
    f->free_waiter = at;
}

/* Opens a fault for an access. */
static gpump_result gpumpi_fault_open(gpump_fault *f, const gpump_fault_access *access, const gpumpi_fault_range *range,
                                      uint32_t granule) {
    gpumpi_fault_record *record;
    uint32_t at;
    if (f->free_waiter == GPUMP_NONE) return GPUMP_BUSY;
    at = gpumpi_fault_new_record(f, range, granule);
    if (at == GPUMP_NONE) return GPUMP_BUSY;
    record = gpumpi_fault_records(f) + at;
    record->sm = access->sm;
    record->warp = access->warp;
    record->cookie = access->cookie;
    gpumpi_fault_add_waiter(f, at, record, access);
    gpumpi_fault_schedule(f, at, record);
    return GPUMP_OK;
}

/* An access that waits, or whose granule is there, makes its warp the holder where there is none. */
static void gpumpi_fault_hold(gpump_fault *f, const gpump_fault_access *access, uint32_t granule) {
    if (!gpumpi_fault_is_finite(f) || !f->config.pins) return;
    if (!f->holder) {
        f->holder = 1;
        f->holder_cookie = access->cookie;
        f->holder_warp = access->warp;
    }
    if (f->holder_cookie == access->cookie && f->holder_warp == access->warp &&
        gpumpi_fault_granules(f)[granule].owner == GPUMP_FAULT_GPU)
        gpumpi_fault_pin(f, granule);
}

GPUMP_API gpump_result gpump_fault_report(gpump_fault *fault, uint64_t now, const gpump_fault_access *access,
                                          uint32_t *outcome) {
    gpump_fault *f = fault;
    const gpumpi_fault_range *range;
    gpumpi_fault_process *process;
    gpump_result result;
    uint32_t granule;
    if (!f || !access || !outcome || access->process >= f->config.processes || access->sm >= f->config.sms ||
        access->warp > 63 || !access->rights || access->rights > GPUMP_TLB_RIGHTS)
        return GPUMP_ERROR_ARGUMENT;
    if (now < f->now || now == GPUMP_UNKNOWN) return GPUMP_ERROR_TIME;
    gpumpi_fault_advance(f, now);
    range = gpumpi_fault_find(f, access->process, access->page >> f->granule_shift);
    if (!range || (access->rights & ~range->rights)) {
        process = gpumpi_fault_processes(f) + access->process;
        if (!process->aborted) {
            process->access = *access;
            process->aborted = process->pending = 1;
            f->aborts++;
        }
        f->statistics.invalid++;
        f->statistics.reported++;
        *outcome = GPUMP_FAULT_INVALID;
        return GPUMP_OK;
    }
    granule = range->granule + (uint32_t)((access->page >> f->granule_shift) - range->first);
    if (gpumpi_fault_granules(f)[granule].owner == GPUMP_FAULT_GPU ||
        gpumpi_fault_granules(f)[granule].owner == GPUMP_FAULT_REMOTE) {
        f->statistics.retried++;
        *outcome = GPUMP_FAULT_RETRY;
    } else if (gpumpi_fault_granules(f)[granule].fault != GPUMP_NONE) {
        gpumpi_fault_record *record = gpumpi_fault_records(f) + gpumpi_fault_granules(f)[granule].fault;
        if (!gpumpi_fault_wait(f, gpumpi_fault_granules(f)[granule].fault, access)) return GPUMP_BUSY;
        if (record->state == GPUMPI_FAULT_QUEUED && record->entries < f->config.uvm.batch) record->entries++;
        f->statistics.merged++;
        *outcome = GPUMP_FAULT_MERGED;
    } else {
        result = gpumpi_fault_open(f, access, range, granule);
        if (result) return result;
        f->statistics.opened++;
        *outcome = GPUMP_FAULT_OPENED;
    }
    gpumpi_fault_hold(f, access, granule);
    f->statistics.reported++;
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_fault_cancel(gpump_fault *fault, uint64_t cookie) {
    gpump_fault *f = fault;
    gpumpi_fault_waiter *waiters;
    uint32_t cancelled = 0;
    if (!f) return GPUMP_ERROR_ARGUMENT;
    waiters = gpumpi_fault_waiters(f);
    for (uint32_t i = 0, seen = 0; i < f->config.faults && seen < f->open; i++) {
        gpumpi_fault_record *record = gpumpi_fault_records(f) + i;
        uint32_t before = GPUMP_NONE, at;
        if (record->state == GPUMPI_FAULT_FREE) continue;
        seen++;
        for (at = record->first; at != GPUMP_NONE && waiters[at].cookie != cookie; at = waiters[at].next) before = at;
        if (at == GPUMP_NONE) continue;
        if (before == GPUMP_NONE)
            record->first = waiters[at].next;
        else
            waiters[before].next = waiters[at].next;
        if (record->last == at) record->last = before;
        record->count--;
        gpumpi_fault_free_waiter(f, at);
        cancelled++;
    }
    f->statistics.cancelled += cancelled;
    if (f->holder && f->holder_cookie == cookie) gpumpi_fault_end_hold(f);
    return cancelled ? GPUMP_OK : GPUMP_EMPTY;
}

GPUMP_API uint32_t gpump_fault_pending(const gpump_fault *fault, uint64_t cookie) {
    const gpump_fault *f = fault;
    uint32_t pending = 0;
    for (uint32_t i = 0; i < f->config.waiters; i++)
        pending += gpumpi_fault_waiters(f)[i].owner != GPUMP_NONE && gpumpi_fault_waiters(f)[i].cookie == cookie;
    return pending;
}

GPUMP_API uint64_t gpump_fault_ready_cycle(const gpump_fault *fault, uint64_t cookie) {
    const gpump_fault *f = fault;
    uint64_t ready = 0;
    for (uint32_t i = 0; i < f->config.waiters; i++) {
        const gpumpi_fault_waiter *waiter = gpumpi_fault_waiters(f) + i;
        const gpumpi_fault_record *record;
        if (waiter->owner == GPUMP_NONE || waiter->cookie != cookie) continue;
        record = gpumpi_fault_records(f) + waiter->owner;
        if (record->state == GPUMPI_FAULT_LATE || !record->has_frame) return GPUMP_UNKNOWN;
        ready = gpumpi_fault_later(ready, record->end ? record->end : 1); /* 0 would say that it waits for nothing */
    }
    return ready;
}

/* ---- actions ---- */

/* The first fault of the heap has been served. 1: its granule can be mapped. 0: it waits, for its frame or because its
 * granule is still leaving, and is no longer first. */
static int gpumpi_fault_is_ready(gpump_fault *f, uint32_t at) {
    gpumpi_fault_record *record = gpumpi_fault_records(f) + at;
    const int waits = !record->has_frame || gpumpi_fault_granules(f)[record->granule].owner == GPUMP_FAULT_LEAVING;
    if (!waits && record->framed <= record->end) return 1;
    gpumpi_fault_pop(f);
    if (waits) {
        record->state = GPUMPI_FAULT_LATE;
    } else {
        record->end = record->framed;
        gpumpi_fault_push(f, at);
    }
    return 0;
}

/* The granule of a fault is mapped. */
static void gpumpi_fault_arrive(gpump_fault *f, gpumpi_fault_record *record) {
    const gpumpi_fault_waiter *waiters = gpumpi_fault_waiters(f);
    gpumpi_fault_granule *granule = gpumpi_fault_granules(f) + record->granule;
    record->state = GPUMPI_FAULT_MAPPED;
    granule->owner = record->remote ? GPUMP_FAULT_REMOTE : GPUMP_FAULT_GPU;
    granule->fault = GPUMP_NONE;
    gpump_uvm_report_arrival(&f->config.uvm, &granule->uvm, f->now);
    f->statistics.served++;
    if (record->remote || !gpumpi_fault_is_finite(f)) return;
    gpumpi_fault_enter_memory(f, record->granule);
    for (uint32_t at = record->first; f->holder && at != GPUMP_NONE; at = waiters[at].next)
        if (waiters[at].cookie == f->holder_cookie && (waiters[at].warps >> f->holder_warp & 1u))
            gpumpi_fault_pin(f, record->granule);
    gpumpi_fault_share_frames(f, f->now);
}

GPUMP_API gpump_result gpump_fault_report_unmapped(gpump_fault *fault, uint64_t now, uint32_t process, uint64_t page,
                                                   uint32_t dirty) {
    gpump_fault *f = fault;
    const gpumpi_fault_range *range;
    gpumpi_fault_granule *granule;
    gpumpi_fault_record *record;
    uint64_t free_cycle = now;
    if (!f || process >= f->config.processes || dirty > 1) return GPUMP_ERROR_ARGUMENT;
    if (now < f->now || now == GPUMP_UNKNOWN) return GPUMP_ERROR_TIME;
    range = gpumpi_fault_find(f, process, page >> f->granule_shift);
    if (!range) return GPUMP_ERROR_STATE;
    granule = gpumpi_fault_granules(f) + range->granule + ((page >> f->granule_shift) - range->first);
    if (granule->owner != GPUMP_FAULT_LEAVING || granule->previous != GPUMP_NONE || granule->next != GPUMP_NONE ||
        f->unmaps.first == (uint32_t)(granule - gpumpi_fault_granules(f)))
        return GPUMP_ERROR_STATE;
    gpumpi_fault_advance(f, now);
    granule->owner = GPUMP_FAULT_CPU;
    f->leaving--;
    f->frames--;
    if (dirty) { /* the frame is free once it is written back, over the link that migrations use */
        uint64_t *link = f->config.uvm.batch > 1 ? &f->driver_free : &f->cpu_free;
        free_cycle = *link = gpump_add_saturated(gpumpi_fault_later(*link, now), f->config.evict_cycles);
        f->statistics.written++;
        f->statistics.busy_cycles += f->config.evict_cycles;
    }
    if (granule->fault != GPUMP_NONE) { /* it is wanted again, and its fault waited for this */
        record = gpumpi_fault_records(f) + granule->fault;
        if (record->state == GPUMPI_FAULT_LATE && record->has_frame) {
            record->state = GPUMPI_FAULT_SERVED;
            record->end = gpumpi_fault_later(record->end, free_cycle);
            gpumpi_fault_push(f, granule->fault);
        }
    }
    gpumpi_fault_share_frames(f, free_cycle);
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_fault_release(gpump_fault *fault, uint64_t now, uint64_t cookie, uint32_t warp) {
    gpump_fault *f = fault;
    if (!f || warp > 63) return GPUMP_ERROR_ARGUMENT;
    if (now < f->now || now == GPUMP_UNKNOWN) return GPUMP_ERROR_TIME;
    gpumpi_fault_advance(f, now);
    f->statistics.releases++;
    f->epoch++;
    if (f->holder && f->holder_cookie == cookie && f->holder_warp == warp) gpumpi_fault_end_hold(f);
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_fault_next(gpump_fault *fault, uint64_t now, gpump_fault_action *action) {
    gpump_fault *f = fault;
    gpumpi_fault_record *record;
    if (!f || !action) return GPUMP_ERROR_ARGUMENT;
    if (now < f->now || now == GPUMP_UNKNOWN) return GPUMP_ERROR_TIME;
    gpumpi_fault_advance(f, now);
    if (gpumpi_fault_is_urgent(f)) return gpumpi_fault_next_at_once(f, action);
    while (f->faults) {
        const uint32_t at = gpumpi_fault_heap(f)[0];
        record = gpumpi_fault_records(f) + at;
        if (record->end > now) break;
        if (record->state == GPUMPI_FAULT_SERVED) {
            if (!gpumpi_fault_is_ready(f, at)) continue;
            gpumpi_fault_describe(f, record, GPUMP_FAULT_ACT_MAP, 0, 0, action);
            gpumpi_fault_arrive(f, record);
            return GPUMP_OK;
        }
        if (record->first != GPUMP_NONE) {
            const uint32_t first = record->first;
            const gpumpi_fault_waiter *waiter = gpumpi_fault_waiters(f) + first;
            gpumpi_fault_describe(f, record, GPUMP_FAULT_ACT_WAKE, waiter->cookie, waiter->warps, action);
            record->first = waiter->next;
            if (record->first == GPUMP_NONE) record->last = GPUMP_NONE;
            record->count--;
            gpumpi_fault_free_waiter(f, first);
            f->statistics.woken++;
            return GPUMP_OK;
        }
        gpumpi_fault_pop(f);
        record->state = GPUMPI_FAULT_FREE;
        record->next = f->free_fault;
        f->free_fault = at;
        f->open--;
    }
    return GPUMP_EMPTY;
}
