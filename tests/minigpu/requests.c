/* labels: command unit */
/* A request that a run did not come to is said, by a line that a script finds; one that cannot be met is refused before
 * the run, with the remedy. */
#include "run_command.h"

#define RUN GPUMP_BINARY_DIR "/examples/minigpu/minigpu run " GPUMP_SOURCE_DIR "/examples/minigpu/"
#define SAXPY RUN "kernels/saxpy/small.yaml "

static char output[1 << 16];

static void expect(const char *command, int status, const char *text) {
    const int is = run_command(command, output, sizeof output);
    if (is != status || (text && !strstr(output, text)))
        fail_msg("%s: exit status %d, not %d, or no \"%s\" in: %s", command, is, status, text ? text : "", output);
}

/* A request that had no effect is named on stderr, with the reason. */
static void a_request_that_is_not_met_is_said(void **state) {
    (void)state;
    expect(SAXPY "--preempt 5000000 2>&1 >/dev/null", 0,
           "minigpu: no effect: --preempt 5000000: that cycle was never reached, the run ended at cycle ");
    expect(SAXPY "--victims dual 2>&1 >/dev/null", 0, "minigpu: no effect: --victims dual: no block had to make room");
    expect(SAXPY "--faults stall --fault-at 100000 2>&1 >/dev/null", 0,
           "minigpu: no effect: --fault-at 100000: there were only ");
    expect(SAXPY "--detection razor --error-at 100000 2>&1 >/dev/null", 0,
           "minigpu: no effect: --error-at 100000: there were only ");
    expect(SAXPY "--partition even 2>&1 >/dev/null", 0, "minigpu: --partition even: no kernel ran beside another");
    expect(SAXPY "--trap-at 100000 2>&1 >/dev/null", 0, "minigpu: no effect: --trap-at 100000: there were only ");
}

/* A run that --threads cannot speed up says so, and by which option. */
static void threads_in_turn_are_said(void **state) {
    static const char *const reasons[][2] = {
        {"--races", "--races looks at every access"},
        {"--faults stall --fault-at 3", "--fault-at counts the look-ups of all SMs together"},
        {"--duet=maxwell_duet", "under --duet all SMs share the monitor"},
        {"--faults queue --absent all --link nvlink --switch-on-fault 2", "under --switch-on-fault all SMs share"},
        {"--detection razor --errors 0.001", "the SMs share the state of --errors"},
        {"--trap-at 5", "the SMs share the state of --errors"}};
    char command[1024];
    size_t i;
    (void)state;
    for (i = 0; i < sizeof reasons / sizeof *reasons; i++) {
        snprintf(command, sizeof command, SAXPY "%s --threads 2 2>&1 >/dev/null | grep 'no effect: --threads 2: '",
                 reasons[i][0]);
        expect(command, 0, reasons[i][1]);
    }
    expect(SAXPY "--threads 2 2>&1 >/dev/null | grep 'no effect'", 1, NULL);
    expect(SAXPY "--races --threads 1 2>&1 >/dev/null | grep 'no effect'", 1, NULL);
}

/* A refill larger than what a process may have launched is refused with the values that are accepted. */
static void a_refill_beyond_the_launches_is_refused(void **state) {
    (void)state;
    expect(RUN "launches/three_processes.yaml --schedule ppq --launch-ahead 3 --launch-refill 7 2>&1", 2,
           "minigpu: --launch-refill 7 is more than a process may have launched, which is the running kernel and "
           "--launch-ahead 3: give --launch-refill 0 to 4\n");
    expect(RUN "launches/three_processes.yaml --schedule ppq --launch-ahead 3 --launch-refill 4 2>&1", 0, "right");
}

/* A request that had an effect is not named on stderr. */
static void a_request_that_is_met_is_not(void **state) {
    static const char *const met[] = {SAXPY "--preempt 500",
                                      SAXPY "--preempt 500:flush",
                                      RUN "demo.yaml --victims switch",
                                      SAXPY "--faults stall --fault-at 3",
                                      SAXPY "--faults stall --fault-at 3:1000000",
                                      SAXPY "--trap-at 5",
                                      SAXPY "--detection razor --error-at 5"};
    char command[1024];
    size_t i;
    (void)state;
    for (i = 0; i < sizeof met / sizeof *met; i++) {
        snprintf(command, sizeof command, "%s 2>&1 >/dev/null | grep 'no effect'", met[i]);
        expect(command, 1, NULL);
    }
}

