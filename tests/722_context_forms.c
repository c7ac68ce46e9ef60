/* labels: equivalence slow link: minigpu_core */
/* 720_preempt_anywhere.c for the other ways of saving a block: live registers only, compressed, compressed over the block; stopped anywhere and
 * at preemption points. The vacated storage is overwritten, so a live register that were not saved would be missed. */
#define CONTEXT_FORMS_TEST
#include "720_preempt_anywhere.c"

#include "context_forms.h"

static const char *const names[] = {"saxpy", "pathfinder", "hotspot", "backprop_layer_forward", "bfs_1", "everything"};
enum { NAMES = sizeof names / sizeof *names };

static void switch_anywhere(uint32_t form, uint32_t interval) {
    uint32_t i;
    form_used = form;
    point_interval = interval;
    for (i = 0; i < NAMES; i++) {
        launch_file launch;
        machine *m = build(&launch, names[i]);
        uint64_t end, expected = undisturbed(m, &launch, names[i], &end), cycle, step, right = 0, n = 0, offset = form + 4 * (interval != 0);
        step = end / test_cases(40) + 1;
        for (cycle = offset; cycle < end; cycle += step, n++) {
            int answer;
            if (machine_run(m, cycle) != 0) break;
            answer = in_child(m, &launch, n, GPUMP_TECHNIQUE_SWITCH, 0, expected);
            right += answer == CHILD_RIGHT;
            if (answer >= CHILD_WRONG)
                fail_msg("%s, cycle %llu, %s%s: %s", names[i], (unsigned long long)cycle, context_form_name(form), interval ? " at points" : "", answers[answer]);
        }
        printf("%s, %s%s: every %llu of %llu cycles, %llu right\n", names[i], context_form_name(form), interval ? " at points" : "", (unsigned long long)step,
               (unsigned long long)end, (unsigned long long)right);
        assert_true(right > n / 2);
        machine_free(m);
        launch_file_free(&launch);
    }
}

static void test_live(void **state) { (void)state; switch_anywhere(CONTEXT_LIVE, 0); }
static void test_live_compress(void **state) { (void)state; switch_anywhere(CONTEXT_LIVE_COMPRESS, 0); }
static void test_tb(void **state) { (void)state; switch_anywhere(CONTEXT_TB, 0); }
static void test_naive_at_points(void **state) { (void)state; switch_anywhere(CONTEXT_NAIVE, 100); }
static void test_live_at_points(void **state) { (void)state; switch_anywhere(CONTEXT_LIVE, 100); }
static void test_live_compress_at_points(void **state) { (void)state; switch_anywhere(CONTEXT_LIVE_COMPRESS, 30); }
static void test_tb_at_points(void **state) { (void)state; switch_anywhere(CONTEXT_TB, 100); }
static void test_choosing(void **state) {
    (void)state;
    choose = 1;
    switch_anywhere(CONTEXT_LIVE_COMPRESS, 100);
    choose = 0;
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
            red += in_child(m, &launch, n, GPUMP_TECHNIQUE_SWITCH, GPUMP_CONTEXT_REGISTERS, expected) >= CHILD_WRONG;
        }
        if (!red) fail_msg("%s: leaving out the registers changes nothing", context_form_name(form));
        machine_free(m);
        launch_file_free(&launch);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_live),           cmocka_unit_test(test_live_compress),           cmocka_unit_test(test_tb),
        cmocka_unit_test(test_naive_at_points), cmocka_unit_test(test_live_at_points),          cmocka_unit_test(test_live_compress_at_points),
        cmocka_unit_test(test_tb_at_points),   cmocka_unit_test(test_choosing),               cmocka_unit_test(test_registers_are_needed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
