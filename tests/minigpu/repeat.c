/* labels: equivalence unit link: minigpu_core */
/* Processes that repeat: each run begins on the first contents of the buffers and comes to the first one's result, the
 * first is what is checked, and a run that is stopped says who had not ended. In both models of the memory; a copy of
 * the machine goes on alike. */
#include "test.h"

#include <unistd.h>

#include "machine/machine.h"
#include "tools/check.h"

#define SAXPY                                                                                    \
    "      - ptx: " GPUMP_SOURCE_DIR "/examples/minigpu/kernels/saxpy/saxpy.ptx\n"               \
    "        kernel: saxpy\n        grid: [3, 1, 1]\n        block: [64, 1, 1]\n"                \
    "        arguments:\n"                                                                       \
    "          - scalar: {type: u32, value: 150}\n          - scalar: {type: f32, value: 2.5}\n" \
    "          - buffer: {type: f32, count: 150, random: {seed: 1, low: -1.0, high: 1.0}}\n"     \
    "          - buffer: {type: f32, count: 150, random: {seed: 2, low: -1.0, high: 1.0}}\n"     \
    "        expect: {reference: saxpy}\n"

static machine *build(launch_file *launch, uint32_t repeat, uint32_t beside, uint64_t stop_at, const char *config) {
    char path[] = "/tmp/repeat_XXXXXX", error[LAUNCH_ERROR_BYTES];
    FILE *file = fdopen(mkstemp(path), "w");
    machine_options options;
    machine *m;
    int failed;
    assert_non_null(file);
    fputs("machine: {sms: 2, kernels_per_sm: 2", file);
    if (stop_at) fprintf(file, ", stop_at: %llu", (unsigned long long)stop_at);
    fprintf(file, "}\nprocesses:\n  - name: one\n    repeat: %u\n    kernels:\n" SAXPY, repeat);
    if (beside) fprintf(file, "  - name: other\n    repeat: %u\n    kernels:\n" SAXPY, beside);
    fclose(file);
    failed = launch_file_read(launch, path, error);
    unlink(path);
    if (failed) fail_msg("%s", error);
    machine_options_default(&options);
    options.config = config;
    if (!(m = machine_build(launch, &options, error))) fail_msg("%s", error);
    return m;
}

static const char *const models[] = {"memory_model=0", "memory_model=1"};

/* saxpy adds to its output, so a run on the results of another would come to something else. */
static void test_every_run_is_the_first(void **state) {
    uint32_t i, repeat;
    (void)state;
    for (i = 0; i < 2; i++) {
        uint64_t result = 0, instructions = 0;
        for (repeat = 1; repeat <= 4; repeat++) {
            launch_file launch;
            kernel_check check;
            machine *m = build(&launch, repeat, 0, 0, models[i]);
            assert_int_equal(machine_run(m, NEVER), 1);
            assert_int_equal(check_results(m, &launch, &check), 0);
            assert_int_equal(check.result, CHECK_RIGHT);
            assert_int_equal(m->runs[0].ended, repeat);
            assert_int_equal(m->runs[0].last_end_cycle, m->now);
            if (repeat == 1) {
                result = machine_result_hash(m, &launch);
                instructions = m->kernels[0].warp_instructions;
                assert_int_equal(m->runs[0].first_end_cycle, m->now);
            }
            assert_true(machine_result_hash(m, &launch) == result);
            assert_int_equal(m->kernels[0].warp_instructions, repeat * instructions);
            machine_free(m);
            launch_file_free(&launch);
        }
    }
}

/* What is checked is the first run, even when the second has been stopped in its middle; and the check can fail. */
static void test_the_first_run_is_checked(void **state) {
    launch_file launch;
    kernel_check check;
    machine *m = build(&launch, 2, 0, 0, NULL);
    uint64_t first_end;
    (void)state;
    while (!m->runs[0].ended) assert_int_equal(machine_run(m, m->now + 1), 0);
    first_end = m->now;
    assert_int_equal(machine_run(m, first_end + 100), 0);
    assert_int_equal(check_results(m, &launch, &check), 0);
    assert_int_equal(check.result, CHECK_RIGHT);
    m->runs[0].first_results[launch.buffers[0].bytes + 4 * 7] ^= 1; /* element 7 of the output */
    assert_int_equal(check_results(m, &launch, &check), 1);
    assert_non_null(strstr(check.text, "element 7"));
    machine_free(m);
    launch_file_free(&launch);
}

/* A run that repeats its kernels stops at the cycle that was asked for, and a late kernel has ended none. */
static void a_repeated_run_stops_at_its_cycle(void **state) {
    uint32_t i;
    (void)state;
    for (i = 0; i < 2; i++) {
        launch_file launch;
        kernel_check checks[2];
        machine *m = build(&launch, 1000000, 1, 20000, models[i]);
        m->kernels[1].arrival_cycle = 19990; /* no time to end */
        assert_int_equal(machine_run(m, NEVER), 1);
        assert_int_equal(m->now, 20000);
        assert_true(m->runs[0].ended > 3);
        assert_int_equal(m->runs[1].ended, 0);
        assert_int_equal(check_results(m, &launch, checks), 0);
        assert_int_equal(checks[0].result, CHECK_RIGHT);
        assert_int_equal(checks[1].result, CHECK_NOT_ENDED);
        assert_int_equal(machine_run(m, NEVER), 1); /* it stays where it is */
        assert_int_equal(m->now, 20000);
        machine_free(m);
        launch_file_free(&launch);
    }
}

/* A machine that goes on from a checkpoint ends in the state in which the machine itself ended. */
static void test_a_copy_goes_on_alike(void **state) {
    uint64_t cycle;
    (void)state;
    for (cycle = 100; cycle < 6000; cycle += 977) {
        launch_file launch;
        machine *m = build(&launch, 30, 20, 0, models[cycle & 1]);
        void *copy;
        uint64_t end;
        assert_int_equal(machine_run(m, cycle), 0);
        copy = arena_checkpoint(&m->arena);
        assert_non_null(copy);
        assert_int_equal(machine_run(m, NEVER), 1);
        end = machine_hash(m);
        arena_restore(&m->arena, copy);
        assert_int_equal(machine_run(m, NEVER), 1);
        assert_true(machine_hash(m) == end);
        free(copy);
        machine_free(m);
        launch_file_free(&launch);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_run_is_the_first),
        cmocka_unit_test(test_the_first_run_is_checked),
        cmocka_unit_test(a_repeated_run_stops_at_its_cycle),
        cmocka_unit_test(test_a_copy_goes_on_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
