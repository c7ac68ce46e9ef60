#include "parts/errors/error_facts.h"

#include <math.h>
#include <string.h>

#include "sm/gate.h"
#include "sm/region.h"
#include "sm/translation.h"

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
        if (info[i].serialises & ~ISSUE_WHEN_STORED) info[i].serialises |= ISSUE_WHEN_VERIFIED;
        if (in->unit == UNIT_MEMORY && in->space != SPACE_PARAM && in->space != SPACE_CONST)
            info[i].serialises |= ISSUE_WHEN_STORED;
    }
}

static error_record *record_of(const sm *s, const in_flight *r) { return &errors_of(s)->records[r - s->records]; }

/* ---- errors ---- */

/* Counts an instruction of a kind. Returns whether it is its turn, or that of a squashed instruction. */
static int has_turn(error_count *count) {
    error_turns *t = &count->turns;
    if (++count->candidates == t->at) {
        t->at += t->interval ? t->interval : NEVER - t->at - 1;
        return 1;
    }
    if (!count->due) return 0;
    count->due--;
    return 1;
}

/* A circuit at less than its safe voltage: does this instruction err? */
static int strikes(machine *m, sm *s, const warp *w) {
    const gpump_restart_config *config = &m->restart_config;
    if (!config->latency_cycles || gpump_bits_get(errors_of(s)->margin, w->number) ||
        !restart_may(s, w, GPUMP_RESTART_SHORT))
        return 0;
    if (has_turn(&machine_errors_of(m)->errs)) return 1;
    return config->error_rate_q32 && gpump_random_next(&errors_of(s)->random) >> 32 < config->error_rate_q32;
}

/* One bit of one active lane is wrong. */
static void flip(sm *s, lanes_operand *value, const operand *o, uint32_t active) {
    uint64_t *random = &errors_of(s)->random;
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
        const uint32_t source = in->source_count > 1 ? gpump_random_below(&errors_of(s)->random, 2) : 0;
        if (in->source_count && in->sources[source].kind != OPERAND_NONE)
            flip(s, &r->sources[source], &in->sources[source], r->active);
        return;
    }
    if (in->destination_count && in->destinations[0].kind != OPERAND_NONE)
        flip(s, &r->results[0], &in->destinations[0], r->active);
}

static void unverified(machine *m, sm *s, warp *w, int errs) {
    if (!m->restart_config.latency_cycles) return;
    gpump_restart_report_unverified(s->restart, w->number, s->now);
    if (errs) {
        machine_must(m, "gpump_restart_report_error", gpump_restart_report_error(s->restart, w->number, s->now), NULL);
        gpump_bits_clear(errors_of(s)->struck, w->number);
    }
    w->speculates |= ISSUE_WHEN_VERIFIED;
    pipe_put(&errors_of(s)->verified, s->now, w->number);
}

/* Does an access of a segment make no sense? One whose page is absent does, where faults are served or it checks. */
static int is_wild(const machine *m, const in_flight *r, uint64_t segment) {
    const translation found = translate(m, segment, !instruction_only_reads(r->instruction));
    return found == TRANSLATION_FAULT || (found == TRANSLATION_ABSENT && !m->faults_may_happen && !r->info->is_checked);
}

void errors_drop_wild(machine *m, sm *s, in_flight *r) {
    uint32_t i;
    if (!gpump_restart_errs(s->restart, m->warps[r->warp].number)) return;
    for (i = 0; i < r->segment_count && !is_wild(m, r, r->segments[i]); i++) {}
    if (i == r->segment_count) return;
    r->active = 0;
    r->segment_count = 0;
}

/* ---- stores ---- */

int errors_is_store(const in_flight *r) { return writes_memory(r->instruction); }

