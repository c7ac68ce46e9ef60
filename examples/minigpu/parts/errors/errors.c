#include "parts/errors/errors.h"

#include <stdio.h>
#include <string.h>

#include "parts/errors/error_facts.h"
#include "sm/pipeline.h"
#include "parts/restart/recompile.h"
#include "parts/restart/region.h"
#include "parts/restart/restart.h"

#define BIT(slot) (UINT64_C(1) << (slot))
/* An SM whose warps go back so often without one of them crossing a boundary never ends: by chance it would have. */
#define RECOVERIES_WITHOUT_BOUNDARY 10000u

/* An SM's errors, and what only this file looks at. */
typedef struct own_errors {
    sm_errors errors;
    uint64_t boundaries; /* crossed on the SM when a warp went back last */
    uint64_t recoveries; /* since then */
} own_errors;

/* ---- making ---- */

void errors_options_default(errors_options *options) {
    memset(options, 0, sizeof *options);
    options->rate_q32 = options->at = NEVER;
    options->latency_cycles = NONE;
    options->patch = GPUMP_RESTART_PATCH_REGION;
}

int errors_wanted(const errors_options *options) { return options->detection || options->traps; }

static int make_sm(machine *m, sm *s, const gpump_restart_config *config, int faulty) {
    const uint32_t schedulers = m->config.gpu.schedulers, entries = m->config.in_flight_records;
    uint32_t room = 1, stores = 1;
    size_t bytes;
    void *memory;
    pipe_entry *verified, *queued;
    if (gpump_bytes(&gpump_restart_component, config, &bytes, NULL) != GPUMP_OK ||
        !(memory = arena_take(&m->arena, bytes)) ||
        gpump_init(&gpump_restart_component, memory, bytes, config, &s->restart, NULL) != GPUMP_OK)
        return -1;
    if (!faulty) return 0;
    while (room < entries + (schedulers + 1) * (config->latency_cycles + 1)) room *= 2;
    while (stores < entries) stores *= 2;
    if (!(s->errors = (sm_errors *)arena_take(&m->arena, sizeof(own_errors))) ||
        !(verified = (pipe_entry *)arena_take_array(&m->arena, room, sizeof *verified)) ||
        !(queued = (pipe_entry *)arena_take_array(&m->arena, stores, sizeof *queued)))
        return -1;
    pipe_make(&s->errors->verified, verified, config->latency_cycles);
    pipe_make(&s->errors->stores, queued, config->latency_cycles);
    s->errors->random = gpump_hash_u64(GPUMP_HASH_SEED, s->index);
    return 0;
}

/* Is there arithmetic on each line that is to trap? */
static int check_lines(const machine *m, char error[LAUNCH_ERROR_BYTES]) {
    uint32_t i, n, pc;
    for (i = 0; i < ERRORS_LINES; i++) {
        int found = !m->trap_lines[i];
        for (n = 0; n < m->kernel_count && !found; n++)
            for (pc = 0; pc < m->kernels[n].program->count && !found; pc++)
                found = m->kernels[n].program->instructions[pc].line == m->trap_lines[i] &&
                        errors_can_trap(&m->kernels[n].info[pc]);
        if (found) continue;
        snprintf(error, LAUNCH_ERROR_BYTES, "%s has no arithmetic in line %u, which is to trap",
                 m->kernels[0].program->file_name, m->trap_lines[i]);
        return -1;
    }
    return 0;
}

int errors_make(machine *m, const errors_options *options, char error[LAUNCH_ERROR_BYTES]) {
    gpump_restart_config config;
    uint32_t i;
    const int wanted = errors_wanted(options);
    if (!m->regions) return 0;
    if (gpump_preset(&gpump_restart_component, &config, options->detection ? options->detection : "igpu", NULL) !=
        GPUMP_OK) {
        snprintf(error, LAUNCH_ERROR_BYTES, "there is no detection named %s", options->detection);
        return -1;
    }
    config.warps = m->config.gpu.warp_slots;
    config.lanes = LANES;
    config.frames = SIMT_DEPTH;
    config.cure = options->cure;
    config.patch = options->patch;
    if (options->detection && options->latency_cycles != NONE) config.latency_cycles = options->latency_cycles;
    if (options->rate_q32 != NEVER) config.error_rate_q32 = (uint32_t)options->rate_q32;
    if (options->detection) config.store_entries = options->no_store_queue ? 0 : m->config.memory_queue_entries;
    if (options->at != NEVER && !(options->traps & ERRORS_TRAP_AT)) config.error_rate_q32 = 0;
    m->restart_config = config;
    m->error_at = options->at;
    m->error_interval = options->interval;
    m->traps = options->traps;
    memcpy(m->trap_lines, options->lines, sizeof m->trap_lines);
    if (m->traps & ERRORS_TRAP_LINES && check_lines(m, error)) return -1;
    for (i = 0; i < m->sm_count; i++) {
        if (!make_sm(m, m->sms[i], &config, wanted)) continue;
        snprintf(error, LAUNCH_ERROR_BYTES, "out of memory for the restart PCs of SM %u", i);
        return -1;
    }
    return 0;
}

