#include "fault/fault_parts.h"

#define GPUMPI_FAULT_MAGIC UINT64_C(0x67706d70666c7400) /* "gpmpflt" */

typedef char
    gpumpi_fault_has_no_padding[sizeof(gpump_fault) == sizeof(gpumpi_head) + (6 + 22 + GPUMPI_FAULT_OFFSETS) * 8 +
                                                           sizeof(gpump_fault_config) + (8 + 12 + 9 + 64) * 4 &&
                                        sizeof(gpump_fault_config) == 33 * 4 && sizeof(gpumpi_fault_record) == 120 &&
                                        sizeof(gpumpi_fault_granule) == 56 && sizeof(gpump_fault_access) == 56
                                    ? 1
                                    : -1];

/* ---- configuration, birth, copies ---- */

static uint32_t gpumpi_fault_cycles(const gpump_gpu *gpu, uint64_t ns) {
    const uint64_t cycles = gpump_gpu_cycles_from_ns(gpu, ns);
    return cycles < UINT32_MAX ? (uint32_t)cycles : UINT32_MAX;
}

static gpump_result gpumpi_fault_preset_for(void *filled, const char *preset, const void *machine) {
    gpump_fault_config *config = (gpump_fault_config *)filled;
    const gpump_gpu *gpu = (const gpump_gpu *)machine;
    static const struct {
        const char *name;
        uint32_t migrate_ns, allocate_ns, local_ns; /* Tanasic 6.5.3 and 6.5.4; 0: a cycle */
        const char *uvm;
    } presets[] = {{"nvlink", 12000, 10000, 0, "none"},
                   {"pcie3", 25000, 12000, 0, "none"},
                   {"nvlink_local", 12000, 10000, 20000, "none"},
                   {"pcie3_local", 25000, 12000, 20000, "none"},
                   {"ideal", 0, 0, 0, "none"},
                   {"uvm595", 5300, 1000, 0, "uvm595"}};
    for (uint32_t i = 0; i < sizeof presets / sizeof presets[0]; i++) {
        if (strcmp(presets[i].name, preset) != 0) continue;
        memset(config, 0, sizeof *config);
        config->sms = gpu->sms;
        config->processes = 16;
        config->ranges = 256;
        config->granules = 65536;
        config->faults = 1024;
        config->waiters = 16384;
        config->granule_pages = 16;
        config->migrate_cycles = gpumpi_fault_cycles(gpu, presets[i].migrate_ns);
        config->allocate_cycles = gpumpi_fault_cycles(gpu, presets[i].allocate_ns);
        config->migrate_busy_cycles = config->migrate_cycles;
        config->allocate_busy_cycles = config->allocate_cycles;
        if (!presets[i].migrate_ns) config->migrate_cycles = config->allocate_cycles = 1;
        config->local = presets[i].local_ns != 0;
        config->local_cycles = gpumpi_fault_cycles(gpu, presets[i].local_ns);
        config->memory = UINT32_MAX;
        config->touches = 64;
        config->pins = 1;
        config->evict_cycles = config->migrate_busy_cycles;
        return gpumpi_uvm_config_from_gpu(&config->uvm, presets[i].uvm, gpu);
    }
    return GPUMP_ERROR_UNKNOWN_NAME;
}

static gpump_result gpumpi_fault_preset(void *filled, const char *preset) {
    gpump_gpu gpu;
    gpump_result result = gpump_preset(&gpump_gpu_component, &gpu, "table61", NULL);
    return result ? result : gpumpi_fault_preset_for(filled, preset, &gpu);
}

