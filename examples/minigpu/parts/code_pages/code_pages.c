#include "parts/code_pages/code_pages.h"

#include <stdio.h>
#include <string.h>

#include "launch/absent_list.h"
#include "machine/machine_options.h"
#include "sm/gate.h"

/* Of an SM. */
typedef struct sm_code_pages {
    uint64_t fetch_faults[WARP_SET_WORDS]; /* by warp.number: the warp waits until its fetch may fault */
    uint64_t faulted[WARP_SET_WORDS];      /* the warp has fetched nothing since its fetch faulted, or since it came */
    uint64_t holds[WARP_SET_WORDS];        /* its next instruction may have to be fetched again, with its page */
    uint32_t *buffered;                    /* by warp.number: 1 + PC of the instruction fetched then; 0: none */
    code_page *pages;                      /* the first fetch of this SM that found each page absent */
    uint32_t again;                        /* 1: the next cycle matters */
    uint32_t unused;
} sm_code_pages;
static sm_code_pages *sm_code_pages_of(const sm *s) { return (sm_code_pages *)s->of_part[PART_code_pages]; }

code_page code_pages_note(const machine *m, uint32_t page) {
    code_page first;
    uint32_t i;
    memset(&first, 0, sizeof first);
    for (i = 0; i < m->sm_count; i++) {
        const code_page *p = &sm_code_pages_of(m->sms[i])->pages[page];
        const uint64_t faults = first.faults + p->faults;
        if (p->faults && (!first.faults || p->cycle < first.cycle)) first = *p;
        first.faults = faults;
    }
    return first;
}

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
    if (!m->of_part[PART_code_pages]) return 0;
    for (i = 0; i < m->sm_count; i++) {
        sm_code_pages *own = (sm_code_pages *)arena_take(&m->arena, sizeof *own);
        if (own) own->pages = (code_page *)arena_take_array(&m->arena, m->code.count, sizeof *own->pages);
        if (own) own->buffered = (uint32_t *)arena_take_array(&m->arena, warp_numbers(m), sizeof *own->buffered);
        if (!own || !own->pages || !own->buffered) {
            snprintf(error, LAUNCH_ERROR_BYTES, "%s: out of memory for the pages of code", launch->path);
            return -1;
        }
        m->sms[i]->of_part[PART_code_pages] = own;
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

static void ends(machine *m, sm *s, const warp *w) {
    gpump_bits_clear(sm_code_pages_of(s)->holds, w->number);
    PARTS_TELL(m, fetch_ends, (m, s, w));
}

/* A warp whose fetch has faulted has its instruction now: it keeps that, whatever becomes of the page. A warp that
 * fetches an instruction again whose access faults needs the page until the access has passed its checks. */
static void fetched_after_fault(machine *m, sm *s, const warp *w) {
    sm_code_pages *own = sm_code_pages_of(s);
    gpump_bits_clear(own->faulted, w->number);
    own->buffered[w->number] = next_pc(w) + 1;
    if (w->barrier == NONE && machine_fetches_again(m))
        gpump_bits_set(own->holds, w->number);
    else
        ends(m, s, w);
}

/* Does the warp's next instruction lie in an absent page? Then it fetches no more, until its pipeline is empty. */
static int fetch_stops(machine *m, sm *s, warp *w) {
    const kernel *k = &m->kernels[m->blocks[w->block].kernel];
    const sm_code_pages *own = sm_code_pages_of(s);
    if (!w->stack.depth || own->buffered[w->number] == next_pc(w) + 1) return 0;
    if (!is_absent(m, page_of(m, k, next_pc(w)))) {
        if (gpump_bits_get(own->faulted, w->number) &&
            !gpump_warp_gate_closed_by(w->gate, GPUMP_WARP_ISSUE, GPUMP_WARP_FAULT))
            fetched_after_fault(m, s, w);
        return 0;
    }
    gpump_bits_set(sm_code_pages_of(s)->fetch_faults, w->number);
    sm_code_pages_of(s)->again = 1; /* the warp may have drained already */
    w->called_until = NEVER;
    gate_close(s, w, GPUMP_WARP_FETCH, GPUMP_WARP_FAULT);
    s->fetched &= ~warp_bit(w);
    return 1;
}

static void note(const machine *m, const sm *s, const warp *w, uint64_t page) {
    code_page *p = &sm_code_pages_of(s)->pages[page - m->code.first];
    const block *b = &m->blocks[w->block];
    if (p->faults++) return;
    p->cycle = s->now;
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
    note(m, s, w, page);
    gpump_bits_set(sm_code_pages_of(s)->faulted, w->number);
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
    PARTS_ASK(m, again, 0, page_is_wanted, (m, s, w, &access));
    if (again == NEVER) PARTS_ASK(m, again, 0, fetch_waits_for, (m, s, w));
    return again;
}

/* Handles the fault of a fetch, once the warp has no instruction in the pipeline any more. Returns the cycle in which
 * the warp resumes; NEVER: it resumes when a part has loaded the page. */
static uint64_t drained(machine *m, sm *s, warp *w) {
    const kernel *k = &m->kernels[m->blocks[w->block].kernel];
    const uint32_t pc = next_pc(w);
    const uint64_t page = page_of(m, k, pc);
    gpump_bits_clear(sm_code_pages_of(s)->fetch_faults, w->number);
    if (!is_absent(m, page)) return s->now; /* another warp has had it brought, or this one was sent elsewhere */
    return fault(m, s, w, page, DEVICE_BASE + k->code_page * PAGE_BYTES + (uint64_t)pc * m->config.instruction_bytes);
}

/* A warp calls the fault handler. Returns 0 when the handler's code is present, else the result of drained(): the warp
 * then executes its call again. */
static uint64_t handler_is_called(machine *m, sm *s, warp *w) {
    if (!is_absent(m, handler_page(m))) return 0;
    return fault(m, s, w, handler_page(m), DEVICE_BASE + handler_page(m) * PAGE_BYTES);
}

static void fetch_waits(machine *m, sm *s, warp *w) {
    if (gpump_bits_get(sm_code_pages_of(s)->fetch_faults, w->number) && !w->in_flight)
        w->called_until = drained(m, s, w);
}

/* ---- the part ---- */

static void before_issue(machine *m, sm *s) {
    (void)m;
    sm_code_pages_of(s)->again = 0;
}

static uint64_t next_of_sm(const machine *m, const sm *s) {
    (void)m;
    return sm_code_pages_of(s)->again ? s->now + 1 : NEVER;
}

static int configure(machine *m, const launch_file *launch, const machine_options *options,
                     char error[LAUNCH_ERROR_BYTES]) {
    if (!absent_list_has(options->absent, "code")) return 0;
    if ((m->of_part[PART_code_pages] = arena_take(&m->arena, sizeof(uint64_t)))) return 0; /* marks presence alone */
    snprintf(error, LAUNCH_ERROR_BYTES, "%s: out of memory for the pages of code", launch->path);
    return -1;
}

/* A warp that is restored may have faulted before it left. */
static void warp_came(machine *m, sm *s, warp *w) {
    sm_code_pages *own = sm_code_pages_of(s);
    (void)m;
    gpump_bits_clear(own->fetch_faults, w->number);
    gpump_bits_clear(own->holds, w->number);
    gpump_bits_set(own->faulted, w->number);
    own->buffered[w->number] = 0;
}

/* The warp may be at another PC now. */
static void warp_squashed(machine *m, sm *s, warp *w) {
    (void)m;
    sm_code_pages_of(s)->buffered[w->number] = 0;
}

/* The warp has issued an instruction. One that accesses memory takes effect later (retires). */
static void issued(machine *m, sm *s, warp *w, const in_flight *r) {
    sm_code_pages_of(s)->buffered[w->number] = 0;
    if (r->info->unit != UNIT_MEMORY && gpump_bits_get(sm_code_pages_of(s)->holds, w->number)) ends(m, s, w);
}

static void retires(machine *m, sm *s, const in_flight *r) {
    const warp *w = &m->warps[r->warp];
    if (gpump_bits_get(sm_code_pages_of(s)->holds, w->number)) ends(m, s, w);
}

static int is_present(const machine *m) { return m->of_part[PART_code_pages] != NULL; }

const part code_pages_part = {
    .name = "code_pages",
    .configure = configure,
    .make = make,
    .is_present = is_present,
    .traits = PART_ON_PATH,
    .lay_out = lay_out,
    .warp_came = warp_came,
    .before_issue = before_issue,
    .next_of_sm = next_of_sm,
    .fetch_stops = fetch_stops,
    .fetch_waits = fetch_waits,
    .issued = issued,
    .retires = retires,
    .warp_squashed = warp_squashed,
    .handler_is_called = handler_is_called,
    .report = code_pages_report,
    .report_json = code_pages_report_json,
};
