#include "sm/pipeline.h"

#include <string.h>

#include "sm/front_end.h"
#include "sm/gate.h"
#include "sm/memory_access.h"
#include "sm/memory_order.h"
#include "sm/memory_path.h"
#include "sm/region.h"
#include "sm/scoreboard.h"
#include "sm/warp_scheduler.h"

#define BIT(slot) (UINT64_C(1) << (slot))

/* in_flight.unusual. Bit 0: it is squashed; with its operands from the log; leaves once they are read, and they stay or
 * not. */
enum { HAS_OPERANDS = 2, LEAVES_NOTHING = 4, LEAVES_OPERANDS = 8 };

/* ---- what the masks say about a warp ---- */

int pipeline_runs_past_end(machine *m, const warp *w, const issue_info *info) {
    if (info->instruction) return 0;
    machine_fail(m, "kernel %s: warp %u runs past the last instruction",
                 m->kernels[m->blocks[w->block].kernel].program->name, w->index);
    return 1;
}

/* The scoreboard's and the memory order's word on a warp's next instruction, `info`. */
static inline void see_next(sm *s, warp *w, uint32_t slot, const issue_info *info) {
    const issue_info *before = s->slot_info[slot];
    s->slot_info[slot] = info;
    if (!before || before->unit != info->unit) {
        if (before) s->unit_slots[before->unit] &= ~BIT(slot);
        s->unit_slots[info->unit] |= BIT(slot);
    }
    w->waits_for = UINT64_MAX; /* of any form: a machine of the plain form calls this one between two cycles */
    if (w->sources_until <= s->now && scoreboard_clear(w, info) && memory_order_clear(w, info, 0))
        s->clear |= BIT(slot);
    else
        s->clear &= ~BIT(slot);
}

/* Returns whether nothing more is fetched for the warp for now. */
static int fetch_stops(machine *m, sm *s, warp *w) {
    int stops;
    PATH_ASK(m, stops, 0, fetch_stops, (m, s, w));
    return stops;
}

static void refresh_clear(machine *m, sm *s, warp *w) {
    const issue_info *info;
    PATH_TELL(m, waits_change, (m, s, w));
    if (PATH_HAS(m, PART_ISSUES) || !w->stack.depth) return;
    info = &w->program[simt_top(&w->stack)->pc];
    if (pipeline_runs_past_end(m, w, info)) return;
    if (!gate_in_control(w)) (void)fetch_stops(m, s, w);
    if (IS_PLAIN || w->slot != NONE) see_next(s, w, w->slot, info);
}

/* An instruction of the warp has released a register or a unit, so the next one may issue. */
static inline void look_again(machine *m, sm *s, warp *w) {
    const issue_info *info;
    if ((!IS_PLAIN && w->slot == NONE) || warp_is_in(w, s->clear) || w->sources_until > s->now) return;
    info = s->slot_info[w->slot];
    if (!IS_PLAIN && (!info || (w->stack.depth && info != &w->program[simt_top(&w->stack)->pc])))
        refresh_clear(m, s, w); /* the warp continues at another PC; with a queue, info is NULL */
    else if (scoreboard_clear(w, info) && memory_order_clear(w, info, 0)) {
        s->clear |= BIT(w->slot);
        FETCH_AHEAD(&w->stack);
        if (IS_TRACED) front_end_prefetch(w);
    }
}

void pipeline_refresh_warp(machine *m, sm *s, warp *w) {
    const uint64_t bit = warp_bit(w);
    s->changed |= bit;
    if (w->stack.depth)
        s->present |= bit;
    else
        s->present &= ~bit;
    if (w->barrier != NONE)
        gate_close(s, w, GPUMP_WARP_ISSUE, GPUMP_WARP_BARRIER);
    else
        gate_open(s, w, GPUMP_WARP_ISSUE, GPUMP_WARP_BARRIER);
    refresh_clear(m, s, w);
}

void pipeline_enable_fetch(machine *m, sm *s, uint32_t warp_index, int enabled) {
    warp *w = &m->warps[warp_index];
    const int held = gpump_warp_gate_closed_by(w->gate, GPUMP_WARP_FETCH, GPUMP_WARP_HOST);
    if (!enabled) gate_close(s, w, GPUMP_WARP_FETCH, GPUMP_WARP_HOST);
    if (!enabled || !held) return;
    gate_open(s, w, GPUMP_WARP_FETCH, GPUMP_WARP_HOST);
    if (!w->stack.depth || !gpump_warp_gate_may(w->gate, GPUMP_WARP_FETCH) || warp_is_in(w, s->fetched)) return;
    pipe_put(&s->pipes[PIPE_FETCH], m->now, warp_index);
    if (s->wake > m->now + 1) s->wake = m->now + 1;
}

/* ---- records ---- */

static __attribute__((cold)) void wrong(machine *m, const in_flight *r, const char *what) {
    const block *b = &m->blocks[r->block];
    const kernel_program *program = m->kernels[b->kernel].program;
    int excused;
    PATH_ASK(m, excused, 0, excuses, (m, r));
    if (excused) return;
    machine_fail(m, "%s:%u:%u: kernel %s: %s; block %llu warp %u", program->file_name, r->instruction->line,
                 r->instruction->column, program->name, what, (unsigned long long)b->linear, m->warps[r->warp].index);
}

/* An item enters the pipeline of its instruction's unit in `cycle`. Returns its entry. */
static inline pipe_entry *enter_execution(sm *s, const issue_info *info, uint64_t cycle, uint32_t item) {
    pipe_entry *entry = pipe_put(&s->pipes[info->pipe], cycle, item);
    if (entry->cycle < s->executed_cycle) s->executed_cycle = entry->cycle;
    return entry;
}

static uint32_t take_record(sm *s) {
    uint32_t record = s->free_record;
    s->records_left--;
    s->free_record = s->records[record].next_free;
    if (s->free_record != NONE) FETCH_AHEAD(&s->records[s->free_record]);
    return record;
}

