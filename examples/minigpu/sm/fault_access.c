#include "sm/fault_access.h"

#include <string.h>

#define NO_PAGE (UINT64_MAX >> 16)

static uint32_t lanes_on(const in_flight *r, uint64_t page) {
    uint32_t lane, lanes = 0;
    for (lane = 0; lane < LANES; lane++)
        if (r->active >> lane & 1 && (r->addresses[lane] - DEVICE_BASE) / PAGE_BYTES == page) lanes |= 1u << lane;
    return lanes;
}

gpump_fault_access fault_access_of(const machine *m, const sm *s, const in_flight *r, uint64_t address,
                                   translation found) {
    const block *b = &m->blocks[r->block];
    const uint64_t page = (address - DEVICE_BASE) / PAGE_BYTES;
    gpump_fault_access access;
    memset(&access, 0, sizeof access);
    access.lanes = lanes_on(r, page);
    access.address = access.lanes ? r->addresses[gpump_bits_lowest64(access.lanes)]
                                  : address; /* the lowest lane's, else the segment */
    /* The unit counts in granules, the page table in pages: the part of a granule behind a buffer's last page has no
     * owner. */
    access.page = found == TRANSLATION_ABSENT ? page : NO_PAGE;
    access.cookie = block_cookie(b);
    access.process = m->kernels[b->kernel].process;
    access.kernel = b->kernel;
    access.sm = s->index;
    access.warp = m->warps[r->warp].index;
    access.pc = r->pc;
    access.rights = instruction_only_reads(r->instruction) ? GPUMP_TLB_READ : GPUMP_TLB_WRITE;
    return access;
}
