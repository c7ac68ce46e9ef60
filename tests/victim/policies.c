/* labels: unit property */
/* The built-in policies beside their definitions, written once more and slowly: Algorithm 1, lines 3 to 13 (Shieh), for
 * the technique of each block; Tanasic 7.2.1 for blocks that drain before they are switched; all blocks or none
 * (Chimera). */
#include "victim/victim_ask.h"
#include "victim/victim_cases.h"
#include "victim/victim_parts.h"

enum { F = 1 << GPUMP_TECHNIQUE_FLUSH, S = 1 << GPUMP_TECHNIQUE_SWITCH, D = 1 << GPUMP_TECHNIQUE_DRAIN };

static uint64_t seed, number;
#define CHECK(condition) test_check(condition, seed, number)

/* A question about one SM and its answer. */
typedef struct scene {
    victim_case c;
    gpump_victim_place places[64];
    gpump_block_choice choices[64];
    gpump_victim_decision d;
} scene;

/* Costs of a few units, so that many tie, and limits and times around them. */
static void draw(scene *s, uint64_t *random) {
    victim_case *c = &s->c;
    while (!victim_case_make(c, random, 12, (uint32_t)(number % VICTIM_KINDS)) || !c->sm.count) {}
    for (uint32_t i = 0; i < c->sm.count; i++)
        for (uint32_t t = 0; t < GPUMP_TECHNIQUE_OWN; t++) {
            if (c->estimates[i].latency[t] != GPUMP_UNKNOWN) c->estimates[i].latency[t] %= 8;
            if (c->estimates[i].overhead[t] != GPUMP_UNKNOWN) c->estimates[i].overhead[t] %= 6;
        }
    c->request.flags = number / 5 & 1 ? 0 : GPUMP_VICTIM_PARALLEL_SAVES;
    c->request.since = gpump_random_below(random, 2) ? 0 : 100;
    c->request.now = c->request.since + gpump_random_below(random, 30);
    c->request.limit_cycles = gpump_random_below(random, 6) ? gpump_random_below(random, 40) : GPUMP_UNKNOWN;
    c->request.timeout_cycles = gpump_random_below(random, 2) ? gpump_random_below(random, 32) : GPUMP_UNKNOWN;
    if (number % 32 == 9) c->request.timeout_cycles = UINT64_MAX - 1 - c->request.since; /* the last cycle of all */
    if (number % 32 == 25) c->request.limit_cycles = c->request.timeout_cycles = GPUMP_UNKNOWN;
}

static void ask(scene *s, gpump_victim_ask what, const gpump_victim_policy *policy) {
    const gpump_result result = what == GPUMP_VICTIM_ASK_POSITIONS
                                    ? victim_decide(policy, &s->c.request, &s->c.geometry, &s->c.sm, 1, NULL, 0,
                                                    s->places, 64, s->choices, 64, &s->d, NULL)
                                    : victim_ask(what, policy, &s->c.request, &s->c.sm, 1, s->choices, 64, &s->d, NULL);
    CHECK(result == GPUMP_OK);
}

/* The block of a choice: its slot is its number in these SMs. */
static uint32_t block_of(const scene *s, const gpump_block_choice *choice) {
    uint32_t i = 0;
    while (s->c.blocks[i].block.slot != choice->block.slot) i++;
    return i;
}

static uint64_t cycles_left(const gpump_victim_request *r) {
    if (r->limit_cycles == GPUMP_UNKNOWN) return GPUMP_UNKNOWN - 1; /* whatever is known is in time */
    return r->since + r->limit_cycles > r->now ? r->since + r->limit_cycles - r->now : 0;
}

/* Algorithm 1, lines 3 to 13: in time the least overhead, else the least latency; then the other number; then the first
 * technique. */
static uint32_t technique_of(const gpump_cost_estimate *e, uint32_t allowed, uint64_t left) {
    uint32_t best = GPUMP_TECHNIQUES;
    for (uint32_t t = 0; t < GPUMP_TECHNIQUE_OWN; t++) {
        int in_time, best_in_time;
        if (!(allowed >> t & 1u)) continue;
        if (best == GPUMP_TECHNIQUES) best = t;
        in_time = e->latency[t] <= left;
        best_in_time = e->latency[best] <= left;
        if (in_time != best_in_time) {
            if (in_time) best = t;
        } else if (in_time) {
            if (e->overhead[t] < e->overhead[best] ||
                (e->overhead[t] == e->overhead[best] && e->latency[t] < e->latency[best]))
                best = t;
        } else if (e->latency[t] < e->latency[best] ||
                   (e->latency[t] == e->latency[best] && e->overhead[t] < e->overhead[best])) {
            best = t;
        }
    }
    return best;
}