static void free_record(const machine *m, sm *s, uint32_t record) {
    s->records[record].stage = RECORD_FREE;
    s->records_left++;
    PATH_TELL(m, record_is_free, (m, s, &s->records[record]));
    s->records[record].next_free = s->free_record;
    s->free_record = record;
}

void pipeline_free_record(const machine *m, sm *s, uint32_t record) { free_record(m, s, record); }

/* ---- arithmetic without a record ---- */

/* A plain machine whose sources are held by time writes a result when the instruction issues, and no hook sees the
 * instruction. What is left until it commits is its place in a pipeline: the entry has the slot of the warp, the PC,
 * and the lanes that execute it. */
#define SLOT_BITS 6u
/* In the pipeline of control instructions: this item is no record but a branch (simple.h). Behind the PC. */
#define BRANCH_FLAG (UINT32_C(1) << 31)

/* Returns whether arithmetic of this machine has no record. */
static inline int is_recordless(const machine *m) { return m->sources_timed != 0; }
static inline int is_arithmetic(const issue_info *info) {
    return info->unit != UNIT_MEMORY && info->unit != UNIT_CONTROL;
}

/* Squashes arithmetic and branches in flight of the warps in these slots: their places in the pipelines stay until they
 * are due.
 */
static void squash_arithmetic(sm *s, uint64_t slots) {
    uint32_t p, i;
    for (p = PIPE_ALU; p <= PIPE_CONTROL; p++) {
        const pipe_stage *stage = &s->pipes[p];
        for (i = 0; i < stage->count; i++) {
            pipe_entry *entry = &stage->entries[(stage->head + i) & stage->mask];
            if (p == PIPE_CONTROL && !(entry->item & BRANCH_FLAG)) continue;
            if (entry->item != NONE && slots >> entry->item % WARP_SLOTS_MAX & 1) entry->item = NONE;
        }
    }
}

/* A record vanishes without effect. Where look-ups wait for answers, it leaves the load-store unit at once. */
static void squash(machine *m, sm *s, uint32_t record) {
    in_flight *r = &s->records[record];
    int left;
    r->squashed = r->unusual = 1;
    if (s->check_due != NEVER &&
        s->check_queue[s->check_head] == record) { /* the record leaves the queue at its next turn */
        const uint64_t turn = s->now < m->now ? m->now : s->now + 1;
        s->check_due = NEVER;
        if (s->wake > turn) s->wake = turn;
    }
    PATH_ASK(m, left, 0, leaves_unit, (m, s, record));
    if (left) free_record(m, s, record);
}

void pipeline_squash_block(machine *m, sm *s, uint32_t block_index) {
    uint32_t i;
    if (is_recordless(m)) squash_arithmetic(s, m->blocks[block_index].slots);
    for (i = 0; i < m->config.in_flight_records; i++) {
        const uint32_t stage = s->records[i].stage;
        if (stage != RECORD_FREE && stage != RECORD_HELD && s->records[i].block == block_index) squash(m, s, i);
    }
    for (i = 0; PATH_HAS(m, PART_ISSUES) && i < m->blocks[block_index].warp_count; i++)
        PATH_TELL(m, forgets_fetched, (m, s, &m->warps[m->blocks[block_index].warps[i]]));
}

void pipeline_squash_fetches(const machine *m, sm *s, uint32_t block_index) {
    pipe_stage *p = &s->pipes[PIPE_FETCH];
    const uint32_t count = p->count;
    uint32_t i;
    p->count = 0;
    for (i = 0; i < count; i++) {
        const pipe_entry entry = p->entries[(p->head + i) & p->mask];
        if (m->warps[entry.item].block != block_index) p->entries[(p->head + p->count++) & p->mask] = entry;
    }
    p->due = p->count ? p->entries[p->head].cycle : NEVER;
}

void pipeline_squash_warp(machine *m, sm *s, uint32_t warp_index) {
    warp *w = &m->warps[warp_index];
    block *b = &m->blocks[w->block];
    uint32_t i;
    for (i = 0; i < m->config.in_flight_records && w->in_flight; i++) {
        in_flight *r = &s->records[i];
        if (r->stage == RECORD_FREE || r->stage == RECORD_HELD || r->squashed || r->warp != warp_index) continue;
        w->in_flight--;
        b->in_flight--;
        if (r->info->writes) b->registers_pending--;
        squash(m, s, i);
    }
    PATH_TELL(m, warp_squashed, (m, s, w));
    s->changed |= warp_bit(w);
    scoreboard_forget(w);
    memset(w->copies, 0, sizeof w->copies);
    w->unchecked = 0;
    gate_open(s, w, GPUMP_WARP_FETCH, GPUMP_WARP_PIPELINE);
}

static void release_sources(machine *m, sm *s, warp *w, in_flight *r) {
    if (!r->sources_held) return;
    r->sources_held = 0;
    if (PATH_HAS(m, PART_ISSUES))
        PATH_TELL(m, sources_released, (m, s, w, r));
    else
        scoreboard_release_sources(w, r->info);
}

static void release_destinations(machine *m, sm *s, warp *w, const in_flight *r) {
    if (PATH_HAS(m, PART_ISSUES))
        PATH_TELL(m, destinations_released, (m, s, w, r));
    else
        scoreboard_release_destinations(w, r->info);
}

/* Counts an instruction that has ended. */
SM_INLINE void count_ended(sm *s, warp *w, block *b, const issue_info *info, uint32_t active) {
    executed_instructions *executed = &s->executed[b->kernel];
    if (!IS_PLAIN) s->changed |= warp_bit(w);
    w->in_flight--;
    b->in_flight--;
    if (info->writes) b->registers_pending--;
    executed->warp_instructions++;
    executed->thread_instructions += active == UINT32_MAX ? LANES : gpump_bits_count64(active);
    executed->counted[info->counted]++;
    w->region_instructions++;
    gpump_sm_report_executed(s->gpump, b->ref, 1);
}

