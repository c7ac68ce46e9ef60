#include "parts/errors/errors.h"

#include <stdio.h>
#include <string.h>

#include "parts/errors/error_facts.h"
#include "parts/errors/error_options.h"
#include "sm/gate.h"
#include "sm/pipeline.h"
#include "parts/errors/recompile.h"
#include "sass/trace_reader.h"
#include "sm/region.h"
#include "sm/restart.h"

/* An SM whose warps go back so often without one of them crossing a boundary never ends: by chance it would have. */
#define RECOVERIES_WITHOUT_BOUNDARY 10000u

/* The errors of an SM, with the state that only this file uses. */
typedef struct own_errors {
    sm_errors errors;
    uint64_t boundaries; /* crossed on the SM when a warp went back last */
    uint64_t recoveries; /* since then */
} own_errors;

/* ---- making ---- */

static int make_sm(machine *m, sm *s, const gpump_restart_config *config) {
    const uint32_t schedulers = m->config.gpu.schedulers, entries = m->config.in_flight_records;
    uint32_t room = 1, stores = 1;
    pipe_entry *verified, *queued;
    sm_errors *e = (sm_errors *)arena_take(&m->arena, sizeof(own_errors));
    while (room < entries + (schedulers + 1) * (config->latency_cycles + 1)) room *= 2;
    while (stores < entries) stores *= 2;
    if (!e || !(verified = (pipe_entry *)arena_take_array(&m->arena, room, sizeof *verified)) ||
        !(queued = (pipe_entry *)arena_take_array(&m->arena, stores, sizeof *queued)) ||
        !(e->records = (error_record *)arena_take_array(&m->arena, entries, sizeof *e->records)))
        return -1;
    pipe_make(&e->verified, verified, config->latency_cycles);
    pipe_make(&e->stores, queued, config->latency_cycles);
    e->random = gpump_hash_u64(GPUMP_HASH_SEED, s->index);
    s->of_part[PART_errors] = e;
    return 0;
}

/* Returns whether a kernel has arithmetic on a line; of a trace its first block counts. */
static int has_arithmetic(const launch_kernel *launch, const kernel_program *program, uint32_t line) {
    const int is_released = launch->trace && !program->instructions;
    char error[TRACE_ERROR_BYTES];
    uint32_t pc;
    int found = 0;
    if (is_released && trace_kernel_decode(launch->trace, error)) return 0;
    for (pc = 0; pc < program->count && !found; pc++)
        found = program->instructions[pc].line == line && errors_can_trap(&program->instructions[pc]);
    if (is_released) trace_kernel_release(launch->trace);
    return found;
}

/* Is there arithmetic on each line that is to trap? */
static int check_lines(const machine *m, const uint32_t lines[ERRORS_LINES], char error[LAUNCH_ERROR_BYTES]) {
    uint32_t i, n;
    for (i = 0; i < ERRORS_LINES; i++) {
        int found = !lines[i];
        for (n = 0; n < m->kernel_count && !found; n++)
            found = has_arithmetic(m->kernels[n].launch, m->kernels[n].program, lines[i]);
        if (found) continue;
        snprintf(error, LAUNCH_ERROR_BYTES, "%s has no arithmetic in line %u, which is to trap",
                 m->kernels[0].program->file_name, lines[i]);
        return -1;
    }
    return 0;
}

/* Configures the restart PCs of all SMs for the chosen detection. */
static int configure(machine *m, const launch_file *launch, const machine_options *options,
                     char error[LAUNCH_ERROR_BYTES]) {
    const errors_options *o = &options->errors;
    gpump_restart_config *config = &m->restart_config;
    machine_errors *e;
    (void)launch;
    if (!m->regions) return 0;
    config->cure = o->cure;
    config->patch = o->patch;
    if (!errors_wanted(o)) return 0;
    if (o->detection && restart_configure(m, o->detection)) {
        snprintf(error, LAUNCH_ERROR_BYTES, "there is no detection named %s", o->detection);
        return -1;
    }
    config->cure = o->cure;
    config->patch = o->patch;
    if (o->detection && o->latency_cycles != NONE) config->latency_cycles = o->latency_cycles;
    if (o->rate_q32 != NEVER) config->error_rate_q32 = (uint32_t)o->rate_q32;
    if (o->detection) config->store_entries = o->no_store_queue ? 0 : m->config.memory_queue_entries;
    if (o->errs.at != NEVER && o->rate_q32 == NEVER) config->error_rate_q32 = 0;
    m->restarts_travel = 1;
    if (!(e = m->of_part[PART_errors] = (machine_errors *)arena_take(&m->arena, sizeof *e))) {
        snprintf(error, LAUNCH_ERROR_BYTES, "out of memory for errors");
        return -1;
    }
    e->errs.turns = o->errs;
    e->traps_at.turns = o->traps_at;
    e->traps = o->traps;
    e->may_trap = (uint32_t)traps_wanted(o);
    memcpy(e->lines, o->lines, sizeof e->lines);
    return 0;
}

