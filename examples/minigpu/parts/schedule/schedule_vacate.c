#include "parts/schedule/schedule_vacate.h"

#include <string.h>

#include "parts/schedule/schedule_facts.h"
#include "preemption/context_bytes.h"
#include "preemption/requests.h"

#define SELECT_NS 15000u /* without a policy: the limit of Tanasic 5.2.3 */

/* Blocks of an SM that leave, and the cost of each technique. */
typedef struct departure {
    gpump_block_view views[GPUMP_VICTIM_BLOCKS];
    gpump_cost_estimate estimates[GPUMP_VICTIM_BLOCKS];
    gpump_cost_rewind rewind[GPUMP_VICTIM_BLOCKS];
    gpump_block_choice choices[BLOCK_ENTRIES_MAX];
    gpump_victim_request request;
    gpump_victim_sm sm;
    gpump_victim_question question;
    uint32_t count;
} departure;

/* Finds the blocks whose technique can still be chosen. again: 1: those that drain; 0: those without a technique.
 * Returns their number. */
static uint32_t find(machine *m, const sm *s, int again, departure *d) {
    uint32_t count = GPUMP_VICTIM_BLOCKS, i;
    d->count = 0;
    machine_must(m, "gpump_sm_blocks", gpump_sm_blocks(s->gpump, m->now, d->views, GPUMP_VICTIM_BLOCKS, &count), NULL);
    for (i = 0; i < count && !m->failed; i++) {
        gpump_block_view *view = &d->views[i];
        if (!(again ? view->state == GPUMP_BLOCK_DRAINING : gpump_block_stays(view->state)) || !view->may) continue;
        /* A block is flushed at most once, because turns shorter than a block would start it again for ever. */
        if (m->blocks[s->block_of_entry[view->block.slot]].flushes) view->may &= ~(1u << GPUMP_TECHNIQUE_FLUSH);
        d->views[d->count++] = *view;
    }
    return d->count;
}

static void price(machine *m, const sm *s, departure *d) {
    gpump_cost_options options = d->question.policy->cost;
    uint32_t i;
    options.limit_cycles = d->request.limit_cycles;
    for (i = 0; i < d->count; i++) {
        block *b = &m->blocks[s->block_of_entry[d->views[i].block.slot]];
        if (m->context_form && !m->config.switch_stalls) d->views[i].context_bytes = preemption_context_now(m, b);
        memset(&d->rewind[i], 0, sizeof d->rewind[i]);
        PARTS_TELL(m, price_rewind, (m, b, &d->rewind[i]));
    }
    machine_must(m, "gpump_cost_estimate_blocks",
                 gpump_cost_estimate_blocks(&m->port, m->histories, m->kernel_count + 1, d->views, d->count,
                                            m->regions ? d->rewind : NULL, &options, d->estimates, NULL),
                 NULL);
}

/* Makes the question about one SM. It names no positions, because the whole SM is needed. */
static void ask(machine *m, const sm *s, departure *d) {
    const struct schedule *c = schedule_of(m);
    memset(&d->question, 0, sizeof d->question);
    memset(&d->sm, 0, sizeof d->sm);
    gpump_victim_request_init(&d->request, 0, 0, c->vacating_since[s->index]);
    d->request.now = m->now;
    d->request.limit_cycles = c->victims ? m->limit_cycles : gpump_gpu_cycles_from_ns(&m->config.gpu, SELECT_NS);
    d->request.late_price = m->late_price;
    d->question.policy = c->victims ? c->victims : gpump_victim_find("chimera");
    price(m, s, d);
    d->sm.blocks = d->views;
    d->sm.estimates = d->estimates;
    d->sm.count = d->count;
    d->sm.sm = s->index;
    d->question.request = &d->request;
    d->question.sms = &d->sm;
    d->question.sm_count = 1;
    d->question.choices = d->choices;
    d->question.choice_capacity = BLOCK_ENTRIES_MAX;
}

static void carry_out(machine *m, sm *s, departure *d, const gpump_victim_decision *decision) {
    uint64_t *ask_again = &schedule_of(m)->ask_again[s->index];
    if (decision->ask_again < *ask_again) *ask_again = decision->ask_again;
    if (decision->choices && !m->failed) preemption_carry_out(m, s, d->choices, decision->choices, 0);
}

/* Chooses a technique for each block of an SM by a policy, from the cost of each technique. */
static void select_ways(machine *m, sm *s) {
    uint64_t *ask_again = &schedule_of(m)->ask_again[s->index];
    gpump_victim_decision decision;
    departure d;
    /* Runs in each cycle of a save, so the waits of blocks are searched only when a block is left to choose for. */
    if (find(m, s, 0, &d)) {
        PARTS_TELL(m, blocks_are_weighed, (m, s));
        find(m, s, 0, &d);
        ask(m, s, &d);
        d.question.ask = GPUMP_VICTIM_ASK_VACATE;
        machine_must(m, "gpump_victim_decide", gpump_victim_decide(&d.question, &decision, NULL), NULL);
        carry_out(m, s, &d, &decision);
    }
    if (*ask_again > m->now || m->failed) return;
    *ask_again = NEVER;
    PARTS_TELL(m, blocks_are_weighed, (m, s));
    if (!find(m, s, 1, &d)) return;
    ask(m, s, &d);
    d.question.ask = GPUMP_VICTIM_ASK_AGAIN;
    machine_must(m, "gpump_victim_decide", gpump_victim_decide(&d.question, &decision, NULL), NULL);
    carry_out(m, s, &d, &decision);
}

void schedule_vacate(machine *m, sm *s) {
    const uint32_t technique = schedule_of(m)->vacating[s->index] - 1;
    uint32_t entry;
    for (;;) { /* its blocks that have left on a fault join the preempted blocks of their kernels */
        PARTS_ASK(m, entry, NONE, give_up_off_chip, (m, s, NONE));
        if (entry == NONE) break;
        preemption_schedule_off_chip_left(m, entry, 0);
    }
    if (!s->resident) return;
    if (technique == GPUMP_TECHNIQUE_SELECT)
        select_ways(m, s);
    else
        preemption_request(m, s, technique, 0, 0);
}