/* The instruction has ended: its places in scoreboard and counters go. */
SM_INLINE void end_record(machine *m, sm *s, warp *w, block *b, uint32_t record) {
    in_flight *r = &s->records[record];
    PATH_TELL(m, retires, (m, s, r)); /* before anybody looks what may issue */
    release_sources(m, s, w, r);
    release_destinations(m, s, w, r);
    if (r->info->copies == COPIES_STARTS) w->copies[r->copy_group]--;
    count_ended(s, w, b, r->info, r->active);
    free_record(m, s, record);
}

/* ---- blocks end ---- */

void pipeline_block_may_be_done(machine *m, sm *s, block *b) {
    if (b->in_flight || b->live_warps || !b->life || b->stores || b->ended) return;
    b->ended = 1;
    s->ended_cycle[s->ended_count] = s->now;
    s->ended[s->ended_count++] = (uint32_t)(b - m->blocks);
}

void pipeline_warp_ended(machine *m, sm *s, block *b, warp *w) {
    s->present &= ~warp_bit(w);
    b->live_warps--;
    pipeline_check_barriers(m, s, b);
}

/* ---- barriers ---- */

/* Writes bar.red's result in the lanes that execute it. */
static void write_reduction(machine *m, sm *s, const block *b, warp *w, const barrier *bar,
                            const instruction *instruction) {
    lanes_operand result;
    uint32_t lane, value = bar->population, *elsewhere;
    memset(&result, 0, sizeof result);
    if (instruction->variant == VARIANT_RED_AND) value = bar->all ? ~0u : 0;
    if (instruction->variant == VARIANT_RED_OR) value = bar->any ? ~0u : 0;
    for (lane = 0; lane < LANES; lane++) result.word[0][lane] = value;
    PATH_ASK(m, elsewhere, NULL, opens_registers, (m, s, w));
    lanes_write(&instruction->destinations[0], w->barrier_lanes, &result,
                elsewhere ? elsewhere : warp_registers(m, b, w), warp_predicates(m, w));
    if (elsewhere) PATH_TELL(m, closes_registers, (m, s, w));
}

void pipeline_check_barriers(machine *m, sm *s, block *b) {
    uint32_t id, i;
    for (id = 0; id < BARRIERS; id++) {
        barrier *bar = &b->barriers[id];
        uint64_t once = 0;
        uint32_t expected;
        if (!bar->threads) continue;
        expected = bar->expected ? bar->expected : b->live_warps * LANES;
        if (bar->threads < expected) continue;
        for (i = 0; i < b->warp_count; i++) {
            warp *w = &m->warps[b->warps[i]];
            const instruction *instruction;
            if (w->barrier != id) continue;
            instruction = &block_kernel(m, b)->program->instructions[w->barrier_pc];
            if (instruction->destination_count) write_reduction(m, s, b, w, bar, instruction);
            w->barrier = NONE;
            gate_open(s, w, GPUMP_WARP_ISSUE, GPUMP_WARP_BARRIER);
            PATH_TELL(m, barrier_opens, (m, s, w, &once));
        }
        memset(bar, 0, sizeof *bar);
        if (m->on_barrier) m->on_barrier(m, b);
    }
}

static void arrive(machine *m, sm *s, block *b, warp *w, const in_flight *r) {
    const instruction *instruction = r->instruction;
    uint32_t id = instruction->source_count && instruction->sources[0].kind != OPERAND_NONE
                      ? r->sources[0].word[0][gpump_bits_lowest64(r->active)]
                      : 0;
    barrier *bar;
    if (id >= BARRIERS) {
        wrong(m, r, "there is no such barrier");
        return;
    }
    bar = &b->barriers[id];
    if (!bar->threads) bar->all = 1;
    bar->arrived |= BIT(w->index);
    bar->threads += LANES; /* barriers count whole warps */
    if (instruction->source_count > 1 && instruction->sources[1].kind != OPERAND_NONE) {
        bar->expected = r->sources[1].word[0][gpump_bits_lowest64(r->active)];
    }
    if (instruction->source_count > 2 && instruction->sources[2].kind == OPERAND_PREDICATE) {
        uint32_t holds = r->sources[2].word[0][0] & r->active;
        bar->population += gpump_bits_count64(holds);
        bar->all &= holds == r->active;
        bar->any |= holds != 0;
    }
    if (instruction->variant != VARIANT_ARRIVE) {
        w->barrier = id;
        w->barrier_pc = r->pc;
        w->barrier_lanes = r->active;
        gate_close(s, w, GPUMP_WARP_ISSUE, GPUMP_WARP_BARRIER);
    }
    pipeline_check_barriers(m, s, b);
}

/* ---- commit ---- */

SM_INLINE void commit(machine *m, sm *s, uint32_t record) {
    in_flight *r = &s->records[record];
    block *b;
    warp *w;
    if (r->squashed) {
        free_record(m, s, record);
        return;
    }
    b = &m->blocks[r->block];
    w = &m->warps[r->warp];
    if (r->has_results) {
        const instruction *instruction = r->instruction;
        uint32_t *registers = s->registers + w->register_base, *predicates = predicates_of(m, r->warp);
        lanes_write_all(instruction, r->active, r->results, registers, predicates);
        if (r->info->is_checked) predicates[instruction->check] |= r->faulted;
    }
    end_record(m, s, w, b, record);
    look_again(m, s, w);
    PATH_TELL(m, retired, (m, s, r));
    pipeline_block_may_be_done(m, s, b);
}

/* Arithmetic without a record commits. */
SM_INLINE void commit_arithmetic(machine *m, sm *s, uint32_t item, uint32_t active) {
    const uint32_t slot = item % WARP_SLOTS_MAX;
    const issue_info *info;
    block *b;
    warp *w;
    s->records_left++;
    if (item == NONE) return; /* the instruction was squashed */
    w = &m->warps[s->slot_warp[slot]];
    b = &m->blocks[w->block];
    info = &w->program[item >> SLOT_BITS];
    scoreboard_release_destinations(w, info);
    count_ended(s, w, b, info, active);
    look_again(m, s, w);
    if (!b->in_flight) pipeline_block_may_be_done(m, s, b);
}

