#include "parts/schedule/schedule_vacate.h"

#include <string.h>

#include "parts/schedule/schedule_facts.h"
#include "preemption/block_prices.h"
#include "preemption/requests.h"

#define SELECT_NS 15000u /* without a policy: the limit of Tanasic 5.2.3 */

/* Blocks of an SM that leave, and the question which technique each takes. */
typedef struct departure {
    block_prices prices;
    gpump_block_choice choices[BLOCK_ENTRIES_MAX];
    gpump_victim_request request;
    gpump_victim_sm sm;
    gpump_victim_question question;
} departure;

/* Returns whether the technique of a block can still be chosen. again: 1: of one that drains; 0: of one without a
 * technique. */
static int is_open(const gpump_block_view *view, int again) {
    return view->may && (again ? view->state == GPUMP_BLOCK_DRAINING : gpump_block_stays(view->state));
}

/* Returns whether the SM has such a block. */
static int has_open(machine *m, const sm *s, int again) {
    gpump_block_view views[BLOCK_ENTRIES_MAX];
    uint32_t count = BLOCK_ENTRIES_MAX, i;
    machine_must(m, "gpump_sm_blocks", gpump_sm_blocks(s->gpump, m->now, views, BLOCK_ENTRIES_MAX, &count), NULL);
    for (i = 0; i < count && !m->failed && !is_open(&views[i], again); i++) {}
    return i < count && !m->failed;
}

/* Makes the question about the open blocks of one SM. It names no positions, because the whole SM is needed. Returns 0
 * when there is no such block. */
static int ask(machine *m, sm *s, int again, departure *d) {
    const struct schedule *c = schedule_of(m);
    const gpump_victim_policy *policy = c->victims ? c->victims : gpump_victim_find("chimera");
    gpump_cost_options cost = policy->cost;
    uint32_t i, count = 0;
    gpump_victim_request_init(&d->request, 0, 0, c->vacating_since[s->index]);
    d->request.now = m->now;
    d->request.late_price = m->late_price;
    d->request.limit_cycles = cost.limit_cycles =
        c->victims ? m->limit_cycles : gpump_gpu_cycles_from_ns(&m->config.gpu, SELECT_NS);
    block_prices_look(m, s, &d->prices);
    for (i = 0; i < d->prices.count; i++)
        if (is_open(&d->prices.views[i], again)) d->prices.views[count++] = d->prices.views[i];
    d->prices.count = count;
    block_prices_flush_once(m, s, &d->prices);
    block_prices_estimate(m, s, &cost, NULL, &d->prices);
    block_prices_view(s, &d->prices, &d->sm);
    memset(&d->question, 0, sizeof d->question);
    d->question.policy = policy;
    d->question.request = &d->request;
    d->question.sms = &d->sm;
    d->question.sm_count = 1;
    d->question.choices = d->choices;
    d->question.choice_capacity = BLOCK_ENTRIES_MAX;
    return count && !m->failed;
}

static void carry_out(machine *m, sm *s, departure *d, const gpump_victim_decision *decision) {
    uint64_t *ask_again = &schedule_of(m)->ask_again[s->index];
    if (decision->ask_again < *ask_again) *ask_again = decision->ask_again;
    if (!decision->choices || m->failed) return;
    preemption_keep_for(m, s, preemption_schedule_next_kernel(m, s->index), d->choices, decision->choices);
    preemption_carry_out(m, s, d->choices, decision->choices, 0);
}

/* Chooses a technique for each block of an SM by a policy, from the cost of each technique. Runs in each cycle of a
 * save, so prices are taken only when a block is left to choose for. */
static void select_ways(machine *m, sm *s) {
    uint64_t *ask_again = &schedule_of(m)->ask_again[s->index];
    gpump_victim_decision decision;
    departure d;
    if (has_open(m, s, 0) && ask(m, s, 0, &d)) {
        d.question.ask = GPUMP_VICTIM_ASK_VACATE;
        machine_must(m, "gpump_victim_decide", gpump_victim_decide(&d.question, &decision, NULL), NULL);
        carry_out(m, s, &d, &decision);
    }
    if (*ask_again > m->now || m->failed) return;
    *ask_again = NEVER;
    if (!ask(m, s, 1, &d)) return;
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
