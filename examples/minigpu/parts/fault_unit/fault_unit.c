#include "parts/fault_unit/fault_unit.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "launch/absent_list.h"
#include "sass/trace_reader.h"
#include "sm/translation.h"

#define GRANULE_PAGES 16u /* 64 KB (Tanasic 6.5.1) */

/* A remote access takes the round trip of the link (assumed), and occupies the link like the same bytes of a migration.
 *
 * Pipelined: the CPU is occupied by its handler (2 us, Tanasic 6.5.4) and by what a migration takes longer than an
 * allocation, the transfer; the rest of a service overlaps with others (docs/papers.md). */
static const struct {
    const char *name, *preset;
    uint32_t pipelined, remote_ns;
} links[] = {
    {"nvlink", "nvlink", 0, 1000},         {"pcie3", "pcie3", 0, 1500}, {"nvlink_pipelined", "nvlink", 1, 1000},
    {"pcie3_pipelined", "pcie3", 1, 1500}, {"ideal", "ideal", 0, 1},    {"uvm595", "uvm595", 0, 1500}};
#define LINKS (sizeof links / sizeof *links)
enum { CPU_HANDLER_NS = 2000, LOCAL_HANDLER_NS = 20000, COUNTED_ACCESSES = 256, LATE_REPORTS = 1024 };

const char *fault_unit_link_name(uint32_t index) { return index < LINKS ? links[index].name : NULL; }
const char *fault_unit_remote_name(uint32_t index) {
    static const char *const names[FAULT_REMOTES] = {"none", "thrashing", "all"};
    return index < FAULT_REMOTES ? names[index] : NULL;
}
uint64_t fault_unit_granule_bytes(void) { return (uint64_t)GRANULE_PAGES * PAGE_BYTES; }

/* ---- making ---- */

static uint32_t cycles_of(const machine *m, uint32_t ns) {
    const uint64_t cycles = gpump_gpu_cycles_from_ns(&m->config.gpu, ns);
    return cycles < 1 ? 1 : cycles < UINT32_MAX ? (uint32_t)cycles : UINT32_MAX;
}

static uint32_t which_link(const faults_options *options) {
    uint32_t which = 0;
    while (which + 1 < LINKS && strcmp(links[which].name, options->link)) which++;
    return which;
}

/* The presets' times are cycles at 1 GHz, that is nanoseconds. One cycle stays one, and 0 stays 0. */
static void convert_times(const machine *m, gpump_fault_config *config) {
    uint32_t *const times[] = {&config->migrate_cycles,       &config->allocate_cycles,  &config->migrate_busy_cycles,
                               &config->allocate_busy_cycles, &config->evict_cycles,     &config->uvm.batch_cycles,
                               &config->uvm.entry_cycles,     &config->uvm.block_cycles, &config->uvm.thrash_cycles,
                               &config->uvm.pin_cycles,       &config->uvm.remote_cycles};
    uint32_t i;
    for (i = 0; i < sizeof times / sizeof *times; i++)
        if (*times[i] > 1) *times[i] = cycles_of(m, *times[i]);
}

/* How long the link is occupied by a granule, in nanoseconds. */
static uint32_t transfer_ns(const gpump_fault_config *config) {
    return config->uvm.batch > 1 ? config->migrate_cycles : config->migrate_cycles - config->allocate_cycles;
}

/* --fault-service: the CPU serves a fault in so many nanoseconds, and the link's transfer comes on top. A link that
 * takes no time, and overlapped services, occupy nothing more than before. A driver that serves batches takes so long
 * for what every batch costs. */
static void set_service(gpump_fault_config *config, uint64_t service_ns) {
    const uint32_t transfer = transfer_ns(config), ns = (uint32_t)service_ns;
    if (config->uvm.batch > 1) {
        config->uvm.batch_cycles = ns;
        return;
    }
    config->allocate_cycles = ns;
    config->migrate_cycles = ns + transfer;
    if (config->migrate_busy_cycles) config->migrate_busy_cycles = config->migrate_cycles;
    if (config->allocate_busy_cycles) config->allocate_busy_cycles = config->allocate_cycles;
}