static gpump_result gpumpi_fault_check_config(const void *checked, gpump_diag *diag) {
    static const gpumpi_limit limits[] = {
        GPUMPI_LIMIT(gpump_fault_config, sms, 1u, 65536u),
        GPUMPI_LIMIT(gpump_fault_config, processes, 1u, 4096u),
        GPUMPI_LIMIT(gpump_fault_config, ranges, 1u, 65536u),
        GPUMPI_LIMIT(gpump_fault_config, granules, 1u, 1u << 24),
        GPUMPI_LIMIT(gpump_fault_config, faults, 1u, 65536u),
        GPUMPI_LIMIT(gpump_fault_config, waiters, 1u, 1u << 20),
        GPUMPI_LIMIT(gpump_fault_config, granule_pages, 1u, 512u),
        GPUMPI_LIMIT(gpump_fault_config, local, 0u, (uint32_t)GPUMP_FAULT_LOCALS - 1),
        GPUMPI_LIMIT(gpump_fault_config, touches, 1u, 64u),
        GPUMPI_LIMIT(gpump_fault_config, pins, 0u, 1u),
    };
    const gpump_fault_config *config = (const gpump_fault_config *)checked;
    gpump_result r = GPUMPI_CHECK_LIMITS(config, limits, diag);
    if (!r) r = gpumpi_range(diag, "migrate_busy_cycles", config->migrate_busy_cycles, 0, config->migrate_cycles);
    if (!r) r = gpumpi_range(diag, "allocate_busy_cycles", config->allocate_busy_cycles, 0, config->allocate_cycles);
    /* one instruction's granules at least */
    if (!r) r = gpumpi_range(diag, "memory", config->memory, config->touches, UINT32_MAX);
    if (!r) /* what the handlers do not have holds one instruction's granules, too */
        r = gpumpi_range(diag, "local_frames", config->local_frames, 0,
                         config->local == GPUMP_FAULT_LOCAL_CODE && config->memory != UINT32_MAX
                             ? config->memory - config->touches
                             : 0);
    if (r) return r;
    if (config->granule_pages & (config->granule_pages - 1))
        return gpumpi_bad_config(diag, "granule_pages (a power of two)", 0, config->granule_pages, 1, 512);
    return gpumpi_uvm_check_config(&config->uvm, diag);
}

/* Lays the tables out behind the head; returns the bytes of all. */
static uint64_t gpumpi_fault_layout(gpump_fault *f, const gpump_fault_config *c) {
    uint64_t at = sizeof *f;
    f->processes_at = at, at += (uint64_t)c->processes * sizeof(gpumpi_fault_process);
    f->ranges_at = at, at += (uint64_t)c->ranges * sizeof(gpumpi_fault_range);
    f->records_at = at, at += (uint64_t)c->faults * sizeof(gpumpi_fault_record);
    f->waiters_at = at, at += (uint64_t)c->waiters * sizeof(gpumpi_fault_waiter);
    f->sm_free_at = at, at += (uint64_t)c->sms * sizeof(uint64_t);
    f->granules_at = at, at += (uint64_t)c->granules * sizeof(gpumpi_fault_granule);
    f->heap_at = at;
    return at + ((uint64_t)c->faults + c->faults % 2) * sizeof(uint32_t);
}

static uint64_t gpumpi_fault_bytes(const void *of) {
    gpump_fault layout;
    return gpumpi_fault_layout(&layout, (const gpump_fault_config *)of);
}

static void gpumpi_fault_set_up(void *object) {
    gpump_fault *f = (gpump_fault *)object;
    const gpump_fault_config *config = &f->config;
    (void)gpumpi_fault_layout(f, config);
    f->granule_shift = (uint32_t)gpumpi_bits_for(config->granule_pages);
    f->fetch_cycle = GPUMP_UNKNOWN;
    f->frames = f->local_left = config->local_frames;
    f->local.first = f->local.last = f->queue.first = f->queue.last = GPUMP_NONE;
    f->frameless.first = f->frameless.last = f->behind.first = f->behind.last = GPUMP_NONE;
    f->mapped.first = f->mapped.last = f->unmaps.first = f->unmaps.last = GPUMP_NONE;
    for (uint32_t i = 0; i < config->faults; i++)
        gpumpi_fault_records(f)[i].next = i + 1 < config->faults ? i + 1 : GPUMP_NONE;
    for (uint32_t i = 0; i < config->waiters; i++) {
        gpumpi_fault_waiters(f)[i].next = i + 1 < config->waiters ? i + 1 : GPUMP_NONE;
        gpumpi_fault_waiters(f)[i].owner = GPUMP_NONE;
    }
}

static const char *gpumpi_fault_unfit(const void *object) {
    const gpump_fault *fault = (const gpump_fault *)object;
    gpump_fault layout;
    (void)gpumpi_fault_layout(&layout, &fault->config);
    if (memcmp(&fault->processes_at, &layout.processes_at, GPUMPI_FAULT_OFFSETS * sizeof(uint64_t))) return "offsets";
    return fault->granule_shift == (uint32_t)gpumpi_bits_for(fault->config.granule_pages) ? NULL : "granule_shift";
}

/* ---- checks ---- */

