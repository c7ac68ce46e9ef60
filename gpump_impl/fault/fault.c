#include "fault/fault.h"

#include <string.h>
#include "fault/tlb.h"

#define GPUMPI_FAULT_MAGIC UINT64_C(0x67706d70666c7400) /* "gpmpflt" */

/* A process whose access was invalid. */
typedef struct gpumpi_fault_process {
    gpump_fault_access access;
    uint32_t aborted, pending; /* pending: ABORT has not been handed over */
} gpumpi_fault_process;
/* A buffer, in granules; sorted by process and first. Its granules follow those of the range before it. */
typedef struct gpumpi_fault_range {
    uint64_t first, count;
    uint32_t process, rights, granule, unused;
} gpumpi_fault_range;
typedef struct gpumpi_fault_granule {
    uint32_t owner, fault; /* fault: GPUMP_NONE: none is open */
} gpumpi_fault_granule;
/* An open fault; or a free one, in the list of free ones. */
typedef struct gpumpi_fault_record {
    uint64_t start, end, opened, number, cookie;           /* opened: its turn; number: granule number in its process */
    uint32_t granule, process, rights, first, last, count; /* waiters */
    uint32_t next, state, sm, warp;                        /* next: in the list of free ones, or of LOCAL to come */
} gpumpi_fault_record;
enum { GPUMPI_FAULT_FREE, GPUMPI_FAULT_ANNOUNCED, GPUMPI_FAULT_SERVED, GPUMPI_FAULT_MAPPED, GPUMPI_FAULT_STATES };
typedef struct gpumpi_fault_waiter {
    uint64_t cookie, warps;
    uint32_t next, owner; /* owner: its fault; GPUMP_NONE: free */
} gpumpi_fault_waiter;
struct gpump_fault {
    gpumpi_head head;
    uint64_t now, cpu_free, opened;
    gpump_fault_statistics statistics;
    gpump_fault_config config;
    uint32_t ranges, granules, faults; /* in use */
    uint32_t free_fault, free_waiter, local_first, local_last, aborts;
    uint32_t granule_shift, unused;
};
typedef char gpumpi_fault_has_no_padding[sizeof(gpump_fault) == sizeof(gpumpi_head) + (3 + 12) * 8 + (14 + 10) * 4 &&
                                                 sizeof(gpumpi_fault_record) == 80 && sizeof(gpump_fault_access) == 56
                                             ? 1
                                             : -1];

/* Behind the head: processes, ranges, faults, waiters, when each SM is free, granules, and the heap of open faults. */
static gpumpi_fault_process *gpumpi_fault_processes(const gpump_fault *f) {
    return (gpumpi_fault_process *)(void *)(uintptr_t)(const void *)(f + 1);
}
static gpumpi_fault_range *gpumpi_fault_ranges(const gpump_fault *f) {
    return (gpumpi_fault_range *)(void *)(gpumpi_fault_processes(f) + f->config.processes);
}
static gpumpi_fault_record *gpumpi_fault_records(const gpump_fault *f) {
    return (gpumpi_fault_record *)(void *)(gpumpi_fault_ranges(f) + f->config.ranges);
}
static gpumpi_fault_waiter *gpumpi_fault_waiters(const gpump_fault *f) {
    return (gpumpi_fault_waiter *)(void *)(gpumpi_fault_records(f) + f->config.faults);
}
static uint64_t *gpumpi_fault_sm_free(const gpump_fault *f) {
    return (uint64_t *)(void *)(gpumpi_fault_waiters(f) + f->config.waiters);
}
static gpumpi_fault_granule *gpumpi_fault_granules(const gpump_fault *f) {
    return (gpumpi_fault_granule *)(void *)(gpumpi_fault_sm_free(f) + f->config.sms);
}
static uint32_t *gpumpi_fault_heap(const gpump_fault *f) {
    return (uint32_t *)(void *)(gpumpi_fault_granules(f) + f->config.granules);
}

