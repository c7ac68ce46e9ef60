#include "parts/schedule/schedule_group.h"

#include <string.h>

#include "parts/schedule/schedule_facts.h"
#include "preemption/parked.h"
#include "preemption/preempted.h"

void schedule_group_submit(machine *m) {
    struct schedule *c = schedule_of(m);
    const uint32_t process = m->kernels[0].process;
    gpump_scheduler_command command;
    if (c->leases_left) return;
    memset(&command, 0, sizeof command);
    command.cookie = 0; /* the scheduler sees the group as its first kernel */
    command.blocks = c->leases_left = m->sm_count;
    command.process = c->processes[process];
    command.blocks_per_sm = 1;
    command.saved_limit = UINT32_MAX;
    machine_must(m, "gpump_scheduler_submit", gpump_scheduler_submit(c->scheduler, m->now, process, &command, NULL),
                 NULL);
    m->dispatch_needed = 1;
}

void schedule_group_issue(machine *m, const gpump_scheduler_action *action) {
    schedule_lease *lease = &schedule_of(m)->leases[action->sm];
    uint32_t grouped = 0; /* kernels of the group */
    lease->block = action->block;
    lease->number = (uint32_t)(action->saved ? action->handle : action->index);
    lease->is_held = 1;
    schedule_of(m)->leases_given++;
    while (grouped < m->kernel_count && schedule_is_grouped(m, grouped)) grouped++;
    parked_clear(m, m->sms[action->sm], grouped); /* any kernel of the group may need all of the SM */
}

int schedule_group_holds(const machine *m, uint32_t sm) {
    return schedule_of(m)->leases[sm].is_held && !schedule_of(m)->vacating[sm];
}

uint64_t schedule_group_stamp(const machine *m) {
    uint32_t i;
    for (i = 0; i < m->sm_count; i++)
        if (!schedule_group_holds(m, i)) return 0;
    return schedule_of(m)->leases_given;
}

/* Returns whether a kernel of the group has blocks that wait for an SM, or will have some. */
static int is_more_to_come(const machine *m) {
    uint32_t i;
    for (i = 0; i < m->kernel_count && schedule_is_grouped(m, i); i++) {
        const kernel *k = &m->kernels[i];
        const uint64_t repeat = m->launch->processes[k->process].repeat;
        if (k->state == KERNEL_DONE) continue;
        if (k->state == KERNEL_WAITING || k->next_block < k->blocks || preempted_first(m, i) != NONE) return 1;
        if (m->runs[k->process].ended + 1 != repeat) return 1;
    }
    return 0;
}

void schedule_group_settle(machine *m) {
    struct schedule *c = schedule_of(m);
    uint32_t i;
    if (!schedule_is_grouped(m, 0) || !c->leases_left) return;
    for (i = 0; i < m->sm_count && !m->failed; i++) {
        schedule_lease *lease = &c->leases[i];
        if (!lease->is_held || m->sms[i]->resident) continue;
        if (c->vacating[i]) {
            machine_must(m, "gpump_scheduler_report_preempted",
                         gpump_scheduler_report_preempted(c->scheduler, m->now, i, lease->block, lease->number), NULL);
        } else if (!is_more_to_come(m)) {
            machine_must(m, "gpump_scheduler_report_finished",
                         gpump_scheduler_report_finished(c->scheduler, m->now, i, lease->block), NULL);
            c->leases_left--;
        } else {
            continue;
        }
        lease->is_held = 0;
    }
}