static uint32_t at_most(uint32_t value, uint32_t most) { return value < most ? value : most; }

/* Returns the granules that an instruction may need at the same time: of its lanes, and of its code. */
static uint32_t touches(const machine *m) { return LANES + (m->code.count != 0); }

static gpump_result configure(machine *m, const launch_file *launch, const faults_options *options, uint64_t service_ns,
                              uint64_t granules, gpump_fault_config *config) {
    const uint64_t blocks = (uint64_t)m->sm_count * m->config.gpu.block_slots,
                   memory = options->memory / fault_unit_granule_bytes();
    const uint32_t which = which_link(options);
    gpump_result result = gpump_preset(&gpump_fault_component, config, links[which].preset, NULL);
    if (result) return result;
    if (service_ns) set_service(config, service_ns);
    config->sms = m->sm_count;
    config->processes = launch->process_count;
    config->ranges = launch->buffer_count + 4 * launch->kernel_count; /* code, and the handler's, local and a trace's by
                                                                         process */
    config->granules = granules < 1 ? 1 : granules < (1u << 24) ? (uint32_t)granules : 1u << 24;
    config->faults = config->granules < 4096 ? config->granules : 4096;
    config->waiters = (uint32_t)(blocks * 32 < (1u << 20) ? blocks * 32 : 1u << 20);
    if (config->waiters < config->faults) config->waiters = config->faults;
    config->granule_pages = GRANULE_PAGES;
    config->touches = touches(m);
    if (options->memory) config->memory = memory < UINT32_MAX ? (uint32_t)memory : UINT32_MAX - 1;
    config->pins = !options->unpinned;
    config->uvm.remote = options->remote;
    if (!config->uvm.remote_cycles) config->uvm.remote_cycles = CPU_HANDLER_NS; /* the CPU's handler alone */
    if (config->uvm.counter < COUNTED_ACCESSES) config->uvm.counter = COUNTED_ACCESSES;
    fault_unit_of(m)->segment_64ths =
        gpump_gpu_cycles_from_ns(&m->config.gpu, transfer_ns(config)) * 64 * SEGMENT_BYTES / fault_unit_granule_bytes();
    fault_unit_of(m)->remote_cycles = cycles_of(m, links[which].remote_ns);
    if (links[which].pipelined) {
        config->evict_cycles = transfer_ns(config);
        config->migrate_busy_cycles = at_most(CPU_HANDLER_NS + transfer_ns(config), config->migrate_cycles);
        config->allocate_busy_cycles = at_most(CPU_HANDLER_NS, config->allocate_cycles);
    }
    convert_times(m, config);
    config->local = options->handler ? GPUMP_FAULT_LOCAL_CODE
                    : options->local ? GPUMP_FAULT_LOCAL_FIXED
                                     : GPUMP_FAULT_LOCAL_NONE;
    config->local_cycles = options->local ? cycles_of(m, LOCAL_HANDLER_NS) : 0;
    if (options->handler && options->memory) config->local_frames = faults_frames(options, memory, touches(m));
    return GPUMP_OK;
}

/* Where only checks find absent pages, what a texture reads stays with the GPU under --absent all: nothing checks it.
 */
static uint32_t owner_of(const machine *m, const launch_file *launch, uint32_t buffer, const char *absent) {
    if (absent_list_has_buffer(absent, launch, buffer)) return GPUMP_FAULT_CPU;
    if (!absent_list_has(absent, "all")) return launch->buffers[buffer].owner;
    return m->faults_may_happen || !absent_list_is_texture(launch, buffer) ? GPUMP_FAULT_CPU : GPUMP_FAULT_GPU;
}