GPUMP_API gpump_result gpump_fault_config_preset(gpump_fault_config *config, const char *preset) {
    static const struct {
        const char *name;
        uint32_t migrate_us, allocate_us, local_us; /* Tanasic 6.5.3 and 6.5.4; 0: a cycle */
    } presets[] = {{"nvlink", 12, 10, 0},
                   {"pcie3", 25, 12, 0},
                   {"nvlink_local", 12, 10, 20},
                   {"pcie3_local", 25, 12, 20},
                   {"ideal", 0, 0, 0}};
    gpump_gpu gpu;
    if (!config || !preset) return GPUMP_ERROR_ARGUMENT;
    for (uint32_t i = 0; i < sizeof presets / sizeof presets[0]; i++) {
        gpump_result result;
        uint32_t cycles_per_us;
        if (strcmp(presets[i].name, preset) != 0) continue;
        result = gpump_gpu_config_preset(&gpu, "table61");
        if (result) return result;
        cycles_per_us = gpu.clock_khz / 1000;
        memset(config, 0, sizeof *config);
        config->struct_size = (uint32_t)sizeof *config;
        config->sms = gpu.sms;
        config->processes = 16;
        config->ranges = 256;
        config->granules = 65536;
        config->faults = 1024;
        config->waiters = 16384;
        config->granule_pages = 16;
        config->migrate_cycles = presets[i].migrate_us * cycles_per_us;
        config->allocate_cycles = presets[i].allocate_us * cycles_per_us;
        config->migrate_busy_cycles = config->migrate_cycles;
        config->allocate_busy_cycles = config->allocate_cycles;
        if (!presets[i].migrate_us) config->migrate_cycles = config->allocate_cycles = 1;
        config->local = presets[i].local_us != 0;
        config->local_cycles = presets[i].local_us * cycles_per_us;
        return GPUMP_OK;
    }
    return GPUMP_ERROR_UNKNOWN_NAME;
}

static gpump_result gpumpi_fault_check_config(const gpump_fault_config *config, gpump_diag *diag) {
    gpump_result result;
    if (!config) return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "config", 0, 0, 1, UINT64_MAX);
