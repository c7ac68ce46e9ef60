#include "parts/fault_unit/fault_service.h"

#include <stdio.h>
#include <string.h>

#include "parts/fault_unit/fault_calls.h"
#include "parts/fault_unit/fault_memory.h"
#include "parts/fault_unit/link_options.h"
#include "parts/fault_unit/fault_report.h"
#include "parts/fault_unit/fault_unit.h"
#include "sm/translation.h"
#include "preemption/kill.h"
#include "timeline.h"

/* Maps a granule that has arrived. Accesses that wait in place for this granule alone repeat their translation. */
static void map(machine *m, const gpump_fault_action *action) {
    uint64_t page;
    if (m->page_table[action->page] & PAGE_REPORTED_READ) fault_unit_count(m, -1); /* else a driver has prefetched it */
    m->page_table[action->page] &= (uint8_t)~PAGE_REPORTED_READ;
    if (!fault_unit_of(m)->aborts[action->process].instruction)
        for (page = action->page; page < action->page + action->pages; page++) {
            if (!(m->page_table[page] & PAGE_READ)) continue; /* behind the buffer's end */
            m->page_table[page] &= (uint8_t) ~(PAGE_ABSENT_READ | PAGE_ABSENT_WRITE);
            m->page_faults.served++;
            translation_changes(m, page);
        }
    fault_memory_mapped(m, action);
    PARTS_TELL(m, pages_came, (m));
}

static block *find_block(machine *m, uint64_t cookie) {
    uint32_t i;
    for (i = 0; i < m->block_count; i++)
        if (m->blocks[i].life && block_cookie(&m->blocks[i]) == cookie) return &m->blocks[i];
    return NULL;
}

/* The warps of a block wait for one granule less. */
static void wake(machine *m, uint64_t cookie, uint64_t page) {
    block *b = find_block(m, cookie);
    const uint64_t granule = page / fault_unit_of(m)->granule_pages;
    uint32_t i, n, pending = UINT32_MAX;
    PARTS_TELL(m, pages_pending, (m, cookie));
    for (i = 0; b && i < b->warp_count; i++) {
        warp *w = &m->warps[b->warps[i]];
        fault_wait *wait = fault_wait_of(m, w);
        sm *s = m->sms[b->sm];
        if (w->awaited_count == AWAITS_BLOCK) {
            if (pending == UINT32_MAX) pending = gpump_fault_pending(fault_unit_of(m)->fault, cookie);
            if (pending) continue;
            w->awaited_count = 0;
        } else {
            for (n = 0; n < w->awaited_count && wait->awaited[n] != granule; n++) {}
            if (n == w->awaited_count) continue;
            wait->awaited[n] = wait->awaited[--w->awaited_count];
            if (w->awaited_count) continue;
        }
        s->wake = m->now;
        if (wait->calls) w->called_until = m->now;
        wait->calls = 0;
        PARTS_TELL(m, warp_goes_on, (m, s, w));
    }
}

/* Frees the pages of a process, once none of them is being served. */
static void unmap(machine *m, uint32_t process) {
    fault_unit_of(m)->unmap[process] = gpump_fault_unmap(fault_unit_of(m)->fault, process) == GPUMP_BUSY;
}

static void abort_process(machine *m, const gpump_fault_access *access) {
    const kernel *k = &m->kernels[access->kernel];
    fault_abort *a = &fault_unit_of(m)->aborts[access->process];
    uint32_t i;
    a->cycle = m->now;
    a->address = access->address;
    a->linear = cookie_linear(access->cookie);
    a->instruction = &k->program->instructions[access->pc];
    a->kernel = access->kernel;
    a->warp = access->warp;
    a->lanes = (uint32_t)access->lanes;
    a->killed = preemption_kill_process(m, access->process);
    for (i = 0; i < m->kernel_count; i++)
        if (m->kernels[i].process == access->process)
            memset(m->page_table + m->kernels[i].code_page, 0, m->kernels[i].code_pages);
    for (i = 0; i < m->launch->buffer_count; i++) {
        const launch_buffer *buffer = &m->launch->buffers[i];
        uint64_t page = (buffer->address - DEVICE_BASE) / PAGE_BYTES;
        if (buffer->process != access->process || buffer->symbol) continue;
        for (; page * PAGE_BYTES < buffer->address - DEVICE_BASE + buffer->bytes; page++) {
            m->page_table[page] &= PAGE_REPORTED_READ; /* of a fault that is being served */
            translation_changes(m, page);
        }
    }
    unmap(m, access->process);
}

