#include "preemption/parked_rest.h"

#include "preemption/block_pool.h"
#include "preemption/context_bytes.h"
#include "preemption/preempted.h"

/* Begins the save of what is in place, with a block entry that has no warps. The entry's `linear` is
 * that of no block, because the entry must not be taken for a block of the kernel. */
static block *save(machine *m, sm *s, preempted_block *entry, const gpump_sm_action *action) {
    uint32_t index;
    block *b = block_pool_take(m, s, &index);
    if (!b) {
        machine_fail(m, "cycle %llu: SM %u: no entry for a block is free to save the parts in place",
                     (unsigned long long)m->now, s->index);
        return NULL;
    }
    b->kernel = entry->kernel;
    b->linear = cookie_linear(UINT64_MAX);
    b->life = ++m->lives;
    b->sm = s->index;
    b->ref = action->block;
    b->gives_up = 1;
    b->context = entry->context;
    b->local_frame = b->preemption = b->job = b->victim = NONE;
    b->register_base = action->register_base;
    b->registers = entry->kept & GPUMP_PART_REGISTERS ? action->registers : 0;
    b->shared_base = action->shared_base;
    b->shared_bytes = entry->kept & GPUMP_PART_SHARED_MEMORY ? action->shared_bytes : 0;
    b->stop_cycle = m->now;
    s->block_of_entry[action->block.slot] = index;
    context_bytes_complete(m, b);
    entry->context_bytes += action->bytes;
    s->statistics.saved_bytes += action->bytes;
    return b;
}

block *parked_rest_action(machine *m, sm *s, const gpump_sm_action *action) {
    const uint32_t handle = preempted_find(m, cookie_kernel(action->cookie), cookie_linear(action->cookie));
    if (handle == NONE) {
        machine_fail(m, "cycle %llu: SM %u: a block that is nowhere has an action", (unsigned long long)m->now,
                     s->index);
    } else if (action->kind == GPUMP_SM_ACTION_SAVE) {
        return save(m, s, &m->preempted[handle], action);
    } else if (action->kind == GPUMP_SM_ACTION_DROP) {
        machine_must(m, "gpump_sm_report_dropped", gpump_sm_report_dropped(s->gpump, m->now, action->block), NULL);
    } else if (action->kind == GPUMP_SM_ACTION_FREED) {
        m->preempted[handle].kept = 0;
        s->parked--;
    }
    return NULL;
}

void parked_rest_left(machine *m, sm *s, block *b, const gpump_sm_action *action) {
    const uint32_t handle = preempted_find(m, cookie_kernel(action->cookie), cookie_linear(action->cookie));
    preempted_block *entry = &m->preempted[handle];
    if (action->why != GPUMP_BLOCK_SAVED) entry->context = NEVER; /* block_life has freed the context */
    entry->kept = entry->gives_up = 0;
    preempted_changed(m, handle);
    s->parked--;
    s->block_of_entry[action->block.slot] = NONE;
    block_pool_give(m, s, b);
    m->dispatch_needed = 1;
}