#define GPUMPI_RANGE(field, minimum, maximum) \
    if ((result = gpumpi_range(diag, #field, config->field, (minimum), (maximum))) != GPUMP_OK) return result
    GPUMPI_RANGE(struct_size, (uint32_t)sizeof *config, (uint32_t)sizeof *config);
    GPUMPI_RANGE(sms, 1u, 65536u);
    GPUMPI_RANGE(processes, 1u, 4096u);
    GPUMPI_RANGE(ranges, 1u, 65536u);
    GPUMPI_RANGE(granules, 1u, 1u << 24);
    GPUMPI_RANGE(faults, 1u, 65536u);
    GPUMPI_RANGE(waiters, 1u, 1u << 20);
    GPUMPI_RANGE(granule_pages, 1u, 512u);
    GPUMPI_RANGE(migrate_busy_cycles, 0u, config->migrate_cycles);
    GPUMPI_RANGE(allocate_busy_cycles, 0u, config->allocate_cycles);
    GPUMPI_RANGE(local, 0u, 1u);
#undef GPUMPI_RANGE
    if (config->granule_pages & (config->granule_pages - 1))
        return gpumpi_fail(diag, GPUMP_ERROR_CONFIG, "granule_pages (a power of two)", 0, config->granule_pages, 1,
                           512);
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_fault_bytes(const gpump_fault_config *config, size_t *bytes, gpump_diag *diag) {
    gpump_result result = gpumpi_fault_check_config(config, diag);
    if (result) return result;
    if (!bytes) return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "bytes", 0, 0, 1, UINT64_MAX);
    *bytes = sizeof(gpump_fault) + config->processes * sizeof(gpumpi_fault_process) +
             config->ranges * sizeof(gpumpi_fault_range) + config->faults * sizeof(gpumpi_fault_record) +
             config->waiters * sizeof(gpumpi_fault_waiter) + config->sms * sizeof(uint64_t) +
             config->granules * sizeof(gpumpi_fault_granule) +
             ((size_t)config->faults + config->faults % 2) * sizeof(uint32_t);
    return GPUMP_OK;
}

static uint64_t gpumpi_fault_layout(const gpump_fault_config *config) {
    return gpump_hash_u32s(gpump_hash_u64(GPUMP_HASH_SEED, sizeof(gpump_fault)), &config->struct_size,
                           sizeof *config / 4);
}

GPUMP_API gpump_result gpump_fault_init(void *memory, size_t bytes, const gpump_fault_config *config,
                                        gpump_fault **fault, gpump_diag *diag) {
    size_t needed;
    gpump_fault *f = (gpump_fault *)memory;
    gpump_result result = gpump_fault_bytes(config, &needed, diag);
    if (result) return result;
    if (!fault) return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "fault", 0, 0, 1, UINT64_MAX);
    result = gpumpi_head_init(memory, bytes, GPUMPI_FAULT_MAGIC, gpumpi_fault_layout(config), needed, diag);
    if (result) return result;
    f->config = *config;
    f->granule_shift = (uint32_t)gpumpi_bits_for(config->granule_pages);
    f->local_first = f->local_last = GPUMP_NONE;
    for (uint32_t i = 0; i < config->faults; i++)
        gpumpi_fault_records(f)[i].next = i + 1 < config->faults ? i + 1 : GPUMP_NONE;
    for (uint32_t i = 0; i < config->waiters; i++) {
        gpumpi_fault_waiters(f)[i].next = i + 1 < config->waiters ? i + 1 : GPUMP_NONE;
        gpumpi_fault_waiters(f)[i].owner = GPUMP_NONE;
    }
    *fault = f;
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_fault_adopt(void *memory, size_t bytes, const gpump_fault_config *config,
                                         gpump_fault **fault, gpump_diag *diag) {
    size_t needed;
    const gpump_fault *copy = (const gpump_fault *)memory;
    gpump_result result = gpump_fault_bytes(config, &needed, diag);
    if (result) return result;
    if (!fault) return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "fault", 0, 0, 1, UINT64_MAX);
    result = gpumpi_head_adopt(memory, bytes, GPUMPI_FAULT_MAGIC, gpumpi_fault_layout(config), needed, diag);
    if (result) return result;
    if (memcmp(&copy->config, config, sizeof *config) ||
        copy->granule_shift != (uint32_t)gpumpi_bits_for(config->granule_pages))
        return gpumpi_fail(diag, GPUMP_ERROR_FORMAT, "config", 0, 0, 0, 0);
    *fault = (gpump_fault *)memory;
    return GPUMP_OK;
}

/* ---- the heap: open faults, the earliest end first, then the earliest opening ---- */

static int gpumpi_fault_before(const gpump_fault *f, uint32_t a, uint32_t b) {
    const gpumpi_fault_record *x = gpumpi_fault_records(f) + a, *y = gpumpi_fault_records(f) + b;
    return x->end != y->end ? x->end < y->end : x->opened < y->opened;
}
static void gpumpi_fault_push(gpump_fault *f, uint32_t fault) {
    uint32_t *heap = gpumpi_fault_heap(f), at = f->faults++;
    for (; at && gpumpi_fault_before(f, fault, heap[(at - 1) / 2]); at = (at - 1) / 2) heap[at] = heap[(at - 1) / 2];
    heap[at] = fault;
}
static void gpumpi_fault_pop(gpump_fault *f) {
    uint32_t *heap = gpumpi_fault_heap(f), last = heap[--f->faults], at = 0;
    for (;;) {
        uint32_t child = 2 * at + 1;
        if (child >= f->faults) break;
        if (child + 1 < f->faults && gpumpi_fault_before(f, heap[child + 1], heap[child])) child++;
        if (!gpumpi_fault_before(f, heap[child], last)) break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = last;
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
        if (one->owner >= GPUMP_FAULT_OWNERS || (one->fault != GPUMP_NONE && one->fault >= f->config.faults) ||
            (one->fault != GPUMP_NONE &&
             (one->owner == GPUMP_FAULT_GPU || gpumpi_fault_records(f)[one->fault].granule != i ||
              gpumpi_fault_records(f)[one->fault].state == GPUMPI_FAULT_FREE)))
            return "granule";
    }
    return NULL;
}
static gpumpi_fault_range *gpumpi_fault_find(const gpump_fault *f, uint32_t process, uint64_t number);
static const char *gpumpi_fault_wrong_faults(const gpump_fault *f) {
    const gpumpi_fault_waiter *waiters = gpumpi_fault_waiters(f);
    uint32_t waiting = 0, open = 0, locals = 0, seen = 0, at;
    for (uint32_t i = 0; i < f->config.faults; i++) {
        const gpumpi_fault_record *record = gpumpi_fault_records(f) + i;
        const gpumpi_fault_range *range;
        uint32_t last = GPUMP_NONE, count = record->count;
        if (record->state >= GPUMPI_FAULT_STATES) return "state of a fault";
        if (record->state == GPUMPI_FAULT_FREE) continue;
        open++;
        locals += record->state == GPUMPI_FAULT_ANNOUNCED;
        if (record->process >= f->config.processes || record->sm >= f->config.sms) return "fault";
        range = gpumpi_fault_find(f, record->process, record->number);
        if (!range || range->granule + (record->number - range->first) != record->granule) return "granule of a fault";
        if ((record->state == GPUMPI_FAULT_MAPPED) !=
            (gpumpi_fault_granules(f)[record->granule].owner == GPUMP_FAULT_GPU))
            return "state of a fault";
        if (record->state != GPUMPI_FAULT_MAPPED && gpumpi_fault_granules(f)[record->granule].fault != i)
            return "fault of a granule";
        for (at = record->first; count; count--, at = waiters[at].next) {
            if (at >= f->config.waiters || waiters[at].owner != i) return "waiters of a fault";
            last = at;
        }
        if (at != GPUMP_NONE || last != record->last) return "waiters of a fault";
        waiting += record->count;
    }
    if (open != f->faults) return "open faults";
    for (at = f->free_fault; at != GPUMP_NONE; at = gpumpi_fault_records(f)[at].next, seen++)
        if (at >= f->config.faults || seen >= f->config.faults - open ||
            gpumpi_fault_records(f)[at].state != GPUMPI_FAULT_FREE)
            return "free faults";
    if (seen != f->config.faults - open) return "free faults";
    for (seen = 0, at = f->free_waiter; at != GPUMP_NONE; at = waiters[at].next, seen++)
        if (at >= f->config.waiters || seen >= f->config.waiters - waiting || waiters[at].owner != GPUMP_NONE)
            return "free waiters";
    if (waiting > f->config.waiters || seen != f->config.waiters - waiting) return "free waiters";
    for (seen = 0, at = f->local_first; at != GPUMP_NONE; at = gpumpi_fault_records(f)[at].next, seen++)
        if (at >= f->config.faults || seen >= locals || gpumpi_fault_records(f)[at].state != GPUMPI_FAULT_ANNOUNCED ||
            (gpumpi_fault_records(f)[at].next == GPUMP_NONE) != (at == f->local_last))
            return "local faults";
    if (seen != locals || (!locals && f->local_last != GPUMP_NONE)) return "local faults";
    return NULL;
}

GPUMP_API gpump_result gpump_fault_check(const gpump_fault *fault, gpump_diag *diag) {
    const gpump_fault *f = fault;
    const char *wrong = NULL;
    uint32_t aborts = 0;
    if (!f) return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "fault", 0, 0, 1, UINT64_MAX);
    if (f->ranges > f->config.ranges || f->granules > f->config.granules || f->faults > f->config.faults || f->unused)
        wrong = "counts";
    for (uint32_t i = 0; i < f->config.processes; i++) {
        const gpumpi_fault_process *process = gpumpi_fault_processes(f) + i;
        if (process->aborted > 1 || process->pending > process->aborted) wrong = "aborted process";
        aborts += process->pending == 1;
    }
    if (!wrong && aborts != f->aborts) wrong = "aborted processes";
    if (!wrong) wrong = gpumpi_fault_wrong_ranges(f);
    if (!wrong) wrong = gpumpi_fault_wrong_faults(f);
    for (uint32_t i = 0; !wrong && i < f->faults;
         i++) { /* each open fault is here once: a parent is before its child */
        const uint32_t one = gpumpi_fault_heap(f)[i];
        if (one >= f->config.faults || gpumpi_fault_records(f)[one].state == GPUMPI_FAULT_FREE ||
            (i && !gpumpi_fault_before(f, gpumpi_fault_heap(f)[(i - 1) / 2], one)))
            wrong = "order of faults";
        else if (gpumpi_fault_records(f)[one].opened >= f->opened ||
                 (i && gpumpi_fault_records(f)[one].state == GPUMPI_FAULT_MAPPED))
            wrong = "turns of faults";
        for (uint32_t k = 0; !wrong && k < i; k++)
            if (gpumpi_fault_heap(f)[k] == one) wrong = "order of faults";
    }
    return wrong ? gpumpi_fail(diag, GPUMP_ERROR_FORMAT, wrong, 0, 0, 0, 0) : GPUMP_OK;
}

