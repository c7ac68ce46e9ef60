/* simple: simple instructions in the plain forms, where sources are held by time (machine.sources_timed). Of PTX these
 * are arithmetic that has a quick form (lanes_quick.h), and branches; of traces arithmetic of the ALU, and control
 * instructions without an effect of their own.
 *
 * Such an instruction has no record. Its place in the pipeline of its unit has the warp's slot, the PC and the lanes
 * that execute it. One function does what issue does for it, and one what commit does. While an SM runs ahead of the
 * others, or through a window, nobody else looks at it. pipeline_run_simple therefore runs the cycles in which nothing
 * but simple instructions and control instructions has work in a loop of its own, and adds up what it counts.
 *
 * This file is a part of pipeline.c, whose functions it calls. */
#ifndef MINIGPU_SIMPLE_H
#define MINIGPU_SIMPLE_H

SM_INLINE void take_control(machine *m, sm *s, simple_counts *counts);
static inline void take_sources(machine *m, sm *s);
static void take_fetched(const machine *m, sm *s);
static void find_executed_cycle(sm *s);

/* ---- issue ---- */

/* A scheduler issues an instruction of the warp in this slot. */
SM_INLINE void take_scheduler(machine *m, sm *s, uint32_t scheduler, uint32_t slot) {
    const uint64_t now = s->now;
    s->records_left--;
    s->progress_cycle = now;
    s->scheduler_last[scheduler] = slot;
    s->scheduler_free[scheduler] = now + m->config.issue_interval;
}

/* A branch enters the pipeline. The caller sees to executed_cycle. */
SM_INLINE void enter_branch(machine *m, sm *s, uint32_t scheduler, uint32_t slot, pipe_stage *stage, uint32_t item,
                            uint32_t active) {
    pipe_entry *entry = pipe_put(stage, s->now + s->pipes[PIPE_OPERANDS].length, item);
    entry->with = active;
    take_scheduler(m, s, scheduler, slot);
}

/* simple_conflicts of an instruction that names several words, or that the memory order may hold. */
static __attribute__((noinline)) uint64_t more_conflicts(const warp *w, const issue_info *info) {
    uint64_t conflicts = w->scoreboard[info->word[0]].pending & info->names[0];
    if (info->words > 1) conflicts |= w->scoreboard[info->word[1]].pending & info->names[1];
    if (info->words > ISSUE_WORDS && !scoreboard_clear(w, info)) conflicts = UINT64_MAX;
    return info->is_ordered && (conflicts || !memory_order_clear(w, info, 0)) ? UINT64_MAX : conflicts;
}

/* Returns 0 when scoreboard and memory order let an instruction issue; else what it waits for (warp.waits_for). */
static inline uint64_t simple_conflicts(const warp *w, const issue_info *info) {
    if (info->asks_more & ISSUES_MORE) return more_conflicts(w, info);
    return w->scoreboard[info->word[0]].pending & info->names[0];
}

/* The next instruction of the warp, `next`, is looked at after a simple one, `info`. */
SM_INLINE void see_after_simple(machine *m, sm *s, warp *w, uint32_t slot, const issue_info *info,
                                const issue_info *next) {
    uint64_t conflicts;
    if (next->asks_more & ISSUES_MORE) {
        if (pipeline_runs_past_end(m, w, next)) return;
        conflicts = more_conflicts(w, next);
    } else {
        conflicts = w->scoreboard[next->word[0]].pending & next->names[0];
    }
    hold_sources(s, w, info, next);
    s->slot_info[slot] = next;
    if (next->unit != UNIT_ALU) {
        s->unit_slots[UNIT_ALU] &= ~BIT(slot);
        s->unit_slots[next->unit] |= BIT(slot);
    }
    if (w->sources_until <= s->now && !conflicts) return;
    w->waits_for = conflicts;
    s->clear &= ~BIT(slot);
}

/* The order keeps few values at a time, so that most stay in registers. The lanes come last: to the compiler their
 * stores may change anything. */
