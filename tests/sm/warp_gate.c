/* labels: unit property */
/* warp_gate against a plain table of who objects to what. */
#include "test.h"

/* A warp's gate is open for a right exactly where no asker has closed that right. */
static void test_gate_against_a_table(void **state) {
    const uint64_t cases = test_cases(200);
    uint64_t number;
    (void)state;
    for (number = 0; number < cases; number++) {
        uint64_t random = test_seed() * 7919 + number;
        uint8_t objects[GPUMP_WARP_RIGHTS][GPUMP_WARP_ASKERS];
        gpump_warp_gate gate = 0;
        uint32_t step, right, asker;
        memset(objects, 0, sizeof objects);
        for (step = 0; step < 100; step++) {
            const gpump_warp_right r = (gpump_warp_right)gpump_random_below(&random, GPUMP_WARP_RIGHTS);
            const gpump_warp_asker a = (gpump_warp_asker)gpump_random_below(&random, GPUMP_WARP_ASKERS);
            const uint8_t closes = (uint8_t)gpump_random_below(&random, 2);
            if (closes)
                gpump_warp_gate_close(&gate, r, a);
            else
                gpump_warp_gate_open(&gate, r, a);
            objects[r][a] = closes;
            for (right = 0; right < GPUMP_WARP_RIGHTS; right++) {
                uint32_t askers = 0;
                for (asker = 0; asker < GPUMP_WARP_ASKERS; asker++) {
                    askers |= (uint32_t)objects[right][asker] << asker;
                    test_check(gpump_warp_gate_closed_by(gate, (gpump_warp_right)right, (gpump_warp_asker)asker) ==
                                   objects[right][asker],
                               test_seed(), number);
                }
                test_check(gpumpi_warp_gate_askers(gate, (gpump_warp_right)right) == askers, test_seed(), number);
                test_check(gpump_warp_gate_may(gate, (gpump_warp_right)right) == !askers, test_seed(), number);
                test_check(!gpump_warp_gate_reason(gate, (gpump_warp_right)right) == !askers, test_seed(), number);
            }
        }
    }
}

/* Of several reasons the gate names one, and another right is not closed. */
static void a_closed_gate_says_the_first_reason(void **state) {
    gpump_warp_gate gate = 0;
    (void)state;
    assert_null(gpump_warp_gate_reason(gate, GPUMP_WARP_ISSUE));
    gpump_warp_gate_close(&gate, GPUMP_WARP_ISSUE, GPUMP_WARP_FAULT);
    gpump_warp_gate_close(&gate, GPUMP_WARP_ISSUE, GPUMP_WARP_BARRIER);
    assert_string_equal(gpump_warp_gate_reason(gate, GPUMP_WARP_ISSUE), "waits at a barrier");
    gpump_warp_gate_open(&gate, GPUMP_WARP_ISSUE, GPUMP_WARP_BARRIER);
    assert_string_equal(gpump_warp_gate_reason(gate, GPUMP_WARP_ISSUE), "waits for a page");
    assert_true(gpump_warp_gate_may(gate, GPUMP_WARP_FETCH)); /* another right */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gate_against_a_table),
        cmocka_unit_test(a_closed_gate_says_the_first_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
