#include "parts/fault_unit/fault_calls.h"

#include <stdio.h>

#include "sm/fault_access.h"

/* Accesses to absent pages that a warp's checks have found since its last call: one per granule. */
struct fault_found {
    gpump_fault_access accesses[LANES];
    uint32_t count, unused;
};

int fault_calls_make(machine *m, char error[LAUNCH_ERROR_BYTES]) {
    if (!fault_unit_of(m)) return 0;
    fault_unit_of(m)->waits = (fault_wait *)arena_take_array(&m->arena, m->warp_count, sizeof(fault_wait));
    fault_unit_of(m)->found = (fault_found *)arena_take_array(&m->arena, m->warp_count, sizeof(fault_found));
    if (fault_unit_of(m)->waits && fault_unit_of(m)->found) return 0;
    snprintf(error, LAUNCH_ERROR_BYTES, "out of memory for the calls of the fault handler");
    return -1;
}

static fault_found *found_by(const machine *m, const warp *w) { return &fault_unit_of(m)->found[w - m->warps]; }

void fault_calls_open(machine *m, const warp *w) { found_by(m, w)->count = 0; }

void fault_calls_found(machine *m, sm *s, const in_flight *r, uint64_t segment) {
    const gpump_fault_access access = fault_access_of(m, s, r, segment, TRANSLATION_ABSENT);
    const uint64_t granule_pages = fault_unit_of(m)->granule_pages;
    fault_found *found = found_by(m, &m->warps[r->warp]);
    uint32_t i;
    for (i = 0; i < found->count; i++)
        if (found->accesses[i].page / granule_pages == access.page / granule_pages) return;
    if (found->count < LANES) found->accesses[found->count++] = access;
}

uint64_t fault_calls_wait(machine *m, sm *s, warp *w) {
    if (!w->awaited_count) return sm_time(m, s) + 1;
    fault_wait_of(m, w)->calls = 1;
    PARTS_TELL(m, warp_calls, (m, s, w));
    return NEVER;
}

uint64_t fault_calls_call(machine *m, sm *s, warp *w) {
    fault_found *found = found_by(m, w);
    uint64_t cycle = sm_time(m, s) + 1;
    uint32_t i;
    for (i = 0; i < found->count; i++) {
        const uint64_t again = fault_unit_open(m, s, w, &found->accesses[i]);
        if (again != NEVER && again > cycle) cycle = again; /* no room: the check finds it again */
    }
    found->count = 0;
    __atomic_fetch_add(&m->page_faults.calls, 1, __ATOMIC_RELAXED); /* SMs may run side by side */
    return w->awaited_count ? fault_calls_wait(m, s, w) : cycle;
}
