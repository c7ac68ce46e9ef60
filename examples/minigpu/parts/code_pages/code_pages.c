#include "parts/code_pages/code_pages.h"

#include <stdio.h>
#include <string.h>

#include "launch/absent_list.h"
#include "machine/machine_options.h"
#include "parts/fault_unit/fault_calls.h"
#include "sm/gate.h"
#include "parts/page_checks/page_faults.h"

#define BIT(slot) (UINT64_C(1) << (slot))

/* ---- making ---- */

static uint64_t align_up(uint64_t value, uint64_t alignment) { return (value + alignment - 1) / alignment * alignment; }

/* Each kernel's code lies at a multiple of `alignment`, and behind all of it the handler's. */
static uint64_t lay_out(machine *m, uint64_t address, uint64_t alignment) {
    const uint64_t step = alignment < PAGE_BYTES ? PAGE_BYTES : alignment;
    uint32_t i;
    address = align_up(address, step);
    m->code.first = (address - DEVICE_BASE) / PAGE_BYTES;
    for (i = 0; i < m->kernel_count; i++) {
        kernel *k = &m->kernels[i];
        k->code_page = (address - DEVICE_BASE) / PAGE_BYTES;
        k->code_pages =
            (uint32_t)(align_up((uint64_t)k->program->count * m->config.instruction_bytes, PAGE_BYTES) / PAGE_BYTES);
        address = align_up(address + (uint64_t)k->code_pages * PAGE_BYTES, step);
    }
    m->code.count = (uint32_t)((address - DEVICE_BASE) / PAGE_BYTES + 1 - m->code.first);
    return align_up(address + PAGE_BYTES, step);
}

static uint64_t handler_page(const machine *m) { return m->code.first + m->code.count - 1; }

static void make_absent(machine *m, uint64_t page) {
    m->page_table[page] = PAGE_READ | PAGE_ABSENT_READ | PAGE_ABSENT_WRITE;
}

static int make(machine *m, const launch_file *launch, const machine_options *options, char error[LAUNCH_ERROR_BYTES]) {
    uint32_t i, n;
    (void)options;
    if (!m->code.count) return 0;
    m->code.pages = (code_page *)arena_take_array(&m->arena, m->code.count, sizeof *m->code.pages);
    if (!m->code.pages) {
        snprintf(error, LAUNCH_ERROR_BYTES, "%s: out of memory for the pages of code", launch->path);
        return -1;
    }
    for (i = 0; i < m->kernel_count; i++)
        for (n = 0; n < m->kernels[i].code_pages; n++) make_absent(m, m->kernels[i].code_page + n);
    make_absent(m, handler_page(m));
    return 0;
}

/* ---- fetching ---- */

static int is_absent(const machine *m, uint64_t page) { return (m->page_table[page] & PAGE_ABSENT_READ) != 0; }

static uint64_t page_of(const machine *m, const kernel *k, uint32_t pc) {
    return k->code_page + (uint64_t)pc * m->config.instruction_bytes / PAGE_BYTES;
}

static uint32_t next_pc(const warp *w) { return w->stack.entries[w->stack.depth - 1].pc; }

int code_pages_look(machine *m, sm *s, warp *w) {
    const kernel *k = &m->kernels[m->blocks[w->block].kernel];
    if (!w->stack.depth || !is_absent(m, page_of(m, k, next_pc(w)))) return 0;
    w->fetch_faults = 1;
    s->faults->again = 1; /* it may have drained already */
    w->called_until = NEVER;
    gate_close(s, w, GPUMP_WARP_FETCH, GPUMP_WARP_FAULT);
    s->fetched &= ~BIT(w->slot);
    return 1;
}

static void note(machine *m, const warp *w, uint64_t page) {
    code_page *p = &m->code.pages[page - m->code.first];
    const block *b = &m->blocks[w->block];
    if (p->faults++) return;
    p->cycle = m->now;
    p->linear = b->linear;
    p->kernel = b->kernel;
    p->warp = w->index;
    p->pc = next_pc(w);
}

/* The warp's fetch from a page faults. */
static uint64_t fault(machine *m, sm *s, warp *w, uint64_t page, uint64_t address) {
    const block *b = &m->blocks[w->block];
    gpump_fault_access access;
    uint64_t again;
    note(m, w, page);
    if (!m->fault_unit) return page_faults_open(m, address, 0);
    memset(&access, 0, sizeof access);
    access.page = page;
    access.address = address;
    access.cookie = block_cookie(b);
    access.lanes = simt_top(&w->stack)->mask;
    access.process = m->kernels[b->kernel].process;
    access.kernel = b->kernel;
    access.sm = s->index;
    access.warp = w->index;
    access.pc = next_pc(w);
    access.rights = GPUMP_TLB_EXECUTE;
    again = fault_unit_open(m, w, &access);
    return again != NEVER ? again : fault_calls_wait(m, s, w);
}

uint64_t code_pages_drained(machine *m, sm *s, warp *w) {
    const kernel *k = &m->kernels[m->blocks[w->block].kernel];
    const uint32_t pc = next_pc(w);
    const uint64_t page = page_of(m, k, pc);
    w->fetch_faults = 0;
    if (!is_absent(m, page)) return m->now; /* another warp has had it brought, or this one was sent elsewhere */
    return fault(m, s, w, page, DEVICE_BASE + k->code_page * PAGE_BYTES + (uint64_t)pc * m->config.instruction_bytes);
}

uint64_t code_pages_call(machine *m, sm *s, warp *w) {
    if (!m->code.count || !is_absent(m, handler_page(m))) return 0;
    return fault(m, s, w, handler_page(m), DEVICE_BASE + handler_page(m) * PAGE_BYTES);
}

/* ---- the part ---- */

static int configure(machine *m, const launch_file *launch, const machine_options *options,
                     char error[LAUNCH_ERROR_BYTES]) {
    (void)launch;
    (void)error;
    m->code_is_absent = (uint32_t)absent_list_has(options->absent, "code");
    return 0;
}

static int is_present(const machine *m) { return m->code_is_absent != 0; }

const part code_pages_part = {
    .name = "code_pages",
    .configure = configure,
    .make = make,
    .is_present = is_present,
    .lay_out = lay_out,
};