/* Absent pages without a unit that serves them are refused before the run. */
static void absent_pages_that_nobody_finds_are_refused(void **state) {
    (void)state;
    expect(SAXPY "--absent all 2>&1 >/dev/null", 2, "--absent needs --faults SCHEME or --page-checks FORM");
    expect(SAXPY "--absent x,code 2>&1 >/dev/null", 2, "--absent needs --faults SCHEME or --page-checks FORM");
    expect(SAXPY "--absent code 2>&1", 0, "right");
    expect(SAXPY "--absent all --faults stall 2>&1", 0, "right");
}

/* What is wrong is named, and not what follows from it. */
static void the_cause_is_named(void **state) {
    (void)state;
    expect(GPUMP_BINARY_DIR "/examples/minigpu/minigpu corun " GPUMP_SOURCE_DIR
                            "/examples/minigpu/launches/corun_backprop_cfd.yaml --partition mig:3g 2>&1",
           2, "the division \"mig:3g\" names 1 of 2 kernels: give one part for each");
    expect(RUN "launches/corun_backprop_cfd.yaml --partition mps:50:30:20 --unsampled 2>&1", 2, "names 3 of 2 kernels");
    expect(RUN "launches/corun_backprop_cfd.yaml --partition green:800:7 --unsampled 2>&1", 2, "cannot be had on");
    /* The machine counts, and not the preset: --sms, and a launch file without a machine (15 SMs). */
    expect(RUN "launches/hotspot_pathfinder.yaml --sms 4 --partition green:8:7 2>&1", 2, "cannot be had on 4 SMs: ");
    expect(GPUMP_BINARY_DIR "/examples/minigpu/minigpu corun " GPUMP_SOURCE_DIR
                            "/examples/minigpu/launches/hotspot_pathfinder.yaml --partition green:8:8 2>&1",
           2, "cannot be had on 15 SMs: ");
    expect(RUN "kernels/saxpy/saxpy.ptx 2>&1", 2,
           "is no launch file: minigpu init FILE.ptx writes one for its kernels\n");
    expect(RUN "own_kernel/smooth.cu 2>&1", 2, "is no launch file: compile it to PTX (nvcc -ptx)");
    expect(GPUMP_BINARY_DIR "/examples/minigpu/minigpu pairs nofile.yaml 2>&1", 2, "cannot read nofile.yaml: No such");
    expect(GPUMP_BINARY_DIR "/examples/tbsim/tbsim run x.yaml --until -4 2>&1", 2,
           "tbsim: --until needs a number from 0 to ");
}

/* corun measures over a number of cycles, so its kernels start again whenever they end, whatever the file says. */
static void corun_takes_kernels_that_end(void **state) {
    (void)state;
    expect(GPUMP_BINARY_DIR "/examples/minigpu/minigpu corun " GPUMP_SOURCE_DIR
                            "/examples/minigpu/launches/hotspot_pathfinder.yaml --partition green:10:5 --cycles 20000",
           0, "| green:10:5 | pathfinder | network | 5 |"); /* the second in the file, although it is more urgent */
    expect(GPUMP_BINARY_DIR "/examples/minigpu/minigpu corun " GPUMP_SOURCE_DIR
                            "/examples/minigpu/launches/gaussian.yaml --partition green:8:7 2>&1",
           2, "needs each kernel in a process of its own");
}

/* Each member of a group has its part of the SMs, so a member of higher priority empties none. */
static void a_member_that_arrives_leaves_the_others_their_sms(void **state) {
    (void)state;
    expect(RUN "launches/hotspot_pathfinder.yaml --partition mig:3g+4g --unsampled", 0, "right");
    if (strstr(output, "gives up")) fail_msg("%s", output);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_request_that_is_not_met_is_said),
                                       cmocka_unit_test(threads_in_turn_are_said),
                                       cmocka_unit_test(a_refill_beyond_the_launches_is_refused),
                                       cmocka_unit_test(a_request_that_is_met_is_not),
                                       cmocka_unit_test(absent_pages_that_nobody_finds_are_refused),
                                       cmocka_unit_test(the_cause_is_named),
                                       cmocka_unit_test(corun_takes_kernels_that_end),
                                       cmocka_unit_test(a_member_that_arrives_leaves_the_others_their_sms)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