void fault_service_serve(machine *m) {
    fault_unit *u = fault_unit_of(m);
    gpump_fault_action action;
    uint32_t i;
    while (!m->failed && gpump_fault_next(u->fault, m->now, &action) == GPUMP_OK) {
        switch (action.kind) {
        case GPUMP_FAULT_ACT_ABORT: abort_process(m, &action.access); break;
        case GPUMP_FAULT_ACT_MAP: map(m, &action); break;
        case GPUMP_FAULT_ACT_UNMAP: fault_memory_evict(m, &action); break;
        case GPUMP_FAULT_ACT_WAKE: wake(m, action.cookie, action.page); break;
        case GPUMP_FAULT_ACT_LOCAL: { /* a warp that waits anyway executes the handler; its block stays meanwhile */
            block *b = find_block(m, action.cookie);
            if (action.end == GPUMP_UNKNOWN)
                PARTS_TELL(m, handler_starts, (m, &action));
            else if (b && b->handler_until < action.end)
                b->handler_until = action.end;
            break;
        }
        default: break;
        }
    }
    if (u->leaving_count && u->free_cycle <= m->now) fault_memory_free_frames(m);
    for (i = 0; i < u->processes; i++)
        if (u->unmap[i]) unmap(m, i);
    fault_unit_refresh(m);
}

/* ---- the end of a window ---- */

/* Reports an access to the unit. A report for which the unit has no room waits for the end of the next window. */
static void open_late(machine *m, late_list *list, uint64_t end, const gpump_fault_access *access) {
    switch (fault_unit_report(m, access)) {
    case FAULT_NO_ROOM:
        late_keep(list, end);
        fault_unit_of(m)->kept++;
        break;
    case FAULT_IS_RESIDENT:
        wake(m, access->cookie, access->page);
        PARTS_TELL(m, pages_came, (m)); /* for records that wait in place */
        break;
    default: break;
    }
}

void fault_service_end_window(machine *m) {
    fault_unit *u = fault_unit_of(m);
    const uint64_t now = m->now;
    const fault_late *late;
    uint32_t sm;
    if (!m->window_cycles) return;
    u->kept = 0;
    while ((late = (const fault_late *)late_take(u->late, m->sm_count, &m->now, &sm)) != NULL) switch (late->kind) {
        case FAULT_LATE_OPEN: open_late(m, &u->late[sm], now, &late->access); break;
        case FAULT_LATE_REMOTE: fault_memory_access_remote(m, m->sms[sm], &late->remote); break;
        case FAULT_LATE_RELEASE: fault_memory_release(m, &late->release); break;
        case FAULT_LATE_HANDLED: fault_unit_handled(m, &late->handled); break;
        default: break;
        }
    m->now = now;
}

/* ---- the part ---- */

static int configure(machine *m, const launch_file *launch, const machine_options *options,
                     char error[LAUNCH_ERROR_BYTES]) {
    const faults_options *o = &options->faults;
    (void)launch;
    if (o->link && o->scheme && !strcmp(o->scheme, "stall")) m->block_waits |= GPUMP_SM_WAIT_FAULT;
    if (!o->link || (m->of_part[PART_fault_unit] = arena_take(&m->arena, sizeof(fault_unit)))) return 0;
    snprintf(error, LAUNCH_ERROR_BYTES, "out of memory for the fault unit");
    return -1;
}

static int make(machine *m, const launch_file *launch, const machine_options *options, char error[LAUNCH_ERROR_BYTES]) {
    return fault_unit_make(m, launch, options, error) || fault_calls_make(m, error) ? -1 : 0;
}

/* Buffers begin at multiples of a granule. */
static uint64_t alignment(const machine_options *options) {
    return options->faults.link ? fault_unit_granule_bytes() : 1;
}

static int is_present(const machine *m) { return fault_unit_of(m) != NULL; }

static uint64_t hash(const machine *m, uint64_t hash) {
    return gpump_hash_u64(hash, gpump_hash(&gpump_fault_component, fault_unit_of(m)->fault));
}

static void block_leaves(machine *m, sm *s, block *b, const gpump_sm_action *action) {
    if (action->why != GPUMP_BLOCK_SAVED) {
        fault_unit_drop_late(m, s, block_cookie(b));
        fault_unit_block_gone(m, block_cookie(b));
    }
}

