/* engine: see engine.h. */
#include "engine.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "parts/faults/faults_report.h"
#include "parts/preempt_at/preempt_at.h"
#include "parts/trace/trace.h"
#include "policies.h"
#include "preemption/context_forms.h"
#include "sm/gate.h"
#include "tools/check.h"
#include "tools/init_command.h"
#include "tools/report.h"
#include "tools/run_command.h"

#define WORDS_MAX 128u

static run_session session; /* machine NULL: none */
static int ended;           /* machine_run's last answer */
static char *text;
static uint32_t text_bytes;

char *engine_text(uint32_t bytes) {
    free(text);
    text = (char *)malloc(bytes + 1u);
    text_bytes = text ? bytes : 0;
    if (text) text[bytes] = 0;
    return text;
}

int engine_open(uint32_t count) {
    static char *words[WORDS_MAX + 1];
    const char *end = text + text_bytes;
    char *word = text;
    uint32_t i;
    int status;
    if (session.machine || !text || !count || count > WORDS_MAX) return 2;
    text = NULL; /* options point into it */
    for (i = 0; i < count && word < end; i++, word += strlen(word) + 1) words[i] = word;
    status = run_open(&session, (int)i, words);
    if (status != OPTIONS_GO_ON) {
        session.machine = NULL;
        return 2;
    }
    ended = 0;
    if (!trace_open(session.machine, &session.launch)) return 0;
    fputs("no memory to record the run\n", stderr);
    return 2;
}

int engine_init(void) {
    char *words[] = {"init", text, NULL};
    return text ? init_command.run(&init_command, 2, words) : 2;
}

int engine_run(double until) {
    if (!ended) ended = machine_run(session.machine, (uint64_t)until);
    return ended;
}

double engine_now(void) { return (double)session.machine->now; }

int engine_policy(double deadline_ns) {
    const gpump_victim_policy *policy = policies_find_victim(text);
    machine *m = session.machine;
    if (!policy || !m->policy) return -1;
    m->policy = policy;
    m->limit_cycles = deadline_ns < 0 ? NEVER : gpump_gpu_cycles_from_ns(&m->config.gpu, (uint64_t)deadline_ns);
    return 0;
}

void engine_technique(uint32_t technique) { session.machine->technique = technique; }

double engine_request_cycle(void) {
    const machine *m = session.machine;
    const uint64_t request = preempt_at_cycle(m);
    uint64_t first = request;
    uint32_t i, k;
    for (i = 0; i < m->kernel_count; i++) {
        const kernel *urgent = &m->kernels[i];
        const uint64_t arrival = request != NEVER && !urgent->arrival_cycle ? NEVER : urgent->arrival_cycle;
        for (k = 0; k < m->kernel_count; k++)
            if (m->kernels[k].priority < urgent->priority && arrival < first) first = arrival;
    }
    return first == NEVER ? -1 : (double)first;
}

/* ---- what does not change ---- */

static json_t *names(const char *(*name)(uint32_t index)) {
    json_t *list = json_array();
    uint32_t i;
    for (i = 0; name(i); i++) json_array_append_new(list, json_string(name(i)));
    return list;
}

static const char *technique_of(uint32_t index) {
    return gpump_technique_at(index) ? gpump_technique_at(index)->name : NULL;
}

void engine_describe(void) {
    const machine *m = session.machine;
    json_t *kernels = json_array(), *all = json_object();
    uint32_t i;
    for (i = 0; m && i < m->kernel_count; i++) {
        const kernel *k = &m->kernels[i];
        json_array_append_new(
            kernels, json_pack("{s:s,s:s,s:i,s:i,s:i,s:i,s:i,s:I}", "name", k->program->name, "process",
                               session.launch.processes[k->process].name, "priority", (int)k->priority, "warps",
                               (int)k->warps, "registers", (int)k->need.registers, "shared", (int)k->shared_bytes,
                               "registers_per_thread", (int)k->registers, "blocks", (json_int_t)k->blocks));
    }
    json_object_set_new(all, "kernels", kernels);
    json_object_set_new(all, "techniques", names(technique_of));
    json_object_set_new(all, "policies", names(policies_victim_name));
    json_object_set_new(all, "partitions", names(policies_partition_name));
    json_object_set_new(all, "schedules", names(policies_scheduler_name));
    json_object_set_new(all, "contexts", names(context_form_name));
    json_object_set_new(all, "presets", names(gpump_gpu_preset_name));
    json_object_set_new(all, "version",
                        json_sprintf("%d.%d.%d", GPUMP_VERSION_MAJOR, GPUMP_VERSION_MINOR, GPUMP_VERSION_PATCH));
    if (m) {
        const gpump_gpu *gpu = &m->config.gpu;
        json_object_set_new(all, "gpu",
                            json_pack("{s:s,s:i,s:i,s:i,s:i,s:i,s:i}", "preset", m->config.preset, "sms",
                                      (int)m->sm_count, "clock_khz", (int)gpu->clock_khz, "registers",
                                      (int)gpu->registers, "shared", (int)m->sms[0]->shared_bytes, "warps",
                                      (int)gpu->warp_slots, "slots", (int)gpu->block_slots));
    }
    json_dumpf(all, stdout, JSON_COMPACT);
    json_decref(all);
    fflush(stdout);
}

