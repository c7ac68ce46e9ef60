/* labels: unit property */
/* uvm, the driver's rules alone: prefetching by density against brute force, thrashing, pinning, its configuration. */
#include "diagnosed.h"

static gpump_uvm_config uvm595(uint32_t clock_khz) {
    gpump_uvm_config config;
    gpump_gpu gpu;
    assert_int_equal(gpump_preset(&gpump_gpu_component, &gpu, "table61", NULL), GPUMP_OK);
    gpu.clock_khz = clock_khz;
    assert_int_equal(gpumpi_uvm_config_from_gpu(&config, "uvm595", &gpu), GPUMP_OK);
    assert_int_equal(gpumpi_uvm_check_config(&config, NULL), GPUMP_OK);
    return config;
}

/* What the rule says, looked at part by part: a part that holds a faulted granule and is dense is brought whole, and so
 * is everything that a larger dense part around that granule holds. */
static uint64_t brute_force(uint64_t present, uint64_t faulted, uint32_t granules, uint32_t percent) {
    uint64_t wanted = faulted;
    for (uint32_t size = granules; size >= 2; size /= 2)
        for (uint32_t first = 0; first < granules; first += size) {
            uint32_t count = 0, asked = 0;
            for (uint32_t i = first; i < first + size; i++) {
                count += ((present | faulted) >> i & 1) != 0;
                asked += (faulted >> i & 1) != 0;
            }
            if (!asked || count * 100 <= size * percent) continue;
            for (uint32_t i = first; i < first + size; i++) wanted |= (uint64_t)1 << i;
        }
    return wanted & ~present;
}

/* gpump_uvm_prefetch brings the granules that a walk over the whole tree brings. */
static void prefetching_is_what_brute_force_says(void **state) {
    const uint64_t cases = test_cases(20000);
    uint64_t random = test_seed(), brought = 0;
    (void)state;
    for (uint64_t number = 0; number < cases; number++) {
        const uint32_t granules = 1u << gpump_random_below(&random, 7);
        const uint64_t all = UINT64_MAX >> (64 - granules);
        const uint32_t percent = gpump_random_below(&random, 3) ? 51 : 1 + gpump_random_below(&random, 100);
        uint64_t present = gpump_random_next(&random) & all, faulted = gpump_random_next(&random) & all & ~present;
        for (uint32_t thin = gpump_random_below(&random, 4); thin; thin--) faulted &= gpump_random_next(&random);
        if (gpump_random_below(&random, 2)) present &= gpump_random_next(&random);
        test_check(gpump_uvm_prefetch(present, faulted, granules, percent) ==
                       brute_force(present, faulted, granules, percent),
                   test_seed(), number);
        brought += gpump_uvm_prefetch(present, faulted, granules, percent) != faulted;
    }
    assert_true(brought > cases / 8);
    /* by hand: of 8 granules, 5 of the first 8 make 62%: all are brought; 4 of 8 are 50%, and only the dense pair is */
    assert_int_equal(gpump_uvm_prefetch(0x0f, 0x10, 32, 51), 0xf0);
    assert_int_equal(gpump_uvm_prefetch(0x07, 0x10, 32, 51), 0x10);
    assert_int_equal(gpump_uvm_prefetch(0x10, 0x20, 32, 51), 0x20); /* the pair is full, its four are half full */
    assert_int_equal(gpump_uvm_prefetch(0x30, 0x40, 32, 51), 0xc0); /* three of four */
    assert_int_equal(gpump_uvm_prefetch(0, 0x55555555, 32, 51), 0x55555555);
    assert_int_equal(gpump_uvm_prefetch(0, 0x55555557, 32, 51), 0xffffffff);
}

/* A part is brought from the first per cent on that it exceeds: whole VA blocks with one granule that has faulted. */
static void the_density_is_exact(void **state) {
    (void)state;
    for (uint32_t granules = 2; granules <= 64; granules *= 2)
        for (uint32_t count = 1; count < granules; count++) {
            const uint64_t faulted = (uint64_t)1 << (count - 1), all = UINT64_MAX >> (64 - granules);
            const uint32_t below = (count * 100 - 1) / granules; /* the largest percentage that is exceeded */
            if (below) assert_true(gpump_uvm_prefetch(faulted - 1, faulted, granules, below) == (all & ~(faulted - 1)));
            assert_true(gpump_uvm_prefetch(faulted - 1, faulted, granules, below + 1) != (all & ~(faulted - 1)));
        }
}

/* The third arrival of three, each at most thrash_cycles after the last, is what thrashes; a later one is the first. */
static void arrivals_soon_after_each_other_thrash(void **state) {
    const gpump_uvm_config config = uvm595(1000000);
    gpump_uvm_granule granule = {0, 0, 0, 0};
    (void)state;
    gpump_uvm_report_arrival(&config, &granule, 1000000);
    assert_int_equal(granule.arrivals, 1);
    gpump_uvm_report_arrival(&config, &granule, 1500000);
    assert_int_equal(granule.arrivals, 2);
    assert_int_equal(gpump_uvm_decide(&config, &granule, 1500000), GPUMP_UVM_SERVE);
    gpump_uvm_report_arrival(&config, &granule, 2000000);
    assert_int_equal(gpump_uvm_decide(&config, &granule, 2000000), GPUMP_UVM_DELAY);
    gpump_uvm_report_arrival(&config, &granule, 2500001);
    assert_int_equal(granule.arrivals, 1);
    assert_true(granule.arrived == 2500001);
    assert_int_equal(gpump_uvm_decide(&config, &granule, 2500001), GPUMP_UVM_SERVE);
}

