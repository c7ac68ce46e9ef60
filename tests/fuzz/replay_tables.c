/* labels: unit property link: bench_frame tbsim_core options */
/* The fuzz target of tables over those of bench/data and over what fuzzing has found, whole and damaged. */
#include "fuzz/fuzz_tables.c"
#include "fuzz/replay.h"

/* Each table of numbers and each page, whole or damaged, is read or refused without a crash. */
static void tables_are_read_or_refused(void **state) {
    uint64_t seed = test_seed();
    uint32_t damaged = (uint32_t)test_cases(20);
    (void)state;
    assert_non_null(freopen("/dev/null", "w", stderr)); /* a line for each refusal */
    for (int choice = 0; choice < 4; choice++)
        assert_true(replay_folder(GPUMP_SOURCE_DIR "/bench/data", ".csv", choice, &seed, damaged) >= 5);
    (void)replay_folder(GPUMP_SOURCE_DIR "/docs", ".md", 3, &seed, 0);
    (void)replay_folder(GPUMP_SOURCE_DIR "/tests/fuzz/corpus_tables", "", -1, &seed, damaged);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(tables_are_read_or_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