static const char *gpumpi_fault_wrong_ranges(const gpump_fault *f) {
    uint64_t granule = 0;
    for (uint32_t i = 0; i < f->ranges; i++) {
        const gpumpi_fault_range *range = gpumpi_fault_ranges(f) + i;
        if (range->process >= f->config.processes || range->rights > GPUMP_TLB_RIGHTS || range->granule != granule ||
            range->unused || !range->count || range->count > f->granules - granule ||
            range->first > (UINT64_MAX >> f->granule_shift) - range->count)
            return "ranges";
        if (i && (range[-1].process > range->process ||
                  (range[-1].process == range->process && range[-1].first + range[-1].count > range->first)))
            return "order of ranges";
        granule += range->count;
    }
    if (granule != f->granules) return "granules of ranges";
    for (uint32_t i = 0; i < f->granules; i++) {
        const gpumpi_fault_granule *one = gpumpi_fault_granules(f) + i;
        if (one->owner >= GPUMP_FAULT_OWNERS || one->pinned > 1 || one->accesses >= f->config.uvm.counter)
            return "granule";
        if (one->fault != GPUMP_NONE && (one->fault >= f->config.faults || one->owner == GPUMP_FAULT_GPU ||
                                         gpumpi_fault_records(f)[one->fault].granule != i ||
                                         gpumpi_fault_records(f)[one->fault].state == GPUMPI_FAULT_FREE))
            return "granule";
    }
    return NULL;
}

/* A list of granules that all have `owner`; *count of them. 0: it contradicts itself. */
static int gpumpi_fault_list_fits(const gpump_fault *f, const gpumpi_fault_list *list, uint32_t owner,
                                  uint32_t *count) {
    const gpumpi_fault_granule *granules = gpumpi_fault_granules(f);
    uint32_t before = GPUMP_NONE, at = list->first;
    for (*count = 0; at != GPUMP_NONE; before = at, at = granules[at].next)
        if (at >= f->granules || ++*count > f->granules || granules[at].owner != owner ||
            granules[at].previous != before)
            return 0;
    return list->last == before;
}

/* Frames, eviction and pins. `framed`: faults that have a frame. */
static const char *gpumpi_fault_wrong_memory(const gpump_fault *f, uint32_t framed) {
    uint32_t owned[GPUMP_FAULT_OWNERS] = {0, 0, 0, 0, 0}, linked = 0, pinned = 0, mapped, unmaps;
    for (uint32_t i = 0; i < f->granules; i++) {
        const gpumpi_fault_granule *one = gpumpi_fault_granules(f) + i;
        const uint32_t listed =
            one->previous != GPUMP_NONE || one->next != GPUMP_NONE || f->mapped.first == i || f->unmaps.first == i;
        if (listed && one->owner != GPUMP_FAULT_GPU && one->owner != GPUMP_FAULT_LEAVING) return "list of granules";
        owned[one->owner]++;
        linked += listed;
        pinned += one->pinned;
    }
    if (!gpumpi_fault_list_fits(f, &f->mapped, GPUMP_FAULT_GPU, &mapped) ||
        !gpumpi_fault_list_fits(f, &f->unmaps, GPUMP_FAULT_LEAVING, &unmaps) || linked != mapped + unmaps)
        return "list of granules";
    if (owned[GPUMP_FAULT_LEAVING] != f->leaving) return "leaving granules";
    if (f->pins != pinned || f->pins > f->config.touches || f->holder > 1 || f->holder_warp > 63) return "pins";
    for (uint32_t i = 0; i < f->pins; i++)
        if (f->pinned[i] >= f->granules || !gpumpi_fault_granules(f)[f->pinned[i]].pinned ||
            gpumpi_fault_granules(f)[f->pinned[i]].owner != GPUMP_FAULT_GPU)
            return "pins";
    if (!gpumpi_fault_is_finite(f))
        return mapped || f->frames || f->wanting || f->leaving || f->holder || f->pins || f->local_left
                   ? "frames without end"
                   : NULL;
    if (mapped != owned[GPUMP_FAULT_GPU]) return "list of granules";
    return f->local_left > f->config.local_frames || f->frames != mapped + f->leaving + framed + f->local_left ||
                   f->frames > f->config.memory
               ? "frames"
               : NULL;
}

