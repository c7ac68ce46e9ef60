/* labels: unit property link: minigpu_core */
/* A group as one command of the scheduler beside a third kernel, a kernel that changes its class while it runs, and the
 * stack that explains a slowdown. */
#include "test.h"

#include <inttypes.h>
#include <math.h>

#include "parts/corun/corun.h"
#include "machine/machine.h"
#include "parts/fault_switch/fault_switch.h"
#include "parts/schedule/schedule_facts.h"
#include "parts/schedule/schedule_group.h"
#include "tools/check.h"
#include "tools/corun_explain.h"

static machine *build(launch_file *launch, const char *path, const machine_options *options) {
    char error[LAUNCH_ERROR_BYTES], full[512];
    machine *m = NULL;
    snprintf(full, sizeof full, "%s/examples/minigpu/launches/%s", GPUMP_SOURCE_DIR, path);
    if (launch_file_read(launch, full, error) || !(m = machine_build(launch, options, error))) fail_msg("%s", error);
    return m;
}

/* What has been seen of a group of kernels 0 and 1 beside kernel 2. */
typedef struct sights {
    uint32_t together, taken, beside;
} sights;

static void look(const machine *m, sights *seen) {
    uint32_t i, k, group = 0, third = 0;
    for (i = 0; i < m->sm_count; i++) {
        const sm *s = m->sms[i];
        const uint32_t members = s->kernel_resident[0] + s->kernel_resident[1];
        for (k = 0; k < 2; k++) {
            if (corun_of(m)->member_of[k] == NONE) continue;
            assert_true(s->kernel_resident[k] <=
                        gpumpi_sharing_cell_of(corun_of(m)->sharing, i, corun_of(m)->member_of[k])->cap);
        }
        assert_true(!members || !s->kernel_resident[2]); /* an SM is the group's, or it is not */
        assert_true(!members || schedule_of(m)->leases[i].is_held);
        seen->together += s->kernel_resident[0] && s->kernel_resident[1];
        seen->taken += s->kernel_resident[2] && m->preemption_count;
        group += members != 0;
        third += s->kernel_resident[2] != 0;
    }
    seen->beside += group && third;
    assert_int_equal(gpump_check(&gpump_scheduler_component, schedule_of(m)->scheduler, NULL), GPUMP_OK);
}

/* Two kernels are one command under dss and ppq, whose SMs are taken for a third one by switching and by draining. All
 * results are those of the kernels alone. */
static void group_is_one_command(void **state) {
    static const char *const schedules[] = {"dss", "ppq", "dss"};
    static const uint32_t mechanisms[] = {GPUMP_TECHNIQUE_SWITCH, GPUMP_TECHNIQUE_SWITCH, GPUMP_TECHNIQUE_DRAIN};
    uint32_t i;
    (void)state;
    for (i = 0; i < 3; i++) {
        machine_options options;
        launch_file launch;
        kernel_check checks[3];
        gpump_scheduler_statistics statistics;
        sights seen = {0, 0, 0};
        machine *m;
        int ended = 0;
        machine_options_default(&options);
        options.schedule = schedules[i];
        options.vacate = mechanisms[i];
        options.sharing.policy = gpump_partition_find("even");
        options.sharing.group = 2;
        options.sharing.unsampled = 1;
        m = build(&launch, "group_third.yaml", &options);
        while (!ended) {
            if ((ended = machine_run(m, m->now + 300)) < 0) fail_msg("%s: %s", schedules[i], m->error);
            look(m, &seen);
        }
        gpump_get_statistics(&gpump_scheduler_component, schedule_of(m)->scheduler, &statistics);
        assert_int_equal(statistics.submitted, 2); /* the group is one, pathfinder the other */
        assert_int_equal(statistics.kernels_done, 2);
        assert_true(seen.together > 0);
        if (i != 1) assert_true(seen.beside > 0); /* dss divides the SMs, ppq gives all to the highest priority */
        assert_true(seen.taken > 0);
        memset(checks, 0, sizeof checks);
        assert_int_equal(check_results(m, &launch, checks), 0);
        for (uint32_t k = 0; k < 3; k++) assert_int_equal(checks[k].result, CHECK_RIGHT);
        machine_free(m);
        launch_file_free(&launch);
    }
}

