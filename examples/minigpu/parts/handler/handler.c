#include "parts/handler/handler.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "launch/absent_list.h"
#include "machine/machine_options.h"
#include "options.h"
#include "parts/handler/handler_options.h"

#define GRANULE_PAGES 16u         /* of 64 KB (Tanasic 6.5.1) */
#define INSTRUCTIONS_MOST 100000u /* of a call; a handler that executes more does not end */

/* ---- making ---- */

static int out_of_memory(char error[LAUNCH_ERROR_BYTES]) {
    snprintf(error, LAUNCH_ERROR_BYTES, "out of memory for the handlers of page faults");
    return -1;
}

static int configure(machine *m, const launch_file *launch, const machine_options *options,
                     char error[LAUNCH_ERROR_BYTES]) {
    const minigpu_config *c = &m->config;
    handlers *h;
    (void)launch;
    if (!options->faults.handler) return 0;
    if (!(h = (handlers *)arena_take(&m->arena, sizeof *h))) return out_of_memory(error);
    m->of_part[PART_handler] = h;
    h->frames = faults_frames(&options->faults, options->faults.memory / (GRANULE_PAGES * PAGE_BYTES),
                              LANES + (uint32_t)(absent_list_has(options->absent, "code") != 0));
    h->cycles = c->l2_load_cycles ? c->l2_load_cycles : 2 * c->network_cycles + c->l2_cycles;
    return handler_read(h, options->faults.handler, error);
}

static int is_present(const machine *m) { return handlers_of(m) != NULL; }

static void close_handlers(machine *m) {
    if (handlers_of(m)) ptx_free(&handlers_of(m)->module);
}

/* The page table has an entry for each granule below it. Without a number of frames there is one for each. */
static uint64_t lay_out(machine *m, uint64_t address, uint64_t alignment) {
    handlers *h = handlers_of(m);
    const uint64_t step = alignment < PAGE_BYTES ? PAGE_BYTES : alignment;
    h->table = (address + step - 1) / step * step;
    h->granules = (h->table - DEVICE_BASE) / (GRANULE_PAGES * PAGE_BYTES) + 1;
    if (h->frames == NONE) h->frames = (uint32_t)h->granules;
    h->list = h->table + h->granules * sizeof(handler_entry);
    h->end = h->list + 4 + UINT64_C(4) * h->frames;
    return (h->end + step - 1) / step * step;
}

static int make(machine *m, const launch_file *launch, const machine_options *options, char error[LAUNCH_ERROR_BYTES]) {
    handlers *h = handlers_of(m);
    uint32_t i;
    uint64_t page;
    (void)launch;
    (void)options;
    if (!h) return 0;
    if (!(h->given = (uint8_t *)arena_take(&m->arena, h->frames + 1u))) return out_of_memory(error);
    for (page = (h->table - DEVICE_BASE) / PAGE_BYTES; page <= (h->end - 1 - DEVICE_BASE) / PAGE_BYTES; page++)
        m->page_table[page] = PAGE_SYSTEM;
    memcpy(device_memory(m, h->list), &h->frames, 4);
    for (i = 0; i < h->frames; i++) memcpy(device_memory(m, h->list + 4 + UINT64_C(4) * i), &i, 4);
    for (i = 0; i < m->sm_count; i++) {
        sm_handler *own = (sm_handler *)arena_take(&m->arena, sizeof *own);
        if (!own) return out_of_memory(error);
        own->registers = (uint32_t *)arena_take_array(&m->arena, h->program->registers + 2u, LANES * sizeof(uint32_t));
        own->predicates = (uint32_t *)arena_take_array(&m->arena, h->program->predicates + 1u, sizeof(uint32_t));
        if (!own->registers || !own->predicates) return out_of_memory(error);
        own->ready = NEVER;
        own->environment.sm = i;
        own->environment.sm_count = m->sm_count;
        own->environment.parameters = own->parameters;
        own->environment.parameter_bytes = sizeof own->parameters;
        memcpy(own->parameters, &h->table, 8);
        memcpy(own->parameters + 8, &h->list, 8);
        m->sms[i]->of_part[PART_handler] = own;
    }
    return 0;
}

