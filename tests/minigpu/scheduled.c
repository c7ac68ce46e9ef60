/* labels: equivalence link: minigpu_core */
/* The scheduler that tbsim drives, unchanged, drives the mini-GPU: several PTX processes under every policy and
 * mechanism. Whatever gets which SM when, results are those of the undisturbed run, bit for bit, and each kernel's own
 * reference agrees. */
#include "test.h"

#include "tools/check.h"
#include "machine/machine.h"

static const char *const policies[] = {"fcfs", "npq", "ppq", "ppq_shared", "dss", "equal", "weighted", "time_slice"};
static const char *const mechanisms[] = {"switch", "drain", "select"};
static const uint32_t techniques[] = {GPUMP_TECHNIQUE_SWITCH, GPUMP_TECHNIQUE_DRAIN, GPUMP_TECHNIQUE_SELECT};

static machine *build(launch_file *launch, const char *path, const machine_options *options) {
    char error[LAUNCH_ERROR_BYTES];
    machine *m;
    if (launch_file_read(launch, path, error)) fail_msg("%s", error);
    m = machine_build(launch, options, error);
    if (!m) fail_msg("%s", error);
    return m;
}

static uint64_t run(machine *m, const launch_file *launch, const char *what) {
    if (machine_run(m, NEVER) != 1) fail_msg("%s: %s", what, m->error);
    return machine_result_hash(m, launch);
}

static uint64_t alone(const char *path) {
    machine_options options;
    launch_file launch;
    kernel_check checks[8];
    uint64_t hash;
    machine *m;
    machine_options_default(&options);
    m = build(&launch, path, &options);
    hash = run(m, &launch, path);
    assert_int_equal(check_results(m, &launch, checks), 0);
    machine_free(m);
    launch_file_free(&launch);
    return hash;
}

/* Three processes give the results of a run alone under every scheduling policy and technique. */
static void three_processes_under_every_policy(void **state) {
    static const char *const files[] = {GPUMP_SOURCE_DIR "/tests/minigpu/schedule/three.yaml"};
    (void)state;
    for (size_t f = 0; f < sizeof files / sizeof *files; f++) {
        uint64_t expected = alone(files[f]);
        for (uint32_t p = 0; p < sizeof policies / sizeof *policies; p++)
            for (uint32_t mechanism = 0; mechanism < 3; mechanism++) {
                machine_options options;
                launch_file launch;
                kernel_check checks[8];
                machine *m;
                char what[100];
                snprintf(what, sizeof what, "%s by %s", policies[p], mechanisms[mechanism]);
                machine_options_default(&options);
                options.schedule = policies[p];
                options.vacate = techniques[mechanism];
                options.slice_ns = 3000;
                m = build(&launch, files[f], &options);
                if (run(m, &launch, what) != expected) fail_msg("%s: another result", what);
                assert_int_equal(check_results(m, &launch, checks), 0);
                if (p == 2 || p == 5) assert_true(m->preemption_count > 0); /* ppq and equal sharing do preempt here */
                machine_free(m);
                launch_file_free(&launch);
            }
    }
}

/* Turns that are shorter than saving and restoring a block: everybody gets to the end, with the right result. */
static void short_turns_get_somewhere(void **state) {
    static const char path[] = GPUMP_SOURCE_DIR "/tests/minigpu/schedule/three.yaml";
    static const uint64_t turns_ns[] = {1, 50};
    uint64_t expected = alone(path);
    (void)state;
    for (size_t i = 0; i < sizeof turns_ns / sizeof *turns_ns; i++) {
        machine_options options;
        launch_file launch;
        machine *m;
        machine_options_default(&options);
        options.schedule = "time_slice";
        options.slice_ns = turns_ns[i];
        m = build(&launch, path, &options);
        assert_true(run(m, &launch, "short turns") == expected);
        assert_true(m->preemption_count > 20); /* turns did end in time */
        machine_free(m);
        launch_file_free(&launch);
    }
}

