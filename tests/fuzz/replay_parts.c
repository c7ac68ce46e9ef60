/* labels: unit property link: minigpu_core */
/* The fuzz target of the mini-GPU's tables over whole ones, over what fuzzing has found, and over damaged copies. */
#include "fuzz/fuzz_parts.c"
#include "fuzz/replay.h"

/* A part as its writer writes it is read whole: the corpus could not hold one, because it names the model's version. */
static void a_written_part_is_read(uint64_t *seed, uint32_t damaged) {
    const victim_experiment e = parts_experiment();
    static victim_outcome outcomes[6];
    static victim_drain_error errors[3];
    char folder[] = "fuzz_parts_XXXXXX", path[100];
    policies_parts parts;
    FILE *file;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/part", folder);
    file = fopen(path, "w");
    assert_non_null(file);
    outcomes[5].end_cycles = 17;
    policies_parts_begin(file, &e);
    policies_parts_write(file, &e, outcomes, errors, 99);
    assert_int_equal(fclose(file), 0);
    memset(&parts, 0, sizeof parts);
    assert_int_equal(policies_parts_read(&parts, path, &e), 0);
    assert_int_equal(parts.own_cycles, 99);
    assert_int_equal(parts.outcomes[0][5].end_cycles, 17);
    policies_parts_free(&parts);
    assert_int_equal(replay_folder(folder, "part", 1, seed, 20 * damaged), 1);
    assert_int_equal(remove(path), 0);
    assert_int_equal(rmdir(folder), 0);
}

/* Each table of the mini-GPU's parts, whole or damaged, is read or refused without a crash. */
static void tables_of_the_mini_gpu_are_read_or_refused(void **state) {
    uint64_t seed = test_seed();
    const uint32_t damaged = (uint32_t)test_cases(200);
    (void)state;
    assert_non_null(freopen("/dev/null", "w", stderr)); /* a line for each refusal */
    a_written_part_is_read(&seed, damaged / 10 + 1);
    assert_true(replay_folder(GPUMP_SOURCE_DIR "/tests/fuzz/corpus_parts", "", -1, &seed, damaged) >= 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(tables_of_the_mini_gpu_are_read_or_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
