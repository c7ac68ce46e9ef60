#include "preemption/preempted.h"

#include <string.h>

int preempted_make(machine *m) {
    const gpump_preempted_config config = {m->preempted_count, m->sm_count};
    size_t bytes;
    void *memory;
    m->preempted = (preempted_block *)arena_take_array(&m->arena, m->preempted_count, sizeof(preempted_block));
    m->sm_order = (uint32_t *)arena_take_array(&m->arena, 2 * (size_t)m->sm_count, sizeof(uint32_t));
    if (!m->preempted || !m->sm_order || gpump_bytes(&gpump_preempted_component, &config, &bytes, NULL)) return -1;
    memory = arena_take(&m->arena, bytes);
    return memory && !gpump_init(&gpump_preempted_component, memory, bytes, &config, &m->preempted_list, NULL) ? 0 : -1;
}

/* Returns where a block may resume. */
static gpump_preempted_block where(const machine *m, const preempted_block *entry) {
    gpump_preempted_block block;
    memset(&block, 0, sizeof block);
    block.cookie = block_cookie_of(entry->kernel, entry->linear);
    block.kernel = entry->kernel + 1;
    block.only_sm = entry->kept ? entry->left_sm : entry->fault_sm; /* the SM with the rest of its state */
    block.not_sm = block.only_sm == NONE && m->config.resume_elsewhere && m->sm_count > 1 ? entry->left_sm : NONE;
    block.ready_cycle = entry->fault_sm == NONE && !entry->gives_up ? 0 : GPUMP_UNKNOWN;
    return block;
}

static void describe(machine *m, preempted_block *entry, const block *b, const gpump_sm_action *action) {
    uint32_t i;
    entry->history = action->history;
    entry->linear = b->linear;
    entry->context = action->why == GPUMP_BLOCK_SAVED || action->kind == GPUMP_SM_ACTION_PARKED ? b->context : NEVER;
    entry->context_bytes = b->context_bytes;
    entry->fault_cycle = 0;
    for (i = 0; i < b->warp_count; i++)
        if (m->warps[b->warps[i]].fault_cycle > entry->fault_cycle)
            entry->fault_cycle = m->warps[b->warps[i]].fault_cycle;
    entry->kernel = b->kernel;
    entry->fault_sm = NONE;
    entry->local_frame = entry->context == NEVER ? NONE : b->local_frame;
    entry->left_sm = b->sm;
    entry->kept = entry->gives_up = 0;
    if (action->kind == GPUMP_SM_ACTION_PARKED) {
        entry->parked = b->ref;
        entry->kept = action->parts;
        m->sms[b->sm]->parked++;
    }
    entry->flushes = b->flushes + (action->why == GPUMP_BLOCK_FLUSHED);
}

uint32_t preempted_add(machine *m, const block *b, const gpump_sm_action *action) {
    const gpump_read_set *set = m->sms[b->sm]->read_sets[b->ref.slot];
    gpump_read_set_segment *room;
    preempted_block fresh, *entry;
    gpump_preempted_block block;
    uint32_t handle;
    memset(&fresh, 0, sizeof fresh);
    describe(m, &fresh, b, action);
    block = where(m, &fresh);
    machine_must(m, "gpump_preempted_add", gpump_preempted_add(m->preempted_list, &block, &handle), NULL);
    if (m->failed) return NONE;
    entry = &m->preempted[handle];
    room = entry->read_segments;
    *entry = fresh;
    entry->read_segments = room;
    /* The read set decides whether the block may be flushed, so the entry keeps it. */
    if (entry->context != NEVER && set)
        machine_must(m, "gpump_read_set_save",
                     gpump_read_set_save(set, entry->read_segments, m->config.read_set_segments / 4 * 3,
                                         &entry->read_segment_count),
                     NULL);
    return handle;
}

void preempted_take(machine *m, uint32_t handle, uint32_t sm) {
    machine_must(m, "gpump_preempted_take", gpump_preempted_take(m->preempted_list, handle, sm), NULL);
}

void preempted_changed(machine *m, uint32_t handle) {
    const gpump_preempted_block block = where(m, &m->preempted[handle]);
    machine_must(m, "gpump_preempted_change", gpump_preempted_change(m->preempted_list, handle, &block), NULL);
}

void preempted_belongs(machine *m, uint32_t handle, uint32_t sm) {
    m->preempted[handle].fault_sm = sm;
    preempted_changed(m, handle);
}

/* Returns the blocks of the SM that are not about to leave. */
static uint32_t staying(const sm *s) {
    uint32_t entry, count = 0;
    for (entry = 0; entry < BLOCK_ENTRIES_MAX; entry++)
        count += s->block_of_entry[entry] != NONE && gpump_block_stays(gpump_sm_state(s->gpump, entry));
    return count;
}

const uint32_t *preempted_order(machine *m) {
    uint32_t *order = m->sm_order, *loads = order + m->sm_count, i;
    if (gpump_preempted_after(m->preempted_list, 0, NONE) == NONE) {
        for (i = 0; i < m->sm_count; i++) order[i] = i;
        return order;
    }
    for (i = 0; i < m->sm_count; i++) loads[i] = staying(m->sms[i]);
    machine_must(m, "gpump_preempted_order", gpump_preempted_order(m->preempted_list, loads, order), NULL);
    return order;
}

uint32_t preempted_find(const machine *m, uint32_t kernel, uint64_t linear) {
    uint32_t handle = preempted_first(m, kernel);
    while (handle != NONE && m->preempted[handle].linear != linear) handle = preempted_after(m, kernel, handle);
    return handle;
}
