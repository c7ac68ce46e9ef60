#include "preemption/kill.h"

#include "preemption/block_life.h"
#include "preemption/preempted.h"
#include "preemption/requests.h"

/* Kills the process's blocks on an SM. Returns their number. */
static uint32_t kill_on(machine *m, sm *s, uint32_t process) {
    uint32_t entry, count = 0;
    for (entry = 0; entry < BLOCK_ENTRIES_MAX; entry++) {
        const block *b = s->block_of_entry[entry] == NONE ? NULL : &m->blocks[s->block_of_entry[entry]];
        gpump_result result;
        if (!b || m->kernels[b->kernel].process != process) continue;
        result = gpump_sm_kill(s->gpump, m->now, b->ref);
        if (result == GPUMP_ERROR_STATE) continue; /* its room is freed next */
        machine_must(m, "gpump_sm_kill", result, NULL);
        count++;
    }
    if (count) block_life_actions(m, s);
    if (s->wake > m->now + 1) s->wake = m->now + 1;
    return count;
}

/* Drops a kernel's preempted blocks. Returns their number. */
static uint32_t kill_off_chip(machine *m, uint32_t kernel) {
    uint32_t count = 0, handle;
    for (; (handle = preempted_first(m, kernel)) != NONE && !m->failed; count++) {
        const preempted_block *entry = &m->preempted[handle];
        if (entry->kept) { /* registers and shared memory in place are dropped too */
            machine_must(m, "gpump_sm_kill", gpump_sm_kill(m->sms[entry->left_sm]->gpump, m->now, entry->parked), NULL);
            block_life_actions(m, m->sms[entry->left_sm]);
        }
        if (entry->context != NEVER)
            machine_must(m, "gpump_context_pool_give", gpump_context_pool_give(m->context_pool, entry->context), NULL);
        if (entry->local_frame != NONE) m->local_free[m->local_count_free++] = entry->local_frame;
        PARTS_TELL(m, preempted_dropped, (m, entry));
        preempted_take(m, handle, NONE);
    }
    return count;
}

uint32_t preemption_kill_process(machine *m, uint32_t process) {
    uint32_t i, killed = 0;
    PARTS_TELL(m, process_aborted, (m, process));
    for (i = 0; i < m->sm_count; i++) killed += kill_on(m, m->sms[i], process);
    for (i = 0; i < m->kernel_count; i++) {
        kernel *k = &m->kernels[i];
        const int was_active = k->state == KERNEL_ACTIVE;
        if (k->process != process || k->state == KERNEL_DONE) continue;
        killed += kill_off_chip(m, i);
        k->next_block = k->blocks;
        k->state = KERNEL_DONE;
        k->end_cycle = m->now;
        k->killed = 1;
        m->kernels_done++;
        m->kernels_changed = 1;
        if (!was_active) continue;
        PARTS_TELL(m, kernel_ends, (m, i));
        preemption_kernel_ends(m, i);
        PARTS_TELL(m, kernel_ended, (m, i));
    }
    m->dispatch_needed = 1;
    return killed;
}
