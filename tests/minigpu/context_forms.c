/* labels: equivalence slow link: minigpu_core */
/* tests/minigpu/preempt_anywhere.c for the other ways of saving a block: live registers only, compressed, compressed
 * over the block; stopped anywhere and at preemption points. The vacated storage is overwritten, so a live register
 * that were not saved would be missed. */
#define CONTEXT_FORMS_TEST
#include "minigpu/preempt_anywhere.c"

#include "preemption/context_forms.h"

static const char *const names[] = {"saxpy", "pathfinder", "hotspot", "backprop_layer_forward", "bfs_1", "everything"};
enum { NAMES = sizeof names / sizeof *names };

static void switch_anywhere(uint32_t form, uint32_t interval) {
    uint32_t i;
    form_used = form;
    point_interval = interval;
    for (i = 0; i < NAMES; i++) {
        launch_file launch;
        machine *m = build(&launch, names[i]);
        uint64_t end, expected = undisturbed(m, &launch, names[i], &end), cycle, step, right = 0, n = 0,
                      offset = form + 4 * (interval != 0);
        step = end / test_cases(40) + 1;
        for (cycle = offset; cycle < end; cycle += step, n++) {
            int answer;
            if (machine_run(m, cycle) != 0) break;
            answer = try_here(m, &launch, n, GPUMP_TECHNIQUE_SWITCH, 0, expected);
            if (in_place && answer == TRY_NOT_ELSEWHERE)
                answer = TRY_RIGHT; /* a parked block can come back only to its place */
            right += answer == TRY_RIGHT;
            if (answer >= TRY_WRONG)
                fail_msg("%s, cycle %llu, %s%s: %s", names[i], (unsigned long long)cycle, context_form_name(form),
                         interval ? " at points" : "", answers[answer]);
        }
        printf("%s, %s%s: every %llu of %llu cycles, %llu right\n", names[i], context_form_name(form),
               interval ? " at points" : "", (unsigned long long)step, (unsigned long long)end,
               (unsigned long long)right);
        assert_true(right > n / 2);
        machine_free(m);
        launch_file_free(&launch);
    }
}

/* Blocks switched anywhere come back right from contexts of live registers. */
static void test_live(void **state) {
    (void)state;
    switch_anywhere(CONTEXT_LIVE, 0);
}
/* Likewise from compressed live registers. */
static void test_live_compress(void **state) {
    (void)state;
    switch_anywhere(CONTEXT_LIVE_COMPRESS, 0);
}
/* Likewise from registers compressed over a block's warps. */
static void test_tb(void **state) {
    (void)state;
    switch_anywhere(CONTEXT_TB, 0);
}
/* Likewise from whole contexts, warps stopping at preemption points. */
static void test_naive_at_points(void **state) {
    (void)state;
    switch_anywhere(CONTEXT_NAIVE, 100);
}
/* Likewise from live registers at preemption points. */
static void test_live_at_points(void **state) {
    (void)state;
    switch_anywhere(CONTEXT_LIVE, 100);
}

/* Blocks that are saved live and compressed at preemption points end with the right results. */
static void test_live_compress_at_points(void **state) {
    (void)state;
    switch_anywhere(CONTEXT_LIVE_COMPRESS, 30);
}
/* Likewise from blocks compressed at preemption points. */
static void test_tb_at_points(void **state) {
    (void)state;
    switch_anywhere(CONTEXT_TB, 100);
}
/* Likewise where each context takes the smaller of two forms. */
static void test_choosing(void **state) {
    (void)state;
    choose = 1;
    switch_anywhere(CONTEXT_LIVE_COMPRESS, 100);
    choose = 0;
}

/* What the intruder does not need stays; it runs in what was given up. */
static void test_in_place(void **state) {
    (void)state;
    in_place = 1;
    switch_anywhere(CONTEXT_NAIVE, 0);
    switch_anywhere(CONTEXT_LIVE_COMPRESS, 100);
    in_place = 0;
}

/* And some of it does stay, and some does not: counted in a run in which one kernel takes every SM from another. */
static void test_parts_stay_and_parts_go(void **state) {
    char path[512], error[LAUNCH_ERROR_BYTES];
    gpump_sm_statistics sum, one;
    machine_options options;
    launch_file launch;
    machine *m = NULL;
    kernel_check checks[4];
    uint64_t naive_bytes = 0, bytes = 0;
    uint32_t i, run;
    (void)state;
    for (run = 0; run < 2; run++) {
        machine_options_default(&options);
        options.in_place = run;
        options.preempt_cycle = 5000;
        options.technique = GPUMP_TECHNIQUE_SWITCH;
        snprintf(path, sizeof path, "%s/examples/minigpu/demo.yaml", GPUMP_SOURCE_DIR);
        if (launch_file_read(&launch, path, error) || !(m = machine_build(&launch, &options, error)))
            fail_msg("%s", error);
        assert_true(launch.kernel_count <= 4);
        assert_int_equal(machine_run(m, NEVER), 1);
        assert_int_equal(check_results(m, &launch, checks), 0);
        memset(&sum, 0, sizeof sum);
        for (i = 0; i < m->sm_count; i++) {
            gpump_get_statistics(&gpump_sm_component, m->sms[i]->gpump, &one);
            sum.parked += one.parked;
            sum.saved += one.saved;
            sum.unparked += one.unparked;
            bytes += m->sms[i]->statistics.saved_bytes;
        }
        assert_int_equal(sum.parked, sum.unparked);
        if (run)
            assert_true(sum.parked > 0);
        else
            assert_int_equal(sum.parked, 0);
        if (!run) naive_bytes = bytes, bytes = 0;
        machine_free(m);
        launch_file_free(&launch);
    }
    printf("%llu bytes saved in place of %llu\n", (unsigned long long)bytes, (unsigned long long)naive_bytes);
    assert_true(bytes < naive_bytes);
}

/* And without the registers each form is noticed. */
static void test_registers_are_needed(void **state) {
    uint32_t form;
    (void)state;
    point_interval = 0;
    for (form = CONTEXT_LIVE; form < CONTEXT_FORMS; form++) {
        launch_file launch;
        machine *m;
        uint64_t end, expected, cycle, red = 0, n = 0;
        form_used = form;
        m = build(&launch, "everything");
        expected = undisturbed(m, &launch, "everything", &end);
        for (cycle = end / 20 + 1; cycle < end; cycle += end / 20 + 1, n++) {
            if (machine_run(m, cycle) != 0) break;
            red += try_here(m, &launch, n, GPUMP_TECHNIQUE_SWITCH, GPUMP_CONTEXT_REGISTERS, expected) >= TRY_WRONG;
        }
        if (!red) fail_msg("%s: leaving out the registers changes nothing", context_form_name(form));
        machine_free(m);
        launch_file_free(&launch);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_live),
        cmocka_unit_test(test_live_compress),
        cmocka_unit_test(test_tb),
        cmocka_unit_test(test_naive_at_points),
        cmocka_unit_test(test_live_at_points),
        cmocka_unit_test(test_live_compress_at_points),
        cmocka_unit_test(test_tb_at_points),
        cmocka_unit_test(test_choosing),
        cmocka_unit_test(test_in_place),
        cmocka_unit_test(test_parts_stay_and_parts_go),
        cmocka_unit_test(test_registers_are_needed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