/* The same for a warp that is switched out: its loaded words go where its registers lie. */
static void commit_elsewhere(machine *m, sm *s, uint32_t record) {
    in_flight *r = &s->records[record];
    warp *w = &m->warps[r->warp];
    uint32_t *registers;
    PATH_ASK(m, registers, NULL, opens_registers, (m, s, w));
    lanes_write_all(r->instruction, r->active, r->results, registers, warp_predicates(m, w));
    PATH_TELL(m, closes_registers, (m, s, w));
    end_record(m, s, w, &m->blocks[r->block], record);
}

int pipeline_next_is_clear(const warp *w) {
    const issue_info *info = &w->program[simt_top(&w->stack)->pc];
    return scoreboard_clear(w, info) && memory_order_clear(w, info, 0);
}

void pipeline_commit(machine *m, sm *s, uint32_t record) {
    const in_flight *r = &s->records[record];
    const uint32_t how = r->next_free;
    warp *w = &m->warps[r->warp];
    if (IS_PLAIN) {
        commit(m, s, record);
    } else if (r->squashed) { /* its warp may be another one's by now */
        free_record(m, s, record);
    } else {
        if (w->slot != NONE)
            commit(m, s, record);
        else
            commit_elsewhere(m, s, record);
        PATH_TELL(m, load_commits, (m, s, w, how));
    }
}

static const char too_deep[] = "branches nest deeper than the SIMT stack";

/* Returns the cycle in which the warp resumes, at its marker; NEVER: when a part reports it. */
static uint64_t call_handler(machine *m, sm *s, warp *w) {
    uint64_t cycle;
    PARTS_ASK(m, cycle, 0, handler_is_called, (m, s, w));
    return cycle ? cycle : s->now + 1;
}

/* The lanes of a return or an exit end. In a trace the masks of the steps behind it say so. */
static void end_lanes(machine *m, warp *w, const in_flight *r) {
    if (is_traced(w)) {
        front_end_go_on(w, r->pc + 1);
    } else {
        w->stack.entries[w->stack.depth - 1].pc = r->pc + 1;
        simt_exit(&w->stack, r->active);
    }
    if (m->region_log && !w->stack.depth)
        region_log_add(m->region_log, m->blocks[r->block].kernel, NONE, w->region_instructions + 1);
}

void pipeline_control_effect(machine *m, sm *s, block *b, warp *w, const in_flight *r) {
    const instruction *instruction = r->instruction;
    const uint32_t next = r->pc + 1;
    switch (instruction->opcode) {
    case OPCODE_BRA:
        if (simt_branch(&w->stack, r->active, instruction->target, instruction->reconvergence)) wrong(m, r, too_deep);
        break;
    case OPCODE_GUARDED_CALL: /* lanes whose guard is true continue at the marker when the handler has returned; the
                                 whole warp waits until then */
        if (simt_branch(&w->stack, r->active, instruction->target, instruction->reconvergence)) wrong(m, r, too_deep);
        if (!r->active) break;
        w->called_until = call_handler(m, s, w);
        gate_close(s, w, GPUMP_WARP_FETCH, GPUMP_WARP_FAULT);
        break;
    case OPCODE_RET:
    case OPCODE_EXIT: end_lanes(m, w, r); break;
    case OPCODE_TRAP:
        if (r->active)
            wrong(m, r,
                  instruction->variant == VARIANT_IDX ? "the pointer that is called names no function that fits"
                                                      : "trap");
        simt_go(&w->stack, next);
        break;
    case OPCODE_BAR:
        front_end_go_on(w, next);
        if (r->active) restart_forbid(s, w);
        if (r->active) arrive(m, s, b, w, r);
        break;
    default: front_end_go_on(w, next); break;
    }
}

/* Control instructions take effect here: until now the warp's fetch has waited. */
static void commit_control(machine *m, sm *s, uint32_t record) {
    in_flight *r = &s->records[record];
    const uint32_t warp_index = r->warp;
    block *b;
    warp *w;
    if (r->squashed) {
        free_record(m, s, record);
        return;
    }
    b = &m->blocks[r->block];
    w = &m->warps[r->warp];
    gate_open(s, w, GPUMP_WARP_FETCH, GPUMP_WARP_PIPELINE);
    pipeline_control_effect(m, s, b, w, r);
    end_record(m, s, w, b, record);
    PATH_TELL(m, waits_change, (m, s, w));
    PATH_TELL(m, retired, (m, s, r));
    refresh_clear(m, s, w); /* the warp is at another instruction now */
    if (!w->stack.depth)
        pipeline_warp_ended(m, s, b, w);
    else if (!gate_calling(w))
        pipe_put(&s->pipes[PIPE_FETCH], s->now, warp_index);
    pipeline_block_may_be_done(m, s, b);
}

/* Resumes warps whose fault handler has returned. Returns the next cycle at which one returns; NEVER. */
static uint64_t end_calls(machine *m, sm *s) {
    uint64_t left = s->calling, next = NEVER;
    while (left) {
        const uint32_t slot = gpump_bits_lowest64(left);
        warp *w = &m->warps[s->slot_warp[slot]];
        left &= left - 1;
        PATH_TELL(m, fetch_waits, (m, s, w));
        if (w->called_until > s->now) {
            if (w->called_until < next) next = w->called_until;
            continue;
        }
        gate_open(s, w, GPUMP_WARP_FETCH, GPUMP_WARP_FAULT);
        if (fetch_stops(m, s, w))
            next = s->now + 1;
        else if (gpump_warp_gate_may(w->gate, GPUMP_WARP_FETCH))
            s->fetched |= BIT(slot);
    }
    return next;
}

