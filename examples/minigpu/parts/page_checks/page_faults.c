#include "parts/page_checks/page_faults.h"

#include <stdio.h>
#include <string.h>

#include "launch/absent_list.h"
#include "machine/machine_options.h"
#include "machine/window.h"
#include "parts/page_checks/page_options.h"
#include "sass/trace_reader.h"
#include "sm/late.h"
#include "sm/translation.h"
#include "timeline.h"

#define CALLS_HANDLER UINT32_MAX /* late item: the handler is called */
enum { LATE_ITEMS = 1024 };      /* of an SM in a window */

/* An entry of the fault buffer: page * 2, + 1 for writing. The last `reported` entries are not requested yet: their
 * cycle is NEVER. */

static void absent_buffer(machine *m, const launch_buffer *buffer) {
    const uint64_t first = (buffer->address - DEVICE_BASE) / PAGE_BYTES;
    uint64_t page;
    for (page = first; page * PAGE_BYTES < buffer->address - DEVICE_BASE + buffer->bytes; page++)
        m->page_table[page] |= PAGE_ABSENT_READ | PAGE_ABSENT_WRITE;
}

/* Returns whether this page of a block's local memory holds only arrays, for the blocks of every kernel. Spilled
 * registers lie behind the arrays of their warp, and accesses to them have no checks. */
static int holds_arrays(const machine *m, uint64_t page) {
    const uint64_t rows = PAGE_BYTES / SEGMENT_BYTES; /* a row: four bytes of each lane */
    uint64_t row;
    uint32_t i;
    for (i = 0; i < m->kernel_count; i++) {
        const kernel_program *program = m->kernels[i].program;
        const uint64_t warp_rows = program->local_bytes / 4;
        for (row = page * rows; row < (page + 1) * rows && row < warp_rows * m->kernels[i].warps; row++)
            if (row % warp_rows * 4 >= program->array_bytes) return 0;
    }
    return 1;
}

/* The arrays of all blocks: the frames differ only in where they begin. */
static void absent_local(machine *m) {
    const uint64_t pages = m->local_stride / PAGE_BYTES;
    uint64_t page, frame;
    for (page = 0; page < pages; page++)
        for (frame = 0; frame < m->local_count && holds_arrays(m, page); frame++)
            m->page_table[(m->local_base - DEVICE_BASE) / PAGE_BYTES + frame * pages + page] |=
                PAGE_ABSENT_READ | PAGE_ABSENT_WRITE;
}

/* ---- what is absent at first ---- */

/* Does every word of the list mean something? */
static int check_list(const launch_file *launch, const char *list, char error[LAUNCH_ERROR_BYTES]) {
    const char *rest = list;
    for (; list && *list; list = rest) {
        const size_t length = absent_list_word(list, &rest);
        uint32_t i;
        if (absent_list_is(list, length, "all") || absent_list_is(list, length, "code") ||
            absent_list_is(list, length, "local"))
            continue;
        for (i = 0; i < launch->buffer_count && !absent_list_is(list, length, launch->buffers[i].name); i++) {}
        if (i < launch->buffer_count && !launch->buffers[i].symbol) continue;
        if (i < launch->buffer_count) {
            snprintf(error, LAUNCH_ERROR_BYTES,
                     "%s:%u: %s is a variable of the PTX file, which is loaded with its kernel and never absent; name "
                     "a buffer argument",
                     launch->path, launch->buffers[i].place.line, launch->buffers[i].name);
            return -1;
        }
        snprintf(error, LAUNCH_ERROR_BYTES,
                 "%s: no buffer is named \"%.*s\" (buffers get names by name: ...; beside names there are all, code "
                 "and local)",
                 launch->path, (int)length, list);
        return -1;
    }
    return 0;
}

/* Makes the buffers of a list (launch/absent_list.h) absent, unless a fault unit does that (`linked`), and a fault
 * buffer for all absent pages. Returns 0, or -1 with the reason in error: a word of the list means nothing. */
