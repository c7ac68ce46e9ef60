#include "parts/victims/victim_facts.h"

static int make_scratch(machine *m, uint32_t blocks) {
    struct victim_scratch *scratch = (struct victim_scratch *)arena_take(&m->arena, sizeof *scratch);
    if (!scratch) return -1;
    scratch->rooms = (block_prices *)arena_take_array(&m->arena, m->config.gpu.sms, sizeof *scratch->rooms);
    scratch->sms = (gpump_victim_sm *)arena_take_array(&m->arena, m->config.gpu.sms, sizeof *scratch->sms);
    scratch->places = (gpump_victim_place *)arena_take_array(&m->arena, blocks, sizeof *scratch->places);
    scratch->choices = (gpump_block_choice *)arena_take_array(&m->arena, blocks, sizeof *scratch->choices);
    scratch->memory = arena_take(&m->arena, gpump_victim_scratch_bytes(m->config.gpu.sms) + 8);
    scratch->capacity = blocks;
    victims_of(m)->scratch = scratch;
    return scratch->rooms && scratch->sms && scratch->places && scratch->choices && scratch->memory ? 0 : -1;
}

int victims_build(machine *m) {
    machine_victims *v;
    uint32_t i, blocks = m->config.gpu.sms * m->config.gpu.block_slots;
    if (!m->policy) return 0;
    if (!(v = (machine_victims *)arena_take(&m->arena, sizeof *v))) return -1;
    m->of_part[PART_victims] = v;
    v->ask_again = NEVER;
    v->requests = (victim_request *)arena_take_array(&m->arena, m->kernel_count, sizeof *v->requests);
    if (!v->requests || make_scratch(m, m->config.gpu.sms * BLOCK_ENTRIES_MAX)) return -1;
    for (i = 0; i < m->kernel_count; i++) {
        v->requests[i].entries = (victim_entry *)arena_take_array(&m->arena, blocks, sizeof(victim_entry));
        v->requests[i].positions = (uint64_t *)arena_take_array(&m->arena, m->config.gpu.sms, sizeof(uint64_t));
        if (!v->requests[i].entries || !v->requests[i].positions) return -1;
        v->requests[i].request.since = NEVER;
    }
    return 0;
}

void victims_account(machine *m) {
    uint32_t i, k;
    for (k = 0; k < m->kernel_count; k++) {
        victim_request *r = &victims_of(m)->requests[k];
        uint64_t cycles;
        if (r->request.since == NEVER || r->account_end != NEVER || r->account_cycle == m->now) continue;
        cycles = m->now - r->account_cycle;
        for (i = 0; i < m->block_count; i++) {
            const block *b = &m->blocks[i];
            const kernel *owner = &m->kernels[b->kernel];
            if (!b->life || !gpump_sm_may_issue(m->sms[b->sm]->gpump, b->ref.slot)) continue;
            r->register_cycles += cycles * owner->need.registers;
            r->shared_cycles += cycles * owner->need.shared_bytes;
            r->thread_cycles += cycles * owner->need.threads;
        }
        r->account_cycle = m->now;
    }
}

void victims_placed(machine *m, const block *b) {
    victim_request *r;
    r = &victims_of(m)->requests[b->kernel];
    if (r->request.since == NEVER) return;
    r->last_start_cycle = m->now;
    if (++r->started == r->request.positions) r->account_end = m->now;
}

void victims_freed(machine *m, block *b, const gpump_sm_action *action) {
    uint32_t k;
    const int saved = action->why == GPUMP_BLOCK_SAVED || action->kind == GPUMP_SM_ACTION_PARKED;
    if (b->victim == NONE) return;
    for (k = 0; k < m->kernel_count; k++) {
        victim_request *r = &victims_of(m)->requests[k];
        victim_entry *entry = &r->entries[b->victim];
        if (r->request.since == NEVER || b->victim >= r->count || entry->linear != b->linear ||
            entry->kernel != b->kernel || entry->end_cycle != NEVER)
            continue;
        entry->end_cycle = m->now;
        if (action->why == GPUMP_BLOCK_FLUSHED) entry->wasted = action->history.executed;
        if (saved && entry->cycles)
            entry->wasted = gpump_muldiv_up(2 * (m->now - b->stop_cycle), entry->executed, entry->cycles);
        if (saved && gpump_technique_begins(entry->technique) == GPUMP_TECHNIQUE_BEGIN_REWIND)
            entry->wasted += b->rewound;
        if (action->why == GPUMP_BLOCK_DONE && gpump_technique_begins(entry->technique) != GPUMP_TECHNIQUE_BEGIN_RUN)
            entry->technique = GPUMP_TECHNIQUE_DRAIN; /* the block ended before it was saved */
        break;
    }
    b->victim = NONE;
}
