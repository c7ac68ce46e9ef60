#include "parts/faults/faults.h"

#include <stdio.h>
#include <string.h>

#include "parts/faults/fault_facts.h"
#include "parts/faults/look_ups.h"
#include "parts/faults/tlb.h"
#include "sm/front_end.h"
#include "sm/memory_order.h"
#include "sm/pipeline.h"
#include "sm/restart.h"
#include "sm/scoreboard.h"
#include "sm/memory_path.h"
#include "sm/warp_scheduler.h"

/* ---- making ---- */

static const char *const schemes[] = {"stall", "wd_commit", "wd_check", "queue",  "log8",
                                      "log16", "log32",     "log64",    "regions"};
#define SCHEMES (sizeof schemes / sizeof *schemes)

const char *faults_scheme_name(uint32_t index) { return index < SCHEMES ? schemes[index] : NULL; }

const char *faults_order_name(uint32_t order) {
    static const char *const names[GPUMP_REPLAY_ORDERS] = {"printed", "class", "address"};
    return order < GPUMP_REPLAY_ORDERS ? names[order] : NULL;
}

int faults_track_shared(const kernel_program *program) {
    uint32_t i;
    for (i = 0; i < program->count; i++) {
        const instruction *in = &program->instructions[i];
        if (in->opcode == OPCODE_MEMBAR || (in->unit == UNIT_MEMORY && in->space == SPACE_GENERIC)) return 1;
    }
    return 0;
}

static uint8_t replay_kind_of(const instruction *in, int tracks_shared) {
    if (in->opcode == OPCODE_BAR || in->opcode == OPCODE_EXIT || in->opcode == OPCODE_RET) return GPUMP_REPLAY_SYNC;
    if (in->unit != UNIT_MEMORY || in->space == SPACE_PARAM || in->space == SPACE_CONST) return GPUMP_REPLAY_OTHER;
    if (in->opcode == OPCODE_ATOM || in->opcode == OPCODE_RED || in->opcode == OPCODE_MEMBAR ||
        (in->flags & FLAG_VOLATILE) || instruction_is_runtime_call(in))
        return GPUMP_REPLAY_ATOMIC;
    if (in->space == SPACE_SHARED && !tracks_shared) return GPUMP_REPLAY_OTHER;
    return instruction_only_reads(in) ? GPUMP_REPLAY_LOAD : GPUMP_REPLAY_STORE;
}

/* Addresses take one log entry. Stored data take one entry for every two words. Operands of an atomic take one each
 * (Tanasic 6.3.3: a load 1, a store 2). */
static uint8_t log_units_of(const instruction *in) {
    const uint32_t is_atomic = in->opcode == OPCODE_ATOM || in->opcode == OPCODE_RED;
    uint32_t i, words = 0;
    if (!in->source_count) return 0;
    if (in->opcode == OPCODE_LD) return (uint8_t)gpump_replay_log_units(0, 0); /* of a trace: its address is a pair */
    for (i = 1; i < in->source_count; i++)
        if (in->sources[i].kind != OPERAND_NONE)
            words += is_atomic ? 2u : in->sources[i].kind == OPERAND_PREDICATE ? 1u : in->sources[i].words;
    return (uint8_t)gpump_replay_log_units(words != 0, words * 4);
}

void faults_prepare(const kernel_program *program, int tracks_shared, replay_info *info, issue_info *order) {
    uint32_t i;
    for (i = 0; i < program->count; i++) {
        const instruction *in = &program->instructions[i];
        info[i].kind = replay_kind_of(in, tracks_shared);
        info[i].can_fault = info[i].kind > GPUMP_REPLAY_SYNC && in->space != SPACE_LOCAL && in->space != SPACE_SHARED &&
                            in->opcode != OPCODE_MEMBAR;
        info[i].log_units = info[i].kind > GPUMP_REPLAY_SYNC ? log_units_of(in) : 0;
        /* Exits wait for checks, too, and a group of copies is closed when none of them can fault any more. */
        if (info[i].kind == GPUMP_REPLAY_SYNC || in->opcode == OPCODE_COPY_COMMIT) order[i].is_barrier = 1;
    }
}