static int make_pages(machine *m, const launch_file *launch, const machine_options *options,
                      char error[LAUNCH_ERROR_BYTES]) {
    const char *list = options->absent;
    const int all = absent_list_has(list, "all"), linked = options->faults.link != NULL;
    page_checks *checks = (page_checks *)arena_take(&m->arena, sizeof *checks);
    pipe_entry *room;
    uint64_t pages = 0, entries = 1, i;
    uint32_t n;
    if (check_list(launch, list, error)) return -1;
    if (m->local_is_absent) absent_local(m);
    for (n = 0; !linked && n < launch->buffer_count; n++)
        if ((all && !launch->buffers[n].symbol && !absent_list_is_texture(launch, n)) ||
            absent_list_has_buffer(list, launch, n))
            absent_buffer(m, &launch->buffers[n]);
    for (i = 0; i < m->memory_bytes / PAGE_BYTES; i++) pages += (m->page_table[i] & PAGE_ABSENT_READ) != 0;
    m->page_faults.absent = pages;
    if (all && launch->trace_map) pages += TRACE_REGIONS * (TRACE_REGION_BYTES / PAGE_BYTES); /* as they are used */
    if (options->faults.check != NEVER) pages = m->memory_bytes / PAGE_BYTES; /* any page may be evicted */
    while (entries < 2 * pages) entries *= 2; /* each page at most twice: to be read, and to be written */
    if (checks && m->window_cycles) checks->late = late_make(m, LATE_ITEMS, sizeof(uint32_t));
    if (!checks || (m->window_cycles && !checks->late) || entries > UINT32_MAX / 2 ||
        !(room = (pipe_entry *)arena_take_array(&m->arena, entries, sizeof *room))) {
        snprintf(error, LAUNCH_ERROR_BYTES, "out of memory for the fault buffer");
        return -1;
    }
    pipe_make(&checks->buffer, room, m->config.page_service_cycles);
    m->of_part[PART_page_checks] = checks;
    return 0;
}

/* ---- the fault buffer ---- */

/* Enters a page in the buffer that is not there yet. item: page * 2, + 1 for writing. */
static void report(machine *m, uint32_t item) {
    const uint8_t reported = item & 1u ? PAGE_REPORTED_WRITE : PAGE_REPORTED_READ;
    pipe_entry *entry;
    if (m->page_table[item / 2] & reported) return;
    m->page_table[item / 2] |= reported;
    entry = pipe_add(&page_checks_of(m)->buffer);
    entry->cycle = NEVER;
    entry->item = item;
    page_checks_of(m)->reported++;
}

/* Hands all that has been reported to the handler in the machine's present cycle. */
static void call(machine *m) {
    pipe_stage *faults = &page_checks_of(m)->buffer;
    for (; page_checks_of(m)->reported; page_checks_of(m)->reported--)
        faults->entries[(faults->head + faults->count - page_checks_of(m)->reported) & faults->mask].cycle =
            m->now + faults->length;
    if (faults->count) faults->due = faults->entries[faults->head].cycle;
}

/* Returns the cycle at which the last page of the buffer arrives. An empty buffer: other warps have brought the page.
 */
static uint64_t last_cycle(const machine *m, const sm *s) {
    const pipe_stage *faults = &page_checks_of(m)->buffer;
    return faults->count ? faults->entries[(faults->head + faults->count - 1) & faults->mask].cycle : sm_time(m, s) + 1;
}

/* Returns the cycle at which a page of the fault buffer arrives; NEVER: the handler has not been called for the page;
 * 0: the page is not in the buffer. */
static uint64_t arrival_of(const machine *m, uint32_t item) {
    const pipe_stage *faults = &page_checks_of(m)->buffer;
    uint32_t i = faults->count;
    while (i-- > 0) { /* the latest are the likeliest */
        const pipe_entry *entry = &faults->entries[(faults->head + i) & faults->mask];
        if (entry->item == item) return entry->cycle;
    }
    return 0;
}

/* ---- the fault buffer with windows: an SM's reports and calls take effect when the window has ended ---- */

/* Returns 0 when the SM has no room for one more report: its warp tries again. */
static int add_late(machine *m, const sm *s, uint32_t item) {
    uint32_t *late = (uint32_t *)late_add(&page_checks_of(m)->late[s->index], sm_time(m, s));
    if (!late) return 0;
    *late = item;
    return 1;
}

/* Returns the first cycle in which a page can be there for which the handler is called now. */
static uint64_t served_cycle(const machine *m, const sm *s) {
    return window_from(m, sm_time(m, s) + page_checks_of(m)->buffer.length);
}

static uint64_t call_late(machine *m, const sm *s) {
    if (!page_checks_of(m)->reported && !page_checks_of(m)->late[s->index].count) return last_cycle(m, s);
    return add_late(m, s, CALLS_HANDLER) ? served_cycle(m, s) : sm_time(m, s) + 1;
}

static uint64_t open_late(machine *m, const sm *s, uint32_t item) {
    const uint64_t arrival = arrival_of(m, item);
    if (arrival && arrival != NEVER) return window_from(m, arrival);
    if (!arrival && !add_late(m, s, item)) return sm_time(m, s) + 1;
    return add_late(m, s, CALLS_HANDLER) ? served_cycle(m, s) : sm_time(m, s) + 1;
}

