/* labels: unit property link: minigpu_core */
/* Kernels that share SMs under a partition policy: results as alone, a group of one changes no cycle, and a byte copy
 * taken in the middle goes on the same way. */
#include "rate_statistics.h"
#include "test.h"

#include "parts/corun/corun.h"
#include "machine/machine.h"
#include "tools/check.h"
#include "tools/report.h"

static machine *build_with(launch_file *launch, const char *path, const gpump_partition_policy *policy,
                           const char *config) {
    machine_options options;
    char error[LAUNCH_ERROR_BYTES], full[512];
    machine *m = NULL;
    machine_options_default(&options);
    options.sharing.policy = policy;
    options.config = config;
    snprintf(full, sizeof full, "%s/%s", GPUMP_SOURCE_DIR, path);
    if (launch_file_read(launch, full, error) || !(m = machine_build(launch, &options, error))) fail_msg("%s", error);
    return m;
}
static machine *build(launch_file *launch, const char *path, const char *policy, const char *config) {
    return build_with(launch, path, policy ? gpump_partition_find(policy) : NULL, config);
}

/* A group of one has all blocks and no limits: the same cycles as without a group. */
static void a_group_of_one_costs_no_cycle(void **state) {
    static const char path[] = "examples/minigpu/kernels/backprop_layer_forward/small.yaml";
    uint64_t cycles[2], hash[2];
    uint32_t i;
    (void)state;
    for (i = 0; i < 2; i++) {
        launch_file launch;
        machine *m = build(&launch, path, i ? "ccbp" : NULL, "memory_model=1");
        assert_int_equal(machine_run(m, NEVER), 1);
        cycles[i] = m->kernels[0].end_cycle;
        hash[i] = machine_result_hash(m, &launch);
        machine_free(m);
        launch_file_free(&launch);
    }
    assert_int_equal(cycles[0], cycles[1]);
    assert_int_equal(hash[0], hash[1]);
}

/* Under each policy the group measures, decides and runs; nobody has more blocks than its cap then; every first run is
 * right. */
static void results_hold(void **state) {
    static const char *const names[] = {"ccbp", "smk", "spatial", "ws+dai"};
    uint32_t p;
    (void)state;
    for (p = 0; p < sizeof names / sizeof *names; p++) {
        const char *name = names[p];
        launch_file launch;
        kernel_check checks[2];
        machine *m = build(&launch, "examples/minigpu/launches/corun_backprop_cfd.yaml", name, NULL);
        uint32_t i, sm;
        memset(checks, 0, sizeof checks);
        m->stop_cycle = 130000;
        assert_int_equal(machine_run(m, NEVER), 1);
        assert_int_equal(gpump_sharing_state_now(corun_of(m)->sharing), GPUMP_SHARING_RUN);
        assert_int_equal(corun_of(m)->sharing->decisions, 1);
        assert_int_equal(gpump_check(&gpump_sharing_component, corun_of(m)->sharing, NULL), GPUMP_OK);
        for (i = 0; i < 2; i++) {
            gpump_partition_share share;
            uint32_t kind, member = corun_of(m)->member_of[i];
            assert_int_equal(gpump_sharing_share(corun_of(m)->sharing, member, &share, &kind), GPUMP_OK);
            for (sm = 0; sm < m->sm_count; sm++) {
                assert_true(m->sms[sm]->kernel_resident[i] <= share.blocks);
                assert_int_equal(gpump_check(&gpump_rate_component, corun_rate(m->sms[sm]), NULL), GPUMP_OK);
            }
        }
        if (check_results(m, &launch, checks) != 0)
            fail_msg("%s: %s", name, checks[0].result == CHECK_WRONG ? checks[0].text : checks[1].text);
        machine_free(m);
        launch_file_free(&launch);
    }
}

