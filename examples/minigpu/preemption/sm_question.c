#include "preemption/sm_question.h"

#include <string.h>

void sm_question_make(machine *m, sm *s, const gpump_victim_policy *policy, const gpump_cost_options *cost,
                      uint64_t since, uint64_t limit_cycles, sm_question *q) {
    block_prices_flush_once(m, s, &q->prices);
    block_prices_estimate(m, s, cost, NULL, &q->prices);
    block_prices_view(s, &q->prices, &q->sm);
    gpump_victim_request_init(&q->request, 0, 0, since);
    q->request.now = m->now;
    q->request.limit_cycles = limit_cycles;
    q->request.late_price = m->late_price;
    memset(&q->question, 0, sizeof q->question);
    q->question.policy = policy;
    q->question.request = &q->request;
    q->question.sms = &q->sm;
    q->question.sm_count = 1;
    q->question.choice_capacity = BLOCK_ENTRIES_MAX;
}

void sm_question_decide(machine *m, sm_question *q, uint32_t ask, gpump_block_choice *choices,
                        gpump_victim_decision *decision) {
    memset(decision, 0, sizeof *decision);
    q->question.ask = ask;
    q->question.choices = choices;
    machine_must(m, "gpump_victim_decide", gpump_victim_decide(&q->question, decision, NULL), NULL);
}
