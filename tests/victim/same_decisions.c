/* labels: unit golden */
/* What every built-in policy decides in 1200 random cases, and what it takes its techniques to cost, in
 * tests/victim/decisions. Where a policy is a heuristic nothing but its own past says what is right: a change of
 * decisions has to be meant, and is written down there (GPUMP_DECISIONS=write, tests/decisions.h) and in CHANGELOG. */
#include "decisions.h"
#include "victim/estimate.h"
#include "victim/victim_ask.h"
#include "victim/victim_cases.h"

static const char *number(uint64_t value, char text[24]) {
    if (value == GPUMP_UNKNOWN) return "unknown";
    snprintf(text, 24, "%" PRIu64, value);
    return text;
}

static const char *technique_name(uint32_t technique) {
    const gpump_technique *t = gpump_technique_at(technique);
    return t ? t->name : "-";
}

/* One line: what a decision costs, the places that become free, the blocks that leave. places NULL: it names none. */
static void note(decisions *all, uint64_t which, const char *question, gpump_result result,
                 const gpump_victim_decision *d, const gpump_victim_place *places, const gpump_block_choice *choices) {
    char line[3500], a[24], b[24], c[24];
    size_t at;
    if (result) {
        decided(all, "%" PRIu64 " %s: %s", which, question, gpump_result_name(result));
        return;
    }
    at = (size_t)snprintf(line, sizeof line, "%" PRIu64 " %s: latency %s, overhead %s, ask again %s, late %" PRIu32,
                          which, question, number(d->latency, a), number(d->overhead, b), number(d->ask_again, c),
                          d->late);
    if (d->missing)
        at += (size_t)snprintf(line + at, sizeof line - at, ", missing %" PRIu32 " (%s)", d->missing,
                               gpump_reason_text(d->reason));
    at += (size_t)snprintf(line + at, sizeof line - at, ", SMs %" PRIu32 ", places", d->sms);
    if (!places) at += (size_t)snprintf(line + at, sizeof line - at, " %" PRIu32, d->places);
    for (uint32_t i = 0; places && i < d->places; i++)
        at += (size_t)snprintf(line + at, sizeof line - at, " %" PRIu32 "@%s%s(%" PRIu32 ")", places[i].position,
                               number(places[i].latency, a), places[i].late ? "late" : "", places[i].victims);
    at += (size_t)snprintf(line + at, sizeof line - at, ", leave");
    for (uint32_t i = 0; i < d->choices; i++)
        at += (size_t)snprintf(line + at, sizeof line - at, " %" PRIu64 ":%s@%s/%s", choices[i].cookie,
                               technique_name(choices[i].technique), number(choices[i].latency, a),
                               technique_name(choices[i].otherwise));
    assert_true(at < sizeof line);
    decided(all, "%s", line);
}

/* Techniques of few cycles and instructions, saves that fill the port, or all as they were drawn. */
static void scale(victim_case *c, uint64_t number) {
    static const uint32_t latencies[] = {7, 1500, 6000}, overheads[] = {4, 1000, 60};
    for (uint32_t i = 0; i < c->sm.count; i++)
        for (uint32_t t = 0; t < GPUMP_TECHNIQUE_OWN; t++) {
            if (c->estimates[i].latency[t] != GPUMP_UNKNOWN) c->estimates[i].latency[t] %= latencies[number % 3];
            if (c->estimates[i].overhead[t] != GPUMP_UNKNOWN) c->estimates[i].overhead[t] %= overheads[number % 3];
            c->blocks[i].cycles = 37 * i + number;
        }
    if (number % 3 == 0) c->request.limit_cycles %= 20;
    if (number % 11 == 0) c->request.limit_cycles = GPUMP_UNKNOWN;
    if (number % 2) c->request.flags = 0;
    for (uint32_t i = 0; number % 4 == 1 && i < c->sm.count; i++) { /* little but saves, and no time for all of them */
        if (i != number % 8) c->blocks[i].may &= 1u << GPUMP_TECHNIQUE_SWITCH | 1u << GPUMP_TECHNIQUE_REWIND;
        if (number % 13 == 0 && c->blocks[i].may) {
            c->blocks[i].may = 1u << GPUMP_TECHNIQUE_SWITCH | 1u << GPUMP_TECHNIQUE_REWIND;
            c->estimates[i].latency[GPUMP_TECHNIQUE_REWIND] = c->estimates[i].latency[GPUMP_TECHNIQUE_SWITCH];
        }
        c->request.limit_cycles %= 2000;
    }
    if (number % 5 == 0) c->request.late_price = 1 + (uint32_t)(number % 40);
    c->request.now = number % 7 ? 0 : c->request.limit_cycles / 8;
}

/* Small numbers: blocks often cost the same, many are just in time or just not, and few saves fit before the limit. */
static void tighten(victim_case *c, uint64_t number, uint64_t *random) {
    c->request.limit_cycles = 6 + gpump_random_below(random, 20);
    c->request.late_price = number % 3 ? 0 : 1 + gpump_random_below(random, 6);
    if (number % 4 == 0) c->request.flags = 0;
    for (uint32_t i = 0; i < c->sm.count; i++) {
        uint64_t *latency = c->estimates[i].latency;
        for (uint32_t t = 0; t < GPUMP_TECHNIQUE_OWN; t++) {
            if (latency[t] != GPUMP_UNKNOWN) latency[t] %= 12;
            if (c->estimates[i].overhead[t] != GPUMP_UNKNOWN) c->estimates[i].overhead[t] %= 7;
        }
        if (gpump_random_below(random, 3) == 0 && latency[GPUMP_TECHNIQUE_DRAIN] != GPUMP_UNKNOWN)
            latency[GPUMP_TECHNIQUE_DRAIN] = c->request.limit_cycles + gpump_random_below(random, 3) - 1;
        if (gpump_random_below(random, 4) == 0)
            latency[GPUMP_TECHNIQUE_SWITCH] = c->request.limit_cycles - gpump_random_below(random, 4);
        c->blocks[i].cycles = gpump_random_below(random, 40);
    }
    c->request.now = number % 5 ? 0 : gpump_random_below(random, 6);
}

