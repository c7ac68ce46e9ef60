/* labels: unit */
/* Every refusal of geometries, save areas and metrics: its code, and what its diagnostic says. */
#include "diagnosed.h"

static gpump_result check_gpu(const void *gpu, gpump_diag *diag) {
    return gpump_check(&gpump_gpu_component, (const gpump_gpu *)gpu, diag);
}

/* Each number of a GPU out of its range, and numbers that contradict each other. */
static void wrong_numbers_of_a_gpu_are_refused(void **state) {
#define FIELD(member, minimum, maximum) DIAGNOSED_FIELD(gpump_gpu, member, minimum, maximum)
    const diagnosed_field fields[] = {
        FIELD(sms, 1, 65536),
        FIELD(clock_khz, 1, UINT32_MAX),
        FIELD(lanes, 1, 64),
        FIELD(schedulers, 1, 8),
        FIELD(block_slots, 1, 64),
        FIELD(warp_slots, 1, 256),
        FIELD(thread_slots, 1, UINT32_MAX),
        FIELD(registers, 1, 1 << 30),
        FIELD(register_granule, 1, 65536), /* at most the registers */
        FIELD(shared_granule_bytes, 1, 1 << 20),
        FIELD(shared_option_count, 1, GPUMP_GPU_SHARED_OPTIONS),
        FIELD(memory_mb_per_s, 1, UINT32_MAX),
    };
#undef FIELD
    gpump_gpu gpu, bad;
    gpump_footprint need = {64, 1, 1};
    gpump_occupancy occupancy;
    (void)state;
    assert_int_equal(gpump_preset(&gpump_gpu_component, &gpu, "k20c", NULL), GPUMP_OK);
    assert_int_equal(gpu.registers, 65536);
    assert_int_equal(gpu.shared_option_count, 3);
    diagnosed_fields(&gpu, sizeof gpu, fields, sizeof fields / sizeof fields[0], check_gpu);
    diagnosed_null(gpump_check(&gpump_gpu_component, NULL, DIAG), "gpu");
    bad = gpu;
    bad.shared_bytes[1] = bad.shared_bytes[0];
    diagnosed(gpump_check(&gpump_gpu_component, &bad, DIAG), GPUMP_ERROR_CONFIG, "shared_bytes", 1, bad.shared_bytes[0],
              bad.shared_bytes[0] + 1, 1 << 30);
    bad = gpu;
    bad.shared_bytes[2] = (1u << 30) + 1;
    diagnosed(gpump_check(&gpump_gpu_component, &bad, DIAG), GPUMP_ERROR_CONFIG, "shared_bytes", 2, (1u << 30) + 1,
              bad.shared_bytes[1] + 1, 1 << 30);
    bad.shared_bytes[2] = 1u << 30;
    assert_int_equal(gpump_check(&gpump_gpu_component, &bad, NULL), GPUMP_OK);
    bad.shared_bytes[0] = (1u << 30) + 1;
    diagnosed(gpump_check(&gpump_gpu_component, &bad, DIAG), GPUMP_ERROR_CONFIG, "shared_bytes", 0, (1u << 30) + 1, 0,
              1 << 30);
    bad.shared_bytes[0] = 0;
    assert_int_equal(gpump_check(&gpump_gpu_component, &bad, NULL), GPUMP_OK);
    diagnosed_null(gpump_gpu_occupancy(&gpu, NULL, &occupancy, DIAG), "need");
    diagnosed_null(gpump_gpu_occupancy(&gpu, &need, NULL, DIAG), "occupancy");
    diagnosed_null(gpump_gpu_occupancy(NULL, &need, &occupancy, DIAG), "gpu");
    need.threads = 0;
    diagnosed(gpump_gpu_occupancy(&gpu, &need, &occupancy, DIAG), GPUMP_ERROR_ARGUMENT, "threads", 0, 0, 1, UINT32_MAX);
}

