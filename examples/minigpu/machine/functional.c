#include "machine/functional.h"

#include "preemption/block_life.h"
#include "sm/memory_access.h"
#include "sm/memory_path.h"
#include "sm/pipeline.h"
#include "sm/translation.h"

/* Returns whether a warp may execute: it has not ended and waits at no barrier. */
static inline int may_run(const warp *w) { return w->stack.depth && w->barrier == NONE; }

/* Returns the SM's one record with the warp's next instruction and its operands. */
static inline in_flight *record_of(machine *m, sm *s, block *b, warp *w, const issue_info *info) {
    const simt_entry *top = simt_top(&w->stack);
    in_flight *r = &s->records[0];
    r->info = info;
    r->instruction = info->instruction;
    r->block = w->block;
    r->warp = (uint32_t)(w - m->warps);
    r->pc = top->pc;
    r->mask = top->mask;
    r->sequence = w->sequence;
    r->has_results = info->writes;
    r->faulted = 0;
    pipeline_capture(m, s, r, w, b, s->statistics.issued);
    return r;
}

/* Stops the machine when a segment of the access belongs to no buffer. Returns whether all may be accessed. */
static int is_mapped(machine *m, const in_flight *r) {
    const int write = !instruction_only_reads(r->instruction);
    uint32_t i;
    for (i = 0; i < r->segment_count; i++) {
        const translation found = translate(m, r->segments[i], write);
        if (found == TRANSLATION_HIT) continue;
        memory_path_wrong_translation(m, r, r->segments[i], found);
        return 0;
    }
    return 1;
}

/* A load, store, atomic or call of the run time. Returns the lanes that have executed it. */
static uint32_t access_memory(machine *m, sm *s, block *b, warp *w, const issue_info *info) {
    in_flight *r = record_of(m, s, b, w, info);
    const uint32_t active = r->active;
    if (r->instruction->space == SPACE_PARAM || r->instruction->space == SPACE_CONST) {
        memory_access_constant(m, s, r);
    } else {
        memory_access_coalesce(m, s, r);
        if (m->failed || !is_mapped(m, r)) return 0;
        memory_access_effect(m, s, r);
    }
    if (r->has_results)
        lanes_write_all(r->instruction, r->active, r->results, s->registers + w->register_base,
                        predicates_of(m, r->warp));
    simt_go(&w->stack, r->pc + 1);
    return active;
}

/* A branch, barrier or end. Returns the lanes that have executed it. */
static uint32_t control(machine *m, sm *s, block *b, warp *w, const issue_info *info) {
    in_flight *r = record_of(m, s, b, w, info);
    pipeline_control_effect(m, s, b, w, r);
    if (!w->stack.depth) pipeline_warp_ended(m, s, b, w);
    return r->active;
}

/* Returns the lanes that have computed it. */
static uint32_t compute_at_once(machine *m, sm *s, block *b, warp *w, const issue_info *info) {
    uint32_t *predicates = warp_predicates(m, w);
    const simt_entry *top = simt_top(&w->stack);
    const uint32_t active = lanes_guard(info->instruction, top->mask, predicates);
    pipeline_compute(s, w, b, info, active, predicates, s->statistics.issued);
    simt_go(&w->stack, top->pc + 1);
    return active;
}

/* Executes a warp up to its next barrier or its end, FUNCTIONAL_TURN instructions at most. */
static void run_warp(machine *m, sm *s, block *b, warp *w) {
    executed_instructions *executed = &s->executed[b->kernel];
    uint32_t count = 0;
    for (; count < FUNCTIONAL_TURN && may_run(w) && !m->failed; count++) {
        const issue_info *info = &w->program[simt_top(&w->stack)->pc];
        uint32_t active;
        if (pipeline_runs_past_end(m, w, info)) break;
        if (info->unit == UNIT_MEMORY)
            active = access_memory(m, s, b, w, info);
        else if (info->unit == UNIT_CONTROL)
            active = control(m, s, b, w, info);
        else
            active = compute_at_once(m, s, b, w, info);
        executed->thread_instructions += gpump_bits_count64(active);
        executed->counted[info->counted]++;
        s->statistics.issued++;
    }
    executed->warp_instructions += count;
    gpump_sm_report_executed(s->gpump, b->ref, count);
}

/* Gives a block its turn. Returns whether one of its warps has executed something. */
static int run_block(machine *m, sm *s, block *b) {
    uint32_t i, ran = 0;
    b->history.clobbered = 1; /* it is never flushed, so nothing watches what it overwrites */
    for (i = 0; i < b->warp_count && !m->failed; i++) {
        warp *w = &m->warps[b->warps[i]];
        if (!may_run(w)) continue;
        run_warp(m, s, b, w);
        ran = 1;
    }
    return (int)ran;
}

void functional_cycle(machine *m, sm *s, uint64_t now) {
    uint32_t e, ran = 0, phases;
    s->now = now;
    while (pipe_take(&s->pipes[PIPE_FETCH], NEVER - 1) != NONE) {} /* nothing is fetched */
    for (e = 0; e < BLOCK_ENTRIES_MAX && s->resident && !m->failed; e++) {
        const uint32_t index = s->block_of_entry[e];
        block *b = index == NONE ? NULL : &m->blocks[index];
        if (!b) continue;
        for (phases = 0; phases < FUNCTIONAL_TURN && b->live_warps && !m->failed && run_block(m, s, b); phases++)
            ran = 1;
        if (!b->live_warps && !m->failed) preemption_block_done(m, s, b);
    }
    if (ran) s->progress_cycle = now;
    s->wake = ran ? now + 1 : NEVER;
}