/* Whoever leaves does so by the technique of Algorithm 1, where a policy has no hook for it. */
static void each_block_leaves_by_algorithm_1(void **state) {
    uint64_t random, cases = test_cases(30000), late = 0;
    static scene s;
    (void)state;
    seed = random = test_seed();
    for (number = 0; number < cases; number++) {
        const gpump_victim_policy *policy = gpump_victim_policy_at((uint32_t)(number % 12));
        if (policy->technique || policy->plan) continue;
        draw(&s, &random);
        ask(&s, number / 12 % 2 ? GPUMP_VICTIM_ASK_VACATE : GPUMP_VICTIM_ASK_POSITIONS, policy);
        CHECK(s.d.ask_again == GPUMP_UNKNOWN);
        for (uint32_t k = 0; k < s.d.choices; k++) {
            const uint32_t i = block_of(&s, &s.choices[k]);
            const gpump_cost_estimate *e = &s.c.estimates[i];
            const uint32_t t = technique_of(e, s.c.blocks[i].may & policy->techniques, cycles_left(&s.c.request));
            CHECK(s.choices[k].technique == t && s.choices[k].otherwise == t);
            CHECK(s.choices[k].overhead == e->overhead[t]);
            late += e->latency[t] > cycles_left(&s.c.request);
        }
    }
    assert_true(late > cases / 50);
}

/* Whether a block is one of those that a decision is about. */
static int is_asked(const scene *s, uint32_t i, gpump_victim_ask what, uint32_t techniques) {
    const gpump_block_view *b = &s->c.blocks[i];
    if (b->kernel == VICTIM_INCOMING) return 0;
    if (what == GPUMP_VICTIM_ASK_AGAIN) return b->state == GPUMP_BLOCK_DRAINING;
    if (gpumpi_block_leaves(b->state) || !(b->may & techniques)) return 0;
    for (uint32_t j = 0; b->group && gpump_block_stays(b->state) && j < s->c.sm.count; j++) { /* held by its group */
        const gpump_block_view *other = &s->c.blocks[j];
        if (other->group == b->group && other->kernel == b->kernel && gpump_block_stays(other->state) &&
            !(other->may & techniques))
            return 0;
    }
    return 1;
}

/* The time-out of drain-then-switch: as the request has it, else as late as the saves of all blocks allow. */
static uint64_t timeout_at(const scene *s, gpump_victim_ask what) {
    const gpump_victim_request *r = &s->c.request;
    uint64_t timeout = r->timeout_cycles, sum = 0, longest = 0, saves;
    for (uint32_t i = 0; i < s->c.sm.count; i++) {
        const uint64_t save = s->c.estimates[i].latency[GPUMP_TECHNIQUE_SWITCH];
        if (!is_asked(s, i, what, S | D) || !(s->c.blocks[i].may & S)) continue;
        sum += save;
        if (save > longest) longest = save;
    }
    saves = r->flags & GPUMP_VICTIM_PARALLEL_SAVES ? longest : sum;
    if (timeout == GPUMP_UNKNOWN && r->limit_cycles != GPUMP_UNKNOWN)
        timeout = r->limit_cycles < saves ? 0 : r->limit_cycles - saves;
    return timeout > UINT64_MAX - r->since ? UINT64_MAX : r->since + timeout;
}