/* A kernel of another process arrives at any cycle of the first one's run. */
static void arrive_anywhere(const char *name) {
    static const char *const used[] = {"ppq", "equal"};
    uint64_t expected, end = 0, preempted = 0, resumed = 0, steps = test_cases(30);
    char path[300];
    snprintf(path, sizeof path, "%s/tests/minigpu/preempt/%s.yaml", GPUMP_SOURCE_DIR, name);
    expected = alone(path);
    for (uint32_t p = 0; p < 2; p++)
        for (uint32_t mechanism = 0; mechanism < 3; mechanism++) {
            machine_options options;
            launch_file launch;
            void *start;
            machine *m;
            machine_options_default(&options);
            options.schedule = used[p];
            options.vacate = techniques[mechanism];
            m = build(&launch, path, &options);
            m->kernels[0].block_cap = m->kernels[1].block_cap =
                1; /* few blocks fill the machine, so the second has to take SMs away */
            start = arena_checkpoint(&m->arena);
            assert_non_null(start);
            if (!end) {
                run(m, &launch, name);
                end = m->kernels[0].end_cycle;
                arena_restore(&m->arena, start);
            }
            for (uint64_t i = 0; i < steps; i++) {
                m->kernels[1].arrival_cycle = end * i / steps;
                if (run(m, &launch, name) != expected)
                    fail_msg("%s, %s by %s: another result when the second kernel comes at cycle %llu", name, used[p],
                             mechanisms[mechanism], (unsigned long long)(end * i / steps));
                preempted += m->preemption_count;
                resumed += m->kernels[0].resumed;
                arena_restore(&m->arena, start);
            }
            free(start);
            machine_free(m);
            launch_file_free(&launch);
        }
    assert_true(preempted > steps && resumed > steps); /* it was preempted, and its blocks came back */
}

/* A kernel of all kinds of state arrives at any cycle, under every policy: all kernels end right. */
static void arrive_anywhere_everything(void **state) { (void)state, arrive_anywhere("everything"); }
/* Likewise pathfinder, whose blocks meet at barriers. */
static void arrive_anywhere_pathfinder(void **state) { (void)state, arrive_anywhere("pathfinder"); }
/* Likewise a layer of backprop. */
static void arrive_anywhere_backprop(void **state) { (void)state, arrive_anywhere("backprop_layer_forward"); }

/* Both ways of stepping, and a copy of the whole machine, give the same run. */
static void the_same_in_every_way(void **state) {
    uint64_t hash[3];
    (void)state;
    for (uint32_t way = 0; way < 3; way++) {
        machine_options options;
        launch_file launch;
        machine *m;
        machine_options_default(&options);
        options.schedule = "equal";
        options.skip_idle = way != 1;
        m = build(&launch, GPUMP_SOURCE_DIR "/tests/minigpu/schedule/three.yaml", &options);
        if (way == 2) { /* go on from a checkpoint in the middle */
            void *middle;
            assert_int_equal(machine_run(m, 5000), 0);
            middle = arena_checkpoint(&m->arena);
            run(m, &launch, "first time");
            arena_restore(&m->arena, middle);
            free(middle);
        }
        run(m, &launch, "equal");
        hash[way] = machine_hash(m);
        machine_free(m);
        launch_file_free(&launch);
    }
    assert_true(hash[0] == hash[2]);
    assert_true(hash[0] == hash[1]);
}

/* Runs three.yaml under a policy with changes of priorities. Returns the cycle in which the second process begins;
 * *vacated: blocks that left. */
static uint64_t second_begins(const char *policy, const char *changes, uint64_t *vacated, uint64_t *ends) {
    static const char path[] = GPUMP_SOURCE_DIR "/tests/minigpu/schedule/three.yaml";
    machine_options options;
    launch_file launch;
    kernel_check checks[8];
    uint64_t begins;
    machine *m;
    machine_options_default(&options);
    options.schedule = policy;
    options.priority_at = changes;
    m = build(&launch, path, &options);
    run(m, &launch, changes ? changes : policy);
    assert_int_equal(check_results(m, &launch, checks), 0);
    begins = m->kernels[2].start_cycle;
    *ends = m->kernels[2].end_cycle;
    *vacated = m->preemption_count;
    machine_free(m);
    launch_file_free(&launch);
    return begins;
}

