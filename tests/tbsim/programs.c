/* labels: command unit link: tbsim_core minigpu_core */
/* How programs end: a full disk, a process that starves, Ctrl-C. (The mini-GPU's full disks: own_kernel.c.) */
#include "run_command.h"

#include <unistd.h>

#define TBSIM GPUMP_BINARY_DIR "/examples/tbsim/tbsim "
#define MINIGPU GPUMP_BINARY_DIR "/examples/minigpu/minigpu "
#define FIGURE GPUMP_SOURCE_DIR "/examples/tbsim/workloads/figure_5_1.yaml "
#define FEATURES GPUMP_SOURCE_DIR "/tests/minigpu/good_run/features.ptx"

static char output[1 << 16];

static void expect(const char *command, int status, const char *text) {
    const int is = run_command(command, output, sizeof output);
    if (is != status || (text && !strstr(output, text)))
        fail_msg("%s: exit status %d, not %d, or no \"%s\" in: %s", command, is, status, text ? text : "", output);
}

static void test_full_disk(void **state) {
    static const struct {
        const char *command, *text;
        int status;
    } cases[] = {
        {TBSIM "run " FIGURE "2>&1 >/dev/full", "tbsim: cannot write standard output: ", 1},
        {TBSIM "run " FIGURE "--csv 2>&1 >/dev/full", "tbsim: cannot write standard output: No space left", 1},
        {TBSIM "run " FIGURE "--html /dev/full 2>&1", "tbsim: cannot write /dev/full: No space left", 2},
        {TBSIM "run " FIGURE "--trace /dev/full 2>&1", "tbsim: cannot write /dev/full: No space left", 2},
        {TBSIM "run " FIGURE "--trace no/where 2>&1", "tbsim: cannot write no/where: No such file", 2},
        {TBSIM "--help 2>&1 >/dev/full", "tbsim: cannot write standard output: No space left", 1},
        {TBSIM "sweep --workloads 1 --quiet --out /dev/full 2>&1", "tbsim: cannot write /dev/full: No space left", 1},
        {TBSIM "sweep --workloads 1 --quiet 2>&1 >/dev/full", "tbsim: cannot write standard output: No space left", 1},
        {"rm -f part.csv; " TBSIM "sweep --workloads 1 --quiet --out part.csv && " TBSIM
         "merge /dev/full part.csv 2>&1",
         "tbsim: cannot write /dev/full: No space left", 2},
        {GPUMP_BINARY_DIR "/bench/reproduce --list 2>&1 >/dev/full", "reproduce: cannot write standard output", 1},
        {GPUMP_BINARY_DIR "/bench/micro --list 2>&1 >/dev/full", "micro: cannot write standard output", 1}};
    size_t i;
    (void)state;
    if (access("/dev/full", W_OK)) skip();
    for (i = 0; i < sizeof cases / sizeof *cases; i++)
        if (!strstr(cases[i].command, "/bench/") || !access(GPUMP_BINARY_DIR "/bench/micro", X_OK))
            expect(cases[i].command, cases[i].status, cases[i].text);
}

/* Every program that is there, and every command of those that have some, says that it cannot print its help. */
static void test_no_program_is_silent(void **state) {
    (void)state;
    if (access("/dev/full", W_OK)) skip();
    expect("for p in " GPUMP_BINARY_DIR "/bench/* '" MINIGPU "run' '" MINIGPU "init' '" MINIGPU "analyze' '" MINIGPU
           "tail' '" MINIGPU "corun' '" MINIGPU "pairs' '" MINIGPU "policies' '" MINIGPU "demo' '" TBSIM "run' '" TBSIM
           "sweep' '" TBSIM "merge' '" TBSIM "machines' '" TBSIM "evaluate'; do"
           "  case $p in *' '*) ;; *) [ -f $p ] && [ -x $p ] || continue ;; esac;"
           "  said=$($p --help 2>&1 >/dev/full); status=$?;"
           "  case $said in *': cannot write standard output: '*) ;; *) status=0 ;; esac;"
           "  [ $status -ne 0 ] || echo \"silent: $p\";"
           "done; echo all",
           0, "all\n");
    assert_string_equal(output, "all\n");
}