int errors_queues_access(machine *m, sm *s, uint32_t record) {
    const in_flight *r = &s->records[record];
    warp *w = &m->warps[r->warp];
    if (!m->restart_config.store_entries) return 0;
    if (errors_is_store(r)) {
        machine_must(m, "gpump_restart_report_store", gpump_restart_report_store(s->restart, w->number), NULL);
        w->speculates |= ISSUE_WHEN_STORED;
    } else if (!(r->info->serialises & w->speculates & ISSUE_WHEN_STORED)) {
        return 0;
    }
    pipe_put(&errors_of(s)->stores, s->now, record);
    return 1;
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
static uint32_t excepting_lanes(machine *m, sm *s, const in_flight *r, const lanes_operand *const *sources) {
    const instruction *in = r->instruction;
    uint32_t lane, k, lanes = 0;
    if (machine_errors_of(m)->traps & ERRORS_TRAP_LINES && errors_can_trap(in) &&
        (in->line == machine_errors_of(m)->lines[0] || in->line == machine_errors_of(m)->lines[1]))
        lanes = UINT32_MAX;
    if (errors_can_trap(in) && has_turn(&machine_errors_of(m)->traps_at)) {
        errors_of(s)->trapping[m->warps[r->warp].number]++;
        lanes = UINT32_MAX;
    }
    if (machine_errors_of(m)->traps & ERRORS_TRAP_DIVISION && (in->opcode == OPCODE_DIV || in->opcode == OPCODE_REM) &&
        !type_is_float(in->type)) {
        for (lane = 0; lane < LANES; lane++)
            lanes |=
                (uint32_t)(!(sources[1]->word[0][lane] | (in->sources[1].words > 1 ? sources[1]->word[1][lane] : 0)))
                << lane;
    }
    if (machine_errors_of(m)->traps & ERRORS_TRAP_INVALID && (in->type == TYPE_F32 || in->type == TYPE_F64) &&
        in->destination_count == 1 && in->destinations[0].kind == OPERAND_REGISTER && in->opcode != OPCODE_MOV &&
        in->opcode != OPCODE_SELP) {
        for (lane = 0; lane < LANES; lane++) {
            int was = 0;
            for (k = 0; k < in->source_count; k++) was |= is_nan(in, sources[k], lane);
            lanes |= (uint32_t)(!was && is_nan(in, &r->results[0], lane)) << lane;
        }
    }
    return lanes & r->active;
}

void errors_operands_read(machine *m, sm *s, in_flight *r, const lanes_operand *const *sources) {
    warp *w = &m->warps[r->warp];
    error_record *e = record_of(s, r);
    e->erred = 0;
    e->trapped = TRAPPED_NOT;
    if (r->info->unit == UNIT_CONTROL) return;
    if (r->info->unit != UNIT_MEMORY && machine_errors_of(m)->may_trap) {
        if (gpump_restart_mode_at(s->restart, w->number, r->pc) == GPUMP_RESTART_AGAIN)
            e->trapped = TRAPPED_EMULATED;
        else if (excepting_lanes(m, s, r, sources))
            e->trapped = TRAPPED_RAISED;
    }
    if (strikes(m, s, w)) {
        e->erred = 1;
        gpump_bits_set(errors_of(s)->struck, w->number);
        corrupt(s, r);
    }
    if (r->info->unit == UNIT_MEMORY) unverified(m, s, w, (int)e->erred);
}

void errors_emulate(machine *m, sm *s, warp *w) {
    gpump_restart_report_emulated(s->restart, w->number);
    gate_wait(s, w, m->config.emulation_cycles);
}

void errors_issued(machine *m, sm *s, warp *w, const in_flight *r) {
    const issue_info *info = r->info;
    (void)m;
    if (is_irrevocable(info->instruction)) gpump_bits_set(errors_of(s)->margin, w->number);
    if (info->is_boundary) gpump_bits_clear(errors_of(s)->margin, w->number);
    if (gpump_restart_mode_at(s->restart, w->number, NONE) != GPUMP_RESTART_STEP) return;
    w->called_until = NEVER; /* until it has ended: errors_ended */
    gate_close(s, w, GPUMP_WARP_FETCH, GPUMP_WARP_FAULT);
}

void errors_executed(machine *m, sm *s, const in_flight *r) {
    const error_record *e = record_of(s, r);
    if (r->info->unit == UNIT_MEMORY || r->info->unit == UNIT_CONTROL) return;
    unverified(m, s, &m->warps[r->warp], (int)e->erred);
    if (e->trapped == TRAPPED_RAISED) m->warps[r->warp].speculates |= ISSUE_WHEN_VERIFIED;
}

void errors_ended(machine *m, sm *s, const in_flight *r) {
    warp *w = &m->warps[r->warp];
    const int steps = gpump_restart_mode_at(s->restart, w->number, NONE) == GPUMP_RESTART_STEP;
    if (r->info->unit == UNIT_CONTROL) {
        if (steps && w->stack.depth) gate_wait(s, w, m->config.step_cycles);
        return;
    }
    if (steps) gate_wait(s, w, (uint64_t)m->config.step_cycles * gpump_bits_count64(r->active | 1u));
    if (r->info->unit == UNIT_MEMORY || record_of(s, r)->trapped == TRAPPED_NOT) return;
    if (record_of(s, r)->trapped == TRAPPED_EMULATED) {
        errors_emulate(m, s, w);
    } else if (!errors_of(s)->raised_pc[w->number]) { /* one that comes while another waits is raised again, or has its
                                                       result */
        errors_of(s)->raised_pc[w->number] = r->pc + 1;
        gpump_bits_set(errors_of(s)->raised, w->number);
        if (s->wake > s->now + 1) s->wake = s->now + 1;
    }
}

void errors_forget(machine *m, sm *s, warp *w) {
    machine_errors_of(m)->traps_at.due += errors_of(s)->trapping[w->number];
    errors_of(s)->trapping[w->number] = 0;
    w->speculates = errors_of(s)->raised_pc[w->number] = 0;
    gpump_bits_clear(errors_of(s)->raised, w->number);
    gpump_bits_clear(errors_of(s)->margin, w->number);
    gpump_bits_clear(errors_of(s)->struck, w->number);
}