/* Everything behind the head is u64, or u32 in pairs: words of 32 bits in order of the fields are the same values on
 * every machine, except that the halves of a u64 must not be told apart; so u64 fields go in whole. */
GPUMP_API uint64_t gpump_fault_hash(const gpump_fault *fault) {
    const gpump_fault *f = fault;
    uint64_t hash = gpump_hash_u64s(GPUMP_HASH_SEED, &f->now, 3 + sizeof f->statistics / 8);
    hash = gpump_hash_u32s(hash, &f->config.struct_size, sizeof f->config / 4 + 10);
    for (uint32_t i = 0; i < f->config.processes; i++) {
        const gpumpi_fault_process *one = gpumpi_fault_processes(f) + i;
        hash = gpump_hash_u32s(gpump_hash_u64s(hash, &one->access.page, 4), &one->access.process, 6);
        hash = gpump_hash_u32s(hash, &one->aborted, 2);
    }
    for (uint32_t i = 0; i < f->ranges; i++)
        hash = gpump_hash_u32s(gpump_hash_u64s(hash, &gpumpi_fault_ranges(f)[i].first, 2),
                               &gpumpi_fault_ranges(f)[i].process, 4);
    for (uint32_t i = 0; i < f->config.faults; i++)
        hash = gpump_hash_u32s(gpump_hash_u64s(hash, &gpumpi_fault_records(f)[i].start, 5),
                               &gpumpi_fault_records(f)[i].granule, 10);
    for (uint32_t i = 0; i < f->config.waiters; i++)
        hash = gpump_hash_u32s(gpump_hash_u64s(hash, &gpumpi_fault_waiters(f)[i].cookie, 2),
                               &gpumpi_fault_waiters(f)[i].next, 2);
    hash = gpump_hash_u64s(hash, gpumpi_fault_sm_free(f), f->config.sms);
    for (uint32_t i = 0; i < f->granules; i++) hash = gpump_hash_u32s(hash, &gpumpi_fault_granules(f)[i].owner, 2);
    return gpump_hash_u32s(hash, gpumpi_fault_heap(f), f->faults);
}