void pipeline_checked(machine *m, sm *s, in_flight *r) {
    warp *w = &m->warps[r->warp];
    w->unchecked--;
    if (m->sources_released & RELEASE_AT_LAST_CHECK) release_sources(m, s, w, r);
    look_again(m, s, w);
}

/* ---- out of the pipeline before the effect, and back ---- */

/* The instruction has its operands, and leaves: they stay, when the log has them. */
static void end_withdrawal(machine *m, sm *s, uint32_t record) {
    in_flight *r = &s->records[record];
    warp *w = &m->warps[r->warp];
    block *b = &m->blocks[r->block];
    const int keep = (r->unusual & LEAVES_OPERANDS) != 0;
    int left;
    PATH_ASK(m, left, 0, leaves_unit, (m, s, record));
    if (!left) s->memory_reserved--;
    release_sources(m, s, w, r);
    release_destinations(m, s, w, r);
    w->in_flight--;
    b->in_flight--;
    w->unchecked--;
    if (r->info->writes) b->registers_pending--;
    if (r->info->copies == COPIES_STARTS) w->copies[r->copy_group]--;
    r->unusual = 0;
    if (keep) {
        r->stage = RECORD_HELD;
    } else {
        PATH_TELL(m, withdrawn, (m, s, record));
        free_record(m, s, record);
    }
    look_again(m, s, w);
}

void pipeline_withdraw(machine *m, sm *s, uint32_t record, int keep) {
    in_flight *r = &s->records[record];
    r->unusual |= keep ? LEAVES_OPERANDS : LEAVES_NOTHING;
    if (r->stage == RECORD_CHECKING) end_withdrawal(m, s, record); /* else when its operands have been read */
}

uint32_t pipeline_hold_record(machine *m, sm *s, const warp *w, const gpump_replay_entry *what) {
    const uint32_t record = take_record(s);
    in_flight *r = &s->records[record];
    r->info = &m->kernels[m->blocks[w->block].kernel].info[what->pc];
    r->instruction = r->info->instruction;
    r->block = w->block;
    r->warp = (uint32_t)(w - m->warps);
    r->pc = what->pc;
    r->mask = (uint32_t)what->lanes;
    r->sequence = what->sequence;
    r->squashed = r->unusual = 0;
    r->has_results = r->info->writes;
    r->stage = RECORD_HELD;
    return record;
}

/* ---- operand read ---- */

static void enter_memory_path(machine *m, sm *s, uint32_t record) {
    in_flight *r = &s->records[record];
    r->stage = RECORD_CHECKING;
    if (memory_path_accept(m, s, record)) pipeline_checked(m, s, r);
}

/* A memory instruction that has its operands enters the load-store unit, or leaves the pipeline. */
static void go_to_memory(machine *m, sm *s, uint32_t record) {
    if (s->records[record].unusual & (LEAVES_NOTHING | LEAVES_OPERANDS))
        end_withdrawal(m, s, record);
    else
        enter_memory_path(m, s, record);
}

/* A memory instruction has its operands. */
static void operands_are_there(machine *m, sm *s, uint32_t record) {
    int kept = 0;
    if (!(s->records[record].unusual & (LEAVES_NOTHING | LEAVES_OPERANDS)))
        PATH_ASK(m, kept, 0, keeps_access, (m, s, record));
    if (!kept) go_to_memory(m, s, record);
}

void pipeline_leave_store_queue(machine *m, sm *s, uint32_t record) {
    if (s->records[record].squashed) {
        s->memory_reserved--;
        free_record(m, s, record);
        return;
    }
    go_to_memory(m, s, record);
}

/* A record that is squashed, or has its operands from the log, reads nothing. Returns 1 when that is all. */
static __attribute__((cold)) int operands_are_not_needed(machine *m, sm *s, uint32_t record) {
    in_flight *r = &s->records[record];
    if (r->squashed) {
        if (r->info->unit == UNIT_MEMORY) s->memory_reserved--;
        free_record(m, s, record);
        return 1;
    }
    if (!(r->unusual & HAS_OPERANDS)) return 0;
    release_sources(m, s, &m->warps[r->warp], r);
    look_again(m, s, &m->warps[r->warp]);
    operands_are_there(m, s, record);
    return 1;
}

/* Returns the lanes of `mask` that execute an instruction under its guard. */
static inline uint32_t guarded(const issue_info *info, uint32_t mask, const uint32_t *predicates) {
    return info->guard == INSTRUCTION_NONE ? mask : mask & (predicates[info->guard] ^ (0 - info->guard_negated));
}

static inline void set_environment(const sm *s, block *b, const warp *w, uint64_t read_cycle) {
    b->environment.warp = w->index;
    b->environment.sm = s->index;
    b->environment.clock = read_cycle;
}

/* Computes an arithmetic instruction and writes its results. */
SM_INLINE void execute(sm *s, const warp *w, block *b, const issue_info *info, uint32_t active, uint32_t *predicates,
                       uint64_t read_cycle) {
    const instruction *instruction = info->instruction;
    uint32_t *registers = s->registers + w->register_base;
    lanes_operand captured[INSTRUCTION_SOURCES], results[INSTRUCTION_DESTINATIONS];
    const lanes_operand *sources[INSTRUCTION_SOURCES];
    if (info->needs_environment) set_environment(s, b, w, read_cycle);
    if (!active) return;
    if (info->quick.operation) {
        lanes_quick_execute(&info->quick, active, registers, predicates);
        return;
    }
    lanes_find_sources(instruction, registers, predicates, &b->environment, captured, sources);
    lanes_compute_from(instruction, active, sources, results);
    lanes_write_all(instruction, active, results, registers, predicates);
}

void pipeline_compute(sm *s, const warp *w, block *b, const issue_info *info, uint32_t active, uint32_t *predicates,
                      uint64_t clock) {
    execute(s, w, b, info, active, predicates, clock);
}

