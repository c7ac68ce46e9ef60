#include "fault/fault_parts.h"

/* ---- one fault ---- */

/* Whether a fault on a granule of `owner` ends in a remote mapping, and what serving it occupies; counts it. */
GPUMP_INLINE uint64_t gpumpi_fault_classify(gpump_fault *f, gpumpi_fault_record *record, uint32_t owner) {
    if (f->config.uvm.remote == 2 && record->count && owner != GPUMP_FAULT_UNALLOCATED) record->remote = 1;
    if (record->remote) {
        f->statistics.remote++;
        return f->config.uvm.remote_cycles;
    }
    if (owner == GPUMP_FAULT_UNALLOCATED) {
        f->statistics.allocated++;
        return f->config.allocate_busy_cycles;
    }
    f->statistics.migrated++;
    return f->config.migrate_busy_cycles;
}

/* Adds a fault to those of a batch. Returns the cycles that serving it occupies. */
static GPUMPI_CALLED uint64_t gpumpi_fault_add(gpump_fault *f, uint32_t at, gpumpi_fault_list *batch) {
    gpumpi_fault_record *record = gpumpi_fault_records(f) + at;
    const uint64_t cycles = gpumpi_fault_classify(f, record, gpumpi_fault_granules(f)[record->granule].owner);
    gpumpi_fault_append(f, batch, at);
    gpumpi_fault_take_frame(f, at, record);
    return cycles;
}

/* Serves a fault at once, without batches: the end is known now. `owner` has its granule. */
GPUMP_INLINE void gpumpi_fault_serve_alone(gpump_fault *f, uint32_t at, gpumpi_fault_record *record, uint32_t owner) {
    uint64_t *free_at = &f->cpu_free, latency, busy;
    if (f->config.local == GPUMP_FAULT_LOCAL_FIXED && owner == GPUMP_FAULT_UNALLOCATED) {
        free_at = gpumpi_fault_sm_free(f) + record->sm;
        latency = busy = f->config.local_cycles;
        f->statistics.local++;
        record->state = GPUMPI_FAULT_ANNOUNCED;
        gpumpi_fault_append(f, &f->local, at);
    } else {
        busy = gpumpi_fault_classify(f, record, owner);
        latency = record->remote                     ? busy
                  : owner == GPUMP_FAULT_UNALLOCATED ? f->config.allocate_cycles
                                                     : f->config.migrate_cycles;
        f->statistics.busy_cycles += busy;
        record->state = GPUMPI_FAULT_SERVED;
    }
    record->start = gpumpi_fault_later(*free_at, f->now);
    record->end = gpump_add_saturated(record->start, latency);
    *free_at = busy == latency ? record->end : gpump_add_saturated(record->start, busy);
    gpumpi_fault_push(f, at);
    gpumpi_fault_take_frame(f, at, record);
}

/* ---- handlers that the host runs as code ---- */

/* A fault calls the handler of its SM, or waits behind another one. sm_free: 0, or GPUMP_UNKNOWN while it runs. */
static void gpumpi_fault_call(gpump_fault *f, uint32_t at, gpumpi_fault_record *record) {
    uint64_t *free_at = gpumpi_fault_sm_free(f) + record->sm;
    record->state = GPUMPI_FAULT_CALLING;
    record->end = GPUMP_UNKNOWN;
    record->has_frame = !gpumpi_fault_is_finite(f); /* else the handler's, or the CPU's */
    gpumpi_fault_append(f, *free_at ? &f->behind : &f->local, at);
    *free_at = GPUMP_UNKNOWN;
}

/* The handler of an SM has ended: it is called for the SM's next fault. */
static void gpumpi_fault_call_next(gpump_fault *f, uint32_t sm) {
    gpumpi_fault_record *records = gpumpi_fault_records(f);
    uint32_t before = GPUMP_NONE, at = f->behind.first;
    for (; at != GPUMP_NONE && records[at].sm != sm; at = records[at].next) before = at;
    gpumpi_fault_sm_free(f)[sm] = at == GPUMP_NONE ? 0 : GPUMP_UNKNOWN;
    if (at == GPUMP_NONE) return;
    if (before == GPUMP_NONE)
        f->behind.first = records[at].next;
    else
        records[before].next = records[at].next;
    if (f->behind.last == at) f->behind.last = before;
    records[at].next = GPUMP_NONE;
    gpumpi_fault_append(f, &f->local, at);
}