/* ---- what the machine looks like ---- */

/* How a block is drawn. */
typedef enum block_look {
    LOOK_RUNS,
    LOOK_DRAINS,
    LOOK_STOPS,
    LOOK_SAVED,
    LOOK_RESTORED,
    LOOK_FAULTS, /* a warp of it waits for a page */
    LOOK_OUT     /* switched out: none of its warps has a slot */
} block_look;

static uint32_t faulted_warps(const machine *m, const block *b) {
    uint32_t i, count = 0;
    for (i = 0; i < b->warp_count; i++) {
        const warp *w = &m->warps[b->warps[i]];
        count += w->sm != NONE && (w->fault_cycle || w->awaited_count || gate_calling(w));
    }
    return count;
}

static int is_switched_out(const machine *m, const block *b) {
    uint32_t i;
    if (!m->beyond_room) return 0;
    for (i = 0; i < b->warp_count; i++)
        if (m->warps[b->warps[i]].slot != NONE) return 0;
    return 1;
}

static block_look look_of(const machine *m, const block *b) {
    const timeline *t = trace_of(m);
    switch (timeline_phase_of(t, t->row_count - (m->sm_count - b->sm) * BLOCK_ENTRIES_MAX + b->ref.slot)) {
    case TIMELINE_STOP: return LOOK_STOPS;
    case TIMELINE_SAVE: return LOOK_SAVED;
    case TIMELINE_RESTORE: return LOOK_RESTORED;
    case TIMELINE_DRAIN: return LOOK_DRAINS;
    default: return is_switched_out(m, b) ? LOOK_OUT : faulted_warps(m, b) ? LOOK_FAULTS : LOOK_RUNS;
    }
}

/* Returns the warp instructions of a block so far. */
static uint64_t executed_by(const machine *m, const block *b) {
    gpump_block_view view;
    return gpump_sm_block(m->sms[b->sm]->gpump, m->now, b->ref, &view) == GPUMP_OK ? view.executed : 0;
}

static void write_number(uint64_t value, char after) {
    if (value == NEVER)
        printf("null%c", after);
    else
        printf("%" PRIu64 "%c", value, after);
}

/* Writes the blocks of the SMs: SM, slot, kernel, block, phase, registers from and length, shared memory from and
 * length, warps, warp instructions, warps that wait for a page. */
static void write_blocks(const machine *m) {
    uint32_t i, written = 0;
    printf("\"blocks\":[");
    for (i = 0; i < m->block_count; i++) {
        const block *b = &m->blocks[i];
        if (!b->life) continue;
        printf("%s[%u,%u,%u,%" PRIu64 ",%u,%u,%u,%u,%u,%u,%" PRIu64 ",%u]", written++ ? "," : "", b->sm, b->ref.slot,
               b->kernel, b->linear, look_of(m, b), b->register_base, b->registers, b->shared_base, b->shared_bytes,
               b->live_warps, executed_by(m, b), faulted_warps(m, b));
    }
    printf("],");
}

static void write_kernels(const machine *m) {
    uint32_t i;
    printf("\"kernels\":[");
    for (i = 0; i < m->kernel_count; i++) {
        const kernel *k = &m->kernels[i];
        printf("%s[", i ? "," : "");
        write_number(k->ready_cycle, ',');
        write_number(k->start_cycle, ',');
        write_number(k->end_cycle, ',');
        write_number(k->done_blocks, ',');
        write_number(k->warp_instructions, ',');
        write_number(k->wasted_warp_instructions, ']');
    }
    printf("],");
}

/* Writes the requests: cycle, deadline in cycles, when it was served, kernel. */
static void write_requests(const timeline *t) {
    uint64_t i;
    printf("\"requests\":[");
    for (i = 0; i < t->request_count; i++) {
        const timeline_request *r = &t->requests[i];
        printf("%s[", i ? "," : "");
        write_number(r->cycle, ',');
        write_number(r->limit_cycles, ',');
        write_number(r->served_cycle, ',');
        write_number(r->kernel == TIMELINE_NONE ? NEVER : r->kernel, ']');
    }
    printf("],");
}

