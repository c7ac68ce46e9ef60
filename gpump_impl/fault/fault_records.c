#include "fault/fault_parts.h"

/* ---- the heap: faults that are being served, the earliest end first, then the earliest opening ---- */

GPUMP_API void gpumpi_fault_push(gpump_fault *f, uint32_t fault) {
    uint32_t *heap = gpumpi_fault_heap(f), at = f->faults++;
    for (; at && gpumpi_fault_before(f, fault, heap[(at - 1) / 2]); at = (at - 1) / 2) heap[at] = heap[(at - 1) / 2];
    heap[at] = fault;
}
GPUMP_API void gpumpi_fault_sift(gpump_fault *f) {
    uint32_t *heap = gpumpi_fault_heap(f), last = heap[f->faults], at = 0;
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

/* ---- ranges of granules ---- */

GPUMP_API uint32_t gpumpi_fault_at(const gpump_fault *f, uint32_t process, uint64_t number) {
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
GPUMP_API gpumpi_fault_range *gpumpi_fault_find(const gpump_fault *f, uint32_t process, uint64_t number) {
    gpumpi_fault_range *ranges = gpumpi_fault_ranges(f);
    uint32_t low = 0, high = f->ranges;
    while (low < high) {
        const uint32_t middle = (low + high) / 2;
        gpumpi_fault_range *range = ranges + middle;
        if (range->process == process && number - range->first < range->count) return range;
        if (range->process != process ? range->process < process : range->first < number)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

GPUMP_API const gpumpi_fault_range *gpumpi_fault_range_of(const gpump_fault *f, uint32_t granule) {
    const gpumpi_fault_range *ranges = gpumpi_fault_ranges(f);
    uint32_t low = 0, high = f->ranges - 1;
    while (low < high) {
        const uint32_t middle = (low + high + 1) / 2;
        if (ranges[middle].granule <= granule)
            low = middle;
        else
            high = middle - 1;
    }
    return ranges + low;
}

/* ---- records ---- */

GPUMP_API uint32_t gpumpi_fault_new_record(gpump_fault *f, const gpumpi_fault_range *range, uint32_t granule) {
    const uint32_t at = f->free_fault;
    gpumpi_fault_record *record;
    if (at == GPUMP_NONE) return at;
    record = gpumpi_fault_records(f) + at;
    gpumpi_fault_granules(f)[granule].fault = at;
    f->free_fault = record->next;
    f->open++;
    /* field by field: a whole struct, or memset, takes twice the instructions */
    record->start = record->end = 0;
    record->opened = f->opened++;
    record->number = range->first + (granule - range->granule);
    record->cookie = record->framed = record->delayed_until = 0;
    record->granule = granule;
    record->process = range->process;
    record->rights = range->rights;
    record->first = record->last = GPUMP_NONE;
    record->count = 0;
    record->next = GPUMP_NONE;
    record->state = record->sm = record->warp = 0;
    record->frame_next = GPUMP_NONE;
    record->entries = record->remote = record->has_frame = record->asks_cpu = record->unused = 0;
    return at;
}
