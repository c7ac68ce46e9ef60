#include "machine/errors.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "machine/gate.h"
#include "machine/pipeline.h"
#include "machine/recompile.h"
#include "machine/region.h"
#include "machine/restart.h"
#include "memory/translation.h"

#define BIT(slot) (UINT64_C(1) << (slot))

/* ---- making ---- */

void errors_options_default(errors_options *options) {
    memset(options, 0, sizeof *options);
    options->rate_q32 = options->at = NEVER;
    options->latency_cycles = NONE;
    options->patch = GPUMP_RESTART_PATCH_REGION;
}

int errors_wanted(const errors_options *options) { return options->detection || options->traps; }

/* Its effect is no other instruction's to repair. */
static int is_irrevocable(const instruction *in) {
    return in->opcode == OPCODE_BAR || in->opcode == OPCODE_ATOM || in->opcode == OPCODE_RED ||
           (in->flags & FLAG_VOLATILE) || instruction_is_runtime_call(in);
}
static int ends_lanes(const instruction *in) {
    return in->opcode == OPCODE_EXIT || in->opcode == OPCODE_RET || in->opcode == OPCODE_TRAP;
}
static int writes_memory(const instruction *in) {
    return in->unit == UNIT_MEMORY && !instruction_only_reads(in) && in->opcode != OPCODE_MEMBAR &&
           in->opcode != OPCODE_CHECK && (instruction_access_bytes(in) || instruction_is_runtime_call(in));
}

void errors_prepare(const kernel_program *program, issue_info *info) {
    uint32_t i;
    for (i = 0; i < program->count; i++) {
        const instruction *in = &program->instructions[i];
        if (is_irrevocable(in) || ends_lanes(in)) info[i].serialises |= ISSUE_WHEN_ALONE;
        if (info[i].serialises) info[i].serialises |= ISSUE_WHEN_VERIFIED;
        if (in->unit == UNIT_MEMORY && in->space != SPACE_PARAM && in->space != SPACE_CONST)
            info[i].serialises |= ISSUE_WHEN_STORED;
    }
}

static int make_sm(machine *m, sm *s, const gpump_restart_config *config, int faulty) {
    const uint32_t schedulers = m->config.gpu.schedulers, entries = m->config.in_flight_records;
    uint32_t room = 1, stores = 1;
    size_t bytes;
    void *memory;
    pipe_entry *verified, *queued;
    if (gpump_restart_bytes(config, &bytes, NULL) != GPUMP_OK || !(memory = arena_take(&m->arena, bytes)) ||
        gpump_restart_init(memory, bytes, config, &s->restart, NULL) != GPUMP_OK)
        return -1;
    if (!faulty) return 0;
    while (room < entries + (schedulers + 1) * (config->latency_cycles + 1)) room *= 2;
    while (stores < entries) stores *= 2;
    if (!(s->errors = (sm_errors *)arena_take(&m->arena, sizeof *s->errors)) ||
        !(verified = (pipe_entry *)arena_take_array(&m->arena, room, sizeof *verified)) ||
        !(queued = (pipe_entry *)arena_take_array(&m->arena, stores, sizeof *queued)))
        return -1;
    pipe_make(&s->errors->verified, verified, room, config->latency_cycles);
    pipe_make(&s->errors->stores, queued, stores, config->latency_cycles);
    s->errors->random = gpump_hash_u64(GPUMP_HASH_SEED, s->index);
    return 0;
}

