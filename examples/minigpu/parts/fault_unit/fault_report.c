#include "parts/fault_unit/fault_report.h"

#include <inttypes.h>
#include <jansson.h>
#include <string.h>

#include "parts/fault_unit/fault_unit.h"

/* Returns the buffer of a process that is nearest to an address, and sets the distance; NULL: the process has no
 * buffer. */
static const launch_buffer *nearest_buffer(const launch_file *launch, uint32_t process, uint64_t address,
                                           uint64_t *distance) {
    const launch_buffer *found = NULL;
    uint32_t i;
    *distance = UINT64_MAX;
    for (i = 0; i < launch->buffer_count; i++) {
        const launch_buffer *b = &launch->buffers[i];
        const uint64_t end = b->address + b->bytes, away = address < b->address ? b->address - address
                                                           : address < end      ? 0
                                                                                : address - end;
        if (b->process != process || !b->bytes || away >= *distance) continue;
        *distance = away;
        found = b;
    }
    return found;
}

static const char *access_name(const instruction *in) {
    return instruction_only_reads(in)                              ? "reads"
           : in->opcode == OPCODE_ATOM || in->opcode == OPCODE_RED ? "updates"
                                                                   : "writes";
}

/* Returns whether an address lies in a page of the system. */
static int is_of_system(const machine *m, uint64_t address) {
    return address >= DEVICE_BASE && address - DEVICE_BASE < m->memory_bytes &&
           m->page_table[(address - DEVICE_BASE) / PAGE_BYTES] & PAGE_SYSTEM;
}

/* Describes an address relative to the process's buffers. */
static void describe_place(const machine *m, const launch_file *launch, uint32_t process, uint64_t address, char *text,
                           size_t bytes) {
    uint64_t distance;
    const launch_buffer *b = nearest_buffer(launch, process, address, &distance);
    char name[64];
    if (is_of_system(m, address)) {
        snprintf(text, bytes, "a page of the system, which a warp in user mode may not access");
        return;
    }
    if (!b) {
        snprintf(text, bytes, "the process has no buffer");
        return;
    }
    snprintf(name, sizeof name, "buffer %.40s%sof line %u", b->name ? b->name : "", b->name ? " " : "", b->place.line);
    if (address < b->address)
        snprintf(text, bytes, "%" PRIu64 " bytes before the start of %s", distance, name);
    else if (address < b->address + b->bytes)
        snprintf(text, bytes, "in %s, which it may not access so", name);
    else
        snprintf(text, bytes, "element %" PRIu64 " of %s, which has %" PRIu64 " of %s",
                 (address - b->address) / launch_type_bytes(b->type), name, b->bytes / launch_type_bytes(b->type),
                 launch_type_name(b->type));
}

static void report_abort(const machine *m, const launch_file *launch, uint32_t process, FILE *file) {
    const fault_abort *a = &fault_unit_of(m)->aborts[process];
    const kernel *k;
    const uint32_t *grid;
    char place[160];
    if (!a->instruction) return;
    k = &m->kernels[a->kernel];
    grid = k->launch->grid;
    describe_place(m, launch, process, a->address, place, sizeof place);
    fprintf(file,
            "ABORTED: process %s in cycle %" PRIu64 ": %s:%u: kernel %s, block (%" PRIu64 ",%" PRIu64 ",%" PRIu64
            "), warp %u, lanes 0x%08x: %s %s address 0x%" PRIx64 ", %s; %u of its blocks were killed\n",
            launch->processes[process].name, a->cycle, k->program->file_name, a->instruction->line, k->program->name,
            a->linear % grid[0], a->linear / grid[0] % grid[1], a->linear / grid[0] / grid[1], a->warp, a->lanes,
            opcode_name(a->instruction->opcode), access_name(a->instruction), a->address, place, a->killed);
}