/* What cannot be read is named with the reason; a number of things is whole, in any notation. */
static void test_bad_input_has_a_reason(void **state) {
    (void)state;
    expect(TBSIM "run " GPUMP_SOURCE_DIR " 2>&1", 2, "tbsim: cannot read " GPUMP_SOURCE_DIR ": Is a directory");
    expect(TBSIM "run no/where 2>&1", 2, "tbsim: cannot read no/where: No such file");
    expect(TBSIM "run /dev/null 2>&1", 2, "/dev/null:");
    expect(TBSIM "sweep --data no/where 2>&1", 2, "tbsim: cannot read no/where: No such file");
    expect(TBSIM "merge out.csv no/where 2>&1", 2, "tbsim: cannot read no/where: No such file");
    expect("printf 'a\n0,' >cut.csv; " TBSIM "merge out.csv cut.csv 2>&1", 2, "cut.csv:2:1: the line has no end");
    expect(TBSIM "merge out.csv " GPUMP_SOURCE_DIR " 2>&1", 2, "tbsim: cannot read " GPUMP_SOURCE_DIR ": Is a dir");
    expect("sed 's/,100,2905.81/,1e300,1/' " GPUMP_SOURCE_DIR "/bench/data/tanasic_table_5_2.csv >large.csv; " TBSIM
           "sweep --data large.csv 2>&1",
           2, "large.csv:5:25: '1e300' is not a number from 0 to 1e9");
    expect(TBSIM "machines --table no/where --svg a.svg 2>&1", 2, "tbsim: cannot read no/where: No such file");
    expect(TBSIM "sweep --threads 1e9 2>&1", 2, "tbsim: threads are at most 1024, not: 1e9");
    expect(TBSIM "machines --table /dev/zero --svg a.svg 2>&1", 2, "tbsim: cannot read /dev/zero: no regular file");
    expect(TBSIM "merge out.csv /dev/zero 2>&1", 2, "tbsim: cannot read /dev/zero: no regular file");
    expect(MINIGPU "policies --merge /dev/zero 2>&1", 2, "minigpu: cannot read /dev/zero: no regular file");
    expect(MINIGPU "pairs summary /dev/zero 2>&1", 2, "minigpu: cannot read /dev/zero: no regular file");
    expect(MINIGPU "analyze /dev/zero 2>&1", 2, "/dev/zero: more than 256 MB are no PTX file");
    if (!access(GPUMP_BINARY_DIR "/bench/reproduce", X_OK))
        expect(GPUMP_BINARY_DIR "/bench/reproduce --merge /dev/zero 2>&1", 2,
               "reproduce: cannot read /dev/zero: no re");
    expect(MINIGPU "run " GPUMP_SOURCE_DIR "/examples/minigpu/demo.yaml --duet=maxwell_duet:99999999999 2>&1", 2,
           "minigpu: --duet: an SM holds at most 64 extra blocks");
    expect(TBSIM "sweep --workloads 2.5 2>&1", 2, "tbsim: not a whole number: 2.5");
    expect(TBSIM "sweep --workloads 2e0 --quiet | tail -n 1 | cut -d , -f 1 2>&1", 0, "1\n");
}

/* An output that is an input would destroy what is read: it is refused before anything is opened. */
static void test_no_input_is_written_over(void **state) {
    static const char *const commands[] = {MINIGPU "run in.yaml --html in.yaml",
                                           MINIGPU "run in.yaml --trace ./in.yaml",
                                           MINIGPU "demo in.yaml --html in.yaml",
                                           MINIGPU "pairs in.yaml in.yaml --csv in.yaml",
                                           MINIGPU "policies --merge in.yaml --csv in.yaml",
                                           TBSIM "run in.yaml --trace in.yaml",
                                           TBSIM "run in.yaml --html in.yaml",
                                           TBSIM "machines --table in.yaml --svg in.yaml"};
    char command[1024];
    size_t i;
    (void)state;
    expect("sed 's#ptx: #&" GPUMP_SOURCE_DIR "/examples/minigpu/#' " GPUMP_SOURCE_DIR
           "/examples/minigpu/demo.yaml >in.yaml; cp in.yaml as_it_was.yaml",
           0, NULL);
    for (i = 0; i < sizeof commands / sizeof *commands; i++) {
        snprintf(command, sizeof command, "%s 2>&1; status=$?; cmp in.yaml as_it_was.yaml || exit 9; exit $status",
                 commands[i]);
        expect(command, 2, "in.yaml is read and would be written over");
    }
    expect("cp " GPUMP_SOURCE_DIR "/bench/data/tanasic_table_5_2.csv data.csv; " TBSIM
           "sweep --workloads 1 --quiet --data data.csv --out data.csv 2>&1",
           2, "data.csv is read and would be written over");
    /* Nor does an option that is wrong cost the table that an earlier run has made. */
    expect("echo kept >kept.csv; " MINIGPU "policies --csv kept.csv --deadline-us 0 2>&1 >/dev/null; cat kept.csv", 0,
           "kept");
}