SM_INLINE void issue_simple(machine *m, sm *s, uint32_t scheduler, uint32_t slot, const issue_info *info) {
    pipe_stage *stage = &s->pipes[PIPE_ALU];
    pipe_entry *entry;
    warp *w;
    simt_entry *top;
    uint32_t pc, active;
    block *b;
    take_scheduler(m, s, scheduler, slot);
    w = &m->warps[s->slot_warp[slot]];
    top = &w->stack.entries[w->stack.depth - 1];
    pc = top->pc;
    active = IS_TRACED ? top->mask : guarded(info, top->mask, w->predicates);
    if (!IS_TRACED) top->pc = pc + 1;
    w->scoreboard[info->word[0]].pending |= info->bits[0].destinations;
    if (info->words > 1) w->scoreboard[info->word[1]].pending |= info->bits[1].destinations;
    if (IS_TRACED) {
        front_end_execute(m, w, info->instruction, w->registers);
        front_end_go_on(w, pc);
        see_after_simple(m, s, w, slot, info, &w->program[top->pc]);
    } else if (__builtin_expect(pc + 1 != top->reconvergence, 1)) {
        see_after_simple(m, s, w, slot, info, info + 1);
    } else {
        simt_go(&w->stack, pc + 1);
        see_after_simple(m, s, w, slot, info, &w->program[simt_top(&w->stack)->pc]);
    }
    entry = pipe_put(stage, s->now + s->pipes[PIPE_OPERANDS].length, pc << SLOT_BITS | slot);
    entry->with = active;
    w->sequence++;
    w->in_flight++;
    if (!gpump_warp_gate_may(w->gate, GPUMP_WARP_FETCH)) s->fetched &= ~BIT(slot);
    b = w->home;
    b->in_flight++;
    b->registers_pending += IS_TRACED ? info->writes : 1;
    if (!IS_TRACED && active) lanes_quick_execute(&info->quick, active, w->registers, w->predicates);
}

/* The warp's next instruction is known, and fetched, when the branch has committed. */
SM_INLINE void issue_branch(machine *m, sm *s, uint32_t scheduler, uint32_t slot, const issue_info *info) {
    warp *w = &m->warps[s->slot_warp[slot]];
    const simt_entry *top = simt_top(&w->stack);
    enter_branch(m, s, scheduler, slot, &s->pipes[PIPE_CONTROL], BRANCH_FLAG | top->pc << SLOT_BITS | slot,
                 IS_TRACED ? top->mask : guarded(info, top->mask, w->predicates));
    if (IS_TRACED) front_end_execute(m, w, info->instruction, w->registers);
    s->unit_free[UNIT_CONTROL] = s->now + 1;
    if (s->units_free < s->now + 1) s->units_free = s->now + 1;
    w->sequence++;
    w->in_flight++;
    w->home->in_flight++;
    s->fetched &= ~BIT(slot);
    gpump_warp_gate_close(&w->gate, GPUMP_WARP_FETCH, GPUMP_WARP_PIPELINE);
}

/* Counts instructions of a kernel that have issued. */
static inline void count_issued(sm *s, uint32_t kernel, uint64_t count) {
    s->statistics.issued += count;
    s->traffic[kernel].issued += count;
}

/* An instruction issues in a cycle in which others may have work, too. Returns whether it occupies a unit that all
 * schedulers share. */
static int issue_alone(machine *m, sm *s, uint32_t scheduler, uint32_t slot) {
    const issue_info *info = s->slot_info[slot];
    const int is_branch = info->is_simple == SIMPLE_BRANCH;
    if (is_branch)
        issue_branch(m, s, scheduler, slot, info);
    else
        issue_simple(m, s, scheduler, slot, info);
    if (s->pipes[PIPE_ALU].due < s->executed_cycle) s->executed_cycle = s->pipes[PIPE_ALU].due;
    if (s->pipes[PIPE_CONTROL].due < s->executed_cycle) s->executed_cycle = s->pipes[PIPE_CONTROL].due;
    count_issued(s, m->warps[s->slot_warp[slot]].home->kernel, 1);
    return is_branch;
}

/* ---- commit ---- */

/* Counts an instruction that has ended. counts: of this run; NULL: it is counted at once. */
SM_INLINE void end_simple(const machine *m, sm *s, warp *w, block *b, const issue_info *info, uint32_t active,
                          simple_counts *counts) {
    if (!counts) {
        count_ended(s, w, b, info, active);
        return;
    }
    w->in_flight--;
    b->in_flight--;
    counts->ended++;
#ifdef __POPCNT__
    counts->threads += gpump_bits_count64(active);
#else
    counts->threads += active == UINT32_MAX ? LANES : gpump_bits_count64(active);
#endif
    if (!b->uncounted++) s->touched[s->touched_count++] = (uint32_t)(b - m->blocks);
}

