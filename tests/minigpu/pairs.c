/* labels: command unit link: minigpu_core */
/* minigpu pairs: shards merge into the whole, the summary is what the rows say, and bad input has a reason. */
#include "run_command.h"

#include <unistd.h>

#include "tools/pairs.h"

#define MINIGPU GPUMP_BINARY_DIR "/examples/minigpu/minigpu "
#define KERNELS GPUMP_SOURCE_DIR "/examples/minigpu/kernels/"
#define THREE KERNELS "spmv/small.yaml " KERNELS "saxpy/small.yaml " KERNELS "pathfinder/small.yaml "
#define QUICK "--cycles 1000 --warm 1000 --oracle 0 --partition even --partition leftover "

static char output[1 << 16];

/* Two shards, merged, are the bytes of the table in one run; nothing is written over. */
static void merged_shards_are_the_whole_table(void **state) {
    static char whole[1 << 14], merged[1 << 14];
    const char *const commands[] = {MINIGPU "pairs " THREE QUICK "--csv pairs_whole.csv",
                                    MINIGPU "pairs " THREE QUICK "--shard 1/2 --csv pairs_part1.csv",
                                    MINIGPU "pairs " THREE QUICK "--shard 0/2 --csv pairs_part0.csv",
                                    MINIGPU "pairs merge pairs_merged.csv pairs_part1.csv pairs_part0.csv"};
    uint32_t i, lines = 0;
    (void)state;
    unlink("pairs_merged.csv"); /* of a run that failed */
    for (i = 0; i < sizeof commands / sizeof *commands; i++)
        if (run_command(commands[i], output, sizeof output)) fail_msg("%s: %s", commands[i], output);
    assert_int_equal(run_command("cat pairs_whole.csv", whole, sizeof whole), 0);
    assert_int_equal(run_command("cat pairs_merged.csv", merged, sizeof merged), 0);
    assert_string_equal(whole, merged);
    assert_int_equal(run_command(MINIGPU "pairs summary pairs_merged.csv", output, sizeof output), 0);
    assert_non_null(strstr(output, "| even | 3 | "));
    assert_non_null(strstr(output, "| leftover | 3 | "));
    /* What is there already is not written over, a part least of all. */
    assert_int_equal(run_command(MINIGPU "pairs merge pairs_part1.csv pairs_part0.csv 2>&1", output, sizeof output), 2);
    assert_non_null(strstr(output, "merge writes its first file, and pairs_part1.csv exists"));
    assert_int_equal(
        run_command(MINIGPU "pairs merge pairs_merged.csv pairs_part1.csv pairs_part0.csv 2>&1", output, sizeof output),
        2);
    assert_int_equal(run_command("cat pairs_part1.csv pairs_part0.csv | sort -u | wc -l", output, sizeof output), 0);
    assert_int_equal(atoi(output), 1 + 3 * 2);
    for (i = 0; whole[i]; i++) lines += whole[i] == '\n';
    assert_int_equal(lines, 1 + 3 * 2);
    for (i = 0; i < 4; i++)
        unlink(i == 0   ? "pairs_whole.csv"
               : i == 1 ? "pairs_merged.csv"
               : i == 2 ? "pairs_part0.csv"
                        : "pairs_part1.csv");
}

/* A second kernel that arrives later is measured beside the first one all the same, at other cycles. */
static void the_second_kernel_may_arrive_later(void **state) {
    static char at_once[1 << 14], later[1 << 14];
    (void)state;
    assert_int_equal(run_command(MINIGPU "pairs " THREE QUICK "2>/dev/null", at_once, sizeof at_once), 0);
    assert_int_equal(run_command(MINIGPU "pairs " THREE QUICK "--second-after 700 2>/dev/null", later, sizeof later),
                     0);
    assert_non_null(strstr(later, "| even | 3 | "));
    assert_string_not_equal(at_once, later);
    assert_null(strstr(later, "0.00,"));
}

/* A wrong command says what is wrong with it. */
static void pairs_refuses_bad_commands(void **state) {
    static const struct {
        const char *command, *text;
    } cases[] = {
        {"pairs " KERNELS "spmv/small.yaml 2>&1", "two kernels at least make a pair"},
        {"pairs " KERNELS "spmv/small.yaml " KERNELS "spmv/launch.yaml 2>&1", "would have one name in the table"},
        {"pairs " THREE "--shard 2/2 2>&1", "a shard is I/N with 0 <= I < N, not"},
        {"pairs " THREE "--partition nobody 2>&1", "ccbp"},
        {"pairs merge out.csv 2>&1", "merge needs OUT.csv and at least one PART.csv"},
        {"pairs " THREE GPUMP_SOURCE_DIR "/examples/minigpu/launches/three_processes.yaml 2>&1",
         "pairs needs one kernel in each file, this one has"},
        {"pairs summary " GPUMP_SOURCE_DIR "/README.md 2>&1", "README.md:2:1: no row of minigpu pairs --csv"},
        {"pairs " THREE "--csv no/where.csv 2>&1", "minigpu: cannot write no/where.csv"}};
    char command[1024];
    uint32_t i;
    (void)state;
    for (i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(command, sizeof command, "%s%s", MINIGPU, cases[i].command);
        if (run_command(command, output, sizeof output) != 2 || !strstr(output, cases[i].text))
            fail_msg("%s does not say \"%s\": %s", command, cases[i].text, output);
    }
}