static void end_window(machine *m) {
    const uint64_t now = m->now;
    const uint32_t *item;
    uint32_t sm;
    while (m->window_cycles &&
           (item = (const uint32_t *)late_take(page_checks_of(m)->late, m->sm_count, &m->now, &sm)) != NULL)
        if (*item == CALLS_HANDLER)
            call(m);
        else
            report(m, *item);
    m->now = now;
}

/* ---- what SMs report ---- */

static uint32_t item_of(uint64_t address, int write) {
    return (uint32_t)((address - DEVICE_BASE) / PAGE_BYTES) * 2 + (write != 0);
}

static void count_call(machine *m) {
    __atomic_fetch_add(&m->page_faults.calls, 1, __ATOMIC_RELAXED); /* SMs may run side by side */
}

void page_faults_report(machine *m, const sm *s, uint64_t address, int write) {
    const uint32_t item = item_of(address, write);
    if (!m->window_cycles)
        report(m, item);
    else if (!arrival_of(m, item))
        (void)add_late(m, s, item);
}

uint64_t page_faults_call(machine *m, const sm *s) {
    count_call(m);
    if (m->window_cycles) return call_late(m, s);
    call(m);
    return last_cycle(m, s);
}

uint64_t page_faults_open(machine *m, const sm *s, uint64_t address, int write) {
    const uint32_t item = item_of(address, write);
    uint64_t arrival;
    if (m->window_cycles) {
        if (!arrival_of(m, item) || page_checks_of(m)->reported) count_call(m);
        return open_late(m, s, item);
    }
    report(m, item);
    if (page_checks_of(m)->reported) return page_faults_call(m, s);
    arrival = arrival_of(m, item);
    return arrival ? arrival : m->now + 1;
}

void page_faults_serve(machine *m) {
    uint32_t item;
    while ((item = pipe_take(&page_checks_of(m)->buffer, m->now)) != NONE) {
        m->page_table[item / 2] &= (uint8_t) ~(item & 1u ? PAGE_ABSENT_READ | PAGE_ABSENT_WRITE | PAGE_REPORTED_WRITE
                                                         : PAGE_ABSENT_READ | PAGE_REPORTED_READ);
        translation_changes(m, item / 2); /* TLBs may hold it as a page that may be read */
        m->page_faults.served++;
    }
}

/* ---- the part ---- */

static int make(machine *m, const launch_file *launch, const machine_options *options, char error[LAUNCH_ERROR_BYTES]) {
    if (!options->absent && !options->faults.scheme) return 0;
    return make_pages(m, launch, options, error);
}

static int is_present(const machine *m) { return page_checks_of(m) != NULL; }

static uint64_t hash(const machine *m, uint64_t hash) {
    return gpump_hash_u64(hash, m->page_faults.served ^ (uint64_t)page_checks_of(m)->buffer.count << 32);
}

/* A page is on its way, however long that takes. */
static int is_awaited(const machine *m) { return pipe_next(&page_checks_of(m)->buffer) != NEVER; }

/* With a link the pages are the fault unit's, which has curves of its own. */
static int curve(const machine *m, uint32_t index, timeline_series *series, uint64_t *value) {
    static const timeline_series awaited = {"page faults",  "pages awaited", "pages", 1, 0,
                                            TIMELINE_GAUGE, TIMELINE_NONE};
    if (index || !m->page_faults.absent || m->traits & PART_ABORTS) return 0;
    *series = awaited;
    *value = page_checks_of(m)->buffer.count;
    return 1;
}

static int check_fails(machine *m, sm *s, const in_flight *r, uint64_t segment) {
    page_faults_report(m, s, segment, !instruction_only_reads(r->instruction));
    return 1;
}

static uint64_t handler_is_called(machine *m, sm *s, warp *w) {
    (void)w;
    return page_faults_call(m, s);
}

static uint64_t page_is_wanted(machine *m, sm *s, warp *w, const gpump_fault_access *access) {
    (void)w;
    return page_faults_open(m, s, access->address, access->rights == GPUMP_TLB_WRITE);
}

const part page_checks_part = {
    .name = "page_checks",
    .options = page_options,
    .rules = page_rules,
    .traits = PART_CROSSES_SMS,
    .make = make,
    .is_present = is_present,
    .next = page_faults_next,
    .turn = page_faults_serve,
    .sms_have_run = end_window,
    .is_awaited = is_awaited,
    .check_fails = check_fails,
    .curve = curve,
    .handler_is_called = handler_is_called,
    .page_is_wanted = page_is_wanted,
    .hash = hash,
};