void fault_report(const machine *m, FILE *file) {
    const launch_file *launch = m->launch;
    const fault_unit *u = fault_unit_of(m);
    gpump_fault_statistics f;
    uint32_t i;
    gpump_get_statistics(&gpump_fault_component, u->fault, &f);
    fprintf(file,
            "fault unit, %s: %" PRIu64 " reports: %" PRIu64 " opened a fault, %" PRIu64 " joined one, %" PRIu64
            " came too late, %" PRIu64 " invalid; %" PRIu64 " granules migrated, %" PRIu64
            " allocated by the CPU, %" PRIu64 " by SMs; link busy %.0f%%; in flight %.1f on average, %u at most\n",
            u->link, f.reported, f.opened, f.merged, f.retried, f.invalid, f.migrated, f.allocated, f.local,
            m->now ? 100 * (double)f.busy_cycles / (double)m->now : 0,
            m->now ? (double)u->in_flight_cycles / (double)m->now : 0, u->in_flight_most);
    fprintf(file,
            "waits of blocks for granules: %" PRIu64 ", of which %" PRIu64 " ended with the granule and %" PRIu64
            " with the block\n",
            f.waits, f.woken, f.cancelled);
    if (f.batches)
        fprintf(file,
                "driver: %" PRIu64 " batches of %.1f reports; %" PRIu64 " granules prefetched, %" PRIu64
                " faults delayed and %" PRIu64 " granules pinned because they thrash\n",
                f.batches, (double)f.fetched / (double)f.batches, f.prefetched, f.delayed, f.pinned);
    if (u->finite)
        fprintf(file, "memory: %" PRIu64 " granules evicted, %" PRIu64 " of them written back\n", f.evicted, f.written);
    if (f.remote)
        fprintf(file, "remote: %" PRIu64 " granules mapped over the link, %" PRIu64 " accesses over it\n", f.remote,
                u->remote_accesses);
    for (i = 0; i < launch->process_count; i++) report_abort(m, launch, i, file);
}

static json_t *number(uint64_t value) { return json_integer((json_int_t)value); }

static json_t *abort_json(const machine *m, const launch_file *launch, uint32_t process) {
    const fault_abort *a = &fault_unit_of(m)->aborts[process];
    const kernel *k = &m->kernels[a->kernel];
    char place[160];
    describe_place(m, launch, process, a->address, place, sizeof place);
    return json_pack("{s:s,s:o,s:s,s:s,s:i,s:o,s:i,s:o,s:s,s:s,s:o,s:s,s:i}", "process",
                     launch->processes[process].name, "cycle", number(a->cycle), "kernel", k->program->name, "ptx",
                     k->program->file_name, "line", (int)a->instruction->line, "block", number(a->linear), "warp",
                     (int)a->warp, "lanes", number(a->lanes), "instruction", opcode_name(a->instruction->opcode),
                     "access", access_name(a->instruction), "address", number(a->address), "place", place,
                     "blocks_killed", (int)a->killed);
}

void fault_report_json(const machine *m, json_t *members) {
    const launch_file *launch = m->launch;
    const fault_unit *u = fault_unit_of(m);
    json_t *unit = json_object(), *aborts = json_array();
    gpump_fault_statistics f;
    const char *name;
    uint64_t value;
    uint32_t i;
    gpump_get_statistics(&gpump_fault_component, u->fault, &f);
    json_object_set_new(unit, "link", json_string(u->link));
    for (i = 0; gpump_statistics_field(&gpump_fault_component, &f, i, &name, NULL, NULL, &value) == GPUMP_OK; i++)
        json_object_set_new(unit, name, number(value));
    json_object_set_new(unit, "in_flight_cycles", number(u->in_flight_cycles));
    json_object_set_new(unit, "in_flight_most", number(u->in_flight_most));
    json_object_set_new(unit, "remote_accesses", number(u->remote_accesses));
    for (i = 0; i < launch->process_count; i++)
        if (u->aborts[i].instruction) json_array_append_new(aborts, abort_json(m, launch, i));
    json_object_set_new(members, "fault_unit", unit);
    json_object_set_new(members, "aborts", aborts);
}
