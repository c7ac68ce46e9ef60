#include "parts/schedule/schedule_vacate.h"

#include "parts/schedule/schedule_facts.h"
#include "preemption/requests.h"
#include "preemption/sm_question.h"

#define SELECT_NS 15000u /* without a policy: the limit of Tanasic 5.2.3 */

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

/* Makes the question about the open blocks of one SM. The question names no positions, because the whole SM is needed.
 * Returns 0 when there is no such block. */
static int make_question(machine *m, sm *s, int again, sm_question *q) {
    const struct schedule *c = schedule_of(m);
    const gpump_victim_policy *policy = c->victims ? c->victims : gpump_victim_find("chimera");
    gpump_cost_options cost = policy->cost;
    uint32_t i, count = 0;
    cost.limit_cycles = c->victims ? m->limit_cycles : gpump_gpu_cycles_from_ns(&m->config.gpu, SELECT_NS);
    block_prices_look(m, s, &q->prices);
    for (i = 0; i < q->prices.count; i++)
        if (is_open(&q->prices.views[i], again)) q->prices.views[count++] = q->prices.views[i];
    q->prices.count = count;
    sm_question_make(m, s, policy, &cost, c->vacating_since[s->index], cost.limit_cycles, q);
    return count && !m->failed;
}

/* Calls the policy, and carries out its decision. */
static void decide(machine *m, sm *s, uint32_t ask, sm_question *q) {
    uint64_t *ask_again = &schedule_of(m)->ask_again[s->index];
    gpump_block_choice choices[BLOCK_ENTRIES_MAX];
    gpump_victim_decision decision;
    sm_question_decide(m, q, ask, choices, &decision);
    if (decision.ask_again < *ask_again) *ask_again = decision.ask_again;
    if (!decision.choices || m->failed) return;
    preemption_keep_for(m, s, preemption_schedule_next_kernel(m, s->index), choices, decision.choices);
    preemption_carry_out(m, s, choices, decision.choices, 0);
}

/* Chooses a technique for each block of an SM by a policy, from the cost of each technique. Runs in each cycle of a
 * save, so prices are taken only when a block is left to choose for. */
static void select_ways(machine *m, sm *s) {
    uint64_t *ask_again = &schedule_of(m)->ask_again[s->index];
    sm_question q;
    if (has_open(m, s, 0) && make_question(m, s, 0, &q)) decide(m, s, GPUMP_VICTIM_ASK_VACATE, &q);
    if (*ask_again > m->now || m->failed) return;
    *ask_again = NEVER;
    if (make_question(m, s, 1, &q)) decide(m, s, GPUMP_VICTIM_ASK_AGAIN, &q);
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