static uint64_t pages_cycle(const machine *m, const warp *w, uint64_t cycle) {
    return w->awaited_count ? NEVER : cycle == NEVER ? sm_time(m, m->sms[w->sm]) + 1 : cycle;
}

static uint64_t page_is_wanted(machine *m, sm *s, warp *w, const gpump_fault_access *access) {
    return fault_unit_open(m, s, w, access);
}

/* Returns the warps on the SMs that wait for no page. */
static uint64_t active_warps(const machine *m) {
    uint64_t active = 0;
    uint32_t i;
    for (i = 0; i < m->warp_count; i++)
        active += m->warps[i].sm != NONE && m->warps[i].stack.depth && !m->warps[i].awaited_count;
    return active;
}

/* Tanasic Fig. 6.2. */
static int curve(const machine *m, uint32_t index, timeline_series *series, uint64_t *value) {
    static const timeline_series curves[] = {
        {"page faults", "in flight", "granules of 64 KB", 1, 0, TIMELINE_GAUGE, TIMELINE_NONE},
        {"active warps", "active", "warps that wait for no page", 1, 0, TIMELINE_GAUGE, TIMELINE_NONE}};
    if (!m->page_faults.absent || index >= sizeof curves / sizeof *curves) return 0;
    *series = curves[index];
    *value = index ? active_warps(m) : fault_unit_of(m)->in_flight;
    return 1;
}

static int check_fails(machine *m, sm *s, const in_flight *r, uint64_t segment) {
    fault_calls_found(m, s, r, segment);
    return 1;
}

static int takes_segment(machine *m, sm *s, uint32_t record, uint64_t segment, int replies) {
    if (!fault_memory_is_remote(m, segment)) return 0;
    fault_memory_send(m, s, record, segment, replies);
    return 1;
}

static uint32_t pages_of_block(const machine *m, uint64_t cookie, uint64_t *ready) {
    *ready = gpump_fault_ready_cycle(fault_unit_of(m)->fault, cookie);
    return gpump_fault_pending(fault_unit_of(m)->fault, cookie);
}

static void forget_found(machine *m, sm *s, warp *w) {
    (void)s;
    fault_calls_open(m, w);
}

static void warp_came(machine *m, sm *s, warp *w) {
    memset(fault_wait_of(m, w), 0, sizeof(fault_wait));
    forget_found(m, s, w);
}

/* With the scheme stall a block stays until its faults have been served. */
static uint32_t block_waits(const machine *m, const sm *s, const block *b, uint32_t waits) {
    uint32_t i;
    (void)s;
    (void)waits;
    for (i = 0; m->block_waits & GPUMP_SM_WAIT_FAULT && i < b->warp_count; i++)
        if (m->warps[b->warps[i]].awaited_count && !fault_wait_of(m, &m->warps[b->warps[i]])->calls)
            return GPUMP_SM_WAIT_FAULT;
    return 0;
}

static void preempted_dropped(machine *m, const preempted_block *entry) {
    fault_unit_block_gone(m, block_cookie_of(entry->kernel, entry->linear));
}

const part fault_unit_part = {
    .name = "fault_unit",
    .traits = PART_CROSSES_SMS | PART_ON_PATH | PART_ABORTS,
    .options = fault_unit_options,
    .rules = fault_unit_rules,
    .options_at = offsetof(machine_options, faults),
    .configure = configure,
    .make = make,
    .alignment = alignment,
    .is_present = is_present,
    .next = fault_unit_next,
    .turn = fault_service_serve,
    .sms_have_run = fault_service_end_window,
    .is_awaited = fault_unit_is_serving,
    .block_leaves = block_leaves,
    .preempted_dropped = preempted_dropped,
    .blocks_are_weighed = fault_unit_describe,
    .block_waits = block_waits,
    .warp_came = warp_came,
    .warp_squashed = forget_found,
    .takes_segment = takes_segment,
    .check_fails = check_fails,
    .handler_is_called = fault_calls_call,
    .page_is_wanted = page_is_wanted,
    .fetch_waits_for = fault_calls_wait,
    .fetch_ends = fault_memory_fetch_ends,
    .pages_cycle = pages_cycle,
    .curve = curve,
    .restored_cycle = fault_unit_restored,
    .handler_ends = fault_unit_handler_ends,
    .passes_checks = fault_memory_passed,
    .pages_of_block = pages_of_block,
    .report = fault_report,
    .report_json = fault_report_json,
    .hash = hash,
};