static int map_buffer(machine *m, const launch_buffer *buffer, uint32_t owner) {
    const uint64_t granule = fault_unit_granule_bytes(), first = (buffer->address - DEVICE_BASE) / PAGE_BYTES,
                   granules = (buffer->bytes + granule - 1) / granule, pages = (buffer->bytes - 1) / PAGE_BYTES + 1;
    uint64_t page;
    if (gpump_fault_map(fault_unit_of(m)->fault, buffer->process, first, granules * GRANULE_PAGES, owner,
                        GPUMP_TLB_READ | GPUMP_TLB_WRITE) != GPUMP_OK)
        return -1;
    for (page = first; owner != GPUMP_FAULT_GPU && page < first + pages; page++)
        m->page_table[page] |= PAGE_ABSENT_READ | PAGE_ABSENT_WRITE;
    if (owner != GPUMP_FAULT_GPU) m->page_faults.absent += pages;
    return 0;
}

/* The CPU has the code that is absent at first; every process has the handler's. */
static int map_code(machine *m) {
    const uint64_t handler = m->code.first + m->code.count - 1;
    uint32_t i;
    if (!m->code.count) return 0;
    for (i = 0; i < m->kernel_count; i++) {
        const kernel *k = &m->kernels[i];
        if (gpump_fault_map(fault_unit_of(m)->fault, k->process, k->code_page,
                            (k->code_pages + GRANULE_PAGES - 1) / GRANULE_PAGES * GRANULE_PAGES, GPUMP_FAULT_CPU,
                            GPUMP_TLB_EXECUTE) != GPUMP_OK)
            return -1;
    }
    for (i = 0; i < fault_unit_of(m)->processes; i++)
        if (gpump_fault_map(fault_unit_of(m)->fault, i, handler, GRANULE_PAGES, GPUMP_FAULT_CPU, GPUMP_TLB_EXECUTE) !=
            GPUMP_OK)
            return -1;
    return 0;
}

static uint64_t local_granules(const machine *m) {
    return (m->local_stride * m->local_count + fault_unit_granule_bytes() - 1) / fault_unit_granule_bytes();
}

/* Arrays in local memory that are absent at first have no owner. A frame may be used by any process. */
static int map_local(machine *m) {
    uint32_t i;
    for (i = 0; m->local_is_absent && m->local_count && i < fault_unit_of(m)->processes; i++)
        if (gpump_fault_map(fault_unit_of(m)->fault, i, (m->local_base - DEVICE_BASE) / PAGE_BYTES,
                            local_granules(m) * GRANULE_PAGES, GPUMP_FAULT_UNALLOCATED,
                            GPUMP_TLB_READ | GPUMP_TLB_WRITE) != GPUMP_OK)
            return -1;
    return 0;
}

/* Returns the pages that the memory of traced programs may have in all. */
static uint64_t traced_pages(const launch_file *launch) {
    return launch->trace_map ? TRACE_REGIONS * (TRACE_REGION_BYTES / PAGE_BYTES) : 0;
}

/* Any process may access the memory of traced programs. The owner is the CPU or the GPU. */
static int map_traced(machine *m, const launch_file *launch, const char *absent) {
    const uint32_t owner = absent_list_has(absent, "all") ? GPUMP_FAULT_CPU : GPUMP_FAULT_GPU;
    uint32_t i;
    for (i = 0; launch->trace_map && i < fault_unit_of(m)->processes; i++)
        if (gpump_fault_map(fault_unit_of(m)->fault, i, (launch->trace_map->base - DEVICE_BASE) / PAGE_BYTES,
                            traced_pages(launch), owner, GPUMP_TLB_READ | GPUMP_TLB_WRITE) != GPUMP_OK)
            return -1;
    return 0;
}

/* The link's replies to every SM. */
static int make_remote(machine *m) {
    uint32_t i, entries = 1;
    while (entries < m->config.in_flight_records * LANES) entries *= 2;
    for (i = 0; i < m->sm_count; i++) {
        pipe_entry *room = (pipe_entry *)arena_take_array(&m->arena, entries, sizeof *room);
        if (!room) return -1;
        pipe_make(&m->sms[i]->pipes[PIPE_LINK], room, fault_unit_of(m)->remote_cycles);
    }
    return 0;
}