/* A command refuses an option that it would not look at. */
static void test_options_of_other_commands(void **state) {
    (void)state;
    expect(TBSIM "run " FIGURE "--workloads 3 2>&1", 2, "tbsim: run does not take --workloads");
    expect(TBSIM "run " FIGURE "--svg a.svg 2>&1", 2, "tbsim: run does not take --svg");
    expect(TBSIM "sweep --html a.html 2>&1", 2, "tbsim: sweep does not take --html");
    expect(TBSIM "evaluate --policy dss 2>&1", 2, "tbsim: evaluate does not take --policy");
    expect(TBSIM "machines --exact 2>&1", 2, "tbsim: machines does not take --exact");
    expect(TBSIM "merge out.csv part.csv --seed 2 2>&1", 2, "tbsim: merge does not take --seed");
}

static void test_starvation_is_named(void **state) {
    static const char file[] = GPUMP_SOURCE_DIR "/tests/tbsim/starves.yaml ";
    char command[1024];
    (void)state;
    snprintf(command, sizeof command, TBSIM "run %s --policy ppq 2>&1", file);
    expect(command, 1, "process patient starves under ppq: its run 1 has not ended after ");
    snprintf(command, sizeof command, TBSIM "run %s --policy ppq --limit 5000 2>&1", file);
    expect(command, 0, "patient");
    snprintf(command, sizeof command, TBSIM "run %s --policy fcfs 2>&1", file);
    expect(command, 0, "patient");
}

/* A process that does nothing would repeat for ever beside another. */
static void test_a_run_takes_time(void **state) {
    (void)state;
    expect("printf '%s\n' 'processes: [{name: idle, script: [sync]}, {script: [{cpu_us: 5}]}]' >idle.yaml; " TBSIM
           "run idle.yaml 2>&1",
           1, "process idle: a run of it takes no time, so that it would repeat for ever");
    expect("sed 's/name: idle/name: idle, repeat: 2/' idle.yaml >twice.yaml; " TBSIM "run twice.yaml 2>&1", 0, "idle");
}

/* Turns that move contexts and run nothing are refused with the numbers; longer ones, and draining, get to the end. */
static void test_short_turns_are_refused(void **state) {
    static const char file[] = GPUMP_SOURCE_DIR "/tests/tbsim/short_turns.yaml ";
    char command[1024];
    (void)state;
    snprintf(command, sizeof command, TBSIM "run %s 2>&1", file);
    expect(command, 1,
           "turns of 5 us are over before the blocks of an SM are restored, which takes 16.4 us for kernel K;");
    snprintf(command, sizeof command, TBSIM "run %s --mechanism drain 2>&1", file);
    expect(command, 0, "time_slice");
    snprintf(command, sizeof command,
             "sed 's/slice_us: 5/slice_us: 20/' %s >longer.yaml; " TBSIM "run longer.yaml 2>&1", file);
    expect(command, 0, "time_slice");
}

/* Hours of work, interrupted after `seconds`, or after more of them where the machine is so slow that the program had
 * not begun: it says what has been done by then, and ends with the status of a program that Ctrl-C has ended. */
static void expect_interrupted(const char *before, const char *program, const char *text) {
    char command[1024];
    unsigned seconds = 1;
    for (;;) {
        snprintf(command, sizeof command, "%stimeout --preserve-status -s INT %u %s 2>&1", before, seconds, program);
        if (run_command(command, output, sizeof output) == 130 && strstr(output, text)) return;
        if ((seconds *= 4) > 100) fail_msg("%s: no \"%s\" in: %s", command, text, output);
    }
}

static void test_interrupts(void **state) {
    (void)state;
    expect_interrupted("rm -f swept.csv; ", TBSIM "sweep --workloads 20000 --quiet --out swept.csv",
                       "of 20000 workloads are in swept.csv");
    expect("head -1 swept.csv", 0, "workload,process,benchmark");
    expect("printf '%s\\n' 'kernels: [{ptx: " FEATURES ", kernel: sum_integers, grid: 16000000, block: 256,"
           "arguments: [{buffer: {type: s32, count: 1}}]}]' >long.yaml",
           0, NULL);
    expect_interrupted("", MINIGPU "run long.yaml", "minigpu: interrupted at cycle ");
    assert_non_null(strstr(output, "not ended"));
}