/* ---- warps come and go ---- */

void faults_open_warp(machine *m, sm *s, warp *w) {
    machine_must(m, "gpump_replay_open",
                 gpump_replay_open(sm_faults_of(s)->replay, w->number, m->blocks[w->block].ref.slot), NULL);
}

void faults_close_warp(machine *m, sm *s, warp *w) {
    sm_faults *f = sm_faults_of(s);
    uint32_t i;
    for (i = 0; i < GPUMP_REPLAY_WINDOW; i++) { /* what its log held goes, too */
        uint32_t *record = &f->records[w->number * GPUMP_REPLAY_WINDOW + i];
        if (*record != NONE && s->records[*record].stage == RECORD_HELD) pipeline_free_record(m, s, *record);
        *record = NONE;
    }
    if (w->fault_address) f->held_cycles += sm_time(m, s) - w->fault_since;
    gpump_bits_clear(f->held, w->number);
    gpump_bits_clear(f->draining, w->number);
    gpump_bits_clear(f->replaying, w->number);
    machine_must(m, "gpump_replay_close", gpump_replay_close(f->replay, w->number), NULL);
}

void faults_forget(machine *m, sm *s, warp *w) {
    faults_close_warp(m, s, w);
    w->fault_since = sm_time(m, s); /* so far is counted */
    faults_open_warp(m, s, w);
    gate_open(s, w, GPUMP_WARP_ISSUE, GPUMP_WARP_FAULT);
}

void faults_share_log(machine *m, sm *s, uint32_t blocks) {
    const uint32_t most = m->in_place ? BLOCK_ENTRIES_MAX : m->config.gpu.block_slots;
    machine_must(m, "gpump_replay_set_blocks",
                 gpump_replay_set_blocks(sm_faults_of(s)->replay, blocks < most ? blocks : most), NULL);
}

/* ---- draining ---- */

/* Returns the instructions of the warp that are fetched and have not issued. */
static uint32_t unissued(const machine *m, const sm *s, const warp *w) {
    uint32_t count;
    PARTS_ASK(m, count, 0, unissued, (m, s, w));
    return count;
}

/* Nothing of the warp is fetched any more, and under a replay queue nothing issues. */
static void begin_drain(machine *m, sm *s, warp *w) {
    const uint32_t scheme = m->fault_scheme;
    gate_close(s, w, GPUMP_WARP_ISSUE, GPUMP_WARP_FAULT);
    if (scheme == GPUMP_REPLAY_QUEUE || scheme == GPUMP_REPLAY_LOG) PARTS_TELL(m, hold_unissued, (m, s, w));
}

/* Returns the cycle in which a held warp has all its pages. */
static void hold(sm *s, const warp *w) {
    gpump_bits_set(sm_faults_of(s)->held, w->number);
    if (w->fault_cycle < sm_faults_of(s)->held_cycle) sm_faults_of(s)->held_cycle = w->fault_cycle;
}

/* Takes what the warp has fetched and not issued. Returns the number of entries that are to issue again. */
static uint32_t take_unissued(machine *m, sm *s, warp *w, gpump_replay_entry entries[GPUMP_REPLAY_WINDOW]) {
    uint32_t count, i;
    PARTS_ASK(m, count, 0, take_unissued, (m, s, w, entries));
    for (i = 0; i < count; i++) {
        const replay_info *info = faults_info(m, w, entries[i].pc);
        entries[i].kind = info->kind;
        entries[i].log_units = info->log_units;
    }
    return count;
}

/* Returns whether a warp that drains has nothing in flight but what a replay queue keeps. */
static int has_drained(const machine *m, const sm *s, const warp *w) {
    const int keeps = m->fault_scheme == GPUMP_REPLAY_QUEUE || m->fault_scheme == GPUMP_REPLAY_LOG;
    return w->in_flight <= (keeps ? unissued(m, s, w) : 0);
}