/* A captured value must not change until the instruction takes effect. So arithmetic is computed at once, and only the
 * result is kept. A plain machine (sm_form.h) even writes it: until the instruction commits, the scoreboard keeps all
 * others from its registers. read_cycle: when the operands are read. */
SM_INLINE void capture(machine *m, sm *s, in_flight *r, const warp *w, block *b, uint64_t read_cycle) {
    const issue_info *info = r->info;
    const instruction *instruction = r->instruction;
    const int computes = is_arithmetic(info);
    uint32_t *registers = s->registers + w->register_base, *predicates = predicates_of(m, r->warp);
    lanes_operand captured[INSTRUCTION_SOURCES];
    const lanes_operand *sources[INSTRUCTION_SOURCES];
    if (is_traced(w)) {
        front_end_capture(m, r, w, registers);
        PATH_TELL(m, operands_read, (m, s, r, NULL));
        return;
    }
    r->active = guarded(info, r->mask, predicates);
    if (IS_PLAIN_MACHINE(m) && computes) {
        execute(s, w, b, info, r->active, predicates, read_cycle);
        r->has_results = 0;
        return;
    }
    if (info->needs_environment) set_environment(s, b, w, read_cycle);
    if (computes) {
        lanes_find_sources(instruction, registers, predicates, &b->environment, captured, sources);
        if (r->active) lanes_compute_from(instruction, r->active, sources, r->results);
    } else if (memory_access_is_addressed(instruction)) {
        const operand *base = &instruction->sources[0];
        uint32_t k;
        lanes_address(instruction, r->active,
                      (const lanes_operand *)(const void *)(registers + (size_t)base->index * LANES), r->addresses);
        for (k = 1; k < instruction->source_count; k++)
            lanes_read(&instruction->sources[k], registers, predicates, &b->environment, &r->sources[k]);
    } else {
        lanes_read_sources(instruction, registers, predicates, &b->environment, r->sources);
    }
    PATH_TELL(m, operands_read, (m, s, r, computes ? sources : NULL));
}

void pipeline_capture(machine *m, sm *s, in_flight *r, const warp *w, block *b, uint64_t clock) {
    capture(m, s, r, w, b, clock);
}

static int may_release_sources(const machine *m, const sm *s, const in_flight *r) {
    int may;
    PATH_ASK(m, may, 0, releases_sources, (m, s, r));
    return may;
}

/* In a plain machine the operands have been captured at issue: nothing can have changed them since. */
SM_INLINE void read_operands(machine *m, sm *s, uint32_t record) {
    in_flight *r = &s->records[record];
    warp *w;
    if (r->unusual && operands_are_not_needed(m, s, record)) return;
    w = &m->warps[r->warp];
    if (!IS_PLAIN_MACHINE(m)) capture(m, s, r, w, &m->blocks[r->block], s->now);
    if ((m->sources_released == RELEASE_AT_OPERAND_READ && !m->sources_timed) ||
        (m->sources_released == RELEASE_WHEN_ALLOWED && may_release_sources(m, s, r))) {
        release_sources(m, s, w, r);
        look_again(m, s, w);
    }
    if (r->info->unit == UNIT_MEMORY) {
        operands_are_there(m, s, record);
    } else {
        r->stage = RECORD_EXECUTING;
        enter_execution(s, r->info, s->now, record);
    }
}

/* ---- issue ---- */

#if IS_PLAIN
#define ISSUE_LINKAGE __attribute__((noinline))
#else
#define ISSUE_LINKAGE inline __attribute__((always_inline))
#endif

/* The slots whose next instruction finds no place behind the issue stage, those of arithmetic left out: each scheduler
 * has its own lanes. */
static uint64_t without_unit(const machine *m, const sm *s) {
    uint64_t slots = memory_path_has_room(m, s) ? 0 : s->unit_slots[UNIT_MEMORY];
    uint32_t unit;
    if (s->units_free <= s->now) return slots;
    for (unit = 0; unit < UNIT_COUNT; unit++)
        if (unit != UNIT_ALU && s->unit_free[unit] > s->now) slots |= s->unit_slots[unit];
    return slots;
}

void pipeline_occupy_unit(const machine *m, sm *s, const issue_info *info) {
    uint32_t interval = 1;
    if (info->unit == UNIT_ALU) return; /* each scheduler has its own lanes, and issues once a cycle */
    if (info->unit == UNIT_SFU) interval = m->config.sfu_interval;
    if (info->unit == UNIT_DOUBLE) interval = m->config.double_interval;
    if (info->pipe == PIPE_DIVIDE && info->unit != UNIT_MEMORY) interval = m->config.divide_interval;
    s->unit_free[info->unit] = s->now + interval;
    if (s->units_free < s->now + interval) s->units_free = s->now + interval;
}

/* The instruction of a record issues. */
static void start(machine *m, sm *s, uint32_t record) {
    in_flight *r = &s->records[record];
    const issue_info *info = r->info;
    r->sources_held = m->sources_timed == 0;
    if (info->unit == UNIT_MEMORY) {
        r->outstanding = 0;
        m->warps[r->warp].unchecked++;
        memory_path_reserve(s);
    }
    if (info->unit == UNIT_MEMORY || !m->sources_timed) {
        r->stage = RECORD_ISSUED;
        pipe_put(&s->pipes[PIPE_OPERANDS], s->now, record);
    } else {
        r->stage = RECORD_EXECUTING;
        enter_execution(s, info, s->now + s->pipes[PIPE_OPERANDS].length, record);
    }
    s->statistics.issued++;
    s->traffic[m->blocks[r->block].kernel].issued++;
    PATH_TELL(m, starts, (m, s, r));
}

void pipeline_restart(machine *m, sm *s, uint32_t record) {
    in_flight *r = &s->records[record];
    r->unusual = HAS_OPERANDS;
    if (r->info->copies == COPIES_STARTS) m->warps[r->warp].copies[r->copy_group]++;
    start(m, s, record);
}

