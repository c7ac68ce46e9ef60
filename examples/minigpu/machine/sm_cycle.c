#include "machine/sm_cycle.h"

#include "sm/pipeline.h"
#include "sm/memory_path.h"
#include "sm/warp_scheduler.h"
#include "preemption/block_life.h"
#include "preemption/context_pipeline.h"

/* Removes blocks that have ended. */
static void end_blocks(machine *m, sm *s) {
    uint32_t i;
    if (s->ends_wait) return;
    for (i = 0; i < s->ended_count; i++) preemption_block_done(m, s, &m->blocks[s->ended[i]]);
    s->ended_count = 0;
}

/* Handles a segment of a context that has been transferred. */
static void context_moved(machine *m, sm *s, block *b) {
    uint32_t index;
    context_pipeline_moved(m, s, b);
    while ((index = context_pipeline_done(m, s)) != NONE)
        preemption_transfer_done(m, s, &m->blocks[index], m->blocks[index].moving);
}

static void arrivals(machine *m, sm *s) {
    arrival arrived;
    while (memory_path_take(m, s, &arrived)) {
        block *b = &m->blocks[arrived.item];
        switch (arrived.kind) {
        case ARRIVAL_RECORD: pipeline_commit(m, s, arrived.item); break;
        case ARRIVAL_STORE: pipeline_block_may_be_done(m, s, b); break;
        default: context_moved(m, s, b); break;
        }
        if (s->ended_count) end_blocks(m, s);
    }
}

/* Sends segments of contexts when no other request needs the network. */
static void send_context(machine *m, sm *s) {
    uint32_t index, kind;
    uint64_t address;
    if (context_pipeline_cycle(s) > s->now || !memory_path_context_may_enter(m, s)) return;
    for (;;) {
        switch (context_pipeline_next(m, s, &index, &kind, &address)) {
        case CONTEXT_PIPELINE_SEGMENT: memory_path_enter_context(m, s, index, kind, address); return;
        case CONTEXT_PIPELINE_DONE: preemption_transfer_done(m, s, &m->blocks[index], m->blocks[index].moving); break;
        default: return;
        }
    }
}

/* Gives parts their turn at the end of a cycle. Returns the next cycle in which a part has work; NEVER. */
static uint64_t end_cycle(machine *m, sm *s) {
    const part *const *p;
    uint64_t next = NEVER;
    for (p = m->on_path; !IS_PLAIN && *p; p++) {
        const uint64_t cycle = (*p)->cycle_ends ? (*p)->cycle_ends(m, s) : NEVER;
        if (cycle < next) next = cycle;
    }
    return next;
}

/* Returns the next cycle in which a part has work on this SM; NEVER. */
static uint64_t next_of_parts(const machine *m, const sm *s) {
    const part *const *p;
    uint64_t next = NEVER;
    for (p = m->on_path; !IS_PLAIN && *p; p++) {
        const uint64_t cycle = (*p)->next_of_sm ? (*p)->next_of_sm(m, s) : NEVER;
        if (cycle < next) next = cycle;
    }
    return next;
}

/* One cycle of an SM. */
SM_INLINE void one_cycle(machine *m, sm *s, uint64_t now) {
    const int looks_up = PATH_HAS(m, PART_LOOKS_UP) != 0; /* TLBs, or accesses that fault */
    uint64_t wake, next;
    uint32_t checked;
    arrival sent;
begins:
    s->now = now;
    PATH_TELL(m, cycle_begins, (m, s));
    if (s->stall_cycle <= s->now) block_life_end_stalls(m, s);
    if (memory_path_has_arrivals(s)) arrivals(m, s);
    pipeline_execute(m, s);
    if (s->ended_count) end_blocks(m, s);
    if (!memory_path_send(m, s) && s->contexts_moving) send_context(m, s);
    if (looks_up || !memory_path_idle(s)) {
        checked = memory_path_tick(m, s);
        if (memory_path_take_sent(s, &sent)) pipeline_commit(m, s, sent.item);
        if (checked != NONE) pipeline_checked(m, s, &s->records[checked]);
    }
    PATH_TELL(m, before_issue, (m, s));
    if (s->ended_count) end_blocks(m, s);
    wake = pipeline_issue(m, s);
    if (s->stopping) preemption_report_waits(m, s);
    next = end_cycle(m, s);
    if (next < wake) wake = next;

    /* The SM wakes at its next event. When it wakes in the next cycle anyway, the tests below are skipped. */
    if (wake <= s->now + 1 || (next = pipeline_next(s)) <= s->now + 1) {
        s->wake = s->now + 1;
        return;
    }
    if (next < wake) wake = next;
    if (IS_PLAIN && (s->access_count | s->queued_misses)) memory_path_foresee(m, s);
    if (IS_PLAIN && s->sends_ahead && s->access_count && !s->ended_count && !s->failure.failed) {
        now = memory_path_run(m, s, wake < s->ahead_end ? wake : s->ahead_end, &sent);
        if (sent.item != NONE) pipeline_block_may_be_done(m, s, &m->blocks[sent.item]);
        if (now != NEVER) goto begins;
        if (s->pipes[PIPE_L1].due < wake) wake = s->pipes[PIPE_L1].due;
    }
    next = memory_path_next(m, s);
    if (next < wake) wake = next;
    if (s->stall_cycle < wake) wake = s->stall_cycle;
    next = s->free_request != NONE ? context_pipeline_cycle(s) : NEVER;
    /* When a context segment may not leave yet, the memory reports when to try again. */
    if (next <= s->now && next != NEVER) next = memory_path_context_may_enter(m, s) ? s->now + 1 : NEVER;
    if (next < wake) wake = next;
    next = next_of_parts(m, s);
    if (next < wake) wake = next;
    s->wake = wake <= s->now ? s->now + 1 : wake;
}

#if IS_PLAIN
/* Returns whether simple instructions or control instructions may have work in the SM's next cycle. */
static int simple_may_be_next(const machine *m, const sm *s) {
    const uint64_t full = memory_path_has_room(m, s) ? 0 : s->unit_slots[UNIT_MEMORY];
    return s->executed_cycle <= s->wake || pipe_next(&s->pipes[PIPE_SOURCES]) <= s->wake ||
           pipe_next(&s->pipes[PIPE_FETCH]) <= s->wake || (warp_scheduler_ready(s) & ~full);
}
#endif

void sm_cycle(machine *m, sm *s, uint64_t now) {
    one_cycle(m, s, now);
#if IS_PLAIN
    if (s->wake < s->ahead_end && m->sources_timed && !s->queued_misses && !s->calling && simple_may_be_next(m, s)) {
        const uint64_t reply = *s->reply_cycle;
        pipeline_run_simple(m, s, reply < s->ahead_end ? reply : s->ahead_end);
    }
#endif
}
