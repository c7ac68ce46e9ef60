/* labels: unit golden */
/* What every built-in policy does with random kernels of four processes, as one number each, in three machines: one
 * kernel per SM, two, and turns that are short. A change of decisions has to be meant, and is written down here and in
 * CHANGELOG. */
#include "test.h"

enum { SMS = 5, SLOTS = 4, PROCESSES = 4, STEPS = 1500 };

typedef struct machine {
    gpump_scheduler *scheduler;
    gpump_block_ref block[SMS][SLOTS]; /* generation 0: nobody is there */
    uint32_t leaving[SMS];
    uint64_t now, random, hash;
} machine;

static uint32_t below(machine *m, uint32_t limit) { return gpump_random_below(&m->random, limit); }

static void carry_out(machine *m, const gpump_scheduler_policy *policy) {
    gpump_scheduler_action a;
    while (gpump_scheduler_next(m->scheduler, policy, m->now, &a) == GPUMP_OK) {
        m->hash = gpump_hash_u64(gpump_hash_u64(gpump_hash_u64(m->hash, m->now), a.kind), a.sm);
        m->hash = gpump_hash_u64(gpump_hash_u64(m->hash, a.queue), a.index);
        if (a.kind == GPUMP_SCHEDULER_SETUP) (void)gpump_scheduler_report_ready(m->scheduler, m->now, a.sm);
        if (a.kind == GPUMP_SCHEDULER_PREEMPT) m->leaving[a.sm] = a.technique != GPUMP_TECHNIQUE_DRAIN;
        if (a.kind == GPUMP_SCHEDULER_ISSUE) m->block[a.sm][a.block.slot] = a.block;
    }
    assert_int_equal(gpump_check(&gpump_scheduler_component, m->scheduler, NULL), GPUMP_OK);
}

/* Blocks end, leave, or go on; SMs that are being vacated may have room for the next kernel. */
static void let_run(machine *m) {
    for (uint32_t sm = 0; sm < SMS; sm++) {
        for (uint32_t slot = 0; slot < SLOTS; slot++) {
            gpump_block_ref *b = &m->block[sm][slot];
            const uint32_t luck = below(m, 6);
            if (!b->generation || luck > 2) continue;
            if (luck ? m->leaving[sm] && !gpump_scheduler_report_preempted(m->scheduler, m->now, sm, *b, luck)
                     : !gpump_scheduler_report_finished(m->scheduler, m->now, sm, *b))
                b->generation = 0;
        }
        if (!below(m, 4)) (void)gpump_scheduler_report_room(m->scheduler, m->now, sm, 1 + below(m, SLOTS));
    }
    for (uint32_t kernel = 1; kernel <= 4; kernel++)
        if (!below(m, 8)) (void)gpump_scheduler_report_running(m->scheduler, m->now, kernel, below(m, 20), 40);
}