/* In a window of the decided state the misses that pass an SM's gate are at most rate x (refills + 1) + 1. */
static void rates_bind(void **state) {
    launch_file launch;
    machine *m = build(&launch, "examples/minigpu/launches/corun_backprop_cfd.yaml", "ccbp", NULL);
    gpump_rate_statistics before[16], after;
    gpump_partition_share share;
    uint32_t sm, kind, member;
    int bound = 0;
    (void)state;
    m->stop_cycle = 200000;
    assert_int_equal(machine_run(m, 130000), 0);
    member = corun_of(m)->member_of[1];
    assert_int_equal(gpump_sharing_share(corun_of(m)->sharing, member, &share, &kind), GPUMP_OK);
    assert_int_equal(kind, GPUMP_PARTITION_NETWORK);
    assert_true(share.limits.misses_q16 < GPUMP_RATE_NO_LIMIT);
    for (sm = 0; sm < 16; sm++)
        assert_int_equal(rate_statistics(corun_rate(m->sms[sm]), member, &before[sm]), GPUMP_OK);
    assert_int_equal(machine_run(m, 150000), 0);
    for (sm = 0; sm < 16; sm++) {
        uint64_t passed;
        assert_int_equal(rate_statistics(corun_rate(m->sms[sm]), member, &after), GPUMP_OK);
        passed = after.misses - before[sm].misses;
        assert_true(passed << 16 <= (uint64_t)share.limits.misses_q16 * (20000 / 200 + 2) + GPUMP_RATE_MISS);
        bound |= passed << 16 >= (uint64_t)share.limits.misses_q16 * (20000 / 200) * 8 / 10;
    }
    assert_true(bound); /* somewhere the gate was what held the kernel back */
    machine_free(m);
    launch_file_free(&launch);
}

/* ---- the gates of ws+dai ---- */

static gpump_rate_limits own_limits[2];
static void decide_limits(const gpump_partition_args *args, gpump_partition_share *shares) {
    uint32_t k;
    for (k = 0; k < args->request->count; k++) {
        shares[k].blocks = 3;
        shares[k].limits = own_limits[k];
    }
}
static const gpump_partition_policy own_policy = {0, "own", "Three blocks each, and limits of the test.", NULL,
                                                  decide_limits};

/* Backprop and CFD under own_limits, when the decision holds. */
static machine *build_decided_on(launch_file *launch, const char *config) {
    machine *m = build_with(launch, "examples/minigpu/launches/corun_backprop_cfd.yaml", &own_policy, config);
    m->stop_cycle = 200000;
    do assert_int_equal(machine_run(m, m->now + 1000), 0);
    while (gpump_sharing_state_now(corun_of(m)->sharing) != GPUMP_SHARING_RUN);
    return m;
}

static machine *build_decided(launch_file *launch) { return build_decided_on(launch, NULL); }

/* A kernel issues at most its quota in each epoch, early ones included, and is held back by that. */
static void quotas_bind(void **state) {
    launch_file launch;
    gpump_rate_statistics before, after;
    machine *m;
    uint64_t epochs, issued;
    (void)state;
    own_limits[0] = own_limits[1] = gpump_rate_limits_none();
    own_limits[1].instructions = 200;
    m = build_decided(&launch);
    rate_statistics(corun_rate(m->sms[0]), corun_of(m)->member_of[1], &before);
    assert_int_equal(machine_run(m, m->now + 10000), 0);
    rate_statistics(corun_rate(m->sms[0]), corun_of(m)->member_of[1], &after);
    epochs = after.epochs - before.epochs + 1;
    issued = after.instructions - before.instructions;
    assert_true(issued <= 200 * epochs + m->config.gpu.schedulers * epochs); /* several may issue in the last cycle */
    assert_true(issued > 0);
    assert_true(epochs > 1);
    machine_free(m);
    launch_file_free(&launch);
}

/* No more memory instructions of a kernel are in flight than its limit allows, the limit is reached, and when the
 * kernel's records are gone the counter is back at 0. */
