/* labels: equivalence slow link: minigpu_core */
/* The fourth technique: warps go back to the start of their idempotent region, what is live there is saved, and the
 * block goes on from there on another SM. At any cycle, with sparse and with short regions, the result is that of the
 * undisturbed run; blocks that have clobbered, and may not be flushed, rewind too; and nobody waits for what is in
 * flight. */
#include "test.h"

#include "analysis/analysis.h"
#include "minigpu/moment.h"
#include "tools/check.h"
#include "preemption/context_forms.h"
#include "preemption/preemption.h"
#include "parts/victims/victims.h"

#define INTRUDER 1u

/* What came of a try. */
typedef struct outcome {
    uint32_t wrong, done, clobbered;
    uint64_t latency, wasted, bytes;
} outcome;

static outcome leave_and_run_on(machine *m, const launch_file *launch, uint64_t n, uint32_t technique,
                                uint64_t expected) {
    outcome o;
    uint32_t i;
    sm *s = NULL;
    memset(&o, 0, sizeof o);
    for (i = 0; i < m->sm_count && !s; i++) {
        if (m->sms[(n + i) % m->sm_count]->kernel_resident[0]) s = m->sms[(n + i) % m->sm_count];
    }
    if (!s) return o;
    for (i = 0; i < BLOCK_ENTRIES_MAX; i++) {
        if (s->block_of_entry[i] == NONE) continue;
        o.clobbered |= gpump_sm_may(s->gpump, m->blocks[s->block_of_entry[i]].ref, GPUMP_TECHNIQUE_FLUSH) ==
                       GPUMP_REASON_CLOBBERED;
    }
    m->technique = technique;
    o.wrong = preemption_request(m, s, technique, INTRUDER + 1, 1) != GPUMP_REASON_YES;
    m->kernels[INTRUDER].only_reserved = 1;
    m->kernels[INTRUDER].arrival_cycle = m->now;
    if (machine_run(m, NEVER) != 1) {
        fprintf(stderr, "%s\n", m->error);
        o.wrong = 1;
        return o;
    }
    o.wrong |= machine_result_hash(m, launch) != expected || m->kernels[0].resumed_elsewhere != m->kernels[0].resumed;
    o.done = m->preemption_count != 0;
    o.latency = o.done ? m->preemptions[0].end_cycle - m->preemptions[0].request_cycle : 0;
    o.wasted = o.done ? m->preemptions[0].wasted_warp_instructions : 0;
    o.bytes = o.done ? m->preemptions[0].bytes_saved : 0;
    return o;
}

/* Tries it from where the machine stands, which is where it stands again afterwards. */
static outcome try_here(machine *m, const launch_file *launch, uint64_t n, uint32_t technique, uint64_t expected) {
    static moment here;
    outcome o;
    moment_keep(&here, m);
    o = leave_and_run_on(m, launch, n, technique, expected);
    moment_return(&here, m);
    return o;
}

static void rewind_anywhere(const char *name, uint32_t regions, int clobbers) {
    char path[512], error[LAUNCH_ERROR_BYTES];
    machine_options options;
    launch_file launch;
    machine *m = NULL;
    void *start;
    uint64_t expected, end, cycle, step, n = 0, rewinds = 0, clobbered = 0, latency[2] = {0, 0}, wasted = 0,
                                         bytes[2] = {0, 0};
    kernel_check checks[4];
    machine_options_default(&options);
    options.regions = regions;
    options.context_form = CONTEXT_LIVE;
    snprintf(path, sizeof path, "%s/tests/minigpu/preempt/%s.yaml", GPUMP_SOURCE_DIR, name);
    if (launch_file_read(&launch, path, error) || !(m = machine_build(&launch, &options, error))) fail_msg("%s", error);
    start = arena_checkpoint(&m->arena);
    assert_int_equal(machine_run(m, NEVER), 1);
    assert_int_equal(check_results(m, &launch, checks), 0);
    expected = machine_result_hash(m, &launch);
    end = m->kernels[0].end_cycle;
    arena_restore(&m->arena, start);
    free(start);
    step = end / test_cases(100) + 1;
    for (cycle = 0; cycle < end; cycle += step, n++) {
        outcome rewound, switched;
        if (machine_run(m, cycle) != 0) break;
        rewound = try_here(m, &launch, n, GPUMP_TECHNIQUE_REWIND, expected);
        if (rewound.wrong)
            fail_msg("%s, regions %u, cycle %llu: a rewind goes wrong", name, regions, (unsigned long long)cycle);
        switched = try_here(m, &launch, n, GPUMP_TECHNIQUE_SWITCH, expected);
        if (switched.wrong)
            fail_msg("%s, regions %u, cycle %llu: a switch goes wrong", name, regions, (unsigned long long)cycle);
        if (!rewound.done || !switched.done) continue;
        rewinds++;
        clobbered += rewound.clobbered;
        latency[0] += rewound.latency;
        latency[1] += switched.latency;
        bytes[0] += rewound.bytes;
        bytes[1] += switched.bytes;
        wasted += rewound.wasted;
    }
    assert_true(rewinds > 0);
    printf("%s, regions %s: %llu rewinds right, %llu of them after a clobber; latency %llu cycles (switch %llu), %llu "
           "bytes "
           "(switch %llu), %llu warp instructions given up\n",
           name, regions == REGIONS_SPARSE ? "sparse" : "short", (unsigned long long)rewinds,
           (unsigned long long)clobbered, (unsigned long long)(latency[0] / rewinds),
           (unsigned long long)(latency[1] / rewinds), (unsigned long long)(bytes[0] / rewinds),
           (unsigned long long)(bytes[1] / rewinds), (unsigned long long)(wasted / rewinds));
    assert_true(wasted > 0);
    assert_true(latency[0] < latency[1]);
    assert_true(!clobbers || clobbered > 0);
    machine_free(m);
    launch_file_free(&launch);
}