/* A drained warp hands over the instructions that it had fetched and not issued. Its state is then complete. Without a
 * replay queue there is no place to keep these instructions, so they still issue. All of them are older than the
 * instruction that has faulted, because fetch has stopped there. */
static void complete_drains(machine *m, sm *s) {
    const int keeps = m->fault_scheme == GPUMP_REPLAY_QUEUE || m->fault_scheme == GPUMP_REPLAY_LOG;
    sm_faults *f = sm_faults_of(s);
    uint32_t number;
    FOR_EACH_NUMBER(f->draining, number) {
        warp *w = warp_numbered(m, s, number);
        gpump_replay_entry entries[GPUMP_REPLAY_WINDOW];
        uint32_t count = 0;
        if (!has_drained(m, s, w)) continue;
        if (keeps) count = take_unissued(m, s, w, entries);
        machine_must(m, "gpump_replay_report_unissued",
                     gpump_replay_report_unissued(f->replay, w->number, entries, count), NULL);
        gpump_bits_clear(f->draining, number);
        gpump_bits_clear(f->replaying, number); /* stopped during its replay: entries issued again are held, too */
        hold(s, w);
    }
}

/* A check of the record has failed. */
static void faulted(machine *m, sm *s, uint32_t record) {
    sm_faults *f = sm_faults_of(s);
    const in_flight *r = &s->records[record];
    look_up_record *l = &f->of_record[record];
    warp *w = &m->warps[r->warp];
    uint64_t cycle;
    f->faults++;
    s->changed |= warp_bit(w);
    if (!w->fault_address) {
        w->fault_since = s->now;
        w->fault_address = r->segments[gpump_bits_lowest64(l->absent)];
    }
    if (l->pages_cycle > w->fault_cycle) w->fault_cycle = l->pages_cycle;
    /* Pages may have come while other look-ups of it were under way. */
    PARTS_ASK(m, cycle, w->fault_cycle, pages_cycle, (m, w, w->fault_cycle));
    w->fault_cycle = cycle;
    if (l->pages_cycle == NEVER && look_ups_are_served(m, s, r)) l->pages_cycle = s->now + 1;
    if (m->fault_scheme == GPUMP_REPLAY_REGIONS) {
        gpump_restart_order order;
        machine_must(m, "gpump_restart_report_exception",
                     gpump_restart_report_exception(s->restart, w->number, r->pc, GPUMP_RESTART_SERVED, &order), NULL);
        if (order.answer != GPUMP_RESTART_GO_BACK) { /* the warp must reach the boundary ahead */
            look_ups_park(s, record);
            return;
        }
        restart_warp(m, s, w, order.region);
        w->fault_cycle = cycle;
        fault_warp_of(s, w)->pinned = PINNED_REGION;
        gate_close(s, w, GPUMP_WARP_ISSUE, GPUMP_WARP_FAULT);
        hold(s, w);
        return;
    }
    machine_must(m, "gpump_replay_report_faulted", gpump_replay_report_faulted(f->replay, l->entry), NULL);
    /* Squashes the younger instructions of the warp. Their pages must not stay resident beside the page of this access,
     * and accesses that wait in place would fill the load-store unit, in which the holder needs room. */
    if (m->memory_is_finite) (void)gpump_replay_squash(f->replay, w->number);
    if (gpump_replay_state_of(f->replay, w->number) == GPUMP_REPLAY_RUN ||
        gpump_replay_state_of(f->replay, w->number) == GPUMP_REPLAY_REPLAY)
        look_ups_park(s, record);
    else
        begin_drain(m, s, w);
}

static void take_effect(machine *m, sm *s, uint32_t record) {
    look_ups_effect(m, s, record);
    pipeline_checked(m, s, &s->records[record]);
}

static void forget_fault(sm *s, warp *w) {
    if (w->fault_address) sm_faults_of(s)->held_cycles += s->now - w->fault_since;
    w->fault_cycle = w->fault_address = 0;
}