GPUMP_API gpump_result gpump_fault_bits(const gpump_fault_config *config, uint64_t *bits, gpump_diag *diag) {
    gpump_result result = gpumpi_fault_check_config(config, diag);
    if (result) return result;
    if (!bits) return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "bits", 0, 0, 1, UINT64_MAX);
    *bits = config->faults * (36 + gpumpi_bits_for(config->processes) + 64 + 2 * gpumpi_bits_for(config->waiters) + 2) +
            config->waiters * (64 + 64 + gpumpi_bits_for(config->waiters)) + config->sms * UINT64_C(64);
    return GPUMP_OK;
}

/* ---- buffers ---- */

/* The first range that is not before (process, number). */
static uint32_t gpumpi_fault_at(const gpump_fault *f, uint32_t process, uint64_t number) {
    const gpumpi_fault_range *ranges = gpumpi_fault_ranges(f);
    uint32_t low = 0, high = f->ranges;
    while (low < high) {
        const uint32_t middle = (low + high) / 2;
        const gpumpi_fault_range *range = ranges + middle;
        if (range->process != process ? range->process < process : range->first + range->count <= number)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}
static gpumpi_fault_range *gpumpi_fault_find(const gpump_fault *f, uint32_t process, uint64_t number) {
    const uint32_t at = gpumpi_fault_at(f, process, number);
    gpumpi_fault_range *range = gpumpi_fault_ranges(f) + at;
    return at < f->ranges && range->process == process && range->first <= number ? range : NULL;
}

/* Granules from `from` on move by `count`, up or down; their ranges and faults follow. */
static void gpumpi_fault_shift(gpump_fault *f, uint32_t from, uint32_t to) {
    gpumpi_fault_granule *granules = gpumpi_fault_granules(f);
    memmove(granules + to, granules + from, (f->granules - from) * sizeof *granules);
    f->granules = f->granules - from + to;
    for (uint32_t i = 0; i < f->ranges; i++)
        if (gpumpi_fault_ranges(f)[i].granule >= from)
            gpumpi_fault_ranges(f)[i].granule = gpumpi_fault_ranges(f)[i].granule - from + to;
    for (uint32_t i = 0; i < f->faults; i++) {
        gpumpi_fault_record *record = gpumpi_fault_records(f) + gpumpi_fault_heap(f)[i];
        if (record->granule >= from) record->granule = record->granule - from + to;
    }
}

GPUMP_API gpump_result gpump_fault_map(gpump_fault *fault, uint32_t process, uint64_t first, uint64_t pages,
                                       uint32_t owner, uint32_t rights) {
    gpump_fault *f = fault;
    gpumpi_fault_range *range;
    uint64_t count;
    uint32_t at, granule;
    if (!f || process >= f->config.processes || owner >= GPUMP_FAULT_OWNERS || !pages || !rights ||
        rights > GPUMP_TLB_RIGHTS || ((first | pages) & (f->config.granule_pages - 1)) || first > UINT64_MAX - pages)
        return GPUMP_ERROR_ARGUMENT;
    first >>= f->granule_shift;
    count = pages >> f->granule_shift;
    at = gpumpi_fault_at(f, process, first);
    range = gpumpi_fault_ranges(f) + at;
    if (at < f->ranges && range->process == process && range->first < first + count) return GPUMP_ERROR_STATE;
    if (f->ranges == f->config.ranges || count > f->config.granules - f->granules) return GPUMP_ERROR_FULL;
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
    for (uint32_t i = 0; i < (uint32_t)count; i++) {
        gpumpi_fault_granules(f)[granule + i].owner = owner;
        gpumpi_fault_granules(f)[granule + i].fault = GPUMP_NONE;
    }
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_fault_unmap(gpump_fault *fault, uint32_t process) {
    gpump_fault *f = fault;
    uint32_t first, end, from, to;
    if (!f || process >= f->config.processes) return GPUMP_ERROR_ARGUMENT;
    for (uint32_t i = 0; i < f->faults; i++)
        if (gpumpi_fault_records(f)[gpumpi_fault_heap(f)[i]].process == process) return GPUMP_BUSY;
    f->aborts -= gpumpi_fault_processes(f)[process].pending;
    memset(gpumpi_fault_processes(f) + process, 0, sizeof(gpumpi_fault_process));
    first = gpumpi_fault_at(f, process, 0);
    for (end = first; end < f->ranges && gpumpi_fault_ranges(f)[end].process == process;) end++;
    if (first == end) return GPUMP_OK;
    to = gpumpi_fault_ranges(f)[first].granule;
    from = end < f->ranges ? gpumpi_fault_ranges(f)[end].granule : f->granules;
    memmove(gpumpi_fault_ranges(f) + first, gpumpi_fault_ranges(f) + end,
            (f->ranges - end) * sizeof(gpumpi_fault_range));
    f->ranges -= end - first;
    gpumpi_fault_shift(f, from, to);
    return GPUMP_OK;
}

/* ---- faults ---- */

/* Adds a warp of a block to the waiters of a fault; 0: no waiter is free. */
static int gpumpi_fault_wait(gpump_fault *f, uint32_t fault, const gpump_fault_access *access) {
    gpumpi_fault_waiter *waiters = gpumpi_fault_waiters(f);
    gpumpi_fault_record *record = gpumpi_fault_records(f) + fault;
    uint32_t at;
    for (at = record->first; at != GPUMP_NONE && waiters[at].cookie != access->cookie;) at = waiters[at].next;
    if (at == GPUMP_NONE) {
        at = f->free_waiter;
        if (at == GPUMP_NONE) return 0;
        f->free_waiter = waiters[at].next;
        waiters[at].cookie = access->cookie;
        waiters[at].warps = 0;
        waiters[at].next = GPUMP_NONE;
        waiters[at].owner = fault;
        if (record->last == GPUMP_NONE)
            record->first = at;
        else
            waiters[record->last].next = at;
        record->last = at;
        record->count++;
        f->statistics.waits++;
    }
    waiters[at].warps |= (uint64_t)1 << access->warp;
    return 1;
}
static void gpumpi_fault_free_waiter(gpump_fault *f, uint32_t at) {
    gpumpi_fault_waiters(f)[at].owner = GPUMP_NONE;
    gpumpi_fault_waiters(f)[at].next = f->free_waiter;
    f->free_waiter = at;
}

/* When a fault that is opened now will be served, and by whom. */
static void gpumpi_fault_schedule(gpump_fault *f, gpumpi_fault_record *record, uint32_t owner, uint32_t *local) {
    uint64_t *free_at = &f->cpu_free, latency = f->config.migrate_cycles, busy = f->config.migrate_busy_cycles;
    *local = f->config.local && owner == GPUMP_FAULT_UNALLOCATED;
    if (*local) {
        free_at = gpumpi_fault_sm_free(f) + record->sm;
        latency = busy = f->config.local_cycles;
        f->statistics.local++;
    } else if (owner == GPUMP_FAULT_UNALLOCATED) {
        latency = f->config.allocate_cycles;
        busy = f->config.allocate_busy_cycles;
        f->statistics.allocated++;
    } else {
        f->statistics.migrated++;
    }
    if (!*local) f->statistics.busy_cycles += busy;
    record->start = *free_at > f->now ? *free_at : f->now;
    record->end = gpump_add_saturated(record->start, latency);
    *free_at = gpump_add_saturated(record->start, busy);
}

static gpump_result gpumpi_fault_open(gpump_fault *f, const gpump_fault_access *access, const gpumpi_fault_range *range,
                                      uint32_t granule) {
    const uint32_t at = f->free_fault;
    gpumpi_fault_record *record;
    uint32_t local;
    if (at == GPUMP_NONE || f->free_waiter == GPUMP_NONE) return GPUMP_BUSY;
    record = gpumpi_fault_records(f) + at;
    f->free_fault = record->next;
    memset(record, 0, sizeof *record);
    record->opened = f->opened++;
    record->number = access->page >> f->granule_shift;
    record->granule = granule;
    record->process = access->process;
    record->rights = range->rights;
    record->first = record->last = record->next = GPUMP_NONE;
    record->sm = access->sm;
    record->warp = access->warp;
    record->cookie = access->cookie;
    gpumpi_fault_schedule(f, record, gpumpi_fault_granules(f)[granule].owner, &local);
    record->state = local ? GPUMPI_FAULT_ANNOUNCED : GPUMPI_FAULT_SERVED;
    if (local) {
        if (f->local_last == GPUMP_NONE)
            f->local_first = at;
        else
            gpumpi_fault_records(f)[f->local_last].next = at;
        f->local_last = at;
    }
    gpumpi_fault_granules(f)[granule].fault = at;
    gpumpi_fault_push(f, at);
    (void)gpumpi_fault_wait(f, at, access);
    return GPUMP_OK;
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
    if (now < f->now) return GPUMP_ERROR_TIME;
    f->now = now;
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
    if (gpumpi_fault_granules(f)[granule].owner == GPUMP_FAULT_GPU) {
        f->statistics.retried++;
        *outcome = GPUMP_FAULT_RETRY;
    } else if (gpumpi_fault_granules(f)[granule].fault != GPUMP_NONE) {
        if (!gpumpi_fault_wait(f, gpumpi_fault_granules(f)[granule].fault, access)) return GPUMP_BUSY;
        f->statistics.merged++;
        *outcome = GPUMP_FAULT_MERGED;
    } else {
        result = gpumpi_fault_open(f, access, range, granule);
        if (result) return result;
        f->statistics.opened++;
        *outcome = GPUMP_FAULT_OPENED;
    }
    f->statistics.reported++;
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_fault_cancel(gpump_fault *fault, uint64_t cookie) {
    gpump_fault *f = fault;
    gpumpi_fault_waiter *waiters;
    uint32_t cancelled = 0;
    if (!f) return GPUMP_ERROR_ARGUMENT;
    waiters = gpumpi_fault_waiters(f);
    for (uint32_t i = 0; i < f->faults; i++) {
        gpumpi_fault_record *record = gpumpi_fault_records(f) + gpumpi_fault_heap(f)[i];
        uint32_t before = GPUMP_NONE, at;
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
        if (waiter->owner != GPUMP_NONE && waiter->cookie == cookie &&
            gpumpi_fault_records(f)[waiter->owner].end > ready)
            ready = gpumpi_fault_records(f)[waiter->owner].end;
    }
    return ready;
}

/* ---- actions ---- */

static void gpumpi_fault_describe(const gpump_fault *f, const gpumpi_fault_record *record, uint32_t kind,
                                  gpump_fault_action *action) {
    action->kind = kind;
    action->page = record->number << f->granule_shift;
    action->pages = f->config.granule_pages;
    action->start = record->start;
    action->end = record->end;
    action->process = record->process;
    action->sm = record->sm;
    action->warp = record->warp;
    action->rights = record->rights;
    action->cookie = record->cookie;
    action->owner = gpumpi_fault_granules(f)[record->granule].owner;
}

GPUMP_API gpump_result gpump_fault_next(gpump_fault *fault, uint64_t now, gpump_fault_action *action) {
    gpump_fault *f = fault;
    gpumpi_fault_record *record;
    gpump_fault_action found;
    if (!f || !action) return GPUMP_ERROR_ARGUMENT;
    if (now < f->now) return GPUMP_ERROR_TIME;
    f->now = now;
    memset(&found, 0, sizeof found);
    if (f->aborts) {
        gpumpi_fault_process *process = gpumpi_fault_processes(f);
        while (!process->pending) process++;
        process->pending = 0;
        f->aborts--;
        found.kind = GPUMP_FAULT_ACT_ABORT;
        found.access = process->access;
        found.process = process->access.process;
        *action = found;
        return GPUMP_OK;
    }
    if (f->local_first != GPUMP_NONE) {
        record = gpumpi_fault_records(f) + f->local_first;
        f->local_first = record->next;
        if (f->local_first == GPUMP_NONE) f->local_last = GPUMP_NONE;
        record->next = GPUMP_NONE;
        record->state = GPUMPI_FAULT_SERVED;
        gpumpi_fault_describe(f, record, GPUMP_FAULT_ACT_LOCAL, &found);
        found.warps = (uint64_t)1 << (record->warp & 63u);
        *action = found;
        return GPUMP_OK;
    }
    while (f->faults) {
        const uint32_t at = gpumpi_fault_heap(f)[0];
        record = gpumpi_fault_records(f) + at;
        if (record->end > now) break;
        if (record->state == GPUMPI_FAULT_SERVED) {
            gpumpi_fault_describe(f, record, GPUMP_FAULT_ACT_MAP, &found);
            found.cookie = 0;
            record->state = GPUMPI_FAULT_MAPPED;
            gpumpi_fault_granules(f)[record->granule].owner = GPUMP_FAULT_GPU;
            gpumpi_fault_granules(f)[record->granule].fault = GPUMP_NONE;
            *action = found;
            return GPUMP_OK;
        }
        if (record->first != GPUMP_NONE) {
            const uint32_t first = record->first;
            gpumpi_fault_describe(f, record, GPUMP_FAULT_ACT_WAKE, &found);
            found.cookie = gpumpi_fault_waiters(f)[first].cookie;
            found.warps = gpumpi_fault_waiters(f)[first].warps;
            record->first = gpumpi_fault_waiters(f)[first].next;
            if (record->first == GPUMP_NONE) record->last = GPUMP_NONE;
            record->count--;
            gpumpi_fault_free_waiter(f, first);
            f->statistics.woken++;
            *action = found;
            return GPUMP_OK;
        }
        gpumpi_fault_pop(f);
        record->state = GPUMPI_FAULT_FREE;
        record->next = f->free_fault;
        f->free_fault = at;
    }
    return GPUMP_EMPTY;
}

GPUMP_API uint64_t gpump_fault_next_cycle(const gpump_fault *fault) {
    if (fault->aborts || fault->local_first != GPUMP_NONE) return fault->now;
    return fault->faults ? gpumpi_fault_records(fault)[gpumpi_fault_heap(fault)[0]].end : GPUMP_UNKNOWN;
}

/* ---- statistics ---- */

GPUMP_API void gpump_fault_get_statistics(const gpump_fault *fault, gpump_fault_statistics *statistics) {
    *statistics = fault->statistics;
}

GPUMP_API void gpump_fault_statistics_diff(const gpump_fault_statistics *earlier, const gpump_fault_statistics *later,
                                           gpump_fault_statistics *difference) {
    const uint64_t *from = &earlier->reported, *to = &later->reported;
    uint64_t *result = &difference->reported;
    for (size_t i = 0; i < sizeof *earlier / sizeof *from; i++) result[i] = to[i] - from[i];
}

GPUMP_API gpump_result gpump_fault_statistics_field(const gpump_fault_statistics *statistics, uint32_t index,
                                                    const char **name, const char **unit, const char **description,
                                                    uint64_t *value) {
    static const char *const words[][3] = {
#define GPUMPI_FIELD(name, unit, description) {#name, unit, description},
        GPUMP_FAULT_STATISTICS(GPUMPI_FIELD)
#undef GPUMPI_FIELD
    };
    return gpumpi_field(words, sizeof words / sizeof words[0], statistics ? &statistics->reported : NULL, index, name,
                        unit, description, value);
}