/* A thrashing granule is delayed thrash_delays times, then pinned for pin_cycles or mapped remotely, and begins anew.
 */
static void delays_then_a_pin(void **state) {
    gpump_uvm_config config = uvm595(1000000);
    (void)state;
    for (config.remote = 0; config.remote < 3; config.remote++) {
        gpump_uvm_granule granule = {0, 0, 3, 0};
        for (uint32_t i = 0; i < 10; i++) assert_int_equal(gpump_uvm_decide(&config, &granule, i), GPUMP_UVM_DELAY);
        assert_int_equal(gpump_uvm_decide(&config, &granule, 99), config.remote ? GPUMP_UVM_REMOTE : GPUMP_UVM_PIN);
        assert_true(granule.pinned_until == (config.remote ? 0 : UINT64_C(150000099)));
        assert_int_equal(granule.arrivals, 0);
        assert_int_equal(granule.delays, 0);
        assert_int_equal(gpump_uvm_decide(&config, &granule, 100), GPUMP_UVM_SERVE);
    }
    {
        gpump_uvm_granule granule = {0, 0, UINT32_MAX, 0};
        config.thrash_events = 0;
        assert_int_equal(gpump_uvm_decide(&config, &granule, 0), GPUMP_UVM_SERVE);
    }
}

/* 50 us are 50 us on every clock; counts and per cents do not change with it. */
static void periods_follow_the_clock(void **state) {
    const gpump_uvm_config slow = uvm595(706000), fast = uvm595(1380000);
    gpump_uvm_config none, before;
    gpump_gpu gpu;
    (void)state;
    assert_int_equal(slow.batch_cycles, 35300);
    assert_int_equal(fast.batch_cycles, 69000);
    assert_int_equal(slow.entry_cycles, 142);
    assert_int_equal(slow.block_cycles, 63540);
    assert_int_equal(slow.thrash_cycles, 353000);
    assert_int_equal(slow.pin_cycles, 105900000);
    assert_int_equal(slow.remote_cycles, 3530);
    assert_int_equal(slow.batch, fast.batch);
    assert_int_equal(slow.prefetch_percent, fast.prefetch_percent);
    assert_int_equal(gpump_preset(&gpump_gpu_component, &gpu, "table61", NULL), GPUMP_OK);
    assert_int_equal(gpumpi_uvm_config_from_gpu(&none, "none", &gpu), GPUMP_OK);
    assert_int_equal(gpumpi_uvm_check_config(&none, NULL), GPUMP_OK);
    assert_int_equal(none.batch, 1);
    assert_int_equal(none.thrash_events, 0);
    before = none;
    assert_int_equal(gpumpi_uvm_config_from_gpu(&none, "uvm", &gpu), GPUMP_ERROR_UNKNOWN_NAME);
    assert_int_equal(gpumpi_uvm_config_from_gpu(&none, NULL, &gpu), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpumpi_uvm_config_from_gpu(NULL, "none", &gpu), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpumpi_uvm_config_from_gpu(&none, "none", NULL), GPUMP_ERROR_ARGUMENT);
    gpu.clock_khz = 0;
    assert_int_equal(gpumpi_uvm_config_from_gpu(&none, "none", &gpu), GPUMP_ERROR_ARGUMENT);
    assert_memory_equal(&none, &before, sizeof none);
}

static gpump_result check(const void *config, gpump_diag *diag) {
    return gpumpi_uvm_check_config((const gpump_uvm_config *)config, diag);
}

/* A member of the UVM configuration out of its range is refused by its name within the fault unit's configuration. */
static void ranges_are_named_as_members_of_the_fault_unit(void **state) {
#define FIELD(member, minimum, maximum) \
    { "uvm." #member, offsetof(gpump_uvm_config, member), 4, minimum, maximum }
    static const diagnosed_field fields[] = {
        FIELD(batch, 1, 65536),       FIELD(batches, 1, 256),          FIELD(replay, 0, GPUMP_UVM_REPLAYS - 1),
        FIELD(block_granules, 1, 64), FIELD(prefetch_percent, 1, 100), FIELD(remote, 0, 2),
        FIELD(counter, 1, UINT32_MAX)};
    gpump_uvm_config config = uvm595(1000000);
    (void)state;
    diagnosed_fields(&config, sizeof config, fields, sizeof fields / sizeof *fields, check);
    config.block_granules = 24;
    diagnosed(check(&config, DIAG), GPUMP_ERROR_CONFIG, "uvm.block_granules (a power of two)", 0, 24, 1, 64);
    diagnosed_null(check(NULL, DIAG), "uvm");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prefetching_is_what_brute_force_says),
        cmocka_unit_test(the_density_is_exact),
        cmocka_unit_test(arrivals_soon_after_each_other_thrash),
        cmocka_unit_test(delays_then_a_pin),
        cmocka_unit_test(periods_follow_the_clock),
        cmocka_unit_test(ranges_are_named_as_members_of_the_fault_unit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
