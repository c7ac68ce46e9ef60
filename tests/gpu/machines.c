/* labels: unit golden */
/* The machines of the presets, number by number (their sources stand in gpu.c); save areas of every generation of AMD
 * GPUs against the formula written out; metrics of unequal programs by hand. */
#include "test.h"

typedef struct machine {
    const char *name;
    uint32_t fields[16]; /* as gpump_gpu has them, from sms to memory_mb_per_s */
} machine;

/* Every number of every preset, as the papers print it. */
static void presets_are_the_papers_machines(void **state) {
    static const machine machines[] = {
        /* sms, clock, lanes, schedulers, slots of blocks, warps, threads, registers, granules, options of shared
         * memory, bandwidth */
        {"gtx480_lin", {15, 700000, 32, 2, 8, 48, 1536, 32768, 1, 1, 1, 49152, 0, 0, 0, 177000}},
        {"gtx480_shieh", {15, 1400000, 32, 2, 8, 48, 1536, 32768, 1, 1, 1, 49152, 0, 0, 0, 177400}},
        {"k20c", {13, 706000, 32, 4, 16, 64, 2048, 65536, 1, 1, 3, 16384, 32768, 49152, 0, 208000}},
        {"table61", {16, 1000000, 32, 2, 16, 64, 2048, 65536, 1, 1, 1, 32768, 0, 0, 0, 250000}},
        {"maxwell_duet", {16, 1000000, 32, 4, 32, 64, 2048, 65536, 1, 1, 1, 98304, 0, 0, 0, 307000}},
        {"maxwell_ccbp", {16, 1800000, 32, 4, 32, 64, 2048, 65536, 1, 1, 1, 98304, 0, 0, 0, 319000}},
        {"igpu4", {4, 1300000, 32, 1, 8, 32, 1024, 16384, 1, 1, 1, 16384, 0, 0, 0, 32000}},
        {"p100", {56, 1480000, 32, 2, 32, 64, 2048, 65536, 256, 256, 1, 65536, 0, 0, 0, 732000}},
        {"v100", {80, 1530000, 32, 4, 32, 64, 2048, 65536, 256, 256, 4, 16384, 32768, 65536, 98304, 900000}},
        {"a100", {108, 1410000, 32, 4, 32, 64, 2048, 65536, 256, 128, 4, 65536, 102400, 135168, 167936, 1555000}},
        {"h100", {132, 1830000, 32, 4, 32, 64, 2048, 65536, 256, 128, 4, 102400, 135168, 200704, 233472, 3352000}},
        {"gh200", {132, 1980000, 32, 4, 32, 64, 2048, 65536, 256, 128, 4, 102400, 135168, 200704, 233472, 4000000}},
        {"h200", {132, 1980000, 32, 4, 32, 64, 2048, 65536, 256, 128, 4, 102400, 135168, 200704, 233472, 4800000}},
        {"b200", {148, 1965000, 32, 4, 32, 64, 2048, 65536, 256, 128, 4, 102400, 135168, 200704, 233472, 8000000}},
        {"rtx4090", {128, 2520000, 32, 4, 24, 48, 1536, 65536, 256, 128, 4, 16384, 32768, 65536, 102400, 1008000}},
        {"l40", {142, 2490000, 32, 4, 24, 48, 1536, 65536, 256, 128, 4, 16384, 32768, 65536, 102400, 864000}},
        {"a40", {84, 1740000, 32, 4, 16, 48, 1536, 65536, 256, 128, 4, 16384, 32768, 65536, 102400, 696000}},
        {"mi100", {120, 1502000, 64, 4, 32, 40, 2560, 131072, 256, 512, 1, 65536, 0, 0, 0, 1228800}},
        {"mi210", {104, 1700000, 64, 4, 32, 32, 2048, 131072, 512, 512, 1, 65536, 0, 0, 0, 1638400}},
        {"mi300x", {304, 2100000, 64, 4, 32, 32, 2048, 131072, 512, 512, 1, 65536, 0, 0, 0, 5300000}},
        {"gfx1030", {80, 2250000, 32, 4, 32, 32, 1024, 65536, 256, 512, 1, 65536, 0, 0, 0, 512000}},
        {"gfx1012", {20, 1670000, 32, 4, 32, 32, 1024, 65536, 256, 512, 1, 65536, 0, 0, 0, 224000}},
        {"gfx1100", {96, 2500000, 32, 4, 32, 32, 1024, 98304, 256, 512, 1, 65536, 0, 0, 0, 960000}},
    };
    uint32_t p;
    (void)state;
    for (p = 0; gpump_gpu_preset_name(p); p++) {
        gpump_gpu gpu;
        assert_true(p < sizeof machines / sizeof *machines);
        assert_string_equal(gpump_gpu_preset_name(p), machines[p].name);
        memset(&gpu, 0xff, sizeof gpu);
        assert_int_equal(gpump_preset(&gpump_gpu_component, &gpu, machines[p].name, NULL), GPUMP_OK);
        for (uint32_t i = 0; i < sizeof machines->fields / sizeof *machines->fields; i++)
            if ((&gpu.sms)[i] != machines[p].fields[i])
                fail_msg("%s, number %u: %u, not %u", machines[p].name, i, (&gpu.sms)[i], machines[p].fields[i]);
    }
    assert_int_equal(p, sizeof machines / sizeof *machines);
}

static void fill_the_stack(void) {
    volatile unsigned char bytes[4096];
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = 0x41;
}
/* Programs of which the first is the slowest, then the last; nothing depends on what lay in memory before. */
static void metrics(void **state) {
    const gpump_metrics_run runs[2][3] = {{{100, 400}, {100, 150}, {100, 100}}, {{100, 100}, {100, 150}, {100, 400}}};
    const gpump_metrics_rate rates[2][3] = {{{8, 2}, {3, 2}, {5, 5}}, {{5, 5}, {3, 2}, {8, 2}}};
    const uint64_t latencies[] = {500, GPUMP_UNKNOWN, 400, 401};
    (void)state;
    for (uint32_t i = 0; i < 4; i++) {
        gpump_metrics m;
        memset(&m, 0xff, sizeof m);
        fill_the_stack();
        if (i < 2)
            assert_int_equal(gpump_metrics_compute(runs[i], 3, &m, NULL), GPUMP_OK);
        else
            assert_int_equal(gpump_metrics_compute_rates(rates[i - 2], 3, &m, NULL), GPUMP_OK);
        assert_true(m.worst_ntt == 4 && m.best_ntt == 1 && m.fairness == 0.25);
        assert_true(m.antt > 2.16 && m.antt < 2.17 && m.stp > 1.91 && m.stp < 1.92);
        assert_true(m.weighted_speedup == m.stp && m.harmonic_speedup == 1 / m.antt);
    }
    assert_true(gpump_metrics_violation_rate(latencies, 4, 400) == 0.75);
    assert_true(gpump_metrics_violation_rate(latencies, 4, 600) == 0.25);
    assert_true(gpump_metrics_violation_rate(latencies, 0, 400) == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(presets_are_the_papers_machines), cmocka_unit_test(metrics)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