/* ---- a call ---- */

static uint8_t *entry_of(machine *m, uint64_t page) {
    return device_memory(m, handlers_of(m)->table + page / GRANULE_PAGES * sizeof(handler_entry));
}

/* The fault unit has called the handler of an SM. The driver has entered the page's owner in the table. */
static void handler_starts(machine *m, const gpump_fault_action *action) {
    sm *s = m->sms[action->sm];
    sm_handler *own = sm_handler_of(s);
    const handler_entry entry = {action->owner, 0};
    const uint32_t granule = (uint32_t)(action->page / GRANULE_PAGES);
    memcpy(entry_of(m, action->page), &entry, sizeof entry);
    memcpy(own->parameters + 16, &granule, 4);
    own->page = action->page;
    own->process = action->process;
    own->owner = action->owner;
    own->start = own->ready = m->now;
    own->pc = own->issued = 0;
    if (s->wake > m->now) s->wake = m->now;
}

/* Enters evicted granules in the page table as data of the CPU. The CPU also keeps the freed frames. */
static void pages_leave(machine *m, uint64_t page, uint64_t count) {
    const handler_entry entry = {GPUMP_FAULT_CPU, 0};
    uint64_t i;
    for (i = page; i < page + count; i += GRANULE_PAGES) memcpy(entry_of(m, i), &entry, sizeof entry);
}

/* Takes a frame that the handler has entered. Returns 0 when the run has failed. */
static int take_frame(machine *m, const sm *s, const sm_handler *own, const handler_entry *entry) {
    handlers *h = handlers_of(m);
    const char *wrong = own->owner != GPUMP_FAULT_UNALLOCATED ? "a page that the CPU has"
                        : entry->frame >= h->frames           ? "a page with a frame that the list does not have"
                        : h->given[entry->frame]              ? "a page with a frame that another page has"
                                                              : NULL;
    if (!wrong) return h->given[entry->frame] = 1;
    machine_fail(m, "%s: handler %s on SM %u has entered %s in the page table: granule %" PRIu64 ", frame %u",
                 h->program->file_name, h->program->name, s->index, wrong, own->page / GRANULE_PAGES, entry->frame);
    return 0;
}

/* The handler has returned: the page table says whether the page is the GPU's. */
static void end_call(machine *m, sm *s, sm_handler *own) {
    const uint64_t cycles = s->now - own->start;
    handler_entry entry;
    int reported;
    memcpy(&entry, entry_of(m, own->page), sizeof entry);
    if (entry.owner == GPUMP_FAULT_GPU && !take_frame(m, s, own, &entry)) return;
    PARTS_ASK(m, reported, 0, handler_ends, (m, s, own->process, own->page, entry.owner == GPUMP_FAULT_GPU));
    if (!reported) machine_fail(m, "no part takes the reports of page-fault handlers");
    own->ready = NEVER;
    own->mapped += entry.owner == GPUMP_FAULT_GPU;
    own->left += entry.owner != GPUMP_FAULT_GPU;
    own->instructions += own->issued;
    own->busy_cycles += cycles;
    if (cycles > own->longest_cycles) own->longest_cycles = cycles;
}

/* The handler issues before the warps. */
static void before_issue(machine *m, sm *s) {
    sm_handler *own = sm_handler_of(s);
    uint32_t cycles;
    if (own->ready > s->now || s->scheduler_free[0] > s->now) return;
    s->scheduler_free[0] = s->now + m->config.issue_interval;
    cycles = handler_execute(m, s, own);
    if (m->failed) return;
    if (!cycles) {
        end_call(m, s, own);
        return;
    }
    own->ready = s->now + cycles;
    if (own->issued >= INSTRUCTIONS_MOST)
        machine_fail(m, "%s: handler %s on SM %u has executed %u instructions for one fault, and does not end",
                     handlers_of(m)->program->file_name, handlers_of(m)->program->name, s->index, own->issued);
}