/* Launch files say how many SMs a pair runs on: a division is checked against these, not against the preset's 16. */
static void a_division_fits_the_machine_that_runs(void **state) {
    static const char *const fits[] = {"green:2:2", "green:8:8"};
    char command[1024];
    uint32_t i;
    (void)state;
    for (i = 0; i < 2; i++) {
        snprintf(command, sizeof command,
                 "for k in spmv saxpy; do { sed \"s#ptx: #ptx: " KERNELS "$k/#\" " KERNELS
                 "$k/small.yaml; printf 'machine: {sms: 4}\\n'; } > $k.four.yaml; done; " MINIGPU
                 "pairs spmv.four.yaml saxpy.four.yaml --cycles 1000 --warm 1000 --oracle 0 --partition %s 2>&1",
                 fits[i]);
        if (run_command(command, output, sizeof output) != (i ? 2 : 0) ||
            !strstr(output, i ? "4 SMs" : "| spmv+saxpy | green:2:2 | "))
            fail_msg("%s: %s", command, output);
    }
    assert_int_equal(
        run_command(MINIGPU "pairs spmv.four.yaml " KERNELS "saxpy/small.yaml 2>&1", output, sizeof output), 2);
    assert_non_null(strstr(output, "saxpy/small.yaml asks for 16 SMs, spmv.four.yaml for 4"));
    unlink("spmv.four.yaml");
    unlink("saxpy.four.yaml");
}

/* Two pairs by hand: means 0.5 and 0.25, so twice as fast; the interval holds the ratio. */
static void ratio_by_hand(void **state) {
    static pairs_row rows[4] = {{0, 0, 1, {0, 0}, "a", {0, 0}, {0, 0}, {0, 0}, 0.4, 1, 0, 0},
                                {0, 0, 1, {0, 0}, "b", {0, 0}, {0, 0}, {0, 0}, 0.1, 1, 0, 0},
                                {1, 1, 2, {0, 1}, "a", {0, 0}, {0, 0}, {0, 0}, 0.6, 1, 0, 0},
                                {1, 1, 2, {0, 1}, "b", {0, 0}, {0, 0}, {0, 0}, 0.4, 1, 0, 0}};
    const pairs_table table = {rows, 4, 4};
    static const uint32_t mixed[2] = {1, 0};
    pairs_ratio all = pairs_compare(&table, "a", "b", NULL), one = pairs_compare(&table, "a", "b", mixed);
    (void)state;
    assert_int_equal(all.pairs, 2);
    assert_true(all.ratio > 1.9999 && all.ratio < 2.0001);
    assert_true(all.low >= 1.4999 && all.low <= 1.51 && all.high <= 4.0001 && all.high >= 3.99);
    assert_int_equal(one.pairs, 1);
    assert_true(one.ratio > 1.4999 && one.ratio < 1.5001);
    assert_int_equal(pairs_compare(&table, "a", "nobody", NULL).pairs, 0);
}

/* An equal part from each combination of classes, no pair twice. */
static void pairs_are_stratified(void **state) {
    static pairs_experiment e;
    static uint32_t chosen[100][2];
    uint32_t of[3][3] = {{0}}, i, n;
    (void)state;
    e.kernel_count = 9;
    e.seed = 1;
    for (i = 0; i < 9; i++) e.kernels[i].kind = i % 3;
    assert_int_equal(pairs_choose(&e, 18, chosen), 18);
    for (i = 0; i < 18; i++) {
        const uint32_t a = e.kernels[chosen[i][0]].kind, b = e.kernels[chosen[i][1]].kind;
        of[a < b ? a : b][a < b ? b : a]++;
        for (n = 0; n < i; n++) assert_true(memcmp(chosen[i], chosen[n], sizeof chosen[i]) != 0);
    }
    for (i = 0; i < 3; i++)
        for (n = i; n < 3; n++) assert_int_equal(of[i][n], 3);
    assert_int_equal(pairs_choose(&e, 100, chosen), 36);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(merged_shards_are_the_whole_table),
                                       cmocka_unit_test(the_second_kernel_may_arrive_later),
                                       cmocka_unit_test(pairs_refuses_bad_commands),
                                       cmocka_unit_test(a_division_fits_the_machine_that_runs),
                                       cmocka_unit_test(ratio_by_hand),
                                       cmocka_unit_test(pairs_are_stratified)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