/* 1: `list` of records goes through exactly `count` records in `state`. */
static int gpumpi_fault_records_fit(const gpump_fault *f, const gpumpi_fault_list *list, uint32_t state,
                                    uint32_t count) {
    uint32_t at = list->first, last = GPUMP_NONE, seen = 0;
    for (; at != GPUMP_NONE; last = at, at = gpumpi_fault_records(f)[at].next)
        if (at >= f->config.faults || ++seen > count || gpumpi_fault_records(f)[at].state != state) return 0;
    return seen == count && list->last == last;
}

/* 1: the handlers that are called or run are those of the SMs that are taken, and all other calls wait. */
static int gpumpi_fault_handlers_fit(const gpump_fault *f, uint32_t calling, uint32_t running) {
    uint32_t taken = 0, waiting = 0;
    for (uint32_t i = 0; i < f->config.sms; i++) taken += gpumpi_fault_sm_free(f)[i] != 0;
    for (uint32_t at = f->behind.first; at != GPUMP_NONE && waiting <= calling; waiting++) {
        if (at >= f->config.faults || !gpumpi_fault_sm_free(f)[gpumpi_fault_records(f)[at].sm]) return 0;
        at = gpumpi_fault_records(f)[at].next;
    }
    return waiting <= calling && taken == calling - waiting + running &&
           gpumpi_fault_records_fit(f, &f->behind, GPUMPI_FAULT_CALLING, waiting) &&
           gpumpi_fault_records_fit(f, &f->local, GPUMPI_FAULT_CALLING, calling - waiting);
}

/* What is wrong with an open fault alone. */
static const char *gpumpi_fault_wrong_record(const gpump_fault *f, uint32_t i) {
    const gpumpi_fault_record *record = gpumpi_fault_records(f) + i;
    const gpumpi_fault_waiter *waiters = gpumpi_fault_waiters(f);
    const gpumpi_fault_range *range;
    uint32_t last = GPUMP_NONE, count = record->count, at;
    if (record->process >= f->config.processes || record->sm >= f->config.sms || record->opened >= f->opened ||
        record->remote > 1 || record->has_frame > 1 || record->asks_cpu > 1)
        return "fault";
    range = gpumpi_fault_find(f, record->process, record->number);
    if (!range || range->granule + (record->number - range->first) != record->granule) return "granule of a fault";
    if ((record->state == GPUMPI_FAULT_MAPPED) == (gpumpi_fault_granules(f)[record->granule].fault == i))
        return "fault of a granule";
    if (record->state == GPUMPI_FAULT_QUEUED && (!record->entries || record->entries > f->config.uvm.batch))
        return "entries of a fault";
    for (at = record->first; count; count--, at = waiters[at].next) {
        if (at >= f->config.waiters || waiters[at].owner != i || !waiters[at].warps) return "waiters of a fault";
        last = at;
    }
    return at != GPUMP_NONE || last != record->last ? "waiters of a fault" : NULL;
}