GPUMP_API gpump_result gpump_fault_report_local(gpump_fault *fault, uint64_t now, uint32_t process, uint64_t page,
                                                uint32_t mapped) {
    gpump_fault *f = fault;
    const gpumpi_fault_range *range;
    const gpumpi_fault_granule *granule;
    gpumpi_fault_record *record;
    if (!f || process >= f->config.processes || mapped > 1) return GPUMP_ERROR_ARGUMENT;
    if (now < f->now || now == GPUMP_UNKNOWN) return GPUMP_ERROR_TIME;
    range = gpumpi_fault_find(f, process, page >> f->granule_shift);
    if (!range) return GPUMP_ERROR_STATE;
    granule = gpumpi_fault_granules(f) + range->granule + ((page >> f->granule_shift) - range->first);
    if (granule->fault == GPUMP_NONE || (mapped && granule->owner != GPUMP_FAULT_UNALLOCATED)) return GPUMP_ERROR_STATE;
    record = gpumpi_fault_records(f) + granule->fault;
    if (record->state != GPUMPI_FAULT_RUNNING) return GPUMP_ERROR_STATE;
    if (mapped && gpumpi_fault_is_finite(f) && !f->local_left) return GPUMP_ERROR_STATE;
    gpumpi_fault_advance(f, now);
    gpumpi_fault_call_next(f, record->sm);
    record->asks_cpu = !mapped;
    if (!mapped) {
        gpumpi_fault_schedule(f, granule->fault, record);
        return GPUMP_OK;
    }
    f->statistics.local++;
    if (gpumpi_fault_is_finite(f)) f->local_left--;
    record->has_frame = 1;
    record->state = GPUMPI_FAULT_SERVED;
    record->end = now;
    gpumpi_fault_push(f, granule->fault);
    return GPUMP_OK;
}

GPUMP_API void gpumpi_fault_schedule(gpump_fault *f, uint32_t at, gpumpi_fault_record *record) {
    const uint32_t owner = gpumpi_fault_granules(f)[record->granule].owner;
    if (f->config.local == GPUMP_FAULT_LOCAL_CODE && !record->asks_cpu) {
        gpumpi_fault_call(f, at, record);
        return;
    }
    /* the driver fetches batches of faults; others are served by the CPU, or by the SM that has reported them */
    if (f->config.uvm.batch <= 1 || (f->config.local == GPUMP_FAULT_LOCAL_FIXED && owner == GPUMP_FAULT_UNALLOCATED)) {
        gpumpi_fault_serve_alone(f, at, record, owner);
        return;
    }
    record->state = GPUMPI_FAULT_QUEUED;
    record->end = GPUMP_UNKNOWN;
    record->entries = 1;
    gpumpi_fault_append(f, &f->queue, at);
    if (f->fetch_cycle == GPUMP_UNKNOWN)
        f->fetch_cycle = gpump_add_saturated(gpumpi_fault_later(f->driver_free, f->now), f->config.uvm.batch_cycles);
}

/* ---- batches ---- */

/* The driver's verdict on a fault that it fetches; counts it. 1: the fault is delayed. */
static int gpumpi_fault_delays(gpump_fault *f, gpumpi_fault_record *record, uint64_t now) {
    uint32_t verdict;
    if (record->delayed_until) return 0;
    verdict = gpump_uvm_decide(&f->config.uvm, &gpumpi_fault_granules(f)[record->granule].uvm, now);
    if (verdict == GPUMP_UVM_DELAY) record->delayed_until = gpump_add_saturated(now, f->config.uvm.thrash_cycles);
    if (verdict == GPUMP_UVM_REMOTE) record->remote = 1;
    f->statistics.delayed += verdict == GPUMP_UVM_DELAY;
    f->statistics.pinned += verdict > GPUMP_UVM_DELAY;
    return verdict == GPUMP_UVM_DELAY;
}

