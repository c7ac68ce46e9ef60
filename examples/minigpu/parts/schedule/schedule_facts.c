#include "parts/schedule/schedule_facts.h"

static void report_left(machine *m, const scheduled *name, uint32_t entry) {
    struct schedule *c = schedule_of(m);
    if (entry == NONE) {
        machine_must(m, "gpump_scheduler_report_finished",
                     gpump_scheduler_report_finished(c->scheduler, m->now, name->sm, name->block), NULL);
    } else {
        machine_must(m, "gpump_scheduler_report_preempted",
                     gpump_scheduler_report_preempted(c->scheduler, m->now, name->sm, name->block, entry), NULL);
    }
}

void preemption_schedule_left(machine *m, const block *b, uint32_t entry) {
    struct schedule *c = schedule_of(m);
    const scheduled *name = &c->names[b - m->blocks];
    if (schedule_is_grouped(m, b->kernel)) return; /* a group's SMs are reported, not its blocks */
    if (entry != NONE && m->preempted[entry].fault_sm != NONE)
        c->off_chip[entry] = *name;
    else
        report_left(m, name, entry);
}

void preemption_schedule_off_chip_left(machine *m, uint32_t entry, int killed) {
    report_left(m, &schedule_of(m)->off_chip[entry], killed ? NONE : entry);
}

int preemption_schedule_vacates(const machine *m, const sm *s) { return schedule_of(m)->vacating[s->index] != 0; }

void preemption_schedule_abort(machine *m, uint32_t process) {
    machine_must(m, "gpump_scheduler_abort",
                 gpump_scheduler_abort(schedule_of(m)->scheduler, m->now, schedule_of(m)->processes[process]), NULL);
}

uint32_t preemption_schedule_next_kernel(const machine *m, uint32_t sm) {
    const gpump_scheduler_view view = gpump_scheduler_look(schedule_of(m)->scheduler);
    const uint32_t next = view.sms[sm].next;
    return next ? (uint32_t)view.kernels[next].cookie + 1 : 0;
}