/* A group under a scheduler measures its kernels while it holds all SMs: a third kernel that takes SMs in the middle of
 * the sample makes it begin anew, so no decision rests on an SM that was not the group's. */
static void a_group_measures_on_its_own_sms(void **state) {
    static const char *const policies[] = {"even", "ccbp", "ws+dai"};
    uint32_t i, k;
    (void)state;
    for (i = 0; i < 3; i++) {
        machine_options options;
        launch_file launch;
        kernel_check checks[3];
        uint64_t held_since = 0, taken = 0, first_sample = NEVER;
        machine *m;
        machine_options_default(&options);
        options.schedule = "ppq";
        options.sharing.policy = gpump_partition_find(policies[i]);
        options.sharing.group = 2;
        m = build(&launch, "../../../tests/minigpu/combinations/three.yaml", &options);
        launch.processes[0].repeat = launch.processes[1].repeat = 3;
        m->kernels[2].arrival_cycle = NEVER;
        while (!corun_of(m)->sharing->decisions) {
            const uint64_t sample_cycles = corun_of(m)->sharing->config.sample_cycles;
            if (machine_run(m, m->now + 100)) fail_msg("%s: ended at cycle %" PRIu64, policies[i], m->now);
            if (first_sample == NEVER && gpump_sharing_state_now(corun_of(m)->sharing) == GPUMP_SHARING_SAMPLE) {
                first_sample = m->now;
                m->kernels[2].arrival_cycle = m->now + sample_cycles / 2;
            }
            for (k = 0; k < m->sm_count; k++)
                if (!schedule_group_holds(m, k)) held_since = m->now, taken += first_sample != NEVER;
            if (corun_of(m)->sharing->decisions) assert_true(m->now >= held_since + sample_cycles);
        }
        assert_true(taken > 0 && held_since > first_sample);
        if (machine_run(m, NEVER) != 1) fail_msg("%s: %s", policies[i], m->error);
        memset(checks, 0, sizeof checks);
        assert_int_equal(check_results(m, &launch, checks), 0);
        for (k = 0; k < 3; k++) assert_int_equal(checks[k].result, CHECK_RIGHT);
        machine_free(m);
        launch_file_free(&launch);
    }
}

/* A group of no kernel, or of more than there are. */
static void wrong_group(void **state) {
    char error[LAUNCH_ERROR_BYTES], full[512];
    machine_options options;
    launch_file launch;
    (void)state;
    machine_options_default(&options);
    options.schedule = "dss";
    options.sharing.policy = gpump_partition_find("even");
    options.sharing.group = 4;
    snprintf(full, sizeof full, "%s/examples/minigpu/launches/group_third.yaml", GPUMP_SOURCE_DIR);
    assert_int_equal(launch_file_read(&launch, full, error), 0);
    assert_null(machine_build(&launch, &options, error));
    assert_non_null(strstr(error, "--group 4"));
    launch_file_free(&launch);
}

