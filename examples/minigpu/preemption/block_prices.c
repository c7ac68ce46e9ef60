#include "preemption/block_prices.h"

#include <string.h>

#include "preemption/context_bytes.h"

void block_prices_look(machine *m, sm *s, block_prices *p) {
    PARTS_TELL(m, blocks_are_weighed, (m, s));
    p->count = BLOCK_ENTRIES_MAX;
    machine_must(m, "gpump_sm_blocks", gpump_sm_blocks(s->gpump, m->now, p->views, BLOCK_ENTRIES_MAX, &p->count), NULL);
    if (m->failed) p->count = 0;
}

void block_prices_flush_once(const machine *m, const sm *s, block_prices *p) {
    uint32_t i;
    for (i = 0; i < p->count; i++) {
        gpump_block_view *view = &p->views[i];
        if (view->state != GPUMP_BLOCK_PARKED && m->blocks[s->block_of_entry[view->block.slot]].flushes)
            view->may &= ~(1u << GPUMP_TECHNIQUE_FLUSH);
    }
}

/* Sets view->context_bytes to what the context of block `b` takes now, if the parts `keep` stay in place. */
static void size_context(machine *m, block *b, uint32_t keep, gpump_block_view *view) {
    const uint32_t kept = b->keep;
    if (!gpumpi_block_is_saved_now(view->state)) b->keep = keep;
    if (!m->config.switch_stalls && (m->context_form || b->keep || m->beyond_room)) {
        view->context_bytes = preemption_context_now(m, b);
    } else if (b->keep) {
        if (b->keep & GPUMP_PART_REGISTERS) view->context_bytes -= (uint64_t)view->registers * 4;
        if (b->keep & GPUMP_PART_SHARED_MEMORY) view->context_bytes -= view->shared_bytes;
    }
    b->keep = kept;
}

void block_prices_estimate(machine *m, const sm *s, const gpump_cost_options *options, const uint32_t *keeps,
                           block_prices *p) {
    gpump_context_room rooms[BLOCK_ENTRIES_MAX];
    uint32_t i;
    for (i = 0; i < p->count; i++) {
        gpump_block_view *view = &p->views[i];
        rooms[i] = gpump_context_pool_room(m->context_pool, view->kernel);
        memset(&p->rewind[i], 0, sizeof p->rewind[i]);
        if (view->state == GPUMP_BLOCK_PARKED) continue;
        size_context(m, &m->blocks[s->block_of_entry[view->block.slot]], keeps ? keeps[i] : 0, view);
        PARTS_TELL(m, price_rewind, (m, &m->blocks[s->block_of_entry[view->block.slot]], &p->rewind[i]));
    }
    gpump_technique_limit_by_room(p->views, p->count, rooms, p->count);
    for (i = 0; i < p->count && m->leaves_by < GPUMP_TECHNIQUES; i++)
        if (p->views[i].may >> m->leaves_by & 1) p->views[i].may = 1u << m->leaves_by;
    machine_must(m, "gpump_cost_estimate_blocks",
                 gpump_cost_estimate_blocks(&m->port, m->histories, m->kernel_count + 1, p->views, p->count,
                                            m->regions ? p->rewind : NULL, options, p->estimates, NULL),
                 NULL);
}

void block_prices_view(const sm *s, const block_prices *p, gpump_victim_sm *of) {
    memset(of, 0, sizeof *of);
    of->blocks = p->views;
    of->estimates = p->estimates;
    of->count = p->count;
    of->sm = s->index;
}