/* Returns the most entries of an SM in a window: reports, which may have to wait; one access over the link per cycle;
 * one release per record in flight and per cycle; and one of each warp that has come, or that the last window's end has
 * woken. */
static uint32_t late_entries(const machine *m) {
    return LATE_REPORTS + m->config.in_flight_records + 2 * m->window_cycles + 2 * warp_numbers(m);
}

/* Returns the granules of all that the unit maps. */
static uint64_t mapped_granules(const machine *m, const launch_file *launch) {
    uint64_t granules = traced_pages(launch) / GRANULE_PAGES * launch->process_count;
    uint32_t i;
    for (i = 0; i < launch->buffer_count; i++) granules += launch->buffers[i].bytes / fault_unit_granule_bytes() + 1;
    if (m->local_is_absent) granules += local_granules(m) * launch->process_count;
    if (m->code.count) granules += m->code.count / GRANULE_PAGES + 1 + launch->kernel_count + launch->process_count;
    return granules;
}

/* Returns 1, with the reason in error, when GPU memory does not hold what one instruction may touch, beside the frames
 * of handlers. */
static int memory_is_too_small(const machine *m, const faults_options *o, char error[LAUNCH_ERROR_BYTES]) {
    const uint64_t granules = o->memory / fault_unit_granule_bytes();
    if (!o->memory) return 0;
    if (granules < touches(m)) {
        snprintf(error, LAUNCH_ERROR_BYTES,
                 "--gpu-memory with --absent code needs %" PRIu64
                 " bytes or more: an instruction may touch %u granules, "
                 "and its code lies in one more",
                 touches(m) * fault_unit_granule_bytes(), LANES);
        return 1;
    }
    if (!o->handler || faults_frames(o, granules, touches(m)) <= granules - touches(m)) return 0;
    snprintf(error, LAUNCH_ERROR_BYTES,
             "--frames %u leaves the CPU too little of --gpu-memory: of its %" PRIu64
             " granules %u stay with the CPU, since an instruction may touch so many; take --frames %" PRIu64
             " or fewer",
             o->frames, granules, touches(m), granules - touches(m));
    return 1;
}

int fault_unit_make(machine *m, const launch_file *launch, const machine_options *all, char error[LAUNCH_ERROR_BYTES]) {
    const faults_options *options = &all->faults;
    fault_unit *u = fault_unit_of(m); /* from configure */
    gpump_fault_config config;
    gpump_diag diag;
    uint32_t i;
    size_t bytes;
    void *part = NULL;
    char text[256];
    if (!options->link) return 0;
    memset(&diag, 0, sizeof diag);
    if (m->window_cycles && u && !(u->late = late_make(m, late_entries(m), sizeof(fault_late)))) goto memory;
    if (u) u->aborts = (fault_abort *)arena_take_array(&m->arena, launch->process_count, sizeof *u->aborts);
    if (u) u->unmap = (uint32_t *)arena_take_array(&m->arena, launch->process_count, sizeof *u->unmap);
    if (!u || !u->aborts || !u->unmap) goto memory;
    if (memory_is_too_small(m, options, error)) return -1;
    u->link = options->link;
    u->granule_pages = GRANULE_PAGES;
    u->processes = launch->process_count;
    u->next = NEVER;
    if (configure(m, launch, options, all->fault_service_ns, mapped_granules(m, launch), &config) != GPUMP_OK ||
        gpump_bytes(&gpump_fault_component, &config, &bytes, &diag) != GPUMP_OK) {
        gpump_diag_text(&diag, text, sizeof text);
        snprintf(error, LAUNCH_ERROR_BYTES, "gpump: the fault unit: %s", text);
        return -1;
    }
    if (!(part = arena_take(&m->arena, bytes)) ||
        gpump_init(&gpump_fault_component, part, bytes, &config, &u->fault, &diag) != GPUMP_OK)
        goto memory;
    u->finite = m->memory_is_finite = options->memory != 0;
    u->leaving = (fault_leaving *)arena_take_array(&m->arena, config.faults, sizeof *u->leaving);
    u->written = (uint8_t *)arena_take(&m->arena, m->memory_bytes / fault_unit_granule_bytes() + 1);
    if (!u->leaving || !u->written || make_remote(m) || map_code(m) || map_local(m)) goto memory;
    for (i = 0; i < launch->buffer_count; i++) {
        const launch_buffer *buffer = &launch->buffers[i];
        if (buffer->symbol || !buffer->bytes) continue; /* variables of a PTX file are loaded with it */
        if (!map_buffer(m, buffer, owner_of(m, launch, i, options->absent))) continue;
        if (!options->memory) goto memory;
        snprintf(error, LAUNCH_ERROR_BYTES,
                 "%s:%u: --gpu-memory has no room for this buffer, which the GPU has at first; more memory, or owner: "
                 "cpu, or --absent all",
                 launch->path, buffer->place.line);
        return -1;
    }
    if (!map_traced(m, launch, options->absent)) return 0;
    if (!options->memory) goto memory;
    snprintf(
        error, LAUNCH_ERROR_BYTES,
        "%s: --gpu-memory has no room for the memory of a traced program, which the GPU has at first; add --absent "
        "all",
        launch->path);
    return -1;
memory:
    snprintf(error, LAUNCH_ERROR_BYTES, "%s: out of memory for the fault unit", launch->path);
    return -1;
}