/* What few simple instructions have to do when they commit. */
static __attribute__((noinline)) void commit_more(warp *w, block *b, const issue_info *info,
                                                  executed_instructions *executed) {
    scoreboard_release_destinations(w, info);
    if (!executed) return;
    if (!info->writes) b->registers_pending++; /* the caller subtracts it */
    if (info->counted) executed->counted[info->counted]++;
}

/* Arithmetic without a record that is due commits. */
SM_INLINE void commit_due(machine *m, sm *s, pipe_stage *stage, simple_counts *counts) {
    const uint64_t now = s->now;
    const uint32_t mask = stage->mask;
    const pipe_entry *entries = stage->entries;
    uint32_t head = stage->head, count = stage->count;
    uint64_t due = stage->due;
    if (due > now) return;
    s->records_left += count;
    do {
        const pipe_entry *entry = &entries[head];
        const uint32_t item = entry->item, active = entry->with, slot = item % WARP_SLOTS_MAX;
        const issue_info *info;
        uint64_t written;
        block *b;
        warp *w;
        head = (head + 1) & mask;
        due = --count ? entries[head].cycle : NEVER;
        if (item == NONE) continue; /* the instruction was squashed */
        w = &m->warps[s->slot_warp[slot]];
        b = w->home;
        info = &w->program[item >> SLOT_BITS];
        written = info->bits[0].destinations;
        w->scoreboard[info->word[0]].pending &= ~written;
        if (info->asks_more & COMMITS_MORE) {
            commit_more(w, b, info, counts ? counts->executed : NULL);
            written = UINT64_MAX;
        }
        end_simple(m, s, w, b, info, active, counts);
        if (counts) b->registers_pending--;
        if ((w->waits_for & written) && w->sources_until <= now && !(s->clear >> slot & 1)) {
            w->waits_for = simple_conflicts(w, s->slot_info[slot]);
            if (!w->waits_for) s->clear |= BIT(slot);
            if (IS_TRACED && !w->waits_for) front_end_prefetch(w);
        }
        if (!b->in_flight) pipeline_block_may_be_done(m, s, b);
    } while (due <= now);
    s->records_left -= count;
    stage->head = head;
    stage->count = count;
    stage->due = due;
}

static __attribute__((cold)) void nests_too_deep(machine *m, uint32_t warp_index, const issue_info *info) {
    in_flight r;
    r.block = m->warps[warp_index].block;
    r.warp = warp_index;
    r.instruction = info->instruction;
    wrong(m, &r, too_deep);
}

/* The next instruction of the warp, `next`, is looked at after a branch. */
SM_INLINE void see_after_branch(sm *s, warp *w, uint32_t slot, const issue_info *next) {
    s->slot_info[slot] = next;
    if (next->unit != UNIT_CONTROL) {
        s->unit_slots[UNIT_CONTROL] &= ~BIT(slot);
        s->unit_slots[next->unit] |= BIT(slot);
    }
    w->waits_for = simple_conflicts(w, next);
    if (w->sources_until <= s->now && !w->waits_for)
        s->clear |= BIT(slot);
    else
        s->clear &= ~BIT(slot);
}

/* A branch without a record commits. */
SM_INLINE void commit_branch(machine *m, sm *s, uint32_t item, uint32_t active, simple_counts *counts) {
    const uint32_t slot = item % WARP_SLOTS_MAX, index = s->slot_warp[slot];
    warp *w = &m->warps[index];
    block *b = w->home;
    const issue_info *info, *next;
    s->records_left++;
    if (item == NONE) return; /* the branch was squashed */
    info = &w->program[(item & ~BRANCH_FLAG) >> SLOT_BITS];
    gpump_warp_gate_open(&w->gate, GPUMP_WARP_FETCH, GPUMP_WARP_PIPELINE);
    if (IS_TRACED)
        front_end_go_on(w, 0);
    else if (simt_branch(&w->stack, active, info->instruction->target, info->instruction->reconvergence))
        nests_too_deep(m, index, info);
    end_simple(m, s, w, b, info, active, counts);
    if (counts) {
        b->registers_pending -= info->writes;
        if (info->counted) counts->executed->counted[info->counted]++;
    }
    next = &w->program[simt_top(&w->stack)->pc];
    if (!pipeline_runs_past_end(m, w, next)) see_after_branch(s, w, slot, next);
    if (!gate_calling(w)) pipe_put(&s->pipes[PIPE_FETCH], s->now, index);
    if (!b->in_flight) pipeline_block_may_be_done(m, s, b);
}