static void both(const char *name, int clobbers) {
    rewind_anywhere(name, REGIONS_SPARSE, clobbers);
    rewind_anywhere(name, 16, clobbers);
}
/* Rewound at any cycle, at both kinds of regions, memory ends as undisturbed: saxpy. */
static void test_saxpy(void **state) {
    (void)state;
    both("saxpy", 1);
}
/* Likewise pathfinder, whose blocks meet at barriers. */
static void test_pathfinder(void **state) {
    (void)state;
    both("pathfinder", 0);
}
/* Likewise hotspot, which overwrites what it reads. */
static void test_hotspot(void **state) {
    (void)state;
    both("hotspot", 0);
}
/* Likewise a layer of backprop. */
static void test_backprop(void **state) {
    (void)state;
    both("backprop_layer_forward", 1);
}
/* Likewise bfs, whose warps part. */
static void test_bfs(void **state) {
    (void)state;
    both("bfs_1", 1);
}
/* Likewise a kernel with all kinds of state. */
static void test_everything(void **state) {
    (void)state;
    both("everything", 0);
}

/* The policy named rewind, and every other one, on a machine with regions: techniques mix. */
static void test_policies(void **state) {
    static const char *const names[] = {"saxpy", "bfs_1", "backprop_layer_forward"};
    uint32_t f, i;
    uint64_t rewinds = 0;
    (void)state;
    for (f = 0; f < 3; f++) {
        char path[512], error[LAUNCH_ERROR_BYTES];
        const gpump_victim_policy *policy;
        machine_options options;
        launch_file launch;
        machine *m = NULL;
        void *start;
        uint64_t expected, end, n;
        machine_options_default(&options);
        options.regions = REGIONS_SPARSE;
        options.context_form = CONTEXT_LIVE;
        options.policy = gpump_victim_find("rewind");
        assert_non_null(options.policy);
        snprintf(path, sizeof path, "%s/tests/minigpu/preempt/%s.yaml", GPUMP_SOURCE_DIR, names[f]);
        if (launch_file_read(&launch, path, error)) fail_msg("%s", error);
        launch.sms = 1; /* one SM, and blocks that take a third of it each: somebody has to go */
        launch.kernels[0].override_registers = launch.kernels[INTRUDER].override_registers = 10000;
        if (!(m = machine_build(&launch, &options, error))) fail_msg("%s", error);
        start = arena_checkpoint(&m->arena);
        assert_non_null(start);
        assert_int_equal(machine_run(m, NEVER), 1);
        expected = machine_result_hash(m, &launch);
        end = m->kernels[0].end_cycle;
        for (n = 0; n < test_cases(10); n++) {
            for (i = 0; (policy = gpump_victim_policy_at(i)); i++) {
                uint32_t k;
                arena_restore(&m->arena, start);
                m->policy = policy;
                m->limit_cycles = 300 * (n % 4);
                assert_true(machine_run(m, end * (n + 1) / (test_cases(10) + 2)) == 0);
                m->kernels[INTRUDER].arrival_cycle = m->now;
                if (machine_run(m, NEVER) != 1) fail_msg("%s, policy %s: %s", names[f], policy->name, m->error);
                if (machine_result_hash(m, &launch) != expected)
                    fail_msg("%s, policy %s, case %llu: another result", names[f], policy->name, (unsigned long long)n);
                for (k = 0; k < victims_of(m)->requests[INTRUDER].count; k++)
                    rewinds += victims_of(m)->requests[INTRUDER].entries[k].technique == GPUMP_TECHNIQUE_REWIND;
            }
        }
        free(start);
        machine_free(m);
        launch_file_free(&launch);
    }
    printf("%llu blocks left by rewind\n", (unsigned long long)rewinds);
    assert_true(rewinds > 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_saxpy),    cmocka_unit_test(test_pathfinder), cmocka_unit_test(test_hotspot),
        cmocka_unit_test(test_backprop), cmocka_unit_test(test_bfs),        cmocka_unit_test(test_everything),
        cmocka_unit_test(test_policies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