/* ---- reports ---- */

void fault_unit_count(machine *m, int32_t change) {
    fault_unit *u = fault_unit_of(m);
    u->in_flight_cycles += (uint64_t)u->in_flight * (m->now - u->in_flight_since);
    u->in_flight_since = m->now;
    u->in_flight = (uint32_t)((int32_t)u->in_flight + change);
    if (u->in_flight > u->in_flight_most) u->in_flight_most = u->in_flight;
}

void fault_unit_refresh(machine *m) {
    const uint64_t next = gpump_next_cycle(&gpump_fault_component, fault_unit_of(m)->fault);
    fault_unit_of(m)->next = next == GPUMP_UNKNOWN ? NEVER : next;
    if (fault_unit_of(m)->leaving_count && fault_unit_of(m)->next > fault_unit_of(m)->free_cycle)
        fault_unit_of(m)->next = fault_unit_of(m)->free_cycle;
}

/* The warp waits for a granule. A granule that finds no place in the list is reported again when the others are
 * present. */
static void await(machine *m, warp *w, uint64_t granule) {
    uint64_t *awaited = fault_wait_of(m, w)->awaited;
    uint32_t i;
    for (i = 0; i < w->awaited_count; i++)
        if (i == AWAITED_MAX || awaited[i] == granule) return;
    if (w->awaited_count < AWAITED_MAX) awaited[w->awaited_count++] = granule;
}

fault_report_answer fault_unit_report(machine *m, const gpump_fault_access *access) {
    fault_unit *u = fault_unit_of(m);
    uint32_t outcome = GPUMP_FAULT_RETRY;
    const gpump_result result = gpump_fault_report(u->fault, m->now, access, &outcome);
    fault_unit_refresh(m);
    if (result == GPUMP_BUSY) return FAULT_NO_ROOM;
    machine_must(m, "gpump_fault_report", result, NULL);
    if (outcome == GPUMP_FAULT_INVALID) return FAULT_IS_INVALID;
    if (outcome != GPUMP_FAULT_OPENED && outcome != GPUMP_FAULT_MERGED) return FAULT_IS_RESIDENT;
    if (outcome == GPUMP_FAULT_OPENED) {
        uint8_t *page = &m->page_table[access->page / GRANULE_PAGES * GRANULE_PAGES];
        if (!(*page & PAGE_REPORTED_READ)) fault_unit_count(m, 1); /* else another process waits for its page there */
        *page |= PAGE_REPORTED_READ;                               /* until MAP */
    }
    return FAULT_IS_AWAITED;
}