uint32_t pipeline_start(machine *m, sm *s, uint32_t warp_index, uint32_t pc, uint32_t mask, uint64_t sequence) {
    warp *w = &m->warps[warp_index];
    const uint32_t record = take_record(s);
    in_flight *r = &s->records[record];
    r->info = &w->program[pc];
    r->instruction = r->info->instruction;
    r->block = w->block;
    r->warp = warp_index;
    r->pc = pc;
    r->mask = mask;
    r->sequence = sequence;
    r->squashed = r->unusual = 0;
    r->has_results = r->info->writes;
    if (r->info->copies == COPIES_STARTS) {
        r->copy_group = w->copy_group;
        w->copies[r->copy_group]++;
    } else if (r->info->copies == COPIES_ENDS_GROUP) {
        w->copy_group = (w->copy_group + 1) % COPY_GROUPS;
    }
    start(m, s, record);
    return record;
}

/* The next instruction of a warp may not issue while an instruction that it overwrites sources of reads them. One that
 * also waits for that instruction's result waits longer, and is looked at when the instruction ends. */
static inline void hold_sources(sm *s, warp *w, const issue_info *info, const issue_info *next) {
    const int follows = next == info + 1;
    if (follows ? !info->next_overwrites : !scoreboard_overwrites(next, info)) return;
    w->sources_until = s->now + s->pipes[PIPE_OPERANDS].length;
    if (!follows || info->next_overwrites == NEXT_OVERWRITES)
        pipe_put(&s->pipes[PIPE_SOURCES], s->now, (uint32_t)s->slot_warp[w->slot]);
}

/* Arithmetic without a record issues: its result is written, and its place in the pipeline of its unit is taken. */
SM_INLINE void start_arithmetic(machine *m, sm *s, warp *w, block *b, uint32_t slot, const issue_info *info) {
    const simt_entry *top = simt_top(&w->stack);
    const uint64_t read_cycle = s->now + s->pipes[PIPE_OPERANDS].length;
    uint32_t *predicates = predicates_of(m, s->slot_warp[slot]);
    const uint32_t active = is_traced(w) ? top->mask : guarded(info, top->mask, predicates);
    enter_execution(s, info, read_cycle, top->pc << SLOT_BITS | slot)->with = active;
    if (is_traced(w))
        front_end_execute(m, w, info->instruction, s->registers + w->register_base);
    else
        execute(s, w, b, info, active, predicates, read_cycle);
    if (info->copies == COPIES_ENDS_GROUP) w->copy_group = (w->copy_group + 1) % COPY_GROUPS;
    s->records_left--;
    w->sequence++;
    s->statistics.issued++;
    s->traffic[b->kernel].issued++;
}

/* A warp's next instruction issues. Returns its unit. In the plain form most instructions are simple ones, whose loop
 * has no room for this function's variables. */
static ISSUE_LINKAGE uint32_t issue(machine *m, sm *s, uint32_t scheduler, uint32_t slot) {
    warp *w = &m->warps[s->slot_warp[slot]];
    block *b = &m->blocks[w->block];
    const uint32_t pc = simt_top(&w->stack)->pc;
    const issue_info *info = &w->program[pc];
    in_flight *r = NULL;
    if (is_recordless(m) && is_arithmetic(info)) {
        start_arithmetic(m, s, w, b, slot, info);
    } else {
        const uint32_t mask = simt_top(&w->stack)->mask;
        r = &s->records[pipeline_start(m, s, s->slot_warp[slot], pc, mask, w->sequence++)];
        if (IS_PLAIN_MACHINE(m)) capture(m, s, r, w, b, s->now + s->pipes[PIPE_OPERANDS].length);
    }
    s->progress_cycle = s->now;
    if (m->sources_timed)
        scoreboard_reserve_destinations(w, info);
    else
        scoreboard_reserve(w, info);
    pipeline_occupy_unit(m, s, info);
    w->in_flight++;
    b->in_flight++;
    if (info->writes) b->registers_pending++;
    if (info->unit == UNIT_MEMORY) {
        s->first_scheduler =
            scheduler + 1 < m->config.gpu.schedulers ? scheduler + 1 : 0; /* the unit serves them in turn */
        PATH_TELL(m, issues, (m, s, w, r));
        PATH_TELL(m, fetched, (m, s, w, pc, r->sequence));
    }
    if (info->unit == UNIT_CONTROL) { /* what comes next is known when it commits */
        s->fetched &= ~BIT(slot);
        gate_close(s, w, GPUMP_WARP_FETCH, GPUMP_WARP_PIPELINE);
    } else {
        front_end_go_on(w, pc + 1);
    }
    PATH_TELL(m, issued, (m, s, w, r));
    if (!gpump_warp_gate_may(w->gate, GPUMP_WARP_FETCH)) s->fetched &= ~BIT(slot);
    if (m->sources_timed) {
        const issue_info *next = &w->program[simt_top(&w->stack)->pc];
        if (info->unit != UNIT_CONTROL && !pipeline_runs_past_end(m, w, next)) {
            hold_sources(s, w, info, next);
            see_next(s, w, slot, next);
        }
    } else {
        refresh_clear(m, s, w);
    }
    s->scheduler_last[scheduler] = slot;
    s->scheduler_free[scheduler] = s->now + m->config.issue_interval;
    return info->unit;
}

#if IS_PLAIN
#include "sm/simple.h"
#endif

/* The slots that wait for room which comes with an event of its own. */
static uint64_t without_room(const machine *m, const sm *s, uint64_t ready) {
    uint64_t full;
    PATH_ASK(m, full, 0, full, (m, s, ready));
    return full;
}

/* The slots of `ready` that may issue, as far as parts go. */
static uint64_t may_issue(machine *m, sm *s, uint64_t ready) {
    const part *const *p;
    for (p = m->on_path; !IS_PLAIN && *p; p++)
        if ((*p)->may_issue) ready = (*p)->may_issue(m, s, ready);
    return ready;
}