/* ---- the store queue ---- */

static void leave_store_queue(machine *m, sm *s, uint32_t record) {
    const in_flight *r = &s->records[record];
    warp *w = &m->warps[r->warp];
    if (!r->squashed && errors_is_store(r)) {
        machine_must(m, "gpump_restart_report_stored", gpump_restart_report_stored(s->restart, w->slot), NULL);
        if (!gpump_restart_has_stores(s->restart, w->slot)) w->speculates &= ~(uint32_t)ISSUE_WHEN_STORED;
    }
    pipeline_leave_store_queue(m, s, record);
}

/* What is done about the exception of a warp. Until now the warp could not leave its region. */
static void raise_exception(machine *m, sm *s, warp *w) {
    const uint32_t pc = w->raised - 1;
    gpump_restart_order order;
    w->raised = 0;
    s->errors->raised &= ~BIT(w->slot);
    w->speculates &= ~(uint32_t)ISSUE_WHEN_VERIFIED;
    if (!gpump_restart_is_verified(s->restart, w->slot, s->now)) w->speculates |= ISSUE_WHEN_VERIFIED;
    machine_must(m, "gpump_restart_report_exception",
                 gpump_restart_report_exception(s->restart, w->slot, pc, GPUMP_RESTART_EMULATED, &order), NULL);
    switch (order.answer) {
    case GPUMP_RESTART_SPLIT: {
        const int split = recompile_split(m, m->blocks[w->block].kernel, order.pc, order.other);
        restart_warp(m, s, w, order.region);
        if (!split || !recompile_move_warp(m, s, w))
            machine_must(m, "gpump_restart_step", gpump_restart_step(s->restart, w->slot), NULL);
        errors_wait(s, w, m->config.exception_cycles);
        break;
    }
    case GPUMP_RESTART_GO_STEP:
    case GPUMP_RESTART_GO_BACK:
        restart_warp(m, s, w, order.region);
        errors_wait(s, w, m->config.exception_cycles);
        break;
    case GPUMP_RESTART_IN_PLACE:
    case GPUMP_RESTART_STUCK: errors_emulate(m, s, w); break;
    default: break;
    }
    pipeline_refresh_warp(m, s, w);
}

/* A warp has gone back. Regions that last longer than the distance of errors are executed for ever. */
static void check_progress(machine *m, sm *s, const warp *w) {
    own_errors *own = (own_errors *)s->errors;
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

void errors_cycle(machine *m, sm *s) {
    uint64_t left;
    uint32_t slot, record;
    while (!m->failed && gpump_restart_next(s->restart, s->now, &slot) == GPUMP_OK) {
        warp *w = &m->warps[s->slot_warp[slot]];
        if (!restart_warp(m, s, w, GPUMP_RESTART_SHORT))
            machine_fail(m, "cycle %llu: an error of warp %u is detected where it cannot go back",
                         (unsigned long long)s->now, w->index);
        check_progress(m, s, w);
    }
    while ((slot = pipe_take(&s->errors->verified, s->now)) != NONE) {
        warp *w;
        if (!(s->present >> slot & 1)) continue;
        w = &m->warps[s->slot_warp[slot]];
        if (!gpump_restart_is_verified(s->restart, slot, s->now)) continue;
        w->speculates &= ~(uint32_t)ISSUE_WHEN_VERIFIED;
        pipeline_refresh_warp(m, s, w);
    }
    for (left = s->errors->raised; left && !m->failed; left &= left - 1) {
        slot = gpump_bits_lowest64(left);
        if (s->present >> slot & 1 && m->warps[s->slot_warp[slot]].raised)
            raise_exception(m, s, &m->warps[s->slot_warp[slot]]);
        s->errors->raised &= ~BIT(slot);
    }
    while ((record = pipe_take(&s->errors->stores, s->now)) != NONE) leave_store_queue(m, s, record);
}

uint64_t errors_next(const sm *s) {
    const uint64_t verified = pipe_next(&s->errors->verified), stores = pipe_next(&s->errors->stores);
    if (s->errors->raised) return s->now + 1;
    return verified < stores ? verified : stores;
}

/* ---- the part ---- */

static int is_present(const machine *m) { return m->sm_count && m->sms[0] && m->sms[0]->errors; }

/* A block leaves when all that its warps have executed is verified. */
static uint32_t block_waits(const machine *m, const sm *s, const block *b, uint32_t waits) {
    uint32_t i;
    (void)s;
    for (i = 0; i < b->warp_count && !m->warps[b->warps[i]].speculates; i++) {}
    return !waits && i < b->warp_count ? GPUMP_SM_WAIT_PIPELINE : 0;
}

const part errors_part = {.name = "errors", .is_present = is_present, .block_waits = block_waits};