/* 1200 cases, each asked three times: who leaves, who leaves when the SM is emptied, and what becomes of those that are
 * draining when the deadline is near. */
static void decide_cases(decisions *all, const gpump_victim_policy *policy) {
    uint64_t random = 1;
    for (uint64_t n = 0; n < 1200; n++) {
        victim_case c;
        gpump_victim_place places[64];
        gpump_block_choice choices[64];
        gpump_victim_decision d;
        gpump_result result;
        if (!victim_case_make(&c, &random, 8, (uint32_t)(n * 37 % VICTIM_KINDS))) continue;
        if (n < 900)
            scale(&c, n);
        else
            tighten(&c, n, &random);
        result = victim_decide(policy, &c.request, &c.geometry, &c.sm, 1, NULL, 0, places, 64, choices, 64, &d, NULL);
        note(all, n, "decide", result, &d, places, choices);
        result = victim_ask(GPUMP_VICTIM_ASK_VACATE, policy, &c.request, &c.sm, 1, choices, 64, &d, NULL);
        note(all, n, "vacate", result, &d, NULL, choices);
        for (uint32_t i = 0; i < c.sm.count; i++)
            if (c.blocks[i].state == GPUMP_BLOCK_RUNNING) c.blocks[i].state = GPUMP_BLOCK_DRAINING;
        c.request.now = c.request.limit_cycles - c.request.limit_cycles / (1 + n % 40);
        result = victim_ask(GPUMP_VICTIM_ASK_AGAIN, policy, &c.request, &c.sm, 1, choices, 64, &d, NULL);
        note(all, n, "reconsider", result, &d, NULL, choices);
    }
}

/* A history in which blocks differ in length and CPI, so that the sources of the CPI differ, too. */
static void draw_history(gpump_cost_history *history, uint64_t *random) {
    const uint32_t blocks = gpump_random_below(random, 12);
    memset(history, 0, sizeof *history);
    for (uint32_t i = 0; i < blocks; i++) {
        const uint32_t instructions = 500 + gpump_random_below(random, 4000);
        gpump_cost_history_record(history, instructions, (uint64_t)instructions * (2 + gpump_random_below(random, 30)));
    }
}

/* What each block of 100 SMs would cost by each technique, as this policy has it estimated. */
static void estimate_cases(decisions *all, const gpump_victim_policy *policy) {
    uint64_t random = 2;
    for (uint64_t n = 0; n < 100; n++) {
        victim_case c;
        gpump_cost_history histories[3];
        gpump_cost_rewind rewind[64];
        gpump_cost_estimate estimates[64];
        const gpump_cost_options options = policy->cost;
        gpump_result result;
        for (uint32_t i = 0; i < 3; i++) draw_history(&histories[i], &random);
        if (!victim_case_make(&c, &random, 8, (uint32_t)(n * 37 % VICTIM_KINDS))) continue;
        for (uint32_t i = 0; i < c.sm.count; i++) {
            c.blocks[i].executed = gpump_random_below(&random, 4000);
            c.blocks[i].cycles = c.blocks[i].executed * (1 + gpump_random_below(&random, 30));
            c.blocks[i].context_bytes = 4u * c.blocks[i].registers + c.blocks[i].shared_bytes;
            c.blocks[i].function = 1 + gpump_random_below(&random, 3);
            rewind[i].bytes = gpump_random_below(&random, 20000);
            rewind[i].executed = gpump_random_below(&random, 200);
        }
        result = estimate_blocks(&c.gpu, histories, 3, c.blocks, c.sm.count, rewind, &options, estimates, NULL);
        if (result) decided(all, "SM %" PRIu64 ": %s", n, gpump_result_name(result));
        for (uint32_t i = 0; !result && i < c.sm.count; i++) {
            char line[512], a[24], b[24];
            size_t at = (size_t)snprintf(line, sizeof line, "SM %" PRIu64 " block %" PRIu32 ":", n, i);
            for (uint32_t t = 0; t < GPUMP_TECHNIQUE_OWN; t++)
                at += (size_t)snprintf(line + at, sizeof line - at, " %s %s/%s", technique_name(t),
                                       number(estimates[i].latency[t], a), number(estimates[i].overhead[t], b));
            decided(all, "%s", line);
        }
    }
}

/* The decisions and estimates of each victim policy stay as written down in tests/victim/decisions. */
static void every_policy_decides_as_written_down(void **state) {
    const gpump_victim_policy *policy;
    int changed = 0;
    (void)state;
    for (uint32_t p = 0; (policy = gpump_victim_policy_at(p)) != NULL; p++) {
        decisions all = decisions_begin(45);
        char name[128];
        decide_cases(&all, policy);
        decisions_keep(&all, 25);
        estimate_cases(&all, policy);
        snprintf(name, sizeof name, "tests/victim/decisions/%s.txt", policy->name);
        changed |= decisions_differ(&all, name);
    }
    assert_false(changed);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_policy_decides_as_written_down)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