/* Each scheduler issues one instruction of the first warp in its order that can issue. Returns the ready warp slots
 * that wait only for room for their memory instruction; that room is an event of its own. */
static uint64_t issue_stage(machine *m, sm *s) {
    const uint64_t ready = may_issue(m, s, warp_scheduler_ready(s));
    const uint32_t schedulers = m->config.gpu.schedulers, first = s->first_scheduler;
    const uint64_t full = ready ? without_room(m, s, ready) : 0;
    uint64_t open = ready & ~(without_unit(m, s) | full);
    uint32_t i = open ? 0 : schedulers; /* else no scheduler has a ready warp */
    for (; i < schedulers; i++) {
        const uint32_t scheduler = first + i < schedulers ? first + i : first + i - schedulers;
        const uint64_t candidates = open & s->scheduler_slots[scheduler];
        uint32_t slot;
        if (!candidates || s->scheduler_free[scheduler] > s->now || !s->records_left) continue;
        slot = warp_scheduler_pick(m, s, scheduler, candidates);
#if IS_PLAIN
        if (m->sources_timed && s->slot_info[slot]->is_simple) {
            if (issue_alone(m, s, scheduler, slot)) open = ready & ~without_unit(m, s);
            continue;
        }
#endif
        if (issue(m, s, scheduler, slot) != UNIT_ALU) open = ready & ~(without_unit(m, s) | full);
    }
    return !ready ? 0 : memory_path_has_room(m, s) ? full : ready & s->unit_slots[UNIT_MEMORY];
}

/* ---- one cycle ---- */

/* The next record that comes out of a stage, and then of another one. */
static uint32_t take_from(sm *s, pipe_kind kind) {
    pipe_stage *p = &s->pipes[kind];
    const uint32_t record = pipe_take(p, s->now);
    if (record != NONE && p->count) FETCH_AHEAD(&s->records[p->entries[p->head].item]);
    return record;
}

/* Fetched instructions come. */
static void take_fetched(const machine *m, sm *s) {
    uint32_t fetched;
    while ((fetched = pipe_take(&s->pipes[PIPE_FETCH], s->now)) != NONE) {
        const warp *w = &m->warps[fetched];
        if (gpump_warp_gate_may(w->gate, GPUMP_WARP_FETCH)) s->fetched |= BIT(w->slot);
    }
}

/* Looks again at warps whose sources are released now. */
static __attribute__((noinline)) void look_at_released(machine *m, sm *s) {
    uint32_t held;
    while ((held = pipe_take(&s->pipes[PIPE_SOURCES], s->now)) != NONE) {
        warp *w = &m->warps[held];
        if (w->sm != s->index) continue;
        if (!IS_PLAIN)
            refresh_clear(m, s, w);
        else if (w->stack.depth) /* still at the instruction that waits */
            look_again(m, s, w);
    }
}

/* Sources that were held by time are released. */
static inline void take_sources(machine *m, sm *s) {
    if (s->pipes[PIPE_SOURCES].due <= s->now) look_at_released(m, s);
}

/* Sets the next cycle in which an instruction leaves its unit. */
static void find_executed_cycle(sm *s) {
    uint32_t p;
    s->executed_cycle = NEVER;
    for (p = PIPE_ALU; p <= PIPE_CONTROL; p++)
        if (s->pipes[p].due < s->executed_cycle) s->executed_cycle = s->pipes[p].due;
}

/* Control instructions commit. counts: of this run (simple.h); NULL. */
SM_INLINE void take_control(machine *m, sm *s, simple_counts *counts) {
    pipe_stage *stage = &s->pipes[PIPE_CONTROL];
    (void)counts;
    while (stage->due <= s->now) {
        const pipe_entry entry = pipe_first(stage);
        pipe_drop(stage);
#if IS_PLAIN
        if (entry.item & BRANCH_FLAG)
            commit_branch(m, s, entry.item, entry.with, counts);
        else
#endif
            commit_control(m, s, entry.item);
    }
}

void pipeline_execute(machine *m, sm *s) {
    uint32_t record, p;
    if (s->executed_cycle > s->now) return;
    take_control(m, s, NULL);
    for (p = PIPE_ALU; p <= PIPE_DOUBLE; p++) {
        pipe_stage *stage = &s->pipes[p];
#if IS_PLAIN
        if (is_recordless(m)) {
            commit_due(m, s, stage, NULL);
            continue;
        }
#endif
        if (is_recordless(m)) {
            while (stage->due <= s->now) {
                const pipe_entry entry = pipe_first(stage);
                pipe_drop(stage);
                commit_arithmetic(m, s, entry.item, entry.with);
            }
        } else {
            while ((record = take_from(s, (pipe_kind)p)) != NONE) commit(m, s, record);
        }
    }
    find_executed_cycle(s);
}

uint64_t pipeline_issue(machine *m, sm *s) {
    uint64_t next = NEVER, wait;
    uint32_t record;
    while ((record = take_from(s, PIPE_OPERANDS)) != NONE) read_operands(m, s, record);
    take_sources(m, s);
    take_fetched(m, s);
    if (s->calling) next = end_calls(m, s);
    if (PATH_HAS(m, PART_ISSUES)) {
        PATH_ASK(m, wait, 0, issue_cycle, (m, s));
        return wait < next ? wait : next;
    }
    if (IS_PLAIN && !warp_scheduler_ready(s)) return next;
    wait = issue_stage(m, s);
    return warp_scheduler_ready(s) & ~wait ? s->now + 1 : next;
}

uint64_t pipeline_next(const sm *s) {
    uint64_t next = s->executed_cycle;
    uint32_t p;
    for (p = 0; p < PIPE_ALU; p++)
        if (s->pipes[p].due < next) next = s->pipes[p].due;
    for (p = PIPE_CONTROL + 1; p < (IS_PLAIN ? PIPE_LINK : PIPES); p++)
        if (s->pipes[p].due < next) next = s->pipes[p].due;
    return next;
}