static int make(machine *m, const launch_file *launch, const machine_options *options, char error[LAUNCH_ERROR_BYTES]) {
    const machine_errors *e = machine_errors_of(m);
    uint32_t i;
    (void)launch;
    (void)options;
    if (!e) return 0;
    if (e->traps & ERRORS_TRAP_LINES && check_lines(m, e->lines, error)) return -1;
    for (i = 0; i < m->sm_count; i++) {
        if (!make_sm(m, m->sms[i], &m->restart_config)) continue;
        snprintf(error, LAUNCH_ERROR_BYTES, "out of memory for the errors of SM %u", i);
        return -1;
    }
    return 0;
}

/* ---- the store queue ---- */

static void leave_store_queue(machine *m, sm *s, uint32_t record) {
    const in_flight *r = &s->records[record];
    warp *w = &m->warps[r->warp];
    if (!r->squashed && errors_is_store(r)) {
        machine_must(m, "gpump_restart_report_stored", gpump_restart_report_stored(s->restart, w->number), NULL);
        if (!gpump_restart_has_stores(s->restart, w->number)) w->speculates &= ~(uint32_t)ISSUE_WHEN_STORED;
    }
    pipeline_leave_store_queue(m, s, record);
}

/* Handles the exception of a warp. Until now the warp could not leave its region. */
static void raise_exception(machine *m, sm *s, warp *w) {
    const uint32_t pc = errors_of(s)->raised_pc[w->number] - 1;
    gpump_restart_order order;
    errors_of(s)->raised_pc[w->number] = 0;
    gpump_bits_clear(errors_of(s)->raised, w->number);
    w->speculates &= ~(uint32_t)ISSUE_WHEN_VERIFIED;
    if (!gpump_restart_is_verified(s->restart, w->number, s->now)) w->speculates |= ISSUE_WHEN_VERIFIED;
    machine_must(m, "gpump_restart_report_exception",
                 gpump_restart_report_exception(s->restart, w->number, pc, GPUMP_RESTART_EMULATED, &order), NULL);
    if (order.answer != GPUMP_RESTART_IGNORE)
        errors_of(s)->trapping[w->number] = 0; /* else it is due behind recovery */
    switch (order.answer) {
    case GPUMP_RESTART_SPLIT: {
        const int split = recompile_split(m, m->blocks[w->block].kernel, order.pc, order.other);
        restart_warp(m, s, w, order.region);
        if (!split || !recompile_move_warp(m, s, w))
            machine_must(m, "gpump_restart_step", gpump_restart_step(s->restart, w->number), NULL);
        gate_wait(s, w, m->config.exception_cycles);
        break;
    }
    case GPUMP_RESTART_GO_STEP:
    case GPUMP_RESTART_GO_BACK:
        restart_warp(m, s, w, order.region);
        gate_wait(s, w, m->config.exception_cycles);
        break;
    case GPUMP_RESTART_IN_PLACE:
    case GPUMP_RESTART_STUCK: errors_emulate(m, s, w); break;
    default: break;
    }
    pipeline_refresh_warp(m, s, w);
}

/* Handles a warp that was sent back. A region that takes longer than the distance between two errors never ends. */
static void check_progress(machine *m, sm *s, const warp *w) {
    own_errors *own = (own_errors *)errors_of(s);
    gpump_restart_statistics statistics;
    gpump_get_statistics(&gpump_restart_component, s->restart, &statistics);
    if (own->boundaries != statistics.boundaries) own->recoveries = 0;
    own->boundaries = statistics.boundaries;
    if (++own->recoveries < RECOVERIES_WITHOUT_BOUNDARY) return;
    machine_fail(
        m,
        "the run never ends: warp %u of a block of kernel %s on SM %u has gone back, like others there, %u times "
        "in a row before it came to the end of its region; form shorter regions (--regions 32), or let fewer "
        "instructions err",
        w->index, m->kernels[m->blocks[w->block].kernel].program->name, s->index, RECOVERIES_WITHOUT_BOUNDARY);
}

