/* labels: unit property link: minigpu_core */
/* The fuzz target of traces over the project's own traces, whole and damaged. */
#include "fuzz/fuzz_traces.c"
#include "fuzz/replay.h"

/* Each trace of the corpora, whole or damaged, is read or refused without a crash. */
static void traces_are_read_or_refused(void **state) {
    uint64_t seed = test_seed();
    (void)state;
    assert_int_equal(replay_folder(GPUMP_SOURCE_DIR "/examples/minigpu/traces/pathfinder", ".traceg", -1, &seed,
                                   (uint32_t)test_cases(200)),
                     1);
    assert_int_equal(
        replay_folder(GPUMP_SOURCE_DIR "/tests/fuzz/corpus_traces", ".traceg", -1, &seed, (uint32_t)test_cases(200)),
        3);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(traces_are_read_or_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
