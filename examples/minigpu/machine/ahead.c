#include "machine/ahead.h"

#include <string.h>

#include "preemption/block_life.h"

int ahead_is_possible(const machine *m) {
    return m->config.skip_idle && !m->functional && m->config.sm_form != SM_FORM_GENERAL && sm_form_is_plain(m) &&
           !m->window_cycles && !(m->traits & PART_CROSSES_SMS) && !m->policy && !m->faults_may_happen &&
           !m->page_faults.absent && !m->region_log && !m->on_access && !m->clobbered_at;
}

/* Returns whether an SM gets no block before one of its own blocks has ended. This holds while only one
 * kernel runs and none of its blocks is in transfer or waits for a place. */
static int is_settled(const machine *m) {
    uint64_t moving = 0;
    uint32_t i, active = 0;
    if (m->dispatch_needed) return 0;
    for (i = 0; i < m->kernel_count; i++) active += m->kernels[i].state == KERNEL_ACTIVE;
    if (active != 1) return 0;
    for (i = 0; i < m->sm_count; i++) {
        const sm *s = m->sms[i];
        moving |= s->stopping | s->contexts_moving | (s->stall_cycle ^ NEVER);
    }
    return !moving;
}

uint64_t ahead_end(const machine *m, uint64_t arrival, uint64_t until) {
    const uint32_t least = memory_least_cycles(m->memory_system);
    uint64_t end = m->now + (least ? least : minigpu_config_window_cycles(&m->config));
    const part *const *p;
    if (!is_settled(m)) return 0;
    if (arrival < end) end = arrival;
    if (until < end) end = until;
    if (m->stop_cycle < end) end = m->stop_cycle;
    for (p = m->parts; *p; p++) {
        const uint64_t next = (*p)->next ? (*p)->next(m) : NEVER;
        if (next < end) end = next;
    }
    return end;
}

void ahead_go(machine *m, sm *s, sm_cycle_form *cycle, uint64_t end) {
    uint64_t next = ahead_next(s);
    if (next >= end || !s->resident) return;
    s->ends_wait = 1;
    s->sends_ahead = s->network_full != NULL;
    s->ahead_end = end;
    machine_fail_into(&s->failure);
    do {
        cycle(m, s, next);
        next = ahead_next(s);
    } while (next < end && !s->ended_count && !s->failure.failed && ahead_is_alone(s, next));
    machine_fail_into(NULL);
    s->ends_wait = s->sends_ahead = 0;
    s->ahead_end = 0;
    m->settling += (s->ended_count | s->failure.failed) != 0;
}

void ahead_settle(machine *m, sm *s) {
    uint32_t i;
    for (i = 0; i < s->ended_count; i++) preemption_block_done(m, s, &m->blocks[s->ended[i]]);
    s->ended_count = 0;
    m->settling--;
    if (!s->failure.failed || m->failed) return;
    m->failed = 1;
    memcpy(m->error, s->failure.text, sizeof m->error);
}