static void look_ups(machine *m, sm *s) {
    uint32_t record;
    while (!m->failed && look_ups_take(s, &record)) {
        in_flight *r = &s->records[record];
        warp *w = &m->warps[r->warp];
        gpump_reason answer = GPUMP_REASON_YES;
        if (look_up_of(s, r)->absent) {
            faulted(m, s, record);
            continue;
        }
        if (w->fault_cycle <= s->now && gpump_replay_state_of(sm_faults_of(s)->replay, w->number) == GPUMP_REPLAY_RUN)
            forget_fault(s, w);
        if (machine_faults_of(m)->config.order == GPUMP_REPLAY_ADDRESS)
            machine_must(m, "gpump_replay_report_segments",
                         gpump_replay_report_segments(sm_faults_of(s)->replay, look_up_of(s, r)->entry, r->segments,
                                                      r->segment_count),
                         NULL);
        machine_must(m, "gpump_replay_report_checked",
                     gpump_replay_report_checked(sm_faults_of(s)->replay, look_up_of(s, r)->entry, &answer), NULL);
        if (answer == GPUMP_REASON_YES) take_effect(m, s, record);
    }
}

/* ---- pages come ---- */

static void pages_have_come(machine *m, sm *s) {
    sm_faults *f = sm_faults_of(s);
    uint32_t number;
    int may;
    f->held_cycle = NEVER;
    FOR_EACH_NUMBER(f->held, number) {
        warp *w = warp_numbered(m, s, number);
        if (gate_stopped(w) && !m->blocks[w->block].to_point)
            continue; /* the warp stays as it is, to be saved; exception: warps of its block still run and may need log
                         room */
        if (w->fault_cycle > s->now) {
            if (w->fault_cycle < f->held_cycle) f->held_cycle = w->fault_cycle;
            continue;
        }
        PARTS_ASK(m, may, 1, may_go_on, (m, s, w));
        if (!may) continue; /* the warp resumes when its registers are at home (warp_is_back) */
        gpump_bits_clear(f->held, number);
        if (m->fault_scheme == GPUMP_REPLAY_REGIONS) {
            forget_fault(s, w);
            gate_open(s, w, GPUMP_WARP_ISSUE, GPUMP_WARP_FAULT);
        } else {
            machine_must(m, "gpump_replay_report_served", gpump_replay_report_served(f->replay, w->number), NULL);
            s->changed |= warp_bit(w);
        }
    }
}

/* ---- actions ---- */

/* The warp fetches an instruction again, with the SIMT stack of the first fetch. */
static void fetch_again(machine *m, sm *s, warp *w, const gpump_replay_entry *what) {
    if (is_traced(w)) {
        front_end_go_to_step(w, (uint32_t)what->sequence);
        w->sequence = what->sequence;
    } else {
        w->stack.depth = fault_warp_of(s, w)->stack_depth;
        w->stack.entries[w->stack.depth - 1].pc = what->pc;
    }
    fault_warp_of(s, w)->pinned = PINNED_NEXT;
    pipeline_refresh_warp(m, s, w);
}

/* No memory instruction keeps the warp from issuing any more. A warp that is switched out issues after its transfer in.
 */
static void go_on(machine *m, sm *s, warp *w) {
    gate_open(s, w, GPUMP_WARP_ISSUE, GPUMP_WARP_FAULT);
    if (w->slot != NONE && !(m->traits & PART_ISSUES)) pipeline_refresh_warp(m, s, w);
}