int errors_make(machine *m, const errors_options *options, char error[LAUNCH_ERROR_BYTES]) {
    gpump_restart_config config;
    uint32_t i;
    const int wanted = errors_wanted(options);
    if (!m->regions) return 0;
    if (wanted && m->config.issue_queue_entries) {
        snprintf(error, LAUNCH_ERROR_BYTES,
                 "errors and traps need a machine that issues in order: --config issue_queue_entries=0");
        return -1;
    }
    if (gpump_restart_config_preset(&config, options->detection ? options->detection : "igpu") != GPUMP_OK) {
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
    if (options->at != NEVER) config.error_rate_q32 = 0;
    m->restart_config = config;
    m->error_at = options->at;
    m->error_interval = options->interval;
    m->traps = options->traps;
    for (i = 0; i < m->sm_count; i++) {
        if (!make_sm(m, m->sms[i], &config, wanted)) continue;
        snprintf(error, LAUNCH_ERROR_BYTES, "out of memory for the restart PCs of SM %u", i);
        return -1;
    }
    return 0;
}

/* ---- errors ---- */

/* A circuit at less than its safe voltage: does this instruction err? */
static int strikes(machine *m, sm *s, const warp *w) {
    const gpump_restart_config *config = &m->restart_config;
    if (!config->latency_cycles || s->errors->margin >> w->slot & 1 || !restart_may(s, w, GPUMP_RESTART_SHORT))
        return 0;
    if (m->error_at == NEVER) return gpump_random_next(&s->errors->random) >> 32 < config->error_rate_q32;
    if (++m->error_candidates != m->error_at) return 0;
    m->error_at += m->error_interval ? m->error_interval : NEVER - m->error_at - 1;
    return 1;
}

/* One bit of one active lane is wrong. */
static void flip(sm *s, lanes_operand *value, const operand *o, uint32_t active) {
    uint64_t *random = &s->errors->random;
    uint32_t lane, word;
    do lane = gpump_random_below(random, LANES);
    while (!(active >> lane & 1));
    if (o->kind == OPERAND_PREDICATE) {
        value->word[0][0] ^= 1u << lane;
        return;
    }
    word = o->words > 1 ? gpump_random_below(random, 2) : 0;
    value->word[word][lane] ^= 1u << gpump_random_below(random, o->bytes && o->bytes < 4 ? 8u * o->bytes : 32u);
}

static void corrupt(sm *s, in_flight *r) {
    const instruction *in = r->instruction;
    if (!r->active) return;
    if (r->info->unit == UNIT_MEMORY) {
        const uint32_t source = in->source_count > 1 ? gpump_random_below(&s->errors->random, 2) : 0;
        if (in->source_count && in->sources[source].kind != OPERAND_NONE)
            flip(s, &r->sources[source], &in->sources[source], r->active);
        return;
    }
    if (in->destination_count && in->destinations[0].kind != OPERAND_NONE)
        flip(s, &r->results[0], &in->destinations[0], r->active);
}

static void unverified(machine *m, sm *s, warp *w, int errs) {
    if (!m->restart_config.latency_cycles) return;
    gpump_restart_report_unverified(s->restart, w->slot, s->now);
    if (errs)
        machine_must(m, "gpump_restart_report_error", gpump_restart_report_error(s->restart, w->slot, s->now), NULL);
    w->speculates |= ISSUE_WHEN_VERIFIED;
    pipe_put(&s->errors->verified, s->now, w->slot);
}

void errors_drop_wild(machine *m, const sm *s, in_flight *r) {
    const int write = !instruction_only_reads(r->instruction);
    uint32_t i;
    if (!gpump_restart_errs(s->restart, m->warps[r->warp].slot)) return;
    for (i = 0; i < r->segment_count && translate(m, r->segments[i], write) != TRANSLATION_FAULT; i++) {}
    if (i == r->segment_count) return;
    r->active = 0;
    r->segment_count = 0;
}

/* ---- the store queue ---- */

int errors_queues_store(machine *m, sm *s, uint32_t record) {
    const in_flight *r = &s->records[record];
    warp *w = &m->warps[r->warp];
    if (!m->restart_config.store_entries || !writes_memory(r->instruction)) return 0;
    machine_must(m, "gpump_restart_report_store", gpump_restart_report_store(s->restart, w->slot), NULL);
    w->speculates |= ISSUE_WHEN_STORED;
    pipe_put(&s->errors->stores, s->now, record);
    return 1;
}

static void leave_store_queue(machine *m, sm *s, uint32_t record) {
    in_flight *r = &s->records[record];
    warp *w = &m->warps[r->warp];
    if (!r->squashed) {
        machine_must(m, "gpump_restart_report_stored", gpump_restart_report_stored(s->restart, w->slot), NULL);
        if (!gpump_restart_has_stores(s->restart, w->slot)) w->speculates &= ~(uint32_t)ISSUE_WHEN_STORED;
    }
    pipeline_leave_store_queue(m, s, record);
}

void errors_cycle(machine *m, sm *s) {
    uint32_t slot, record;
    while (!m->failed && gpump_restart_next(s->restart, s->now, &slot) == GPUMP_OK) {
        warp *w = &m->warps[s->slot_warp[slot]];
        if (!restart_warp(m, s, w, GPUMP_RESTART_SHORT))
            machine_fail(m, "cycle %llu: an error of warp %u is detected where it cannot go back",
                         (unsigned long long)s->now, w->index);
    }
    while ((slot = pipe_take(&s->errors->verified, s->now)) != NONE) {
        warp *w;
        if (!(s->present >> slot & 1)) continue;
        w = &m->warps[s->slot_warp[slot]];
        if (!gpump_restart_is_verified(s->restart, slot, s->now)) continue;
        w->speculates &= ~(uint32_t)ISSUE_WHEN_VERIFIED;
        pipeline_refresh_warp(m, s, w);
    }
    while ((record = pipe_take(&s->errors->stores, s->now)) != NONE) leave_store_queue(m, s, record);
}

uint64_t errors_next(const sm *s) {
    const uint64_t verified = pipe_next(&s->errors->verified), stores = pipe_next(&s->errors->stores);
    return verified < stores ? verified : stores;
}

/* ---- exceptions ---- */

static int is_nan(const instruction *in, const lanes_operand *value, uint32_t lane) {
    if (in->type == TYPE_F32) {
        float f;
        memcpy(&f, &value->word[0][lane], sizeof f);
        return isnan(f);
    }
    if (in->type == TYPE_F64) {
        const uint64_t bits = value->word[0][lane] | (uint64_t)value->word[1][lane] << 32;
        double d;
        memcpy(&d, &bits, sizeof d);
        return isnan(d);
    }
    return 0;
}

/* The lanes in which an instruction raises an exception that traps. */
static uint32_t excepting_lanes(const machine *m, const in_flight *r, const lanes_operand *sources) {
    const instruction *in = r->instruction;
    uint32_t lane, k, lanes = 0;
    if (m->traps & ERRORS_TRAP_DIVISION && (in->opcode == OPCODE_DIV || in->opcode == OPCODE_REM) &&
        !type_is_float(in->type)) {
        for (lane = 0; lane < LANES; lane++)
            lanes |= (uint32_t)(!(sources[1].word[0][lane] | (in->sources[1].words > 1 ? sources[1].word[1][lane] : 0)))
                     << lane;
    }
    if (m->traps & ERRORS_TRAP_INVALID && (in->type == TYPE_F32 || in->type == TYPE_F64) &&
        in->destination_count == 1 && in->destinations[0].kind == OPERAND_REGISTER && in->opcode != OPCODE_MOV &&
        in->opcode != OPCODE_SELP) {
        for (lane = 0; lane < LANES; lane++) {
            int was = 0;
            for (k = 0; k < in->source_count; k++) was |= is_nan(in, &sources[k], lane);
            lanes |= (uint32_t)(!was && is_nan(in, &r->results[0], lane)) << lane;
        }
    }
    return lanes & r->active;
}

void errors_operands_read(machine *m, sm *s, in_flight *r, const lanes_operand *sources) {
    warp *w = &m->warps[r->warp];
    r->erred = 0;
    r->trapped = TRAPPED_NOT;
    if (r->info->unit == UNIT_CONTROL) return;
    if (r->info->unit != UNIT_MEMORY && m->traps) {
        if (gpump_restart_mode_at(s->restart, w->slot, r->pc) == GPUMP_RESTART_AGAIN)
            r->trapped = TRAPPED_EMULATED;
        else if (excepting_lanes(m, r, sources))
            r->trapped = TRAPPED_RAISED;
    }
    if (strikes(m, s, w)) {
        r->erred = 1;
        corrupt(s, r);
    }
    if (r->info->unit == UNIT_MEMORY) unverified(m, s, w, (int)r->erred);
}

/* The warp's next instruction waits so long. */
static void wait_for(sm *s, warp *w, uint64_t cycles) {
    w->called_until = s->now + cycles;
    gate_close(s, w, GPUMP_WARP_FETCH, GPUMP_WARP_FAULT);
    s->fetched &= ~BIT(w->slot);
    if (s->wake > w->called_until) s->wake = w->called_until;
}

static void emulate(machine *m, sm *s, warp *w) {
    gpump_restart_report_emulated(s->restart, w->slot);
    wait_for(s, w, m->config.emulation_cycles);
}

static void raise_exception(machine *m, sm *s, warp *w, const in_flight *r) {
    gpump_restart_order order;
    machine_must(m, "gpump_restart_report_exception",
                 gpump_restart_report_exception(s->restart, w->slot, r->pc, GPUMP_RESTART_EMULATED, &order), NULL);
    switch (order.answer) {
    case GPUMP_RESTART_SPLIT: {
        const int split = recompile_split(m, m->blocks[w->block].kernel, order.pc, order.other);
        restart_warp(m, s, w, order.region);
        if (!split || !recompile_move_warp(m, s, w))
            machine_must(m, "gpump_restart_step", gpump_restart_step(s->restart, w->slot), NULL);
        wait_for(s, w, m->config.exception_cycles);
        break;
    }
    case GPUMP_RESTART_GO_STEP:
    case GPUMP_RESTART_GO_BACK:
        restart_warp(m, s, w, order.region);
        wait_for(s, w, m->config.exception_cycles);
        break;
    case GPUMP_RESTART_IN_PLACE:
    case GPUMP_RESTART_STUCK: emulate(m, s, w); break;
    default: break;
    }
}

void errors_issued(sm *s, warp *w, const issue_info *info) {
    if (is_irrevocable(info->instruction)) s->errors->margin |= BIT(w->slot);
    if (info->is_boundary) s->errors->margin &= ~BIT(w->slot);
    if (gpump_restart_mode_at(s->restart, w->slot, NONE) != GPUMP_RESTART_STEP) return;
    w->called_until = NEVER; /* until it has ended: errors_ended */
    gate_close(s, w, GPUMP_WARP_FETCH, GPUMP_WARP_FAULT);
}

void errors_executed(machine *m, sm *s, const in_flight *r) {
    if (r->info->unit != UNIT_MEMORY) unverified(m, s, &m->warps[r->warp], (int)r->erred);
}

void errors_ended(machine *m, sm *s, const in_flight *r) {
    warp *w = &m->warps[r->warp];
    const int steps = gpump_restart_mode_at(s->restart, w->slot, NONE) == GPUMP_RESTART_STEP;
    if (r->info->unit == UNIT_CONTROL) {
        if (steps && w->stack.depth) wait_for(s, w, m->config.step_cycles);
        return;
    }
    if (steps) wait_for(s, w, (uint64_t)m->config.step_cycles * gpump_bits_count64(r->active | 1u));
    if (r->info->unit == UNIT_MEMORY || r->trapped == TRAPPED_NOT) return;
    if (r->trapped == TRAPPED_EMULATED)
        emulate(m, s, w);
    else
        raise_exception(m, s, w, r);
}

void errors_forget(sm *s, warp *w) {
    w->speculates = 0;
    s->errors->margin &= ~BIT(w->slot);
}
