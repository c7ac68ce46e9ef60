/* labels: command unit link: tbsim_core minigpu_core */
/* How programs end: a full disk, a process that starves, Ctrl-C. (The mini-GPU's full disks: own_kernel.c.) */
#include "terminal.h"

#include "run_command.h"

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

/* Each output on a full disk, or in a folder that does not exist, is named. */
static void a_full_disk_ends_with_its_reason(void **state) {
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
           "  case $p in *' '*) ;; *.so) continue ;; *) [ -f $p ] && [ -x $p ] || continue ;; esac;"
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
    expect(TBSIM "run --data no/where " GPUMP_SOURCE_DIR "/examples/tbsim/workloads/figure_5_1.yaml 2>&1", 2,
           "--data has no effect, because no process of this file names a benchmark");
    expect(TBSIM "run --data no/where " GPUMP_SOURCE_DIR "/examples/tbsim/workloads/two_benchmarks.yaml 2>&1", 2,
           "tbsim: cannot read no/where: No such file");
    expect(TBSIM "merge out.csv no/where 2>&1", 2, "tbsim: cannot read no/where: No such file");
    expect("printf 'workload,a\n0,' >cut.csv; " TBSIM "merge out.csv cut.csv 2>&1", 2,
           "cut.csv:2:1: the line has no end");
    expect(": >empty.csv; " TBSIM "merge out.csv empty.csv 2>&1", 2, "empty.csv:1:1: the part is empty");
    expect("printf 'pair,a\n0,1\n' >pairs.csv; " TBSIM "merge out.csv pairs.csv 2>&1", 2,
           "pairs.csv:1:1: no part of this sweep: the header must begin with \"workload,\"\n");
    expect("printf 'workload,a\n0,1\n2,1\n' >even.csv; printf 'workload,a\n1,1\n' >odd.csv; " TBSIM
           "merge out.csv even.csv 2>&1",
           2, "no part has number 1: a part is missing");
    expect(TBSIM "merge out.csv odd.csv 2>&1", 2, "no part has number 0: a part is missing");
    expect(TBSIM "merge out.csv even.csv odd.csv even.csv 2>&1", 2, "both have number 0: a part is given twice");
    expect("rm -f whole.csv; " TBSIM "merge whole.csv even.csv odd.csv && cat whole.csv", 0,
           "workload,a\n0,1\n1,1\n2,1\n");
    expect(TBSIM "run " GPUMP_SOURCE_DIR "/examples/tbsim/workloads/figure_5_1.yaml --until 0x10 2>&1", 2,
           "--until needs a number from 0 to 1e+15, not \"0x10\"");
    expect(TBSIM "machines --svg " GPUMP_SOURCE_DIR " 2>&1", 2, "tbsim: cannot write " GPUMP_SOURCE_DIR);
    expect(MINIGPU "sweep no/where --vary sms=1 --out t.csv 2>&1", 2, "no/where: No such file or directory\n");
    expect(MINIGPU "corun " GPUMP_SOURCE_DIR "/examples/minigpu/launches/corun_backprop_cfd.yaml --gpu x 2>&1", 2,
           "--gpu needs one of");
    expect(MINIGPU "run " GPUMP_SOURCE_DIR "/examples/minigpu/demo.yaml --config= 2>&1", 2, "needs NAME=VALUE");
    expect(TBSIM "merge out.csv " GPUMP_SOURCE_DIR " 2>&1", 2, "tbsim: cannot read " GPUMP_SOURCE_DIR ": Is a dir");
    expect("sed 's/,100,2905.81/,1e300,1/' " GPUMP_SOURCE_DIR "/bench/data/tanasic_table_5_2.csv >large.csv; " TBSIM
           "sweep --data large.csv 2>&1",
           2, "large.csv:5:25: '1e300' is not a number from 0 to 1e9");
    expect(TBSIM "machines --table no/where --svg a.svg 2>&1", 2, "tbsim: cannot read no/where: No such file");
    expect(TBSIM "sweep --threads 1e9 2>&1", 2, "tbsim: --threads needs a number from 0 to 1024, not \"1e9\"");
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
    expect(TBSIM "sweep --workloads 2.5 2>&1", 2, "tbsim: --workloads needs a number from 1 to 1000000, not \"2.5\"");
    expect(TBSIM "sweep --workloads 2 --quiet | tail -n 1 | cut -d , -f 1 2>&1", 0, "1\n");
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

/* Every file that a run reads is an input, through links too; and an output is one file. */
static void test_no_file_of_a_run_is_written_over(void **state) {
    static const struct {
        const char *command, *text;
    } cases[] = {{MINIGPU "run k/k.yaml --html k/k.ptx", "k/k.ptx is read and would be written over"},
                 {MINIGPU "run k/k.yaml --trace symbolic", "symbolic is read and would be written over"},
                 {MINIGPU "run k/k.yaml --trace hard", "hard is read and would be written over"},
                 {MINIGPU "run k/k.yaml --html k/in.bin", "k/in.bin is read and would be written over"},
                 {MINIGPU "run k/k.yaml --html k/out.bin", "k/out.bin is read and would be written over"},
                 {MINIGPU "run k/k.yaml --dump k", "k/in.bin is read and would be written over"},
                 {MINIGPU "demo k/k.yaml --html k/k.ptx", "k/k.ptx is read and would be written over"},
                 {MINIGPU "demo k/k.yaml --trace k", "k/demo-flush.json is read and would be written over"},
                 {MINIGPU "pairs k/k.yaml k/k.yaml --csv k/k.ptx", "k/k.ptx is read and would be written over"},
                 {MINIGPU "run k/k.yaml --html both --trace both", "both is two outputs, and one would be lost"},
                 {MINIGPU "run k/k.yaml --html new --trace ./new", "new is two outputs, and one would be lost"},
                 {MINIGPU "run k/k.yaml --html k/../new --trace new", "k/../new is two outputs, and one would be lost"},
                 {MINIGPU "policies --html both --csv both", "both is two outputs, and one would be lost"},
                 {TBSIM "run " FIGURE "--html both --trace both", "both is two outputs, and one would be lost"}};
    char command[1024];
    size_t i;
    (void)state;
    expect(
        "rm -rf k as_it_was symbolic hard both; mkdir k; cp " FEATURES
        " k/k.ptx; ln -s k/k.ptx symbolic; ln k/k.ptx hard;"
        "head -c 4 /dev/zero | tee k/in.bin | tee k/demo-flush.json >k/out.bin;"
        "printf '%s\n' 'kernels: [{ptx: k.ptx, kernel: sum_integers, grid: 1, block: 32, arguments: [{buffer: {name: "
        "in, type: s32, file: in.bin}}], expect: {buffers: [{argument: 0, file: out.bin}, {argument: 0, file: "
        "demo-flush.json}]}}]' >k/k.yaml; cp -r k as_it_was",
        0, NULL);
    for (i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(command, sizeof command, "%s 2>&1; status=$?; diff -r k as_it_was || exit 9; exit $status",
                 cases[i].command);
        expect(command, 2, cases[i].text);
    }
    expect("rm -rf as_it_was", 0, NULL);
}

/* A command refuses an option that it would not look at. */
static void test_options_of_other_commands(void **state) {
    (void)state;
    expect(TBSIM "run " FIGURE "--workloads 3 2>&1", 2, "tbsim: run does not take --workloads");
    expect(TBSIM "run " FIGURE "--svg a.svg 2>&1", 2, "tbsim: run does not take --svg");
    expect(TBSIM "sweep --html a.html 2>&1", 2, "tbsim: sweep does not take --html");
    expect(TBSIM "evaluate --schedule dss 2>&1", 2, "tbsim: evaluate does not take --schedule");
    expect(TBSIM "run " GPUMP_SOURCE_DIR "/examples/tbsim/workloads/figure_5_1.yaml --schedule dss_fault 2>&1", 2,
           "tbsim: --schedule dss_fault: blocks here access no pages");
    expect(TBSIM "--list policies | grep -c dss_fault", 1, "0");
    expect(TBSIM "machines --exact 2>&1", 2, "tbsim: machines does not take --exact");
    expect(TBSIM "merge out.csv part.csv --seed 2 2>&1", 2, "tbsim: merge does not take --seed");
}

/* Old names do what the new ones do, with a note. */
static void test_old_names(void **state) {
    (void)state;
    expect(TBSIM "run " FIGURE "--policy ppq --mechanism drain --limit 900 >old.txt 2>notes.txt; " TBSIM "run " FIGURE
                 "--schedule ppq --leave drain --until 900 >new.txt; cmp old.txt new.txt && cat notes.txt",
           0, "tbsim: run: --policy is now --schedule");
    assert_non_null(strstr(output, "--mechanism is now --leave"));
    assert_non_null(strstr(output, "--limit is now --until"));
    expect(TBSIM "run " FIGURE "--schedul fcfs", 0, "fcfs");
    expect(TBSIM "swep 2>&1", 2, "did you mean sweep?");
    expect(TBSIM "--list options machines", 0, "machines\t--seed\tnumber\tN\t0\t");
}

/* A process that never gets an SM ends the run with its name; with an end, or under fcfs, the run is done. */
static void a_process_that_starves_is_named(void **state) {
    static const char file[] = GPUMP_SOURCE_DIR "/tests/tbsim/starves.yaml ";
    char command[1024];
    (void)state;
    snprintf(command, sizeof command, TBSIM "run %s --schedule ppq 2>&1", file);
    expect(command, 1, "process patient starves under ppq: its run 1 has not ended after ");
    snprintf(command, sizeof command, TBSIM "run %s --schedule ppq --until 5000 2>&1", file);
    expect(command, 0, "patient");
    snprintf(command, sizeof command, TBSIM "run %s --schedule fcfs 2>&1", file);
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
    snprintf(command, sizeof command, TBSIM "run %s --leave drain 2>&1", file);
    expect(command, 0, "time_slice");
    snprintf(command, sizeof command,
             "sed 's/slice_us: 5/slice_us: 20/' %s >longer.yaml; " TBSIM "run longer.yaml 2>&1", file);
    expect(command, 0, "time_slice");
}

/* Every program whose work takes hours shows on a terminal how far it is. Ctrl-C ends it with status 130, and it says
 * which results are complete. The test waits for the line, so no speed of the machine changes its verdict. */
static void test_long_runs(void **state) {
    static const struct {
        const char *command, *shown, *said;
    } cases[] = {
        {TBSIM "sweep --workloads 20000 --out swept.csv", "*tbsim: * of 20000 runs, *%, about * s left*",
         "of 20000 workloads are in swept.csv"},
        {MINIGPU "run long.yaml", "*minigpu: cycle *, * of * blocks done, *%, about * s left*",
         "minigpu: interrupted at cycle "},
        {GPUMP_BINARY_DIR "/bench/reproduce --only S.viol", "*reproduce: *, *%, about * s left*",
         "reproduce: interrupted; the rows printed so far are complete"},
        {MINIGPU "policies --requests 10000 --processes 1", "*minigpu policies: *",
         "minigpu policies: interrupted; no table is printed"},
        {MINIGPU "pairs --cycles 10000000", "*minigpu pairs: *",
         "minigpu pairs: interrupted; the pairs printed so far"},
        {MINIGPU "corun " GPUMP_SOURCE_DIR "/examples/minigpu/launches/corun_backprop_cfd.yaml --cycles 100000000",
         "*minigpu corun: *", "minigpu corun: interrupted; the policies"},
        {MINIGPU "tail " GPUMP_SOURCE_DIR "/examples/minigpu/launches/requests_beside_batch.yaml --requests 100000",
         "*minigpu tail: *", "minigpu tail: interrupted; the rows"}};
    enum { CASES = sizeof cases / sizeof *cases };
    static terminal_program programs[CASES];
    size_t i;
    (void)state;
    expect("rm -f swept.csv; printf '%s\n' 'machine: {most_blocks: 1000000000}' 'kernels: [{ptx: " FEATURES
           ", kernel: sum_integers, grid: 100000000,"
           "block: 256, arguments: [{buffer: {type: s32, count: 1}}]}]' >long.yaml",
           0, NULL);
    for (i = 0; i < CASES; i++) /* all at the same time: the line comes after two seconds */
        if (!strstr(cases[i].command, "/bench/") || !access(GPUMP_BINARY_DIR "/bench/reproduce", X_OK))
            terminal_start(&programs[i], cases[i].command);
    for (i = 0; i < CASES; i++) {
        terminal_program *p = &programs[i];
        int shown, status;
        if (!p->process) continue;
        shown = terminal_wait(p, cases[i].shown);
        status = terminal_interrupt(p);
        if (!shown || status != 130 || !strstr(p->output, cases[i].said))
            fail_msg("%s: no \"%s\", exit status %d, not 130, or no \"%s\" in: %s", cases[i].command, cases[i].shown,
                     status, cases[i].said, p->output);
    }
    assert_non_null(strstr(programs[1].output, "not ended"));
    expect("head -1 swept.csv", 0, "workload,process,benchmark");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_full_disk_ends_with_its_reason),
                                       cmocka_unit_test(test_no_program_is_silent),
                                       cmocka_unit_test(test_bad_input_has_a_reason),
                                       cmocka_unit_test(test_options_of_other_commands),
                                       cmocka_unit_test(test_no_input_is_written_over),
                                       cmocka_unit_test(test_no_file_of_a_run_is_written_over),
                                       cmocka_unit_test(test_old_names),
                                       cmocka_unit_test(a_process_that_starves_is_named),
                                       cmocka_unit_test(test_short_turns_are_refused),
                                       cmocka_unit_test(test_a_run_takes_time),
                                       cmocka_unit_test(test_long_runs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
