#include "parts/preempt_at/preempt_at.h"

#include "preemption/requests.h"

void preempt_at(machine *m, uint64_t cycle) {
    m->preempt_cycle = cycle;
    parts_find(m);
}

/* ---- the part ---- */

static int is_present(const machine *m) { return m->preempt_cycle != NEVER; }
static uint64_t next(const machine *m) { return m->preempt_cycle; }

static void turn(machine *m) {
    uint32_t i, running = 0;
    int arrived = 0, owned;
    m->preempt_cycle = NEVER;
    for (i = 0; i < m->kernel_count; i++) {
        if (m->kernels[i].state == KERNEL_ACTIVE && m->kernels[i].priority > running) running = m->kernels[i].priority;
    }
    for (i = 0; i < m->kernel_count; i++) {
        kernel *k = &m->kernels[i];
        if (k->state != KERNEL_WAITING || k->priority <= running) continue;
        k->arrival_cycle = m->now;
        arrived = 1;
    }
    PARTS_ASK(m, owned, 0, owns_sms, (m));
    for (i = 0; i < m->sm_count && !arrived && !owned; i++) preemption_request(m, m->sms[i], m->technique, 0, 0);
}

const part preempt_at_part = {.name = "preempt_at", .is_present = is_present, .next = next, .turn = turn};
