#include "parts/preempt_at/preempt_at.h"

#include "machine/machine_options.h"
#include "preemption/requests.h"

#include <stdio.h>

static uint64_t *cycle_of(const machine *m) { return (uint64_t *)m->of_part[PART_preempt_at]; }

void preempt_at(machine *m, uint64_t cycle) {
    *cycle_of(m) = cycle;
    parts_find(m);
}

uint64_t preempt_at_cycle(const machine *m) { return *cycle_of(m); }

/* ---- the part ---- */

static int configure(machine *m, const launch_file *launch, const machine_options *options,
                     char error[LAUNCH_ERROR_BYTES]) {
    uint64_t *cycle = (uint64_t *)arena_take(&m->arena, sizeof *cycle);
    (void)launch;
    if (!cycle) {
        snprintf(error, LAUNCH_ERROR_BYTES, "out of memory");
        return -1;
    }
    *cycle = options->preempt_cycle;
    m->of_part[PART_preempt_at] = cycle;
    return 0;
}

static int is_present(const machine *m) { return *cycle_of(m) != NEVER; }
static uint64_t next(const machine *m) { return *cycle_of(m); }

static void turn(machine *m) {
    uint32_t i, running = 0;
    int arrived = 0, owned;
    *cycle_of(m) = NEVER;
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

const part preempt_at_part = {
    .name = "preempt_at", .configure = configure, .is_present = is_present, .next = next, .turn = turn};