/* Writes the victims: request, SM and slot, kernel, block, told, left, technique, left by, bytes, dropped work, cost,
 * estimated cycles by technique, estimated lost work by technique. */
static void write_victims(const machine *m, const timeline *t) {
    const uint32_t first = t->row_count - m->sm_count * BLOCK_ENTRIES_MAX;
    uint64_t i;
    uint32_t n;
    printf("\"victims\":[");
    for (i = 0; i < t->victim_count; i++) {
        const timeline_victim *v = &t->victims[i];
        const uint32_t row = v->row - first;
        printf("%s[%u,%u,%u,%u,%" PRIu64 ",", i ? "," : "", v->request, row / BLOCK_ENTRIES_MAX,
               row % BLOCK_ENTRIES_MAX, v->kernel, v->block);
        write_number(v->told_cycle, ',');
        write_number(v->end_cycle, ',');
        write_number(v->technique, ',');
        write_number(v->left_by == TIMELINE_NONE ? NEVER : v->left_by, ',');
        write_number(v->bytes, ',');
        write_number(v->dropped, ',');
        write_number(v->cost, ',');
        for (n = 0; gpump_technique_at(n); n++) printf("%s", n ? "," : "["), write_number(v->estimate.cycles[n], ' ');
        printf("],");
        for (n = 0; gpump_technique_at(n); n++) printf("%s", n ? "," : "["), write_number(v->estimate.overhead[n], ' ');
        printf("]]");
    }
    printf("],");
}

void engine_look(void) {
    const machine *m = session.machine;
    const timeline *t = trace_of(m);
    machine_totals totals;
    fault_totals faults;
    json_t *error = json_string(m->failed ? m->error : "");
    report_totals(m, &totals);
    faults_total(m, &faults);
    printf("{\"now\":%" PRIu64 ",\"ended\":%d,\"error\":", m->now, ended);
    json_dumpf(error, stdout, JSON_COMPACT | JSON_ENCODE_ANY);
    json_decref(error);
    printf(",");
    write_blocks(m);
    write_kernels(m);
    write_requests(t);
    write_victims(m, t);
    printf("\"saved\":%" PRIu64 ",\"restored\":%" PRIu64 ",\"wasted\":%" PRIu64 ",\"instructions\":%" PRIu64
           ",\"faults\":%" PRIu64 ",\"replays\":%" PRIu64 ",\"held\":%" PRIu64 ",\"pages\":%" PRIu64 "}",
           totals.saved_bytes, totals.restored_bytes, totals.wasted_warp_instructions, totals.warp_instructions,
           faults.faults, faults.replays, faults.held_cycles, m->page_faults.served);
    fflush(stdout);
}

/* Fills in what a report needs, and checks the results if the run has ended. Returns the exit status. *checks is the
 * caller's. */
static int conclude(run_result *result, kernel_check **checks) {
    int status = 0;
    memset(result, 0, sizeof *result);
    result->machine = session.machine;
    result->launch = &session.launch;
    result->races = session.races;
    result->error = ended < 0 ? session.machine->error : ended ? NULL : "interrupted";
    *checks = ended > 0 ? (kernel_check *)calloc(session.launch.kernel_count, sizeof **checks) : NULL;
    if (ended > 0 && (!*checks || check_results(session.machine, &session.launch, *checks) != 0)) status = 1;
    result->checks = *checks;
    return status;
}

int engine_report(void) {
    run_result result;
    kernel_check *checks;
    int status = conclude(&result, &checks);
    if (report_json(&result, stdout)) status = 1;
    fflush(stdout);
    free(checks);
    return status;
}

int engine_page(void) {
    run_result result;
    kernel_check *checks;
    timeline *recorded = trace_close(session.machine);
    int failed;
    if (!recorded) return -1;
    conclude(&result, &checks);
    failed = run_page(text, &result, &session.arguments.machine, recorded);
    timeline_free(recorded);
    free(checks);
    return failed;
}

uint32_t engine_hash(void) { return (uint32_t)machine_hash(session.machine); }
uint32_t engine_arena(void) { return (uint32_t)(uintptr_t)session.machine->arena.base; }
uint32_t engine_used(void) { return (uint32_t)session.machine->arena.used; }
uint32_t engine_arena_end(void) { return engine_arena() + (uint32_t)session.machine->arena.bytes; }