static void limits_in_flight_bind(void **state) {
    launch_file launch;
    machine *m;
    uint32_t sm, reached = 0, member, step;
    (void)state;
    own_limits[0] = own_limits[1] = gpump_rate_limits_none();
    own_limits[1].in_flight = 3;
    m = build_decided(&launch);
    member = corun_of(m)->member_of[1];
    assert_int_equal(machine_run(m, m->now + 3000), 0);
    for (step = 0; step < 10; step++) {
        assert_int_equal(machine_run(m, m->now + 200), 0);
        for (sm = 0; sm < m->sm_count; sm++) {
            const uint32_t in_flight = gpumpi_rate_kernel_of(corun_rate(m->sms[sm]), member)->in_flight;
            uint32_t records = 0, i;
            for (i = 0; i < m->config.in_flight_records; i++)
                records +=
                    m->sms[sm]->records[i].stage != RECORD_FREE && sm_corun_of(m->sms[sm])->limited[i] == member + 1;
            assert_int_equal(in_flight, records);
            assert_true(in_flight <= 3);
            reached |= in_flight == 3;
        }
    }
    assert_true(reached);
    machine_free(m);
    launch_file_free(&launch);
}

/* Adds up the memory instructions of both kernels on all SMs. */
static void count_issued(const machine *m, uint64_t issued[2]) {
    gpump_rate_statistics one;
    uint32_t sm, k;
    for (sm = 0; sm < m->sm_count; sm++)
        for (k = 0; k < 2; k++) {
            rate_statistics(corun_rate(m->sms[sm]), k, &one);
            issued[k] += one.memory_instructions;
        }
}

/* Memory instructions of the first kernel, in thousandths of all in a window, with these quotas. */
static uint64_t part_of_first(uint32_t first, uint32_t second) {
    launch_file launch;
    machine *m;
    uint64_t before[2] = {0, 0}, after[2] = {0, 0};
    own_limits[0] = own_limits[1] = gpump_rate_limits_none();
    own_limits[0].memory_quota = first;
    own_limits[1].memory_quota = second;
    m = build_decided_on(&launch, "dram_idle_cycles=0");
    count_issued(m, before);
    assert_int_equal(machine_run(m, m->now + 40000), 0);
    count_issued(m, after);
    machine_free(m);
    launch_file_free(&launch);
    return (after[0] - before[0]) * 1000 / (after[0] - before[0] + after[1] - before[1]);
}

/* The kernel with the larger quota goes first. The order shows where DRAM is not the bottleneck. */
static void the_kernel_with_the_larger_quota_goes_first(void **state) {
    (void)state;
    assert_true(part_of_first(255, 1) > part_of_first(1, 255));
}

/* ---- divided SMs and memory ---- */

static uint32_t own_memory, second_has_blocks;
static void decide_slices(const gpump_partition_args *args, gpump_partition_share *shares) {
    uint32_t k;
    for (k = 0; k < args->request->count; k++) {
        shares[k].blocks = k && !second_has_blocks ? 0 : args->request->kernels[k].blocks;
        shares[k].first_sm = 8 * k;
        shares[k].sms = 8;
        shares[k].first_memory = own_memory * k;
        shares[k].memory = own_memory;
    }
}
static const gpump_partition_policy slices_policy = {0, "slices", "Eight SMs each, and eighths of memory.", NULL,
                                                     decide_slices};

/* Warp instructions of the first kernel in a window, beside a second one with all its blocks, or none. */
static uint64_t beside(uint32_t memory, uint32_t has_blocks) {
    launch_file launch;
    machine *m;
    gpump_traffic before, after;
    own_memory = memory;
    second_has_blocks = has_blocks;
    m = build_with(&launch, "examples/minigpu/launches/corun_backprop_cfd.yaml", &slices_policy, NULL);
    m->stop_cycle = 250000;
    do assert_int_equal(machine_run(m, m->now + 1000), 0);
    while (gpump_sharing_state_now(corun_of(m)->sharing) != GPUMP_SHARING_RUN);
    assert_int_equal(machine_run(m, m->now + 20000), 0);
    report_traffic(m, 1, &before);
    assert_int_equal(machine_run(m, m->now + 30000), 0);
    report_traffic(m, 1, &after);
    machine_free(m);
    launch_file_free(&launch);
    return after.issued - before.issued;
}