/* What runs for longer than two seconds says how far it is: on a terminal, and not before a minute elsewhere. */
static void test_progress(void **state) {
    static const char sweep[] = "timeout -s INT 4 " TBSIM "sweep --workloads 20000 --out swept.csv";
    static const char run[] = "timeout -s INT 4 " MINIGPU "run long.yaml";
    char command[1024];
    unsigned seconds;
    int shown = 0;
    (void)state;
    if (run_command("command -v script", output, sizeof output)) skip();
    for (seconds = 4; !shown && seconds < 100; seconds *= 4) { /* a slow machine takes longer to begin */
        snprintf(command, sizeof command,
                 "for p in '" TBSIM "sweep --workloads 20000 --out swept.csv' '" MINIGPU
                 "run long.yaml'; do script -qec \"timeout -s INT %u $p\" /dev/null & done; wait",
                 seconds);
        (void)run_command(command, output, sizeof output);
        shown = strstr(output, " blocks done, 0%, about ") && strstr(output, " of 20000 runs, ");
    }
    if (!shown) fail_msg("no progress in: %s", output);
    snprintf(command, sizeof command, "(%s 2>&1 >/dev/null & %s 2>&1 >/dev/null; wait) | grep -v interrupted", sweep,
             run);
    (void)run_command(command, output, sizeof output);
    assert_string_equal(output, "");
}

/* So does every command whose steps take long, before the first of them has ended; Ctrl-C says what there is. */
static void test_long_steps(void **state) {
    static const struct {
        const char *command, *shown, *said;
    } cases[] = {
        {GPUMP_BINARY_DIR "/bench/reproduce --only S.viol", "reproduce: pathfinder, 0%, about ",
         "reproduce: interrupted; the rows printed so far are complete"},
        {MINIGPU "policies --requests 5 --processes 1",
         "minigpu policies: ", "minigpu policies: interrupted; no table is printed"},
        {MINIGPU "pairs --cycles 10000000", "minigpu pairs: each kernel alone",
         "minigpu pairs: interrupted; the pairs printed so far"},
        {MINIGPU "corun " GPUMP_SOURCE_DIR "/examples/minigpu/launches/corun_backprop_cfd.yaml --cycles 10000000",
         "minigpu corun: ", "minigpu corun: interrupted; the policies"},
        {MINIGPU "tail " GPUMP_SOURCE_DIR "/examples/minigpu/launches/requests_beside_batch.yaml --requests 100000",
         "minigpu tail: the requests alone", "minigpu tail: interrupted; the rows"}};
    unsigned seconds, shown = 0;
    (void)state;
    if (run_command("command -v script", output, sizeof output)) skip();
    for (seconds = 4; !shown && seconds < 100; seconds *= 4) { /* a slow machine takes longer to begin */
        char command[4096] = "";
        size_t i, length;
        for (i = 0; i < sizeof cases / sizeof *cases; i++) {
            if (strstr(cases[i].command, "/bench/") && access(GPUMP_BINARY_DIR "/bench/reproduce", X_OK)) continue;
            length = strlen(command);
            snprintf(command + length, sizeof command - length,
                     "script -qec 'timeout --preserve-status -s INT %u %s; echo status $?' /dev/null & ", seconds,
                     cases[i].command);
        }
        length = strlen(command);
        snprintf(command + length, sizeof command - length, "wait");
        (void)run_command(command, output, sizeof output);
        for (shown = 1, i = 0; i < sizeof cases / sizeof *cases; i++)
            if (!strstr(cases[i].command, "/bench/") || !access(GPUMP_BINARY_DIR "/bench/reproduce", X_OK))
                shown &= strstr(output, cases[i].shown) && strstr(output, cases[i].said);
    }
    if (!shown) fail_msg("not all of what each program shows and says is in: %s", output);
    assert_null(strstr(output, "status 0"));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_full_disk),
                                       cmocka_unit_test(test_no_program_is_silent),
                                       cmocka_unit_test(test_bad_input_has_a_reason),
                                       cmocka_unit_test(test_options_of_other_commands),
                                       cmocka_unit_test(test_no_input_is_written_over),
                                       cmocka_unit_test(test_starvation_is_named),
                                       cmocka_unit_test(test_short_turns_are_refused),
                                       cmocka_unit_test(test_a_run_takes_time),
                                       cmocka_unit_test(test_interrupts),
                                       cmocka_unit_test(test_progress),
                                       cmocka_unit_test(test_long_steps)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