/* --priority-at: the scheduler follows priorities and weights that change, by name or number, in the order of cycles.
 */
static void priorities_change_while_processes_run(void **state) {
    uint64_t vacated, ends, changed, at_first, with_weight;
    const uint64_t begins = second_begins("ppq", NULL, &vacated, &ends);
    (void)state;
    assert_true(begins < 9000 && vacated > 0);
    assert_true(second_begins("ppq", "0:first:9", &vacated, &ends) > begins);
    assert_int_equal(vacated, 0); /* nobody is more urgent than the first */
    changed = second_begins("ppq", "9000:1:5,1:second:0:7,1:2:0", &vacated, &ends);
    assert_true(changed >= 9000 && changed < 16000); /* at once, and not when an SM is idle */
    assert_true(vacated > 0);                        /* since cycle 9000 */

    second_begins("weighted", NULL, &vacated, &at_first);
    second_begins("weighted", "0:first:0", &vacated, &ends); /* keeps the weight of the launch file */
    assert_int_equal(ends, at_first);
    second_begins("weighted", "0:first:0:1", &vacated, &ends);
    assert_true(ends < at_first);
    second_begins("weighted", "0:second:0:30", &vacated, &with_weight);
    assert_true(with_weight < at_first); /* more SMs */
}

/* What --priority-at cannot mean is refused with a sentence. */
static void wrong_changes_are_refused(void **state) {
    static const char *const wrong[] = {"",
                                        "5",
                                        "5:0",
                                        "5:0:",
                                        "5::1",
                                        ":0:1",
                                        "x:0:1",
                                        "5:3:1",
                                        "5:0:1:2:3",
                                        "5:0:1,",
                                        "5:0:-1",
                                        "5:0:1:1048577",
                                        "5:0:4294967296",
                                        "5:nobody:1",
                                        "18446744073709551615:0:1"};
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char error[LAUNCH_ERROR_BYTES] = "";
        machine_options options;
        launch_file launch;
        machine_options_default(&options);
        options.schedule = "ppq";
        options.priority_at = wrong[i];
        if (launch_file_read(&launch, GPUMP_SOURCE_DIR "/tests/minigpu/schedule/three.yaml", error))
            fail_msg("%s", error);
        if (machine_build(&launch, &options, error)) fail_msg("\"%s\" is taken", wrong[i]);
        assert_non_null(strstr(error, "--priority-at"));
        launch_file_free(&launch);
    }
}

/* A kernel may end while the next action waits for a parked block; the process's next kernel is submitted afterwards.
 */
static void kernels_follow_while_an_action_is_late(void **state) {
    static const char file[] = GPUMP_SOURCE_DIR "/tests/minigpu/option_sets/overwrites_symbols.yaml";
    uint64_t expected;
    (void)state;
    expected = alone(file);
    for (uint32_t p = 0; p < sizeof policies / sizeof *policies; p++) {
        machine_options options;
        launch_file launch;
        machine *m;
        machine_options_default(&options);
        options.schedule = policies[p];
        options.in_place = 1;
        m = build(&launch, file, &options);
        if (run(m, &launch, policies[p]) != expected) fail_msg("%s: another result", policies[p]);
        machine_free(m);
        launch_file_free(&launch);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(three_processes_under_every_policy),
        cmocka_unit_test(short_turns_get_somewhere),
        cmocka_unit_test(arrive_anywhere_everything),
        cmocka_unit_test(arrive_anywhere_pathfinder),
        cmocka_unit_test(arrive_anywhere_backprop),
        cmocka_unit_test(the_same_in_every_way),
        cmocka_unit_test(priorities_change_while_processes_run),
        cmocka_unit_test(wrong_changes_are_refused),
        cmocka_unit_test(kernels_follow_while_an_action_is_late),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
