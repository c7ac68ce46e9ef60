/* labels: unit property link: minigpu_core */
/* The fuzz target of the analyses over the tests' PTX files and over what fuzzing has found, whole and damaged. */
#include "fuzz/fuzz_analysis.c"
#include "fuzz/replay.h"

/* Each kernel of the corpora, whole or damaged, is analysed or refused without a crash. */
static void kernels_are_analysed_or_refused(void **state) {
    uint64_t seed = test_seed();
    uint32_t damaged = (uint32_t)test_cases(2);
    (void)state;
    assert_true(replay_folder(GPUMP_SOURCE_DIR "/tests/ptx/bad_ptx", ".ptx", -1, &seed, damaged) > 50);
    assert_true(replay_folder(GPUMP_SOURCE_DIR "/tests/ptx/ptx_corpus", ".ptx", -1, &seed, 0) > 5);
    (void)replay_folder(GPUMP_SOURCE_DIR "/tests/fuzz/corpus_analysis", "", -1, &seed, damaged);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(kernels_are_analysed_or_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
