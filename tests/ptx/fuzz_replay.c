/* labels: unit property link: minigpu_core */
/* The fuzz target's checks over the files of bad_ptx and ptx_corpus, whole and damaged in random places. */
#include "ptx/fuzz_ptx.c"
#include "fuzz/replay.h"

/* Every file of both folders, and copies with damaged bytes: read or refused, never a crash. */
static void known_and_damaged_ptx_is_read_or_refused(void **state) {
    uint64_t seed = test_seed();
    uint32_t damaged = (uint32_t)test_cases(1000);
    (void)state;
    assert_true(replay_folder(GPUMP_SOURCE_DIR "/tests/ptx/bad_ptx", ".ptx", -1, &seed, damaged) > 50);
    assert_true(replay_folder(GPUMP_SOURCE_DIR "/tests/ptx/ptx_corpus", ".ptx", -1, &seed, damaged) > 5);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(known_and_damaged_ptx_is_read_or_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
