/* labels: unit property */
/* A decision over several SMs keeps the plans that it has made while it divided the positions and while it checked the
 * hooks. What is decided is what plans made anew decide, and a hook is asked no more often than needed. */
#include "victim/victim_ask.h"
#include "victim/victim_cases.h"

enum { SMS = 5, ROOM = SMS * 64 };

typedef struct answer {
    gpump_result result;
    gpump_victim_decision decision;
    gpump_victim_place places[ROOM];
    gpump_block_choice choices[ROOM];
} answer;

static uint32_t asked; /* of a hook */

static void ask(const gpump_victim_policy *policy, const victim_case *c, const gpump_victim_sm *sms, answer *a) {
    memset(a, 0, sizeof *a);
    a->result = victim_decide(policy, &c->request, &c->geometry, sms, SMS, NULL, 0, a->places, ROOM, a->choices, ROOM,
                              &a->decision, NULL);
}

/* A policy's own technique hook: what Algorithm 1 chooses, by other means. */
static uint32_t soonest_technique(const gpump_victim_technique_args *args) {
    uint32_t best = GPUMP_TECHNIQUES;
    asked++;
    for (uint32_t t = 0; t < GPUMP_TECHNIQUES; t++)
        if (args->allowed >> t & 1u &&
            (best == GPUMP_TECHNIQUES || args->estimate->latency[t] < args->estimate->latency[best]))
            best = t;
    return best;
}

static uint32_t last_candidate(const gpump_victim_candidate_args *args) { return args->count - 1; }

/* SMs that are alike but for what their blocks cost. */
static void copy_sm(const victim_case *c, uint64_t *random, gpump_cost_estimate estimates[SMS][64],
                    gpump_victim_sm *sms) {
    for (uint32_t s = 0; s < SMS; s++) {
        memcpy(estimates[s], c->estimates, sizeof c->estimates);
        for (uint32_t i = 0; i < c->sm.count; i++)
            for (uint32_t t = 0; t < GPUMP_TECHNIQUE_OWN; t++)
                if (estimates[s][i].latency[t] != GPUMP_UNKNOWN) {
                    estimates[s][i].latency[t] = gpump_random_below(random, 6000);
                    estimates[s][i].overhead[t] = gpump_random_below(random, 200);
                }
        sms[s] = c->sm;
        sms[s].sm = s;
        sms[s].estimates = estimates[s];
    }
}

static void assert_alike(const answer *a, const answer *b) {
    assert_int_equal(a->result, b->result);
    assert_memory_equal(&a->decision, &b->decision, sizeof a->decision);
    assert_memory_equal(a->places, b->places, a->decision.places * sizeof *a->places);
    assert_memory_equal(a->choices, b->choices, a->decision.choices * sizeof *a->choices);
}

/* The policy, a copy of it, which the library does not know, and a copy whose plans are not kept decide alike. */
static void compare(const gpump_victim_policy *policy, const victim_case *c, const gpump_victim_sm *sms) {
    static answer own, kept, anew;
    gpump_victim_policy copy = *policy;
    ask(policy, c, sms, &own);
    ask(&copy, c, sms, &kept);
    copy.flags |= GPUMP_VICTIM_HAS_STATE;
    ask(&copy, c, sms, &anew);
    assert_alike(&own, &anew);
    assert_alike(&kept, &anew);
}

/* A policy that keeps plans decides as the same policy that makes each plan anew. */
static void kept_plans_decide_as_plans_made_anew(void **state) {
    gpump_victim_policy own[] = {*gpump_victim_find("dual"), *gpump_victim_find("dual"), *gpump_victim_find("dual"),
                                 *gpump_victim_find("chimera")};
    uint64_t random = 5;
    uint32_t n, made = 0;
    (void)state;
    own[0].technique = own[1].technique = own[3].technique = soonest_technique;
    own[1].candidate = own[2].candidate = last_candidate;
    own[2].flags = 0;
    for (n = 0; n < 600; n++) {
        victim_case c;
        gpump_cost_estimate estimates[SMS][64];
        gpump_victim_sm sms[SMS];
        const gpump_victim_policy *policy;
        if (!victim_case_make(&c, &random, 8, n * 37 % VICTIM_KINDS)) continue;
        copy_sm(&c, &random, estimates, sms);
        c.request.positions = 1 + gpump_random_below(&random, SMS * c.geometry.blocks + 2);
        for (uint32_t p = 0; (policy = gpump_victim_policy_at(p)) != NULL; p++) compare(policy, &c, sms);
        for (uint32_t p = 0; p < 4; p++) compare(&own[p], &c, sms);
        made++;
    }
    assert_true(made > 300);
}

/* All positions of all SMs: each block is asked about once. With a state it is asked again after the check. */
static void a_hook_is_asked_once_about_each_block(void **state) {
    gpump_victim_policy policy = *gpump_victim_find("dual");
    uint64_t random = 9;
    (void)state;
    policy.technique = soonest_technique;
    for (uint32_t n = 0; n < 40; n++) {
        static answer a;
        victim_case c;
        gpump_victim_sm sms[SMS];
        gpump_cost_estimate estimates[SMS][64];
        uint32_t once;
        if (!victim_case_make(&c, &random, 8, 0)) continue;
        copy_sm(&c, &random, estimates, sms);
        c.request.positions = SMS * c.geometry.blocks;
        policy.flags = GPUMP_VICTIM_EVICTED;
        asked = 0;
        ask(&policy, &c, sms, &a);
        once = asked;
        assert_true(once <= SMS * c.sm.count);
        policy.flags |= GPUMP_VICTIM_HAS_STATE;
        asked = 0;
        ask(&policy, &c, sms, &a);
        assert_int_equal(asked, 2 * once);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kept_plans_decide_as_plans_made_anew),
        cmocka_unit_test(a_hook_is_asked_once_about_each_block),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