/* Takes the faults of a batch that is fetched at `now` out of the queue; *entries of the fault buffer. */
static gpumpi_fault_list gpumpi_fault_fetch(gpump_fault *f, uint64_t now, uint64_t *entries) {
    const uint64_t limit = f->config.uvm.replay == GPUMP_UVM_REPLAY_ONCE
                               ? (uint64_t)f->config.uvm.batch * f->config.uvm.batches
                               : f->config.uvm.batch;
    gpumpi_fault_list taken = {GPUMP_NONE, GPUMP_NONE}, left = {GPUMP_NONE, GPUMP_NONE};
    uint32_t at = f->queue.first, next;
    int full = 0;
    *entries = 0;
    for (; at != GPUMP_NONE; at = next) {
        gpumpi_fault_record *record = gpumpi_fault_records(f) + at;
        next = record->next;
        record->next = GPUMP_NONE;
        if (!full && (record->delayed_until > now || gpumpi_fault_delays(f, record, now))) {
            gpumpi_fault_append(f, &left, at);
            continue;
        }
        full = full || (*entries && *entries + record->entries > limit);
        if (full) {
            gpumpi_fault_append(f, &left, at);
            continue;
        }
        *entries += record->entries;
        gpumpi_fault_append(f, &taken, at);
    }
    f->queue = left;
    return taken;
}

/* Opens faults, without waiters, for what density brings of a VA block; appends them to *done. Returns the cycles. */
static uint64_t gpumpi_fault_serve_density(gpump_fault *f, const gpumpi_fault_range *range, uint64_t block,
                                           uint64_t faulted, gpumpi_fault_list *done) {
    const uint32_t granules = f->config.uvm.block_granules;
    uint64_t present = 0, possible = 0, cycles = 0, wanted;
    for (uint32_t i = 0; i < granules; i++) {
        const uint64_t number = block * granules + i;
        const gpumpi_fault_granule *one;
        if (number < range->first || number >= range->first + range->count) continue;
        one = gpumpi_fault_granules(f) + range->granule + (number - range->first);
        if (one->owner == GPUMP_FAULT_GPU || (one->fault != GPUMP_NONE && !(faulted >> i & 1u)))
            present |= (uint64_t)1 << i;
        else if (one->fault == GPUMP_NONE && one->owner <= GPUMP_FAULT_UNALLOCATED)
            possible |= (uint64_t)1 << i;
    }
    wanted = gpump_uvm_prefetch(present, faulted, granules, f->config.uvm.prefetch_percent) & possible;
    for (; wanted; wanted &= wanted - 1) {
        uint32_t at;
        if (gpumpi_fault_is_finite(f) && f->frames + f->wanting >= f->config.memory)
            break; /* nothing is evicted for it */
        at = gpumpi_fault_new_record(
            f, range, range->granule + (uint32_t)(block * granules + gpump_bits_lowest64(wanted) - range->first));
        if (at == GPUMP_NONE) break;
        f->statistics.prefetched++;
        cycles += gpumpi_fault_add(f, at, done);
    }
    return cycles;
}

/* The faults of *done are served between `start` and `end`. */
static void gpumpi_fault_finish(gpump_fault *f, gpumpi_fault_list *done, uint64_t start, uint64_t end) {
    uint32_t at = done->first, next;
    for (; at != GPUMP_NONE; at = next) {
        gpumpi_fault_record *record = gpumpi_fault_records(f) + at;
        next = record->next;
        record->next = GPUMP_NONE;
        record->start = start;
        record->end = end;
        record->state = GPUMPI_FAULT_SERVED;
        gpumpi_fault_push(f, at);
    }
    done->first = done->last = GPUMP_NONE;
}

/* Serves the VA block of the first fault in *taken; its faults move to *done. Returns the cycles that takes. */
static uint64_t gpumpi_fault_serve_block(gpump_fault *f, gpumpi_fault_list *taken, gpumpi_fault_list *done) {
    const uint32_t shift = (uint32_t)gpumpi_bits_for(f->config.uvm.block_granules);
    const gpumpi_fault_record *first = gpumpi_fault_records(f) + taken->first;
    const gpumpi_fault_range *range = gpumpi_fault_find(f, first->process, first->number);
    const uint32_t process = first->process;
    const uint64_t block = first->number >> shift;
    gpumpi_fault_list others = {GPUMP_NONE, GPUMP_NONE};
    uint64_t cycles = f->config.uvm.block_cycles, faulted = 0;
    uint32_t at = taken->first, next;
    for (; at != GPUMP_NONE; at = next) {
        gpumpi_fault_record *record = gpumpi_fault_records(f) + at;
        next = record->next;
        record->next = GPUMP_NONE;
        if (record->process != process || record->number >> shift != block) {
            gpumpi_fault_append(f, &others, at);
            continue;
        }
        cycles += gpumpi_fault_add(f, at, done);
        if (!record->remote && record->number >= range->first && record->number < range->first + range->count)
            faulted |= (uint64_t)1 << (record->number & (f->config.uvm.block_granules - 1));
    }
    *taken = others;
    return cycles + gpumpi_fault_serve_density(f, range, block, faulted, done);
}