/* Windows see that a network-intensive kernel only computes from its second round on; without them nobody does. */
static void classes_change(void **state) {
    uint32_t i;
    (void)state;
    for (i = 0; i < 2; i++) {
        machine_options options;
        launch_file launch;
        gpump_partition_share share;
        uint32_t kinds[2], other;
        machine *m;
        machine_options_default(&options);
        options.sharing.policy = gpump_partition_find("ccbp");
        options.sharing.window_cycles = i ? 5000 : 0;
        m = build(&launch, "corun_phases.yaml", &options);
        m->stop_cycle = i ? 500000 : 260000;
        while (corun_of(m)->sharing->decisions < 1 ||
               gpump_sharing_state_now(corun_of(m)->sharing) != GPUMP_SHARING_RUN)
            assert_int_equal(machine_run(m, m->now + 1000), 0);
        assert_int_equal(m->kernels[0].iteration, 0);
        assert_int_equal(gpump_sharing_share(corun_of(m)->sharing, corun_of(m)->member_of[0], &share, &kinds[0]),
                         GPUMP_OK);
        assert_int_equal(kinds[0], GPUMP_PARTITION_NETWORK);
        while (machine_run(m, m->now + 1000) == 0 && corun_of(m)->sharing->decisions < 2) {}
        assert_false(m->failed);
        assert_int_equal(corun_of(m)->sharing->decisions, 1 + i);
        assert_int_equal(corun_of(m)->class_changes, i);
        if (i) {
            while (gpump_sharing_state_now(corun_of(m)->sharing) != GPUMP_SHARING_RUN)
                assert_int_equal(machine_run(m, m->now + 1000), 0);
            assert_int_equal(m->kernels[0].iteration, 1);
            other = corun_of(m)->member_of[0];
            assert_int_equal(gpump_sharing_share(corun_of(m)->sharing, other, &share, &kinds[1]), GPUMP_OK);
            assert_int_equal(kinds[1], GPUMP_PARTITION_LATENCY);
        }
        machine_free(m);
        launch_file_free(&launch);
    }
}

/* ---- the stack ---- */

static gpump_traffic traffic(uint64_t cycles, uint64_t issued, uint64_t requests, const uint64_t *in_flight) {
    gpump_traffic t;
    memset(&t, 0, sizeof t);
    t.cycles = cycles;
    t.issued = issued;
    t.up_requests = requests;
    memcpy(t.in_flight_cycles, in_flight, sizeof t.in_flight_cycles);
    return t;
}
static void near(double is, double should) { assert_true(fabs(is - should) < 1e-9); }

/* By hand: latencies of 20, 40, 20 and 20 cycles become 10 each, half a request for an instruction four tenths, and
 * five requests at once four; the kernel alone needs 4 cycles for an instruction. */
static void stack_by_hand(void **state) {
    const uint64_t together[GPUMP_METER_HOPS] = {1000, 3000, 1000, 1000},
                   held[GPUMP_METER_HOPS] = {800, 1600, 800, 800};
    gpump_gpu gpu;
    corun_outcome outcome;
    corun_stack stack;
    double sum = 1;
    uint32_t i;
    (void)state;
    assert_int_equal(gpump_preset(&gpump_gpu_component, &gpu, "maxwell_ccbp", NULL), GPUMP_OK);
    memset(&outcome, 0, sizeof outcome);
    outcome.shares[0].limits = gpump_rate_limits_none();
    outcome.traffic[0] = traffic(1000, 100, 50, together);
    outcome.held[0] = traffic(1000, 200, 80, held);
    corun_explain(&outcome, 0, 1, 0.25, &gpu, &stack);
    near(stack.slowdown, 2.5);
    near(stack.held, 1.25);
    near(stack.parts[CORUN_PART_SHARE], 0.25);
    near(stack.parts[CORUN_PART_UP], 0.5 * 10 / 5 * 0.25);
    near(stack.parts[CORUN_PART_L2], 0.5 * 30 / 5 * 0.25);
    near(stack.parts[CORUN_PART_DRAM], 0.5 * 10 / 5 * 0.25);
    near(stack.parts[CORUN_PART_DOWN], 0.5 * 10 / 5 * 0.25);
    near(stack.parts[CORUN_PART_L1], 0.1 * 40 / 3.2 * 0.25);
    near(stack.parts[CORUN_PART_ISSUE], 0.5 * 40 * (1 / 5.0 - 1 / 3.2) * 0.25);
    for (i = 0; i < CORUN_PARTS; i++) sum += stack.parts[i];
    near(sum, stack.slowdown);
    outcome.shares[0].limits.misses_q16 = GPUMP_RATE_MISS / 2;
    outcome.shares[0].sms = 16;
    corun_explain(&outcome, 0, 1, 0.25, &gpu, &stack); /* 16 SMs let 8 misses pass in 200 cycles: 16 instructions */
    near(stack.estimated, 200 / 16.0 * 0.25);
    memset(&outcome.traffic[0].in_flight_cycles, 0, sizeof outcome.traffic[0].in_flight_cycles);
    corun_explain(&outcome, 0, 1, 0.25, &gpu, &stack); /* nothing leaves L1: only its turn to issue is left */
    near(stack.parts[CORUN_PART_ISSUE], 1.25);
    near(stack.parts[CORUN_PART_UP], 0);
}