static void actions(machine *m, sm *s) {
    sm_faults *f = sm_faults_of(s);
    gpump_replay_action action;
    while (!m->failed && gpump_replay_has_actions(f->replay) && gpump_replay_next(f->replay, &action) == GPUMP_OK) {
        warp *w = warp_numbered(m, s, action.warp);
        const uint32_t record = action.entry == NONE ? NONE : f->records[action.entry];
        switch (action.kind) {
        case GPUMP_REPLAY_ACT_EFFECT: take_effect(m, s, record); break;
        case GPUMP_REPLAY_ACT_SQUASH: {
            const int logged = action.what.log_units && !(action.what.flags & GPUMP_REPLAY_HOLDS) &&
                               m->fault_scheme == GPUMP_REPLAY_LOG;
            pipeline_withdraw(m, s, record, logged);
            break;
        }
        case GPUMP_REPLAY_ACT_REFETCH:
            pipeline_withdraw(m, s, record, 0);
            f->records[action.entry] = NONE;
            fetch_again(m, s, w, &action.what);
            break;
        case GPUMP_REPLAY_ACT_DRAINED: gpump_bits_set(f->draining, action.warp); break;
        case GPUMP_REPLAY_ACT_REPLAY:
            gpump_bits_set(f->replaying, action.warp);
            fault_warp_of(s, w)->reinserted = 0;
            break;
        case GPUMP_REPLAY_ACT_FETCH:
            gpump_bits_clear(f->replaying, action.warp);
            forget_fault(s, w);
            go_on(m, s, w);
            break;
        default: break;
        }
    }
}

/* ---- warps take turns ---- */

/* How far away the turn of a warp is. */
static uint32_t turns_until(const sm *s, uint32_t number) {
    return (number - sm_faults_of(s)->turn) % WARP_NUMBERS_MAX;
}

/* Returns the slot in `ready` whose memory instruction has the next turn, as a bit; 0: there is none. */
static uint64_t next_turn(const machine *m, const sm *s, uint64_t ready, uint32_t *turns) {
    uint64_t left, found = 0;
    *turns = NONE;
    for (left = ready & s->unit_slots[UNIT_MEMORY]; left; left &= left - 1) {
        const uint32_t slot = gpump_bits_lowest64(left);
        const warp *w = &m->warps[s->slot_warp[slot]];
        if (turns_until(s, w->number) >= *turns || !faults_have_room(m, s, w, simt_top(&w->stack)->pc)) continue;
        *turns = turns_until(s, w->number);
        found = UINT64_C(1) << slot;
    }
    return found;
}

uint64_t faults_may_issue(const machine *m, const sm *s, uint64_t ready) {
    uint32_t turns;
    uint64_t next;
    if (!m->memory_is_finite) return ready;
    next = next_turn(m, s, ready, &turns);
    return next ? (ready & ~s->unit_slots[UNIT_MEMORY]) | next : ready;
}

/* ---- replaying ---- */

uint32_t faults_issue_again(machine *m, sm *s, warp *w, uint32_t handle) {
    sm_faults *f = sm_faults_of(s);
    const gpump_replay_entry what = gpump_replay_look(f->replay, handle);
    uint32_t record = f->records[handle];
    if (record == NONE)
        record = pipeline_start(m, s, (uint32_t)(w - m->warps), what.pc, (uint32_t)what.lanes, what.sequence);
    else
        pipeline_restart(m, s, record); /* with the operands that it has kept */
    f->of_record[record].pinned = 1;
    if (what.kind > GPUMP_REPLAY_SYNC) {
        f->of_record[record].entry = handle;
        f->records[handle] = record;
    }
    machine_must(m, "gpump_replay_report_reissued", gpump_replay_report_reissued(sm_faults_of(s)->replay, handle),
                 NULL);
    return record;
}

/* Issues one instruction again, or hands it to the part that issues. */
static replay_result replay_one(machine *m, sm *s, warp *w, uint32_t handle, const gpump_replay_entry *what) {
    const uint32_t scheduler = w->slot % m->config.gpu.schedulers;
    const issue_info *info = &w->program[what->pc];
    const int may_go = gpump_replay_may_reissue(sm_faults_of(s)->replay, handle) == GPUMP_REASON_YES;
    replay_result result;
    PARTS_ASK(m, result, REPLAY_NOT_ASKED, takes_replay, (m, s, w, handle, what, may_go));
    if (result == REPLAY_ISSUED) fault_warp_of(s, w)->reinserted = what->sequence + 1;
    if (result != REPLAY_NOT_ASKED) return result;
    if (!scoreboard_clear(w, info) || !memory_order_clear(w, info, 0) || !may_go) return REPLAY_WAITS;
    if (s->scheduler_free[scheduler] > s->now || !memory_path_has_room(m, s) || s->unit_free[info->unit] > s->now ||
        (sm_faults_of(s)->records[handle] == NONE && s->free_record == NONE))
        return REPLAY_LATER;
    (void)faults_issue_again(m, s, w, handle);
    scoreboard_reserve(w, info);
    pipeline_occupy_unit(m, s, info);
    w->in_flight++;
    m->blocks[w->block].in_flight++;
    if (info->writes) m->blocks[w->block].registers_pending++;
    s->scheduler_free[scheduler] = s->now + m->config.issue_interval;
    return REPLAY_ISSUED;
}