/* When the driver fetches next: after a batch, unless all that is queued is delayed. */
static uint64_t gpumpi_fault_next_fetch(const gpump_fault *f) {
    uint64_t soonest = GPUMP_UNKNOWN;
    for (uint32_t at = f->queue.first; at != GPUMP_NONE; at = gpumpi_fault_records(f)[at].next)
        if (gpumpi_fault_records(f)[at].delayed_until < soonest) soonest = gpumpi_fault_records(f)[at].delayed_until;
    if (soonest == GPUMP_UNKNOWN) return GPUMP_UNKNOWN;
    return gpumpi_fault_later(soonest, gpump_add_saturated(f->driver_free, f->config.uvm.batch_cycles));
}

GPUMP_API void gpumpi_fault_serve_batches(gpump_fault *f, uint64_t now) {
    while (f->fetch_cycle <= now) { /* now is no GPUMP_UNKNOWN */
        const uint64_t start = f->fetch_cycle;
        gpumpi_fault_list taken, done = {GPUMP_NONE, GPUMP_NONE};
        uint64_t entries, end = start;
        f->now = gpumpi_fault_later(f->now, start);
        taken = gpumpi_fault_fetch(f, start, &entries);
        if (taken.first != GPUMP_NONE) {
            const uint64_t batches = (entries - 1) / f->config.uvm.batch;
            end =
                gpump_add_saturated(start, entries * f->config.uvm.entry_cycles + batches * f->config.uvm.batch_cycles);
            f->statistics.batches += batches + 1;
            f->statistics.fetched += entries;
        }
        while (taken.first != GPUMP_NONE) {
            end = gpump_add_saturated(end, gpumpi_fault_serve_block(f, &taken, &done));
            if (f->config.uvm.replay == GPUMP_UVM_REPLAY_BLOCK) gpumpi_fault_finish(f, &done, start, end);
        }
        gpumpi_fault_finish(f, &done, start, end);
        f->statistics.busy_cycles += end - start;
        f->driver_free = end;
        if (f->config.uvm.replay == GPUMP_UVM_REPLAY_BATCH_FLUSH) /* what waits once waits on, and is told of again */
            for (uint32_t at = f->queue.first; at != GPUMP_NONE; at = gpumpi_fault_records(f)[at].next)
                gpumpi_fault_records(f)[at].entries = 1;
        f->fetch_cycle = gpumpi_fault_next_fetch(f);
    }
}

/* ---- access counters ---- */

GPUMP_API gpump_result gpump_fault_report_remote(gpump_fault *fault, uint64_t now, uint32_t process, uint64_t page,
                                                 uint32_t accesses) {
    gpump_fault *f = fault;
    const gpumpi_fault_range *range;
    gpumpi_fault_granule *granule;
    uint32_t at, record;
    if (!f || process >= f->config.processes) return GPUMP_ERROR_ARGUMENT;
    if (now < f->now || now == GPUMP_UNKNOWN) return GPUMP_ERROR_TIME;
    range = gpumpi_fault_find(f, process, page >> f->granule_shift);
    if (!range) return GPUMP_EMPTY;
    at = range->granule + (uint32_t)((page >> f->granule_shift) - range->first);
    granule = gpumpi_fault_granules(f) + at;
    if (granule->owner != GPUMP_FAULT_REMOTE) return GPUMP_EMPTY;
    if (granule->fault != GPUMP_NONE) return GPUMP_OK; /* it migrates already */
    gpumpi_fault_advance(f, now);
    if (accesses < f->config.uvm.counter - granule->accesses) {
        granule->accesses += accesses;
        return GPUMP_OK;
    }
    record = gpumpi_fault_new_record(f, range, at);
    if (record == GPUMP_NONE) return GPUMP_BUSY;
    granule->accesses = 0;
    f->statistics.prefetched++;
    gpumpi_fault_records(f)[record].asks_cpu = 1; /* no SM waits for it */
    gpumpi_fault_schedule(f, record, gpumpi_fault_records(f) + record);
    return GPUMP_OK;
}
