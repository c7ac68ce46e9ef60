/* labels: unit property link: tbsim_core */
/* The fuzz target of workload files over tbsim's own and over what fuzzing has found, whole and damaged. */
#include "fuzz/fuzz_workload.c"
#include "fuzz/replay.h"

/* Each workload of tbsim, whole or damaged, is read or refused without a crash. */
static void workloads_are_read_or_refused(void **state) {
    uint64_t seed = test_seed();
    uint32_t damaged = (uint32_t)test_cases(50);
    (void)state;
    assert_non_null(freopen("/dev/null", "w", stderr)); /* a line for each refusal */
    assert_true(replay_folder(GPUMP_SOURCE_DIR "/examples/tbsim/workloads", ".yaml", -1, &seed, damaged) >= 2);
    (void)replay_folder(GPUMP_SOURCE_DIR "/tests/fuzz/corpus_workload", "", -1, &seed, damaged);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(workloads_are_read_or_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