static uint64_t life(const gpump_scheduler_policy *policy, uint32_t kind) {
    static uint64_t memory[1 << 15];
    gpump_scheduler_config config;
    gpump_scheduler_statistics statistics;
    uint32_t rows[PROCESSES];
    machine m;
    memset(&m, 0, sizeof m);
    m.random = 1 + kind;
    m.hash = GPUMP_HASH_SEED;
    assert_int_equal(gpump_preset(&gpump_scheduler_component, &config, "k20c", NULL), GPUMP_OK);
    config.sms = SMS;
    config.blocks_per_sm = SLOTS;
    config.processes = 6;
    config.active_kernels = 4;
    config.saved_blocks = 8;
    config.kernels_per_sm = kind == 1 ? 2 : 1;
    config.decision_cycles = kind;
    config.slice_cycles = kind == 2 ? 30 : 400;
    config.lend_cycles = 60;
    assert_int_equal(gpump_init(&gpump_scheduler_component, memory, sizeof memory, &config, &m.scheduler, NULL),
                     GPUMP_OK);
    for (uint32_t p = 0; p < PROCESSES; p++) {
        gpump_scheduler_process process;
        memset(&process, 0, sizeof process);
        process.cookie = p;
        process.priority = p % 3;
        process.weight = 1 + p;
        assert_int_equal(gpump_scheduler_open(m.scheduler, 0, &process, &rows[p], NULL), GPUMP_OK);
    }
    for (uint32_t step = 0; step < STEPS; step++) {
        m.now += below(&m, 40);
        if (!below(&m, 5)) {
            gpump_scheduler_command command;
            memset(&command, 0, sizeof command);
            command.cookie = step;
            command.blocks = 1 + below(&m, 60);
            command.process = rows[below(&m, PROCESSES)];
            command.blocks_per_sm = 1 + below(&m, SLOTS);
            command.saved_limit = below(&m, 8);
            (void)gpump_scheduler_submit(m.scheduler, m.now, command.process + 4 * below(&m, 2), &command, NULL);
        }
        if (!below(&m, 40)) {
            const uint32_t row = rows[below(&m, PROCESSES)], priority = below(&m, 4), weight = below(&m, 6);
            (void)gpump_scheduler_set_priority(m.scheduler, m.now, row, priority, weight);
        }
        let_run(&m);
        carry_out(&m, policy);
        if (gpump_scheduler_next_cycle(m.scheduler) != GPUMP_UNKNOWN)
            m.hash = gpump_hash_u64(m.hash, gpump_scheduler_next_cycle(m.scheduler));
    }
    gpump_get_statistics(&gpump_scheduler_component, m.scheduler, &statistics);
    assert_true(statistics.policy_runs > 100 && statistics.policy_runs < 100 * STEPS);
    return gpump_hash_u64(m.hash, gpump_hash(&gpump_scheduler_component, m.scheduler));
}

static void decisions(void **state) {
    static const uint64_t expected[][3] = {
        {UINT64_C(0x756aad8513e6305f), UINT64_C(0x400d0aaf6a648e14), UINT64_C(0x17a7da3cb6ea1768)},
        {UINT64_C(0x97f42181f7805471), UINT64_C(0x80ae32ca745a194e), UINT64_C(0xf8a9c15bb9a4d2f0)},
        {UINT64_C(0x175ba803aae08f62), UINT64_C(0xc4937ae08d90fb70), UINT64_C(0x2bc74c8b9f32c465)},
        {UINT64_C(0x765c13c1e66e1af3), UINT64_C(0x122bca1d6c2ea4ff), UINT64_C(0xd8f3d926b038a216)},
        {UINT64_C(0x809858da6127a738), UINT64_C(0x2defeffc5dafdbf1), UINT64_C(0xfa2dcaa9b13726de)},
        {UINT64_C(0x1d28d66ebfdfced6), UINT64_C(0x57f677f187cdc0b2), UINT64_C(0xd21fa901230ac8b4)},
        {UINT64_C(0xe75394515cfec9cc), UINT64_C(0x71b19eb33ef6f730), UINT64_C(0x9bf01795f272c392)},
        {UINT64_C(0x62edfbff82dcfaf5), UINT64_C(0xa95ad529b1a774b6), UINT64_C(0x7144de6476dc42bf)},
        {UINT64_C(0xde14b511b8c3fcd7), UINT64_C(0xe6953999fd85805a), UINT64_C(0xa264602d99fad3cf)},
    };
    const gpump_scheduler_policy *policy;
    int changed = 0;
    (void)state;
    for (uint32_t p = 0; (policy = gpump_scheduler_policy_at(p)) != NULL; p++)
        for (uint32_t kind = 0; kind < 3; kind++) {
            const uint64_t hash = life(policy, kind);
            if (hash == expected[p][kind]) continue;
            printf("%s, machine %u: UINT64_C(0x%016llx)\n", policy->name, kind, (unsigned long long)hash);
            changed = 1;
        }
    assert_false(changed); /* the numbers that it prints are those of today's decisions */
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(decisions)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
