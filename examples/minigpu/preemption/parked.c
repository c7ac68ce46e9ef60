#include "preemption/parked.h"

#include <string.h>

#include "preemption/block_life.h"
#include "preemption/preempted.h"

static int is_parked(const preempted_block *entry) { return entry->kept && !entry->gives_up; }

uint32_t parked_find(const machine *m, uint32_t kernel_index) {
    uint32_t handle = preempted_first(m, kernel_index);
    while (handle != NONE && !is_parked(&m->preempted[handle])) handle = preempted_after(m, kernel_index, handle);
    return handle;
}

uint32_t parked_choose(const machine *m, uint32_t kernel_index, const sm *s) {
    uint32_t handle, whole = NONE;
    for (handle = preempted_first(m, kernel_index); handle != NONE; handle = preempted_after(m, kernel_index, handle)) {
        const preempted_block *entry = &m->preempted[handle];
        if (is_parked(entry) && entry->left_sm == s->index) return handle;
        if (whole == NONE && !entry->kept && entry->fault_sm == NONE) whole = handle;
    }
    return whole;
}

void parked_gives_up(machine *m, uint32_t handle) {
    preempted_block *entry = &m->preempted[handle];
    sm *s = m->sms[entry->left_sm];
    gpump_block_choice choice;
    gpump_diag diag;
    memset(&choice, 0, sizeof choice);
    memset(&diag, 0, sizeof diag);
    choice.block = entry->parked;
    choice.technique = GPUMP_TECHNIQUE_SWITCH;
    entry->gives_up = 1;
    preempted_changed(m, handle);
    machine_must(m, "gpump_sm_preempt", gpump_sm_preempt(s->gpump, m->now, &choice, 1, &diag), &diag);
    block_life_actions(m, s);
}

void parked_clear(machine *m, const sm *s, uint32_t first) {
    uint32_t i, handle, after;
    for (i = first; i < m->kernel_count; i++)
        for (handle = preempted_first(m, i); handle != NONE; handle = after) {
            after = preempted_after(m, i, handle);
            if (is_parked(&m->preempted[handle]) && m->preempted[handle].left_sm == s->index)
                parked_gives_up(m, handle);
        }
}