fault_late *fault_unit_add_late(machine *m, const sm *s, fault_late_kind kind) {
    fault_late *late = (fault_late *)late_add(&fault_unit_of(m)->late[s->index], sm_time(m, s));
    if (late) late->kind = kind;
    return late;
}

void fault_unit_drop_late(machine *m, const sm *s, uint64_t cookie) {
    late_list *list = m->window_cycles ? &fault_unit_of(m)->late[s->index] : NULL;
    uint32_t i;
    for (i = 0; list && i < list->count; i++) {
        fault_late *late = (fault_late *)(void *)(list->items + list->item_bytes * i);
        if ((late->kind == FAULT_LATE_OPEN && late->access.cookie == cookie) ||
            (late->kind == FAULT_LATE_RELEASE && late->release.cookie == cookie))
            late->kind = FAULT_LATE_DROPPED;
    }
}

/* Returns what fault_unit_open returns, with windows. */
static uint64_t open_late(machine *m, sm *s, warp *w, const gpump_fault_access *access) {
    const late_list *list = &fault_unit_of(m)->late[s->index];
    fault_late *late = list->count < LATE_REPORTS ? fault_unit_add_late(m, s, FAULT_LATE_OPEN) : NULL;
    if (!late) return sm_time(m, s) + 1;
    late->access = *access;
    await(m, w, access->page / GRANULE_PAGES);
    return NEVER;
}

uint64_t fault_unit_open(machine *m, sm *s, warp *w, const gpump_fault_access *access) {
    const fault_unit *u = fault_unit_of(m);
    if (m->window_cycles) return open_late(m, s, w, access);
    switch (fault_unit_report(m, access)) {
    case FAULT_IS_AWAITED: await(m, w, access->page / GRANULE_PAGES); return NEVER;
    case FAULT_IS_INVALID: return NEVER;
    case FAULT_NO_ROOM: return u->next == NEVER ? m->now + 1 : u->next + 1; /* when a fault ends, there is room */
    default: return m->now + 1;
    }
}

int fault_unit_handler_ends(machine *m, sm *s, uint32_t process, uint64_t page, int mapped) {
    if (m->window_cycles) {
        fault_late *late = fault_unit_add_late(m, s, FAULT_LATE_HANDLED);
        if (!late) machine_fail(m, "a window has more reports of page faults than fit");
        if (late) late->handled = (fault_handled){page, process, (uint32_t)mapped};
        return 1;
    }
    fault_unit_handled(m, &(fault_handled){page, process, (uint32_t)mapped});
    return 1;
}

void fault_unit_handled(machine *m, const fault_handled *handled) {
    machine_must(
        m, "gpump_fault_report_local",
        gpump_fault_report_local(fault_unit_of(m)->fault, m->now, handled->process, handled->page, handled->mapped),
        NULL);
    fault_unit_refresh(m);
}

uint64_t fault_unit_restored(machine *m, warp *w) {
    const block *b = &m->blocks[w->block];
    w->awaited_count = gpump_fault_pending(fault_unit_of(m)->fault, block_cookie(b)) ? AWAITS_BLOCK : 0;
    return w->awaited_count ? NEVER : sm_time(m, m->sms[b->sm]);
}

void fault_unit_describe(machine *m, sm *s) {
    uint32_t entry;
    if (!fault_unit_of(m) || fault_unit_of(m)->untold) return;
    for (entry = 0; entry < BLOCK_ENTRIES_MAX; entry++) {
        const block *b = s->block_of_entry[entry] == NONE ? NULL : &m->blocks[s->block_of_entry[entry]];
        if (b) /* STATE: it leaves just now */
            (void)gpump_sm_report_faults(s->gpump, b->ref,
                                         gpump_fault_pending(fault_unit_of(m)->fault, block_cookie(b)),
                                         gpump_fault_ready_cycle(fault_unit_of(m)->fault, block_cookie(b)));
    }
}

void fault_unit_block_gone(machine *m, uint64_t cookie) {
    (void)gpump_fault_cancel(fault_unit_of(m)->fault, cookie); /* EMPTY: it waited for nothing, as most do */
    fault_unit_refresh(m);
}
