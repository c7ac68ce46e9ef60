/* labels: unit property link: minigpu_core */
/* The fuzz target of launch files over those of the tests and over what fuzzing has found, whole and damaged. */
#include "fuzz/fuzz_launch.c"
#include "fuzz/replay.h"

/* Each launch file of the corpora, whole or damaged, is read or refused without a crash. */
static void launch_files_are_read_or_refused(void **state) {
    uint64_t seed = test_seed();
    uint32_t damaged = (uint32_t)test_cases(20);
    (void)state;
    assert_true(replay_folder(GPUMP_SOURCE_DIR "/tests/minigpu/bad_launch", ".yaml", -1, &seed, damaged) > 40);
    assert_true(replay_folder(GPUMP_SOURCE_DIR "/tests/minigpu/good_run", ".yaml", -1, &seed, damaged) > 5);
    (void)replay_folder(GPUMP_SOURCE_DIR "/tests/fuzz/corpus_launch", "", -1, &seed, damaged);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(launch_files_are_read_or_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