/* Issues again the instructions that left the pipeline with a warp, in program order. */
static void replay_warp(machine *m, sm *s, uint32_t number) {
    sm_faults *f = sm_faults_of(s);
    warp *w = warp_numbered(m, s, number);
    uint32_t entries[GPUMP_REPLAY_WINDOW], count, i;
    if (gpump_replay_pending(f->replay, number, entries, GPUMP_REPLAY_WINDOW, &count) != GPUMP_OK) return;
    for (i = 0; i < count; i++) {
        const gpump_replay_entry what = gpump_replay_look(f->replay, entries[i]);
        replay_result result;
        if (what.sequence < fault_warp_of(s, w)->reinserted) continue;
        result = replay_one(m, s, w, entries[i], &what);
        f->again |= result == REPLAY_LATER;
        if (result != REPLAY_ISSUED) break;
        if (m->memory_is_finite) f->turn = (number + 1) % WARP_NUMBERS_MAX;
    }
}

/* Replays warps. In-order pipeline: one instruction after the other, as registers and units allow. Out of order: into
 * the issue queue, as fetch does. A warp that issues for the first time, and whose turn comes before, goes first. */
static void replay(machine *m, sm *s) {
    const int in_order = !(m->traits & PART_ISSUES);
    const sm_faults *f = sm_faults_of(s);
    const uint32_t first = f->turn;
    uint32_t number, pass, turns = NONE;
    if (in_order && m->memory_is_finite) (void)next_turn(m, s, warp_scheduler_ready(s), &turns);
    for (pass = 0; pass < 2; pass++)
        for (number = warp_set_from(f->replaying, pass ? 0 : first); number != NONE && (!pass || number < first);
             number = warp_set_from(f->replaying, number + 1)) {
            /* Without room none of them can issue, and the SM asks again in the next cycle in any case. */
            if (in_order && f->again && !memory_path_has_room(m, s)) return;
            if ((number - first) % WARP_NUMBERS_MAX > turns) return;
            replay_warp(m, s, number);
        }
}

/* ---- a cycle ---- */

void faults_cycle(machine *m, sm *s) {
    sm_faults *f = sm_faults_of(s);
    look_ups(m, s);
    if (f->held_cycle <= s->now) pages_have_come(m, s);
    do {
        actions(m, s);
        complete_drains(m, s);
    } while (!m->failed && gpump_replay_has_actions(f->replay));
    if (f->held_cycle <= s->now) {
        pages_have_come(m, s);
        actions(m, s);
    }
    f->again = 0;
    if (warp_set_any(f->replaying)) {
        replay(m, s);
        actions(m, s);
    }
    if (warp_set_any(f->held) || f->parked_count || s->calling) PARTS_TELL(m, pages_are_awaited, (m, s));
}

uint64_t faults_next(const machine *m, const sm *s) {
    const sm_faults *f = sm_faults_of(s);
    uint64_t next;
    uint32_t number;
    if (f->again || (f->retry && f->refused_count)) return s->now + 1;
    FOR_EACH_NUMBER(f->draining, number)
    if (has_drained(m, s, warp_numbered(m, s, number))) return s->now + 1; /* the warp was stopped in this cycle */
    next = tlb_next_answer(m, s);
    if (f->parked_cycle < next) next = f->parked_cycle;
    return f->held_cycle < next ? f->held_cycle : next;
}