/* Before the time-out blocks drain, and the next question is due at it; from then on they are switched. */
static void blocks_drain_until_the_time_out(void **state) {
    static const gpump_victim_ask asks[] = {GPUMP_VICTIM_ASK_VACATE, GPUMP_VICTIM_ASK_AGAIN};
    const gpump_victim_policy *policy = gpump_victim_find("drain-then-switch");
    uint64_t random, cases = test_cases(40000), again = 0, switched = 0;
    static scene s;
    (void)state;
    seed = random = test_seed();
    for (number = 0; number < cases; number++) {
        const gpump_victim_ask what = asks[number / 2 % 2];
        uint64_t at, ask_again = GPUMP_UNKNOWN;
        uint32_t expected = 0;
        draw(&s, &random);
        for (uint32_t i = 0; what == GPUMP_VICTIM_ASK_AGAIN && i < s.c.sm.count; i++)
            if (s.c.blocks[i].state == GPUMP_BLOCK_RUNNING && gpump_random_below(&random, 3))
                s.c.blocks[i].state = GPUMP_BLOCK_DRAINING;
        at = timeout_at(&s, what);
        if (number % 4 < 2 && at < 1000 && at >= s.c.request.since) /* just then, just before, just behind */
            s.c.request.now = at + 1 < s.c.request.since + 1 ? at : at - 1 + gpump_random_below(&random, 3);
        if (s.c.request.now < s.c.request.since) s.c.request.now = s.c.request.since;
        ask(&s, what, policy);
        for (uint32_t i = 0; i < s.c.sm.count; i++) {
            const uint32_t may = s.c.blocks[i].may & (S | D);
            const int drains = !(may & S) || (s.c.request.now < at && (may & D || what == GPUMP_VICTIM_ASK_AGAIN));
            if (!is_asked(&s, i, what, S | D)) continue;
            if (drains && may & S && at < ask_again) ask_again = at;
            if (drains && what == GPUMP_VICTIM_ASK_AGAIN) continue; /* it goes on */
            CHECK(expected < s.d.choices && block_of(&s, &s.choices[expected]) == i);
            CHECK(s.choices[expected++].technique ==
                  (uint32_t)(drains ? GPUMP_TECHNIQUE_DRAIN : GPUMP_TECHNIQUE_SWITCH));
            switched += !drains;
        }
        CHECK(s.d.choices == expected);
        CHECK(s.d.ask_again == ask_again);
        again += ask_again != GPUMP_UNKNOWN;
    }
    assert_true(again > cases / 10 && switched > cases / 10);
}

/* All blocks leave or none; the positions are the lowest that are open. */
static void whole_sms_leave_all_or_none(void **state) {
    uint64_t random, cases = test_cases(20000), left = 0;
    static scene s;
    (void)state;
    seed = random = test_seed();
    for (number = 0; number < cases; number++) {
        const gpump_victim_policy *policy = gpump_victim_policy_at((uint32_t)(number % 12));
        uint64_t sets[64], taken, may_leave = 0, named = 0;
        uint32_t p = 0;
        int stays = 0;
        if (!(policy->flags & GPUMP_VICTIM_WHOLE_SM)) continue;
        draw(&s, &random);
        ask(&s, GPUMP_VICTIM_ASK_POSITIONS, policy);
        for (uint32_t i = 0; i < s.c.sm.count; i++) {
            const gpump_block_view *b = &s.c.blocks[i];
            if (b->kernel == VICTIM_INCOMING || gpumpi_block_leaves(b->state)) continue;
            stays |= !(b->may & policy->techniques);
            may_leave |= (uint64_t)1 << i;
        }
        for (uint32_t k = 0; k < s.d.choices; k++) named |= (uint64_t)1 << block_of(&s, &s.choices[k]);
        CHECK(s.d.places ? named == may_leave && !stays : !named);
        gpump_victim_candidates(&s.c.geometry, s.c.blocks, s.c.sm.count, VICTIM_INCOMING, sets, &taken);
        taken |= s.c.sm.reserved;
        for (uint32_t k = 0; k < s.d.places; k++, p++) {
            while (taken >> p & 1u) p++;
            CHECK(s.places[k].position == p);
        }
        left += s.d.choices > 0;
    }
    assert_true(left > cases / 20);
}

/* A built-in policy is told from a copy of it by its address: its plans need no check before they are written. */
static void policies_are_found_by_name_and_address(void **state) {
    const gpump_victim_policy *policy;
    (void)state;
    for (uint32_t p = 0; (policy = gpump_victim_policy_at(p)) != NULL; p++) {
        const gpump_victim_policy copy = *policy;
        assert_ptr_equal(gpump_victim_find(policy->name), policy);
        assert_true(gpumpi_victim_is_built_in(policy));
        assert_false(gpumpi_victim_is_built_in(&copy));
    }
    assert_null(gpump_victim_find(NULL));
    assert_null(gpump_victim_find(""));
    assert_null(gpump_victim_find("dua"));
    assert_null(gpump_victim_find("Dual"));
    assert_null(gpump_victim_policy_at(UINT32_MAX));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_block_leaves_by_algorithm_1),
        cmocka_unit_test(blocks_drain_until_the_time_out),
        cmocka_unit_test(whole_sms_leave_all_or_none),
        cmocka_unit_test(policies_are_found_by_name_and_address),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