static const char *gpumpi_fault_wrong_faults(const gpump_fault *f) {
    const gpumpi_fault_record *records = gpumpi_fault_records(f);
    const gpumpi_fault_waiter *waiters = gpumpi_fault_waiters(f);
    uint32_t waiting = 0, in[GPUMPI_FAULT_STATES] = {0, 0, 0, 0, 0, 0, 0, 0}, framed = 0, frameless = 0, seen = 0, at,
             last;
    for (uint32_t i = 0; i < f->config.faults; i++) {
        const gpumpi_fault_record *record = records + i;
        const char *wrong;
        if (record->state >= GPUMPI_FAULT_STATES) return "state of a fault";
        in[record->state]++;
        if (record->state == GPUMPI_FAULT_FREE) continue;
        wrong = gpumpi_fault_wrong_record(f, i);
        if (wrong) return wrong;
        waiting += record->count;
        if (record->state == GPUMPI_FAULT_QUEUED || record->state >= GPUMPI_FAULT_MAPPED || record->remote) continue;
        framed += record->has_frame;
        frameless += !record->has_frame;
    }
    if (f->open != f->config.faults - in[GPUMPI_FAULT_FREE] ||
        f->faults != in[GPUMPI_FAULT_ANNOUNCED] + in[GPUMPI_FAULT_SERVED] + in[GPUMPI_FAULT_MAPPED])
        return "open faults";
    for (at = f->free_fault; at != GPUMP_NONE; at = records[at].next, seen++)
        if (at >= f->config.faults || seen >= in[GPUMPI_FAULT_FREE] || records[at].state != GPUMPI_FAULT_FREE)
            return "free faults";
    if (seen != in[GPUMPI_FAULT_FREE]) return "free faults";
    for (seen = 0, at = f->free_waiter; at != GPUMP_NONE; at = waiters[at].next, seen++)
        if (at >= f->config.waiters || seen >= f->config.waiters - waiting || waiters[at].owner != GPUMP_NONE)
            return "free waiters";
    if (waiting > f->config.waiters || seen != f->config.waiters - waiting) return "free waiters";
    if (f->config.local == GPUMP_FAULT_LOCAL_CODE
            ? !gpumpi_fault_handlers_fit(f, in[GPUMPI_FAULT_CALLING], in[GPUMPI_FAULT_RUNNING])
            : in[GPUMPI_FAULT_CALLING] || in[GPUMPI_FAULT_RUNNING] || f->behind.first != GPUMP_NONE ||
                  !gpumpi_fault_records_fit(f, &f->local, GPUMPI_FAULT_ANNOUNCED, in[GPUMPI_FAULT_ANNOUNCED]))
        return "local faults";
    if (!gpumpi_fault_records_fit(f, &f->queue, GPUMPI_FAULT_QUEUED, in[GPUMPI_FAULT_QUEUED]) ||
        (in[GPUMPI_FAULT_QUEUED] ? f->config.uvm.batch < 2 : f->fetch_cycle != GPUMP_UNKNOWN))
        return "queued faults";
    for (seen = 0, last = GPUMP_NONE, at = f->frameless.first; at != GPUMP_NONE; last = at, at = records[at].frame_next)
        if (at >= f->config.faults || ++seen > f->wanting || records[at].has_frame ||
            records[at].state < GPUMPI_FAULT_ANNOUNCED || records[at].state >= GPUMPI_FAULT_MAPPED ||
            records[at].remote)
            return "faults without a frame";
    if (seen != f->wanting || seen != frameless || f->frameless.last != last) return "faults without a frame";
    return gpumpi_fault_wrong_memory(f, gpumpi_fault_is_finite(f) ? framed : 0);
}

static gpump_result gpumpi_fault_check(const void *object, gpump_diag *diag) {
    const gpump_fault *fault = (const gpump_fault *)object;
    const gpump_fault *f = fault;
    const char *wrong = NULL;
    uint32_t aborts = 0;
    if (f->ranges > f->config.ranges || f->granules > f->config.granules || f->faults > f->config.faults)
        wrong = "counts";
    for (uint32_t i = 0; i < f->config.processes; i++) {
        const gpumpi_fault_process *process = gpumpi_fault_processes(f) + i;
        if (process->aborted > 1 || process->pending > process->aborted) wrong = "aborted process";
        aborts += process->pending == 1;
    }
    if (!wrong && aborts != f->aborts) wrong = "aborted processes";
    if (!wrong) wrong = gpumpi_fault_wrong_ranges(f);
    if (!wrong) wrong = gpumpi_fault_wrong_faults(f);
    for (uint32_t i = 0; !wrong && i < f->faults; i++) { /* each is here once: a parent is before its child */
        const uint32_t one = gpumpi_fault_heap(f)[i];
        if (one >= f->config.faults || gpumpi_fault_records(f)[one].state == GPUMPI_FAULT_FREE ||
            gpumpi_fault_records(f)[one].state == GPUMPI_FAULT_QUEUED ||
            gpumpi_fault_records(f)[one].state == GPUMPI_FAULT_LATE ||
            gpumpi_fault_records(f)[one].state >= GPUMPI_FAULT_CALLING ||
            (i && !gpumpi_fault_before(f, gpumpi_fault_heap(f)[(i - 1) / 2], one)))
            wrong = "order of faults";
        for (uint32_t k = 0; !wrong && k < i; k++)
            if (gpumpi_fault_heap(f)[k] == one) wrong = "order of faults";
    }
    return wrong ? gpumpi_fail_at(diag, GPUMP_ERROR_FORMAT, wrong, 0) : GPUMP_OK;
}

/* Everything behind the head is u64, or u32 in pairs: words of 32 bits in order of the fields are the same values on
 * every machine, except that the halves of a u64 must not be told apart; so u64 fields go in whole. */
