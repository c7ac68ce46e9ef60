/* labels: unit */
/* Presets of times: 12 us are 12 us on every clock, and a preset of an SM serves more than one kernel. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "gpump.h"

/* 12 us are 12 us on every GPU. */
static void times_of_a_fault_unit_follow_the_clock(void **state) {
    static const char *const gpus[] = {"table61", "k20c", "gtx480_shieh", "v100"};
    (void)state;
    for (uint32_t i = 0; i < sizeof gpus / sizeof *gpus; i++) {
        gpump_fault_config config, preset;
        gpump_gpu gpu;
        assert_int_equal(gpump_preset(&gpump_gpu_component, &gpu, gpus[i], NULL), GPUMP_OK);
        assert_int_equal(gpump_preset_for(&gpump_fault_component, &config, "nvlink", &gpu, NULL), GPUMP_OK);
        assert_int_equal(config.sms, gpu.sms);
        assert_int_equal(config.migrate_cycles, (12ull * gpu.clock_khz + 999) / 1000);
        assert_int_equal(config.allocate_cycles, (10ull * gpu.clock_khz + 999) / 1000);
        assert_int_equal(gpump_preset_for(&gpump_fault_component, &config, "uvm595", &gpu, NULL), GPUMP_OK);
        assert_int_equal(config.uvm.batch_cycles, (50ull * gpu.clock_khz + 999) / 1000);
        assert_int_equal(gpump_preset_for(&gpump_fault_component, &config, "nowhere", &gpu, NULL),
                         GPUMP_ERROR_UNKNOWN_NAME);
        if (i) continue;
        assert_int_equal(gpump_preset_for(&gpump_fault_component, &config, "pcie3_local", &gpu, NULL), GPUMP_OK);
        assert_int_equal(gpump_preset(&gpump_fault_component, &preset, "pcie3_local", NULL), GPUMP_OK);
        assert_memory_equal(&config, &preset, sizeof config);
        gpu.clock_khz = 0;
        assert_int_equal(gpump_preset_for(&gpump_fault_component, &config, "nvlink", &gpu, NULL), GPUMP_ERROR_CONFIG);
        assert_int_equal(gpump_preset_for(&gpump_fault_component, &config, "nvlink", NULL, NULL), GPUMP_ERROR_ARGUMENT);
        assert_memory_equal(&config, &preset, sizeof config);
    }
}

/* 1 ms is 1 ms on every GPU, and without a GPU there is no time. */
static void times_of_a_block_switch_follow_the_clock(void **state) {
    gpump_block_switch_config config;
    gpump_gpu gpu;
    (void)state;
    assert_int_equal(gpump_preset(&gpump_gpu_component, &gpu, "k20c", NULL), GPUMP_OK);
    assert_int_equal(gpump_preset_for(&gpump_block_switch_component, &config, "priced", &gpu, NULL), GPUMP_OK);
    assert_int_equal(config.fair_cycles, gpu.clock_khz); /* 1 ms */
    assert_int_equal(config.blocks, gpu.block_slots);
    assert_int_equal(config.priced, 1);
    assert_int_equal(gpump_preset_for(&gpump_block_switch_component, &config, "priced", NULL, NULL),
                     GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_preset_for(&gpump_block_switch_component, &config, "nowhere", &gpu, NULL),
                     GPUMP_ERROR_UNKNOWN_NAME);
}

/* An SM of a preset holds another kernel in each of its block slots. */
static void kernels_of_an_sm(void **state) {
    gpump_sm_config config;
    gpump_sm_request request;
    gpump_block_ref ref;
    gpump_sm *sm;
    size_t bytes;
    void *memory;
    (void)state;
    assert_int_equal(gpump_preset(&gpump_sm_component, &config, "k20c", NULL), GPUMP_OK);
    assert_int_equal(gpump_bytes(&gpump_sm_component, &config, &bytes, NULL), GPUMP_OK);
    memory = malloc(bytes);
    assert_int_equal(gpump_init(&gpump_sm_component, memory, bytes, &config, &sm, NULL), GPUMP_OK);
    memset(&request, 0, sizeof request);
    request.need.threads = 64;
    request.need.registers = 1024;
    for (request.kernel = 1; request.kernel <= config.block_slots; request.kernel++)
        assert_int_equal(gpump_sm_place(sm, 0, &request, NULL, &ref, NULL), GPUMP_OK);
    free(memory);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_of_a_fault_unit_follow_the_clock),
        cmocka_unit_test(times_of_a_block_switch_follow_the_clock),
        cmocka_unit_test(kernels_of_an_sm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