/* ---- leaving and coming back ---- */

void faults_stop_warp(machine *m, sm *s, warp *w) {
    sm_faults *f = sm_faults_of(s);
    const uint32_t scheme = m->fault_scheme, state = gpump_replay_state_of(f->replay, w->number);
    if (scheme != GPUMP_REPLAY_QUEUE && scheme != GPUMP_REPLAY_LOG) return;
    if (state == GPUMP_REPLAY_HELD || state == GPUMP_REPLAY_DRAIN) return;
    if (state == GPUMP_REPLAY_RUN && !w->fault_address && !unissued(m, s, w)) return;
    if (gpump_replay_squash(f->replay, w->number) != GPUMP_OK) return;
    begin_drain(m, s, w);
    if (s->wake > sm_time(m, s) + 1) s->wake = sm_time(m, s) + 1;
}

uint64_t faults_context_bytes(const machine *m, const kernel *k) {
    const uint64_t sections = 2 * GPUMP_CONTEXT_SECTION_BYTES, entries = GPUMP_REPLAY_WINDOW;
    if (!m->faults_may_happen) return 0;
    return k->warps * (sections + entries * (32 + 16)) + (uint64_t)LOG_UNITS_MAX * LANES * 8;
}

uint32_t faults_entries(machine *m, const warp *w, gpump_replay_entry entries[GPUMP_REPLAY_WINDOW]) {
    uint32_t count = 0;
    machine_must(
        m, "gpump_replay_save",
        gpump_replay_save(sm_faults_of(m->sms[w->sm])->replay, w->number, entries, GPUMP_REPLAY_WINDOW, &count), NULL);
    return count;
}

static uint32_t handle_of(const sm *s, const warp *w, uint64_t sequence) {
    uint32_t entries[GPUMP_REPLAY_WINDOW], count, i;
    if (gpump_replay_pending(sm_faults_of(s)->replay, w->number, entries, GPUMP_REPLAY_WINDOW, &count) != GPUMP_OK)
        return NONE;
    for (i = 0; i < count; i++)
        if (gpump_replay_look(sm_faults_of(s)->replay, entries[i]).sequence == sequence) return entries[i];
    return NONE;
}

const in_flight *faults_operands(const machine *m, const warp *w, const gpump_replay_entry *entry) {
    const sm *s = m->sms[w->sm];
    const uint32_t handle = handle_of(s, w, entry->sequence);
    return handle == NONE || sm_faults_of(s)->records[handle] == NONE ? NULL
                                                                      : &s->records[sm_faults_of(s)->records[handle]];
}

void faults_restore(machine *m, sm *s, warp *w, const gpump_replay_entry *entries, uint32_t count) {
    gpump_diag diag;
    uint64_t cycle;
    memset(&diag, 0, sizeof diag);
    machine_must(m, "gpump_replay_restore",
                 gpump_replay_restore(sm_faults_of(s)->replay, w->number, entries, count, &diag), &diag);
    gate_close(s, w, GPUMP_WARP_ISSUE, GPUMP_WARP_FAULT);
    if (count && w->sequence <= entries[count - 1].sequence) w->sequence = entries[count - 1].sequence + 1;
    PARTS_ASK(m, cycle, 0, restored_cycle, (m, w));
    w->fault_cycle = cycle ? cycle : m->blocks[w->block].fault_cycle;
    s->changed |= warp_bit(w);
    hold(s, w);
}

in_flight *faults_restore_operands(machine *m, sm *s, warp *w, uint64_t sequence) {
    const uint32_t handle = handle_of(s, w, sequence);
    gpump_replay_entry what;
    uint32_t record;
    if (handle == NONE || s->free_record == NONE) return NULL;
    what = gpump_replay_look(sm_faults_of(s)->replay, handle);
    record = sm_faults_of(s)->records[handle] = pipeline_hold_record(m, s, w, &what);
    sm_faults_of(s)->of_record[record].entry = handle;
    return &s->records[record];
}
