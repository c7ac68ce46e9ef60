#include "parts/schedule/schedule_facts.h"

/* The contexts that blocks of a kernel on SMs are yet to take, where the scheduler counts them as leaving, and the
 * contexts that other blocks on SMs have: a block that is being restored still has its own. */
static void count_contexts(const machine *m, const gpump_scheduler_view *view, uint32_t kernel_index, uint32_t *to_take,
                           uint32_t *taken) {
    uint32_t i, n, left;
    *to_take = *taken = 0;
    for (i = 0; i < m->sm_count; i++) {
        const sm *s = m->sms[i];
        const int leaving = view->sms[i].leaving != 0;
        if (!s->kernel_resident[kernel_index] || !(leaving || s->contexts_moving)) continue;
        for (n = 0, left = s->kernel_resident[kernel_index]; left; n++) {
            const uint32_t index = s->block_of_entry[n];
            if (index == NONE || m->blocks[index].kernel != kernel_index) continue;
            left--;
            if (leaving)
                *to_take += m->blocks[index].context == NEVER;
            else
                *taken += m->blocks[index].context != NEVER;
        }
    }
}

void schedule_report_contexts(machine *m, uint32_t holder) {
    const gpump_scheduler_view view = gpump_scheduler_look(schedule_of(m)->scheduler);
    uint32_t row;
    for (row = 1; row <= view.config->active_kernels; row++) {
        const uint32_t kernel_index = (uint32_t)view.kernels[row].cookie;
        gpump_context_room room;
        uint32_t to_take, taken;
        if (!view.kernels[row].in_use || schedule_is_grouped(m, kernel_index)) continue;
        room = gpump_context_pool_room(m->context_pool, kernel_index + 1);
        count_contexts(m, &view, kernel_index, &to_take, &taken);
        room.contexts = (room.contexts > to_take ? room.contexts - to_take : 0) + taken + (kernel_index == holder);
        room.kernel = row;
        machine_must(m, "gpump_scheduler_report_contexts",
                     gpump_scheduler_report_contexts(schedule_of(m)->scheduler, m->now, &room), NULL);
    }
}

static void report_left(machine *m, const scheduled *name, uint32_t entry) {
    struct schedule *c = schedule_of(m);
    if (entry == NONE) {
        machine_must(m, "gpump_scheduler_report_finished",
                     gpump_scheduler_report_finished(c->scheduler, m->now, name->sm, name->block), NULL);
    } else {
        schedule_report_contexts(m, m->preempted[entry].kernel);
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