static uint64_t gpumpi_fault_hash(const void *object) {
    const gpump_fault *fault = (const gpump_fault *)object;
    const gpump_fault *f = fault;
    uint64_t hash = gpumpi_hash_u64s(GPUMP_HASH_SEED, &f->now, 6 + sizeof f->statistics / 8);
    hash = gpumpi_hash_u32s(hash, &f->config.sms, sizeof f->config / 4 + 8 + 12 + 9 + 64);
    for (uint32_t i = 0; i < f->config.processes; i++) {
        const gpumpi_fault_process *one = gpumpi_fault_processes(f) + i;
        hash = gpumpi_hash_u32s(gpumpi_hash_u64s(hash, &one->access.page, 4), &one->access.process, 6);
        hash = gpumpi_hash_u32s(hash, &one->aborted, 2);
    }
    for (uint32_t i = 0; i < f->ranges; i++)
        hash = gpumpi_hash_u32s(gpumpi_hash_u64s(hash, &gpumpi_fault_ranges(f)[i].first, 2),
                                &gpumpi_fault_ranges(f)[i].process, 4);
    for (uint32_t i = 0; i < f->config.faults; i++)
        hash = gpumpi_hash_u32s(gpumpi_hash_u64s(hash, &gpumpi_fault_records(f)[i].start, 7),
                                &gpumpi_fault_records(f)[i].granule, 16);
    for (uint32_t i = 0; i < f->config.waiters; i++)
        hash = gpumpi_hash_u32s(gpumpi_hash_u64s(hash, &gpumpi_fault_waiters(f)[i].cookie, 2),
                                &gpumpi_fault_waiters(f)[i].next, 2);
    hash = gpumpi_hash_u64s(hash, gpumpi_fault_sm_free(f), f->config.sms);
    for (uint32_t i = 0; i < f->granules; i++) {
        const gpumpi_fault_granule *one = gpumpi_fault_granules(f) + i;
        hash = gpumpi_hash_u32s(gpumpi_hash_u64s(hash, &one->uvm.arrived, 2), &one->owner, 5);
        hash = gpumpi_hash_u32s(gpumpi_hash_u32s(hash, &one->uvm.arrivals, 2), &one->accesses, 3);
    }
    return gpumpi_hash_u32s(hash, gpumpi_fault_heap(f), f->faults);
}

static uint64_t gpumpi_fault_bits(const void *of) {
    const gpump_fault_config *config = (const gpump_fault_config *)of;
    return config->faults * (36 + gpumpi_bits_for(config->processes) + 64 + 2 * gpumpi_bits_for(config->waiters) + 2) +
           config->waiters * (64 + 64 + gpumpi_bits_for(config->waiters)) + config->sms * UINT64_C(64);
}

/* ---- statistics ---- */

static uint64_t gpumpi_fault_next_cycle(const void *of) {
    const gpump_fault *fault = (const gpump_fault *)of;
    uint64_t cycle = fault->fetch_cycle;
    if (gpumpi_fault_is_urgent(fault)) return fault->now;
    if (fault->faults) {
        const uint64_t end = gpumpi_fault_records(fault)[gpumpi_fault_heap(fault)[0]].end;
        if (end < cycle) cycle = end;
    }
    return cycle;
}

static const char *const gpumpi_fault_counters[][3] = {
#define GPUMPI_FIELD(name, unit, description) {#name, unit, description},
    GPUMPI_FAULT_STATISTICS(GPUMPI_FIELD)
#undef GPUMPI_FIELD
};
/* clang-format off */
static const gpumpi_methods gpumpi_fault_hooks = {
    "fault", "fault", GPUMPI_FAULT_MAGIC,
    GPUMP_LAYOUT_FAULT, sizeof(gpump_fault_config), offsetof(gpump_fault, config), offsetof(gpump_fault, statistics),
    sizeof gpumpi_fault_counters / sizeof *gpumpi_fault_counters, gpumpi_fault_counters, 0,
    /* preset, check_config, bytes, bits, tables */
    gpumpi_fault_preset, gpumpi_fault_check_config, gpumpi_fault_bytes, gpumpi_fault_bits, NULL,
    /* set_up, unfit, check, hash */
    gpumpi_fault_set_up, gpumpi_fault_unfit, gpumpi_fault_check, gpumpi_fault_hash,
    /* preset_for, next_cycle, copy_statistics */
    gpumpi_fault_preset_for, gpumpi_fault_next_cycle, NULL,
};
/* clang-format on */
GPUMP_API const gpumpi_methods *gpumpi_fault_methods(void) { return &gpumpi_fault_hooks; }
