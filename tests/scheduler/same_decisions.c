/* labels: unit golden */
/* What every built-in policy does with random kernels of four processes, in tests/scheduler/decisions, in three
 * machines: one kernel per SM, two, and turns that are short. At the end of each stand all counters, and a hash of the
 * states on the way. A change of decisions has to be meant, and is written down there (GPUMP_DECISIONS=write,
 * tests/decisions.h) and in CHANGELOG. */
#include "decisions.h"

enum { SMS = 5, SLOTS = 4, PROCESSES = 4, STEPS = 1500 };

typedef struct machine {
    gpump_scheduler *scheduler;
    gpump_block_ref block[SMS][SLOTS]; /* generation 0: nobody is there */
    uint32_t leaving[SMS];
    uint64_t now, random;
    decisions *all;
} machine;

static uint32_t below(machine *m, uint32_t limit) { return gpump_random_below(&m->random, limit); }

/* One line: which action, of which kernel, where. */
static void note(machine *m, const gpump_scheduler_action *a) {
    static const char *const kinds[] = {"?", "start", "done", "preempt", "set up", "issue", "kill"};
    const gpump_technique *technique = a->kind == GPUMP_SCHEDULER_PREEMPT ? gpump_technique_at(a->technique) : NULL;
    char where[16] = "";
    if (a->sm != GPUMP_NONE) snprintf(where, sizeof where, " SM %" PRIu32, a->sm);
    decided(m->all, "%" PRIu64 " %s%s kernel %" PRIu32 " queue %" PRIu32 " block %" PRIu64 "%s%s%s", m->now,
            kinds[a->kind], where, a->kernel, a->queue, a->index, a->saved ? " saved" : "", technique ? " by " : "",
            technique ? technique->name : "");
}

static void carry_out(machine *m, const gpump_scheduler_policy *policy) {
    gpump_scheduler_action a;
    while (gpump_scheduler_next(m->scheduler, policy, m->now, &a) == GPUMP_OK) {
        note(m, &a);
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

/* Every counter by its name. */
static void note_statistics(const gpump_scheduler *scheduler, decisions *all) {
    gpump_scheduler_statistics statistics;
    const char *name;
    uint64_t value;
    decisions_keep(all, 40);
    assert_int_equal(gpump_get_statistics(&gpump_scheduler_component, scheduler, &statistics), GPUMP_OK);
    for (uint32_t i = 0; !gpump_statistics_field(&gpump_scheduler_component, &statistics, i, &name, NULL, NULL, &value);
         i++)
        decided(all, "  %s %" PRIu64, name, value);
    assert_true(statistics.policy_runs > 100 && statistics.policy_runs < 100 * STEPS);
}

static void life(const gpump_scheduler_policy *policy, uint32_t kind, decisions *all) {
    static uint64_t memory[1 << 15];
    gpump_scheduler_config config;
    uint64_t states = GPUMP_HASH_SEED;
    uint32_t rows[PROCESSES];
    machine m;
    memset(&m, 0, sizeof m);
    m.random = 1 + kind;
    m.all = all;
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
        if (gpump_next_cycle(&gpump_scheduler_component, m.scheduler) != GPUMP_UNKNOWN)
            decided(all, "%" PRIu64 " next at %" PRIu64, m.now,
                    gpump_next_cycle(&gpump_scheduler_component, m.scheduler));
        states = gpump_hash_u64(states, gpump_hash(&gpump_scheduler_component, m.scheduler));
    }
    note_statistics(m.scheduler, all);
    decided(all, "  states 0x%016" PRIx64, states);
}

/* The decisions of each scheduling policy stay as written down in tests/scheduler/decisions. */
static void every_policy_decides_as_written_down(void **state) {
    static const char *const machines[] = {"one kernel per SM", "two kernels per SM", "short turns"};
    const gpump_scheduler_policy *policy;
    int changed = 0;
    (void)state;
    for (uint32_t p = 0; (policy = gpump_scheduler_policy_at(p)) != NULL; p++) {
        decisions all = decisions_begin(0);
        char name[128];
        for (uint32_t kind = 0; kind < 3; kind++) {
            decisions_keep(&all, 40);
            decided(&all, "%s", machines[kind]);
            life(policy, kind, &all);
        }
        snprintf(name, sizeof name, "tests/scheduler/decisions/%s.txt", policy->name);
        changed |= decisions_differ(&all, name);
    }
    assert_false(changed);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_policy_decides_as_written_down)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
