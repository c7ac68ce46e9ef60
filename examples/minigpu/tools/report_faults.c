#include "tools/report_faults.h"

#include <inttypes.h>
#include <string.h>

#include "parts/code_pages/code_pages.h"
#include "parts/fault_switch/fault_switch.h"
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

/* Describes an address relative to the process's buffers. */
static void describe_place(const launch_file *launch, uint32_t process, uint64_t address, char *text, size_t bytes) {
    uint64_t distance;
    const launch_buffer *b = nearest_buffer(launch, process, address, &distance);
    char name[64];
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
    describe_place(launch, process, a->address, place, sizeof place);
    fprintf(file,
            "ABORTED: process %s in cycle %" PRIu64 ": %s:%u: kernel %s, block (%" PRIu64 ",%" PRIu64 ",%" PRIu64
            "), warp %u, lanes 0x%08x: %s %s address 0x%" PRIx64 ", %s; %u of its blocks were killed\n",
            launch->processes[process].name, a->cycle, k->program->file_name, a->instruction->line, k->program->name,
            a->linear % grid[0], a->linear / grid[0] % grid[1], a->linear / grid[0] / grid[1], a->warp, a->lanes,
            opcode_name(a->instruction->opcode), access_name(a->instruction), a->address, place, a->killed);
}

/* ---- pages of code ---- */

static int is_handler(const machine *m, uint32_t page) { return page + 1 == m->code.count; }

/* Sets *first and *last to the lines of a PTX file that the instructions of a page come from. */
static void lines_of(const machine *m, const kernel *k, uint64_t page, uint32_t *first, uint32_t *last) {
    const uint64_t per_page = PAGE_BYTES / m->config.instruction_bytes, begin = (page - k->code_page) * per_page;
    uint64_t i;
    *first = UINT32_MAX;
    *last = 0;
    for (i = begin; i < begin + per_page && i < k->program->count; i++) {
        const uint32_t line = k->program->instructions[i].line;
        if (line < *first) *first = line;
        if (line > *last) *last = line;
    }
}

void report_code_pages(const machine *m, FILE *file) {
    uint64_t faults = 0;
    uint32_t i, wanted = 0;
    if (!m->code.count) return;
    for (i = 0; i < m->code.count; i++) {
        faults += code_pages_of(m)[i].faults;
        wanted += code_pages_of(m)[i].faults != 0;
    }
    fprintf(file, "code: %u pages were wanted while they were absent; warps have waited for one %" PRIu64 " times\n",
            wanted, faults);
    for (i = 0; i < m->code.count; i++) {
        const code_page *p = &code_pages_of(m)[i];
        const kernel *k = &m->kernels[p->kernel];
        uint32_t first, last;
        if (!p->faults) continue;
        fprintf(file, "  cycle %" PRIu64 ": block %" PRIu64 ", warp %u of %s, at %s:%u, ", p->cycle, p->linear, p->warp,
                k->program->name, k->program->file_name, k->program->instructions[p->pc].line);
        lines_of(m, k, m->code.first + i, &first, &last);
        if (is_handler(m, i))
            fprintf(file, "calls the fault handler, whose page is absent\n");
        else
            fprintf(file, "fetches from an absent page, that of lines %u to %u\n", first, last);
    }
}

json_t *report_code_pages_json(const machine *m) {
    json_t *all = json_array();
    uint32_t i;
    for (i = 0; i < m->code.count; i++) {
        const code_page *p = &code_pages_of(m)[i];
        const kernel *k = &m->kernels[p->kernel];
        if (!p->faults) continue;
        json_array_append_new(all, json_pack("{s:s,s:s,s:s,s:i,s:o,s:o,s:i,s:o}", "page",
                                             is_handler(m, i) ? "handler" : "kernel", "kernel", k->program->name, "ptx",
                                             k->program->file_name, "line", (int)k->program->instructions[p->pc].line,
                                             "cycle", json_integer((json_int_t)p->cycle), "block",
                                             json_integer((json_int_t)p->linear), "warp", (int)p->warp, "waits",
                                             json_integer((json_int_t)p->faults)));
    }
    return all;
}

/* Sums the counters of all SMs' units. */
static void switch_totals(const machine *m, gpump_block_switch_statistics *totals) {
    uint64_t *sums = &totals->placed;
    uint32_t i, n;
    memset(totals, 0, sizeof *totals);
    for (i = 0; fault_switch_of(m->sms[0]) && i < m->sm_count; i++) {
        gpump_block_switch_statistics one;
        gpump_get_statistics(&gpump_block_switch_component, fault_switch_of(m->sms[i])->unit, &one);
        for (n = 0; n < sizeof one / sizeof *sums; n++) sums[n] += (&one.placed)[n];
    }
}

void report_fault_unit(const machine *m, const launch_file *launch, FILE *file) {
    const fault_unit *u = fault_unit_of(m);
    gpump_fault_statistics f;
    uint32_t i;
    if (!u) return;
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
    if (fault_switch_of(m->sms[0])) {
        gpump_block_switch_statistics b;
        switch_totals(m, &b);
        fprintf(file,
                "blocks switched on faults: %" PRIu64 " left, %" PRIu64 " of them to be fair, and %" PRIu64
                " came back; %" PRIu64 " new ones came in their place; %" PRIu64 " stayed, for want of room; %" PRIu64
                " cycles off the chip, %" PRIu64 " of them ready\n",
                b.outs + b.fair_outs, b.fair_outs, b.ins, b.news - b.none, b.stayed, b.off_cycles, b.ready_cycles);
    }
    for (i = 0; i < launch->process_count; i++) report_abort(m, launch, i, file);
}

static json_t *number(uint64_t value) { return json_integer((json_int_t)value); }

static json_t *abort_json(const machine *m, const launch_file *launch, uint32_t process) {
    const fault_abort *a = &fault_unit_of(m)->aborts[process];
    const kernel *k = &m->kernels[a->kernel];
    char place[160];
    describe_place(launch, process, a->address, place, sizeof place);
    return json_pack("{s:s,s:o,s:s,s:s,s:i,s:o,s:i,s:o,s:s,s:s,s:o,s:s,s:i}", "process",
                     launch->processes[process].name, "cycle", number(a->cycle), "kernel", k->program->name, "ptx",
                     k->program->file_name, "line", (int)a->instruction->line, "block", number(a->linear), "warp",
                     (int)a->warp, "lanes", number(a->lanes), "instruction", opcode_name(a->instruction->opcode),
                     "access", access_name(a->instruction), "address", number(a->address), "place", place,
                     "blocks_killed", (int)a->killed);
}

void report_fault_unit_json(const machine *m, const launch_file *launch, json_t *root) {
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
    if (fault_switch_of(m->sms[0])) {
        gpump_block_switch_statistics b;
        json_t *switched = json_object();
        switch_totals(m, &b);
        for (i = 0; gpump_statistics_field(&gpump_block_switch_component, &b, i, &name, NULL, NULL, &value) == GPUMP_OK;
             i++)
            json_object_set_new(switched, name, number(value));
        json_object_set_new(root, "blocks_switched", switched);
    }
    json_object_set_new(root, "fault_unit", unit);
    json_object_set_new(root, "aborts", aborts);
}