static uint64_t next_of_sm(const machine *m, const sm *s) {
    const uint64_t ready = sm_handler_of(s)->ready;
    (void)m;
    return ready == NEVER || ready > s->now ? ready : s->now + 1;
}

/* A handler that runs goes on although no warp issues. */
static int is_awaited(const machine *m) {
    uint32_t i;
    for (i = 0; i < m->sm_count; i++)
        if (sm_handler_of(m->sms[i])->ready != NEVER) return 1;
    return 0;
}

static uint64_t hash_sm(const machine *m, const sm *s, uint64_t hash) {
    const sm_handler *own = sm_handler_of(s);
    (void)m;
    hash = gpump_hash_u64(gpump_hash_u64(hash, own->ready), own->page);
    return gpump_hash_u64(gpump_hash_u64(hash, own->pc), own->instructions);
}

/* ---- report ---- */

/* Adds up what the SMs have counted. */
static sm_handler sum_of(const machine *m) {
    sm_handler sum;
    uint32_t i;
    memset(&sum, 0, sizeof sum);
    for (i = 0; i < m->sm_count; i++) {
        const sm_handler *own = sm_handler_of(m->sms[i]);
        sum.mapped += own->mapped;
        sum.left += own->left;
        sum.instructions += own->instructions;
        sum.busy_cycles += own->busy_cycles;
        if (own->longest_cycles > sum.longest_cycles) sum.longest_cycles = own->longest_cycles;
    }
    return sum;
}

static uint32_t frames_left(const machine *m) {
    uint32_t i, left = handlers_of(m)->frames;
    for (i = 0; i < handlers_of(m)->frames; i++) left -= handlers_of(m)->given[i];
    return left;
}

void handler_report(const machine *m, FILE *file) {
    const sm_handler sum = sum_of(m);
    const uint64_t calls = sum.mapped + sum.left;
    const double ended = calls ? (double)calls : 1;
    fprintf(file,
            "handler %s: %" PRIu64 " calls on SMs; %" PRIu64 " mapped a granule, %" PRIu64
            " left it to the CPU; %.1f instructions and %.0f cycles each, %" PRIu64
            " cycles at most; %u of %u frames left\n",
            handlers_of(m)->program->name, calls, sum.mapped, sum.left, (double)sum.instructions / ended,
            (double)sum.busy_cycles / ended, sum.longest_cycles, frames_left(m), handlers_of(m)->frames);
}

void handler_report_json(const machine *m, struct json_t *members) {
    const sm_handler sum = sum_of(m);
    json_object_set_new(members, "handler",
                        json_pack("{s:s,s:I,s:I,s:I,s:I,s:I,s:I,s:i,s:i}", "kernel", handlers_of(m)->program->name,
                                  "mapped", (json_int_t)sum.mapped, "left", (json_int_t)sum.left, "instructions",
                                  (json_int_t)sum.instructions, "busy_cycles", (json_int_t)sum.busy_cycles,
                                  "longest_cycles", (json_int_t)sum.longest_cycles, "table_address",
                                  (json_int_t)handlers_of(m)->table, "frames", (int)handlers_of(m)->frames,
                                  "frames_left", (int)frames_left(m)));
}

const part handler_part = {
    .name = "handler",
    .traits = PART_CROSSES_SMS | PART_SHARED_BY_SMS | PART_ON_PATH,
    .options = handler_options,
    .rules = handler_rules,
    .options_at = offsetof(machine_options, faults),
    .configure = configure,
    .make = make,
    .is_present = is_present,
    .close = close_handlers,
    .lay_out = lay_out,
    .is_awaited = is_awaited,
    .before_issue = before_issue,
    .next_of_sm = next_of_sm,
    .handler_starts = handler_starts,
    .pages_leave = pages_leave,
    .hash_sm = hash_sm,
    .report = handler_report,
    .report_json = handler_report_json,
};
