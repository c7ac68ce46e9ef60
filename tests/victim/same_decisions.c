/* labels: unit golden */
/* What every built-in policy decides in 900 random cases, as one number each. Where a policy is a heuristic nothing but
 * its own past says what is right: a change of decisions has to be meant, and is written down here and in CHANGELOG. */
#include "victim/victim_ask.h"
#include "victim/victim_cases.h"

static uint64_t hash_of(uint64_t hash, gpump_result result, const gpump_victim_decision *d,
                        const gpump_victim_place *places, const gpump_block_choice *choices) {
    hash = gpump_hash_u64(hash, (uint64_t)(int64_t)result);
    if (result) return hash;
    hash = gpump_hash_u64(gpump_hash_u64(hash, d->latency), d->overhead);
    hash = gpump_hash_u64(gpump_hash_u64(hash, d->ask_again), d->late);
    hash = gpump_hash_u64(gpump_hash_u64(hash, d->missing), (uint64_t)d->reason);
    hash = gpump_hash_u64(gpump_hash_u64(hash, d->places), d->sms);
    for (uint32_t i = 0; places && i < d->places; i++) {
        hash = gpump_hash_u64(gpump_hash_u64(hash, places[i].latency), places[i].position);
        hash = gpump_hash_u64(gpump_hash_u64(hash, places[i].victims), places[i].late);
    }
    for (uint32_t i = 0; i < d->choices; i++) {
        hash = gpump_hash_u64(gpump_hash_u64(hash, choices[i].cookie), choices[i].latency);
        hash = gpump_hash_u64(gpump_hash_u64(hash, choices[i].technique), choices[i].otherwise);
    }
    return hash;
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

static void decisions(void **state) {
    static const uint64_t expected[] = {
        UINT64_C(0x6768071b241f2702), UINT64_C(0x959194ccadef17af), UINT64_C(0x959194ccadef17af),
        UINT64_C(0x38b818eb4c8fe1cc), UINT64_C(0xd2292763c5abe1e2), UINT64_C(0x4b870ba98b25e240),
        UINT64_C(0xb38437aeb6a7fd4b), UINT64_C(0x6768071b241f2702), UINT64_C(0x5c59f67988aadbc6),
        UINT64_C(0x96fcb73e45c44e0c), UINT64_C(0xb3895986c073cc18), UINT64_C(0x6768071b241f2702),
    };
    const gpump_victim_policy *policy;
    int changed = 0;
    (void)state;
    for (uint32_t p = 0; (policy = gpump_victim_policy_at(p)) != NULL; p++) {
        uint64_t hash = GPUMP_HASH_SEED, random = 1;
        for (uint64_t number = 0; number < 900; number++) {
            victim_case c;
            gpump_victim_place places[64];
            gpump_block_choice choices[64];
            gpump_victim_decision d;
            gpump_result result;
            if (!victim_case_make(&c, &random, 8, (uint32_t)(number * 37 % VICTIM_KINDS))) continue;
            scale(&c, number);
            result =
                victim_decide(policy, &c.request, &c.geometry, &c.sm, 1, NULL, 0, places, 64, choices, 64, &d, NULL);
            hash = hash_of(hash, result, &d, places, choices);
            result = victim_ask(gpump_victim_vacate, policy, &c.request, &c.sm, 1, choices, 64, &d, NULL);
            hash = hash_of(hash, result, &d, NULL, choices);
            for (uint32_t i = 0; i < c.sm.count; i++)
                if (c.blocks[i].state == GPUMP_BLOCK_RUNNING) c.blocks[i].state = GPUMP_BLOCK_DRAINING;
            c.request.now = c.request.limit_cycles - c.request.limit_cycles / (1 + number % 40);
            result = victim_ask(gpump_victim_reconsider, policy, &c.request, &c.sm, 1, choices, 64, &d, NULL);
            hash = hash_of(hash, result, &d, NULL, choices);
        }
        if (hash != expected[p]) {
            printf("%s: UINT64_C(0x%016llx)\n", policy->name, (unsigned long long)hash);
            changed = 1;
        }
    }
    assert_false(changed); /* the numbers that it prints are those of today's decisions */
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(decisions)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