/* With SMs, L2 and DRAM of its own, a kernel does not notice its neighbour; with SMs alone it does. */
static void slices_isolate(void **state) {
    const uint64_t alone = beside(4, 0), isolated = beside(4, 1), open_alone = beside(0, 0), open = beside(0, 1);
    (void)state;
    assert_true(isolated * 100 > alone * 90 && isolated * 90 < alone * 100); /* waves of blocks end elsewhere */
    assert_true(open * 100 < open_alone * 70);
}

/* A byte copy in the middle of sampling, and another in the decided state. */
static void copies_go_on(void **state) {
    launch_file launch;
    machine *m = build(&launch, "examples/minigpu/launches/corun_backprop_cfd.yaml", "ccbp", NULL);
    static const uint64_t at[] = {25000, 60000};
    uint32_t i;
    (void)state;
    for (i = 0; i < 2; i++) {
        void *copy;
        uint64_t hash;
        assert_int_equal(machine_run(m, at[i]), 0);
        copy = arena_checkpoint(&m->arena);
        assert_int_equal(machine_run(m, at[i] + 15000), 0);
        hash = machine_hash(m);
        arena_restore(&m->arena, copy);
        free(copy);
        assert_int_equal(machine_run(m, at[i] + 15000), 0);
        assert_int_equal(machine_hash(m), hash);
    }
    machine_free(m);
    launch_file_free(&launch);
}

/* A division is of the queued memory: a GPU whose preset has the other model gets it, and need not be told. */
static void sharing_brings_its_memory_model(void **state) {
    machine_options options;
    launch_file launch;
    char error[LAUNCH_ERROR_BYTES];
    machine *m;
    (void)state;
    machine_options_default(&options);
    options.sharing.policy = gpump_partition_find("even");
    options.gpu = "gtx480_shieh";
    assert_int_equal(
        launch_file_read(&launch, GPUMP_SOURCE_DIR "/examples/minigpu/launches/corun_backprop_cfd.yaml", error), 0);
    m = machine_build(&launch, &options, error);
    assert_non_null(m);
    assert_int_equal(m->config.memory_model, 1);
    machine_free(m);
    launch_file_free(&launch);
}

/* A division of SMs that the machine or the launch cannot have is refused before the run. */
static void sharing_refuses_what_cannot_be_shared(void **state) {
    machine_options options;
    launch_file launch;
    char error[LAUNCH_ERROR_BYTES];
    (void)state;
    machine_options_default(&options);
    options.sharing.policy = gpump_partition_find("ccbp");
    assert_int_equal(
        launch_file_read(&launch, GPUMP_SOURCE_DIR "/examples/minigpu/launches/corun_backprop_cfd.yaml", error), 0);
    options.config = "memory_model=0";
    assert_null(machine_build(&launch, &options, error));
    assert_non_null(strstr(error, "leave memory_model 0 away"));
    launch_file_free(&launch);
    assert_int_equal(launch_file_read(&launch, GPUMP_SOURCE_DIR "/examples/minigpu/launches/gaussian.yaml", error), 0);
    options.config = "memory_model=1";
    assert_null(machine_build(&launch, &options, error));
    assert_non_null(strstr(error, "--partition"));
    launch_file_free(&launch);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_group_of_one_costs_no_cycle),
        cmocka_unit_test(results_hold),
        cmocka_unit_test(rates_bind),
        cmocka_unit_test(quotas_bind),
        cmocka_unit_test(limits_in_flight_bind),
        cmocka_unit_test(the_kernel_with_the_larger_quota_goes_first),
        cmocka_unit_test(slices_isolate),
        cmocka_unit_test(copies_go_on),
        cmocka_unit_test(sharing_brings_its_memory_model),
        cmocka_unit_test(sharing_refuses_what_cannot_be_shared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