/* Of a run: in the copy nobody else issues, the machine that was copied goes on as without, and stacks sum up. */
static void stack_of_a_run(void **state) {
    corun_experiment e;
    corun_outcome outcomes[2];
    launch_file launch;
    gpump_gpu gpu;
    char error[LAUNCH_ERROR_BYTES], full[512];
    const double alone[2] = {1, 1};
    uint32_t i, k, part;
    (void)state;
    snprintf(full, sizeof full, "%s/examples/minigpu/launches/corun_backprop_cfd.yaml", GPUMP_SOURCE_DIR);
    if (launch_file_read(&launch, full, error)) fail_msg("%s", error);
    memset(&e, 0, sizeof e);
    machine_options_default(&e.options);
    e.options.sharing.unsampled = 1;
    e.launch = &launch;
    e.cycles = e.warm = 6000;
    for (i = 0; i < 2; i++) {
        e.explain = (int)i;
        assert_int_equal(corun_together(&e, gpump_partition_find("even"), alone, &outcomes[i]), 0);
    }
    assert_memory_equal(outcomes[0].traffic, outcomes[1].traffic, sizeof outcomes[0].traffic);
    assert_int_equal(gpump_preset(&gpump_gpu_component, &gpu, "maxwell_ccbp", NULL), GPUMP_OK);
    for (k = 0; k < 2; k++) {
        corun_stack stack;
        double sum = 1;
        corun_explain(&outcomes[1], k, 2, alone[k], &gpu, &stack);
        for (part = 0; part < CORUN_PARTS; part++) sum += stack.parts[part];
        near(sum / stack.slowdown, 1);
        near(stack.slowdown, (double)e.cycles / (double)outcomes[1].traffic[k].issued);
        near(stack.held, (double)e.cycles / (double)outcomes[1].held[k].issued);
        assert_true(stack.estimated > 0 && stack.estimated <= stack.slowdown * (1 + 1e-9));
    }
    assert_true(outcomes[1].held[0].issued > outcomes[1].traffic[0].issued);
    launch_file_free(&launch);
}

/* Blocks of a group that wait for pages leave, as they do without a scheduler. */
static void blocks_of_a_group_leave_on_faults(void **state) {
    machine_options options;
    launch_file launch;
    uint64_t outs = 0;
    machine *m;
    (void)state;
    machine_options_default(&options);
    options.absent = options.faults.absent = "all";
    options.faults.scheme = "log16";
    options.faults.link = "nvlink";
    options.faults.extra = 4;
    options.schedule = "ppq";
    options.sharing.policy = gpump_partition_find("even");
    options.sharing.group = 2;
    options.sharing.unsampled = 1;
    m = build(&launch, "hotspot_pathfinder.yaml", &options);
    while (!outs && machine_run(m, m->now + 1000) == 0) {
        uint32_t i;
        for (i = 0; i < m->sm_count; i++) outs += fault_switch_of(m->sms[i])->off_chip;
    }
    assert_true(outs > 0);
    machine_free(m);
    launch_file_free(&launch);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(group_is_one_command),
        cmocka_unit_test(a_group_measures_on_its_own_sms),
        cmocka_unit_test(blocks_of_a_group_leave_on_faults),
        cmocka_unit_test(wrong_group),
        cmocka_unit_test(classes_change),
        cmocka_unit_test(stack_by_hand),
        cmocka_unit_test(stack_of_a_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
