/* labels: unit link: minigpu_core */
/* A line is in L2 once its data has come from DRAM: a request that finds it still on its way waits for it. */
#include "test.h"

#include "machine/machine.h"

/* Two SMs load one word in the same cycle. Returns how long each of them waited. */
static void load_one_line(uint64_t cycles[2]) {
    launch_file launch;
    char error[LAUNCH_ERROR_BYTES];
    machine_options options;
    machine *m = NULL;
    machine_options_default(&options);
    if (launch_file_read(&launch, GPUMP_SOURCE_DIR "/tests/minigpu/machine/one_line.yaml", error) ||
        !(m = machine_build(&launch, &options, error)))
        fail_msg("%s", error);
    assert_int_equal(machine_run(m, NEVER), 1);
    assert_int_equal(m->kernels[0].ran_on, 3);
    assert_int_equal(m->memory_system->statistics.l2_misses,
                     2); /* the word's line, and that of the answers: each fetched once */
    assert_int_equal(m->memory_system->statistics.l2_hits, 2);
    memcpy(cycles, device_memory(m, launch.buffers[1].address), 2 * sizeof *cycles);
    machine_free(m);
    launch_file_free(&launch);
}

/* A load that hits a line on its way from DRAM waits for the line, and does not fetch it again. */
static void test_a_hit_waits_for_the_fill(void **state) {
    uint64_t cycles[2];
    (void)state;
    load_one_line(cycles);
    print_message("the first load took %llu cycles, the second %llu\n", (unsigned long long)cycles[0],
                  (unsigned long long)cycles[1]);
    assert_true(cycles[0] > 200);           /* from DRAM */
    assert_true(cycles[1] >= cycles[0]);    /* not before the data is there */
    assert_true(cycles[1] < cycles[0] + 8); /* and not fetched a second time */
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_a_hit_waits_for_the_fill)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
