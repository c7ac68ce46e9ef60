/* labels: command unit */
/* minigpu run --csv and minigpu sweep: every combination has the rows of a run by itself, a sweep that was cut off goes
 * on, what fails is left out, and the picture has a point for each row. */
#include "run_command.h"

#include <unistd.h>

#define PROGRAM GPUMP_BINARY_DIR "/examples/minigpu/minigpu "
#define SAXPY GPUMP_SOURCE_DIR "/examples/minigpu/kernels/saxpy/small.yaml "
#define TABLE GPUMP_BINARY_DIR "/test_minigpu_sweep.csv"
#define PICTURE GPUMP_BINARY_DIR "/test_minigpu_sweep.svg"
#define SWEEP PROGRAM "sweep " SAXPY "--vary sms=1,2,4 --vary l1_cycles=20,40 --out " TABLE " --processes 3 "

static char output[1 << 16], whole[1 << 16];

static void expect(const char *command, int status, const char *text) {
    const int is = run_command(command, output, sizeof output);
    if (is != status || (text && !strstr(output, text)))
        fail_msg("%s: exit status %d, not %d, or no \"%s\" in: %s", command, is, status, text ? text : "", output);
}

/* run --csv prints a heading and a row per kernel, and excludes --json. */
static void a_run_writes_one_row_of_csv(void **state) {
    (void)state;
    expect(PROGRAM "run " GPUMP_SOURCE_DIR "/examples/minigpu/demo.yaml --csv", 0, "preset,kernel,process,result,");
    assert_non_null(strstr(output, ",hotspot,"));
    assert_non_null(strstr(output, ",right,"));
    expect(PROGRAM "run " SAXPY "--csv --json 2>&1", 2, "--json and --csv exclude each other");
}

/* Each combination's row is that of its run by itself, and the picture is drawn. */
static void a_sweep_writes_a_row_for_each_combination(void **state) {
    static char single[1 << 14];
    const char *row;
    (void)state;
    unlink(TABLE);
    expect(SWEEP "--quiet --svg " PICTURE " 2>&1", 0, NULL);
    assert_string_equal(output, "");
    expect("cat " TABLE, 0, "sms,l1_cycles,preset,kernel,");
    memcpy(whole, output, sizeof whole);
    expect("wc -l <" TABLE, 0, "7\n");
    expect(PROGRAM "run " SAXPY "--sms 2 --config l1_cycles=40 --csv", 0, NULL); /* the row of a run by itself */
    row = strchr(output, '\n') + 1;
    snprintf(single, sizeof single, "\n2,40,%s", row);
    if (!strstr(whole, single)) fail_msg("no row %s in %s", single, whole);
    expect("grep -c '<circle' " PICTURE, 0, "6\n");
    expect("grep -c '<polyline' " PICTURE, 0, "2\n"); /* one line for each l1_cycles */
}

/* What is there stays as it is; what is not, or was cut off, runs. */
static void test_goes_on(void **state) {
    (void)state;
    expect("sed -i 's/,saxpy,/,SAXPY,/' " TABLE " && head -c -20 " TABLE " >" TABLE ".cut && mv " TABLE ".cut " TABLE,
           0, NULL);
    expect(SWEEP "2>&1", 0, "5 of 6 points are in");
    expect("grep -c SAXPY " TABLE, 0, "5\n");
    expect("sed 's/,SAXPY,/,saxpy,/' " TABLE, 0, NULL);
    assert_string_equal(output, whole);
    expect(PROGRAM "sweep " SAXPY "--vary sms=1 --out " TABLE " 2>&1", 2, "has other columns than this sweep");
}

/* A value that cannot run is named, the others are in the table; wrong lists are refused. */
static void a_failed_run_of_a_sweep_is_named(void **state) {
    (void)state;
    unlink(TABLE);
    expect(PROGRAM "sweep " SAXPY "--vary gpu=k20c,nothing --out " TABLE " 2>&1", 1, "the run failed with gpu=nothing");
    assert_non_null(strstr(output, "1 of 2 runs failed"));
    expect("cut -d, -f1 " TABLE, 0, "gpu\nk20c\n");
    unlink(TABLE);
    expect(PROGRAM "sweep " SAXPY "--vary wishes=1 --out " TABLE " 2>&1", 2, "neither an option of run");
    expect(PROGRAM "sweep " SAXPY "--vary json=1 --out " TABLE " 2>&1", 2, "neither an option of run");
    expect(PROGRAM "sweep " SAXPY "--vary sms=1, --out " TABLE " 2>&1", 2, "values of 1 to 63 letters");
    expect(PROGRAM "sweep " SAXPY "--vary sms=1 2>&1", 2, "--out TABLE.csv");
    expect(PROGRAM "sweep --vary sms=1 --out " TABLE " 2>&1", 2, "which launch FILE?");
    expect(PROGRAM "sweep " SAXPY "--vary sms=0 --out " TABLE " 2>&1", 2, "--sms needs a number");
    expect(PROGRAM "sweep " SAXPY "--vary sms=1 --link nvlink --out " TABLE " 2>&1", 2, "--link needs");
    assert_int_not_equal(access(TABLE, F_OK), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_writes_one_row_of_csv), cmocka_unit_test(a_sweep_writes_a_row_for_each_combination),
        cmocka_unit_test(test_goes_on), cmocka_unit_test(a_failed_run_of_a_sweep_is_named)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
