/* labels: unit property */
/* gpump_port: random transfers against a port that carries one byte after the other, in fractions of a cycle. */
#include "test.h"

/* The first cycle by whose end `bytes` bytes have passed, counted byte by byte: cycle c passes port.bytes / port.cycles
 * bytes. */
static uint64_t counted(const gpump_port *port, uint64_t bytes) {
    uint64_t cycle = 0, passed = 0; /* passed: in bytes x port.cycles */
    while (passed < bytes * port->cycles) passed += port->bytes, cycle++;
    return cycle;
}

/* Transfers over a port take their printed cycles and follow each other without overlap. */
static void transfers_follow_each_other(void **state) {
    uint64_t random = test_seed(), cases = test_cases(3000);
    (void)state;
    for (uint64_t n = 0; n < cases; n++) {
        gpump_port port = {1 + gpump_random_below(&random, 9), 1 + gpump_random_below(&random, 9), 0};
        uint64_t now = 0, busy_until = 0;
        for (int i = 0; i < 20; i++) {
            const uint64_t bytes = gpump_random_below(&random, 3) ? gpump_random_below(&random, 60) : 0;
            uint64_t start = 0, end = gpump_port_take(&port, now, bytes, &start);
            test_check(gpump_port_cycles(&port, bytes) == counted(&port, bytes), test_seed(), n);
            test_check(start == (bytes && busy_until > now ? busy_until : now), test_seed(), n);
            test_check(end == start + counted(&port, bytes), test_seed(), n);
            if (bytes) busy_until = end;
            test_check(port.free_cycle == busy_until, test_seed(), n);
            now += gpump_random_below(&random, 30);
        }
    }
}

/* An end that does not fit 64 bits is unknown, and stays so. */
static void an_end_is_saturated(void **state) {
    gpump_port port = {1, 1, 0};
    (void)state;
    assert_true(gpump_port_take(&port, UINT64_MAX - 5, 10, NULL) == GPUMP_UNKNOWN);
    assert_true(gpump_port_take(&port, 0, 1, NULL) == GPUMP_UNKNOWN);
    assert_int_equal(gpump_port_take(&port, 7, 0, NULL), 7);
}

/* The port of an SM carries what gpump_gpu_save_cycles says. */
static void the_port_of_an_sm(void **state) {
    gpump_gpu gpu;
    gpump_port port;
    (void)state;
    assert_int_equal(gpump_preset(&gpump_gpu_component, &gpu, "k20c", NULL), GPUMP_OK);
    port = gpump_gpu_port(&gpu);
    assert_int_equal(gpump_port_take(&port, 100, 50000, NULL),
                     100 + gpump_muldiv_up(50000, UINT64_C(13) * 706000, 208000000));
    assert_int_equal(gpump_port_take(&port, 100, 50000, NULL), 100 + 2 * gpump_gpu_save_cycles(&gpu, 50000));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(transfers_follow_each_other),
        cmocka_unit_test(an_end_is_saturated),
        cmocka_unit_test(the_port_of_an_sm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