static void cycle_begins(machine *m, sm *s) {
    sm_errors *e = errors_of(s);
    uint32_t number, record;
    while (!m->failed && gpump_restart_next(s->restart, s->now, &number) == GPUMP_OK) {
        warp *w = warp_numbered(m, s, number);
        if (!restart_warp(m, s, w, GPUMP_RESTART_SHORT))
            machine_fail(m, "cycle %llu: an error of warp %u is detected where it cannot go back",
                         (unsigned long long)s->now, w->index);
        check_progress(m, s, w);
    }
    while ((number = pipe_take(&e->verified, s->now)) != NONE) {
        warp *w = warp_present(m, s, number);
        if (!w || !gpump_restart_is_verified(s->restart, number, s->now)) continue;
        w->speculates &= ~(uint32_t)ISSUE_WHEN_VERIFIED;
        pipeline_refresh_warp(m, s, w);
    }
    FOR_EACH_NUMBER(e->raised, number) {
        warp *w = warp_present(m, s, number);
        if (m->failed) break;
        if (w && e->raised_pc[number]) raise_exception(m, s, w);
        gpump_bits_clear(e->raised, number);
    }
    while ((record = pipe_take(&e->stores, s->now)) != NONE) leave_store_queue(m, s, record);
}

static uint64_t next_of_sm(const machine *m, const sm *s) {
    const uint64_t verified = pipe_next(&errors_of(s)->verified), stores = pipe_next(&errors_of(s)->stores);
    (void)m;
    if (warp_set_any(errors_of(s)->raised)) return s->now + 1;
    return verified < stores ? verified : stores;
}

/* ---- the part ---- */

static int is_present(const machine *m) { return machine_errors_of(m) != NULL; }

static int prepare(machine *m, uint32_t kernel_index, const kernel_program *program, issue_info *info) {
    (void)m;
    (void)kernel_index;
    errors_prepare(program, info);
    return 0;
}

/* Is it the fault of an undetected error that this instruction makes no sense? */
static int excuses(const machine *m, const in_flight *r) {
    return gpump_restart_errs(m->sms[m->blocks[r->block].sm]->restart, m->warps[r->warp].number);
}

static int has_struck(const machine *m, const sm *s, const warp *w) {
    (void)m;
    return gpump_bits_get(errors_of(s)->struck, w->number);
}

static void warp_came(machine *m, sm *s, warp *w) {
    (void)m;
    errors_of(s)->raised_pc[w->number] = errors_of(s)->trapping[w->number] = 0;
}

/* A warp that executes one instruction at a time fetches nothing until that has ended (errors_issued). An
 * instruction that the warp fetches again, because it has faulted, never ends. */
static void withdrawn(machine *m, sm *s, uint32_t record) {
    warp *w = &m->warps[s->records[record].warp];
    if (machine_fetches_again(m) && w->called_until == NEVER &&
        gpump_restart_mode_at(s->restart, w->number, NONE) == GPUMP_RESTART_STEP)
        gate_wait(s, w, 1);
}

/* A block leaves when all that its warps have executed is verified. */
static uint32_t block_waits(const machine *m, const sm *s, const block *b, uint32_t waits) {
    uint32_t i;
    (void)s;
    for (i = 0; i < b->warp_count && !m->warps[b->warps[i]].speculates; i++) {}
    return !waits && i < b->warp_count ? GPUMP_SM_WAIT_PIPELINE : 0;
}

const part errors_part = {
    .name = "errors",
    .traits = PART_ON_PATH | PART_SHARED_BY_SMS,
    .options = error_options,
    .options_at = offsetof(machine_options, errors),
    .rules = error_rules,
    .configure = configure,
    .make = make,
    .is_present = is_present,
    .close = recompile_free,
    .prepare = prepare,
    .block_waits = block_waits,
    .warp_came = warp_came,
    .cycle_begins = cycle_begins,
    .next_of_sm = next_of_sm,
    .issued = errors_issued,
    .operands_read = errors_operands_read,
    .keeps_access = errors_queues_access,
    .coalesced = errors_drop_wild,
    .excuses = excuses,
    .has_struck = has_struck,
    .retires = errors_executed,
    .retired = errors_ended,
    .withdrawn = withdrawn,
    .warp_squashed = errors_forget,
};