/* ---- cycles without other work ---- */

/* The next cycle in which an SM has work in a stage of memory instructions or of a unit for unusual arithmetic; NEVER.
 * The SM has no misses in its queues and no contexts that move. */
static uint64_t next_but_simple(const machine *m, const sm *s) {
    static const uint8_t others[] = {PIPE_OPERANDS, PIPE_SFU,    PIPE_DIVIDE, PIPE_DOUBLE,
                                     PIPE_CONSTANT, PIPE_SHARED, PIPE_L1};
    uint64_t next = memory_path_next(m, s);
    uint32_t i;
    for (i = 0; i < sizeof others; i++)
        if (s->pipes[others[i]].due < next) next = s->pipes[others[i]].due;
    return next;
}

/* Issues in one cycle. Returns whether the next cycle has work at issue. *simple: 0 when another instruction has
 * issued. */
SM_INLINE int issue_cycle(machine *m, sm *s, simple_counts *counts, int *simple) {
    const uint64_t ready = warp_scheduler_ready(s);
    const uint32_t schedulers = m->config.gpu.schedulers;
    uint32_t scheduler = s->first_scheduler, left;
    uint64_t open;
    *simple = 1;
    if (!ready) return 0;
    open = ready & ~without_unit(m, s);
    for (left = schedulers; left && open; left--, scheduler = scheduler + 1 < schedulers ? scheduler + 1 : 0) {
        const uint64_t candidates = open & s->scheduler_slots[scheduler];
        const issue_info *info;
        uint32_t slot;
        if (!candidates || s->scheduler_free[scheduler] > s->now || !s->records_left) continue;
        slot = warp_scheduler_pick(m, s, scheduler, candidates);
        info = s->slot_info[slot];
        if (info->is_simple == SIMPLE_ARITHMETIC) {
            issue_simple(m, s, scheduler, slot, info);
            counts->issued++;
            continue;
        }
        if (info->is_simple) {
            issue_branch(m, s, scheduler, slot, info);
            counts->issued++;
        } else {
            issue(m, s, scheduler, slot);
            *simple = 0;
        }
        open = ready & ~without_unit(m, s);
    }
    return (warp_scheduler_ready(s) & ~(memory_path_has_room(m, s) ? 0 : ready & s->unit_slots[UNIT_MEMORY])) != 0;
}

/* Adds what a run has counted to the counts of kernel, SM and blocks. */
static void add_counts(const machine *m, sm *s, uint32_t kernel, const simple_counts *counts) {
    uint32_t i;
    count_issued(s, kernel, counts->issued);
    counts->executed->warp_instructions += counts->ended;
    counts->executed->thread_instructions += counts->threads;
    for (i = 0; i < s->touched_count; i++) {
        block *b = &m->blocks[s->touched[i]];
        gpump_sm_report_executed(s->gpump, b->ref, b->uncounted);
        b->uncounted = 0;
    }
    s->touched_count = 0;
}

void pipeline_run_simple(machine *m, sm *s, uint64_t end) {
    const uint32_t kernel = m->blocks[m->warps[s->slot_warp[gpump_bits_lowest64(s->occupied)]].block].kernel;
    simple_counts counts = {0, 0, 0, &s->executed[kernel]};
    uint64_t now = s->wake, other = next_but_simple(m, s);
    int simple;
    if (s->kernel_resident[kernel] != s->resident) return;
    while (now < end && now < other && !(s->ended_count | s->failure.failed)) {
        s->now = now;
        take_control(m, s, &counts);
        commit_due(m, s, &s->pipes[PIPE_ALU], &counts);
        take_sources(m, s);
        take_fetched(m, s);
        if (issue_cycle(m, s, &counts, &simple)) {
            now++;
        } else {
            now = NEVER;
            if (s->pipes[PIPE_ALU].due < now) now = s->pipes[PIPE_ALU].due;
            if (s->pipes[PIPE_CONTROL].due < now) now = s->pipes[PIPE_CONTROL].due;
            if (s->pipes[PIPE_SOURCES].due < now) now = s->pipes[PIPE_SOURCES].due;
            if (s->pipes[PIPE_FETCH].due < now) now = s->pipes[PIPE_FETCH].due;
        }
        if (!simple) other = next_but_simple(m, s);
        if (other < now) now = other;
    }
    s->wake = now;
    find_executed_cycle(s);
    add_counts(m, s, kernel, &counts);
}

#endif