/* Generations that do not exist, and numbers of units out of their range. */
static void wrong_save_areas_are_refused(void **state) {
    gpump_gpu_cwsr area;
    (void)state;
    diagnosed_null(gpump_gpu_cwsr_area(1012, 22, 1, 4, 1, NULL, DIAG), "area");
    diagnosed(gpump_gpu_cwsr_area(799, 22, 1, 4, 1, &area, DIAG), GPUMP_ERROR_ARGUMENT, "gfx_version", 0, 799, 800,
              1251);
    diagnosed(gpump_gpu_cwsr_area(1252, 22, 1, 4, 1, &area, DIAG), GPUMP_ERROR_ARGUMENT, "gfx_version", 0, 1252, 800,
              1251);
    diagnosed(gpump_gpu_cwsr_area(1012, 0, 1, 4, 1, &area, DIAG), GPUMP_ERROR_ARGUMENT, "compute_units", 0, 0, 1,
              65536);
    diagnosed(gpump_gpu_cwsr_area(1012, 65537, 1, 4, 1, &area, DIAG), GPUMP_ERROR_ARGUMENT, "compute_units", 0, 65537,
              1, 65536);
    diagnosed(gpump_gpu_cwsr_area(1012, 22, 0, 4, 1, &area, DIAG), GPUMP_ERROR_ARGUMENT, "xccs", 0, 0, 1, 64);
    diagnosed(gpump_gpu_cwsr_area(1012, 22, 65, 4, 1, &area, DIAG), GPUMP_ERROR_ARGUMENT, "xccs", 0, 65, 1, 64);
    diagnosed(gpump_gpu_cwsr_area(900, 22, 1, 4, 0, &area, DIAG), GPUMP_ERROR_ARGUMENT, "arrays_per_engine", 0, 0, 1,
              4);
    diagnosed(gpump_gpu_cwsr_area(900, 22, 1, 4, 5, &area, DIAG), GPUMP_ERROR_ARGUMENT, "arrays_per_engine", 0, 5, 1,
              4);
    assert_int_equal(gpump_gpu_cwsr_area(900, 22, 1, 4, 4, &area, NULL), GPUMP_OK);
    assert_int_equal(gpump_gpu_cwsr_area(1012, 65536, 64, 0, 0, &area, NULL), GPUMP_OK); /* arrays do not count here */
    assert_int_equal(gpump_gpu_cwsr_area(800, 1, 1, 1, 1, &area, NULL), GPUMP_OK);
    assert_int_equal(gpump_gpu_cwsr_area(1251, 1, 1, 1, 1, &area, NULL), GPUMP_OK);
}

/* No programs, no times, and times of 0 are refused by name. */
static void metrics_of_nothing_are_refused(void **state) {
    gpump_metrics_run runs[2];
    gpump_metrics_rate rates[2] = {{1, 1}, {1, 1}};
    gpump_metrics result;
    const uint64_t latencies[4] = {9, 10, 11, GPUMP_UNKNOWN};
    (void)state;
    runs[0].alone = runs[0].shared = runs[1].alone = runs[1].shared = 1;
    diagnosed_null(gpump_metrics_compute(NULL, 2, &result, DIAG), "runs");
    diagnosed(gpump_metrics_compute(runs, 0, &result, DIAG), GPUMP_ERROR_ARGUMENT, "count", 0, 0, 1, UINT32_MAX);
    diagnosed_null(gpump_metrics_compute(runs, 2, NULL, DIAG), "metrics");
    diagnosed_null(gpump_metrics_compute_rates(NULL, 2, &result, DIAG), "rates");
    diagnosed(gpump_metrics_compute_rates(rates, 0, &result, DIAG), GPUMP_ERROR_ARGUMENT, "count", 0, 0, 1, UINT32_MAX);
    diagnosed_null(gpump_metrics_compute_rates(rates, 2, NULL, DIAG), "metrics");
    runs[1].alone = 0;
    diagnosed(gpump_metrics_compute(runs, 2, &result, DIAG), GPUMP_ERROR_ARGUMENT, "alone", 1, 0, 1, GPUMP_UNKNOWN - 1);
    runs[1].alone = 1;
    runs[1].shared = 0;
    diagnosed(gpump_metrics_compute(runs, 2, &result, DIAG), GPUMP_ERROR_ARGUMENT, "shared", 1, 0, 1,
              GPUMP_UNKNOWN - 1);
    rates[1].alone = 0;
    diagnosed(gpump_metrics_compute_rates(rates, 2, &result, DIAG), GPUMP_ERROR_ARGUMENT, "alone", 1, 0, 1,
              GPUMP_UNKNOWN - 1);
    rates[1].alone = 1;
    rates[1].shared = -1;
    diagnosed(gpump_metrics_compute_rates(rates, 2, &result, DIAG), GPUMP_ERROR_ARGUMENT, "shared", 1, 0, 1,
              GPUMP_UNKNOWN - 1);
    assert_true(gpump_metrics_violation_rate(latencies, 4, 10) == 0.5);
    assert_true(gpump_metrics_violation_rate(latencies, 4, GPUMP_UNKNOWN) == 0.25);
    assert_true(gpump_metrics_violation_rate(latencies, 0, 10) == 0.0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_numbers_of_a_gpu_are_refused),
        cmocka_unit_test(wrong_save_areas_are_refused),
        cmocka_unit_test(metrics_of_nothing_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
