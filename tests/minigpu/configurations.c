/* labels: property unit link: minigpu_core */
/* Whatever the machine's numbers are - latencies, queue lengths, cache sizes, schedulers, when sources are released,
 * how many kernels share an SM - results stay those of the C references, and nothing gets stuck. Seed and case are
 * printed on failure.
 */
#include "test.h"

#include "tools/check.h"
#include "machine/machine.h"
#include "preemption/preemption.h"

static const struct {
    const char *name;
    uint32_t low, high;
} numbers[] = {
    {"scheduler", 0, 1},
    {"sources_released", 0, 2},
    {"issue_queue_entries", 0, 127},
    {"issue_instructions", 1, 4},
    {"fetch_instructions", 1, 4},
    {"fetch_cycles", 1, 9},
    {"operand_read_cycles", 1, 9},
    {"block_start_cycles", 0, 500},
    {"alu_cycles", 1, 30},
    {"sfu_cycles", 1, 40},
    {"divide_cycles", 1, 90},
    {"double_cycles", 1, 40},
    {"control_cycles", 1, 12},
    {"sfu_interval", 1, 16},
    {"divide_interval", 1, 40},
    {"double_interval", 1, 16},
    {"shared_cycles", 1, 60},
    {"constant_cycles", 1, 40},
    {"l1_cycles", 1, 60},
    {"l1_misses", 1, 40},
    {"l1_merges", 1, 9},
    {"miss_queue_entries", 1, 9},
    {"network_cycles", 0, 200},
    {"network_bytes_per_cycle", 1, 256},
    {"network_flit_bytes", 1, 64},
    {"network_input_flits", 1, 20},
    {"network_output_flits", 1, 30},
    {"l2_cycles", 0, 200},
    {"l2_banks", 1, 20},
    {"l2_queue_entries", 1, 9},
    {"dram_channels", 1, 12},
    {"dram_groups", 1, 5},
    {"llc_cycles", 0, 300},
    {"dram_queue_entries", 1, 40},
    {"dram_cycles", 0, 500},
    {"memory_queue_entries", 1, 20},
    {"l1_ways", 1, 8},
    {"l2_ways", 1, 16},
    {"saved_blocks_per_slot", 1, 3},
    {"resume_elsewhere", 0, 1},
    {"kernels_per_sm", 1, 3},
    {"schedule_window", 0, 40},
};

static void set(launch_file *launch, const char *name, uint32_t value) {
    launch_number *grown = (launch_number *)realloc(launch->numbers, (launch->number_count + 1) * sizeof *grown);
    assert_non_null(grown);
    launch->numbers = grown;
    memset(&grown[launch->number_count], 0, sizeof *grown);
    grown[launch->number_count].name = strdup(name);
    grown[launch->number_count++].value = value;
}

static const char *const files[] = {"saxpy", "pathfinder", "hotspot", "backprop_layer_forward", "bfs_1", "processes"};

/* Returns how many blocks came back after a preemption. */
static uint64_t one(uint64_t seed, uint64_t number) {
    uint64_t state = seed * 1000003 + number, step, cycle, resumed = 0;
    const char *name = files[gpump_random_below(&state, sizeof files / sizeof *files)];
    char path[512], error[LAUNCH_ERROR_BYTES];
    machine_options options;
    launch_file launch;
    kernel_check checks[16];
    machine *m;
    uint32_t i;
    int ended = 0;
    machine_options_default(&options);
    snprintf(path, sizeof path, "%s/tests/minigpu/preempt/%s.yaml", GPUMP_SOURCE_DIR, name);
    if (launch_file_read(&launch, path, error)) fail_msg("%s", error);
    for (i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        if (gpump_random_below(&state, 3) == 0)
            set(&launch, numbers[i].name,
                numbers[i].low + gpump_random_below(&state, numbers[i].high - numbers[i].low + 1));
    }
    set(&launch, "l1_bytes", 1024u << gpump_random_below(&state, 6));
    set(&launch, "l2_bytes", 2048u << gpump_random_below(&state, 9));
    if (!gpump_random_below(&state, 3)) set(&launch, "llc_bytes", 65536);
    set(&launch, "read_set_segments", 16u << gpump_random_below(&state, 8));
    set(&launch, "static_flush", gpump_random_below(&state, 2));
    set(&launch, "in_flight_records", 4 + gpump_random_below(&state, 200));
    launch.sms = 1 + gpump_random_below(&state, 5);
    if (!(m = machine_build(&launch, &options, error)))
        fail_msg("%s (seed %llu, case %llu)", error, (unsigned long long)seed, (unsigned long long)number);
    for (i = 1; i < m->kernel_count; i++) m->kernels[i].arrival_cycle = gpump_random_below(&state, 3000);
    m->technique = gpump_random_below(&state, 3);
    step = 200 + gpump_random_below(&state, 3000);
    for (cycle = step; !ended; cycle += step) { /* and every now and then somebody has to go */
        ended = machine_run(m, cycle);
        if (!ended && gpump_random_below(&state, 2))
            preemption_request(m, m->sms[gpump_random_below(&state, m->sm_count)], gpump_random_below(&state, 3), 0, 0);
    }
    if (ended < 0) {
        machine_dump(m, stderr);
        fail_msg("%s: %s (seed %llu, case %llu)", name, m->error, (unsigned long long)seed, (unsigned long long)number);
    }
    if (check_results(m, &launch, checks) > 0) {
        for (i = 0; i < m->kernel_count; i++) {
            if (checks[i].result == CHECK_WRONG)
                fail_msg("%s: %s (seed %llu, case %llu)", name, checks[i].text, (unsigned long long)seed,
                         (unsigned long long)number);
        }
    }
    for (i = 0; i < m->kernel_count; i++) resumed += m->kernels[i].resumed;
    machine_free(m);
    launch_file_free(&launch);
    return resumed;
}

/* Machines of random numbers run a launch, preempt it, and end right. */
static void any_machine_preempts_and_ends_right(void **state) {
    uint64_t seed = test_seed(), cases = test_cases(300), number, resumed = 0;
    (void)state;
    for (number = 0; number < cases; number++) resumed += one(seed, number);
    printf("%llu machines, %llu blocks preempted and resumed\n", (unsigned long long)cases,
           (unsigned long long)resumed);
    assert_true(resumed > cases / 2);
}

/* Returns the cycles that saxpy's only round of blocks takes when it arrives in this cycle. */
static uint64_t cycles_with(uint32_t block_start_cycles, uint64_t arrival, uint32_t *fetch_cycles) {
    char error[LAUNCH_ERROR_BYTES];
    machine_options options;
    launch_file launch;
    machine *m;
    uint64_t cycles;
    machine_options_default(&options);
    if (launch_file_read(&launch, GPUMP_SOURCE_DIR "/examples/minigpu/kernels/saxpy/small.yaml", error))
        fail_msg("%s", error);
    set(&launch, "block_start_cycles", block_start_cycles);
    if (!(m = machine_build(&launch, &options, error))) fail_msg("%s", error);
    m->kernels[0].arrival_cycle = arrival;
    assert_int_equal(machine_run(m, NEVER), 1);
    cycles = m->now - arrival;
    *fetch_cycles = m->config.fetch_cycles;
    machine_free(m);
    launch_file_free(&launch);
    return cycles;
}

/* A new block issues block_start_cycles after it was placed, also on an SM that has slept until then; its first fetch
 * lies within them. */
static void test_new_blocks_start_late(void **state) {
    static const uint64_t arrivals[] = {0, 1, 9000};
    (void)state;
    for (uint32_t i = 0; i < 3; i++) {
        uint32_t fetch_cycles;
        const uint64_t at_once = cycles_with(0, arrivals[i], &fetch_cycles);
        assert_int_equal(cycles_with(350, arrivals[i], &fetch_cycles) - at_once, 350 - fetch_cycles);
    }
}

/* Builds saxpy's machine with a preset and a configuration. Returns NULL with the reason in error. */
static machine *saxpy_on(const char *preset, const char *config, launch_file *launch, char error[LAUNCH_ERROR_BYTES]) {
    machine_options options;
    machine_options_default(&options);
    options.gpu = preset;
    options.config = config;
    if (launch_file_read(launch, GPUMP_SOURCE_DIR "/examples/minigpu/kernels/saxpy/small.yaml", error))
        fail_msg("%s", error);
    launch->sms = 0;
    return machine_build(launch, &options, error);
}

/* Runs saxpy. Returns its cycles. */
static uint64_t saxpy_cycles(const char *preset, const char *config, uint64_t *khz) {
    char error[LAUNCH_ERROR_BYTES];
    kernel_check checks[16];
    launch_file launch;
    machine *m = saxpy_on(preset, config, &launch, error);
    uint64_t cycles;
    if (!m) fail_msg("%s", error);
    assert_int_equal(machine_run(m, NEVER), 1);
    assert_int_equal(check_results(m, &launch, checks), 0);
    cycles = m->now;
    *khz = m->config.gpu.clock_khz;
    machine_free(m);
    launch_file_free(&launch);
    return cycles;
}

/* A preset of 64 lanes is refused with its remedy, and runs as warps of 32 lanes with it. */
static void wavefronts_run_as_two_warps(void **state) {
    char error[LAUNCH_ERROR_BYTES];
    launch_file launch;
    uint64_t khz;
    (void)state;
    assert_null(saxpy_on("mi100", NULL, &launch, error));
    launch_file_free(&launch);
    assert_non_null(strstr(error, "half_wavefronts=1"));
    assert_true(saxpy_cycles("mi100", "half_wavefronts=1", &khz) > 0);
    assert_int_equal(khz, 1502000);
    assert_true(saxpy_cycles("mi300x", "half_wavefronts=1", &khz) > 0);
}

/* The board's clock and bandwidth replace the preset's, and groups of banks collide where a whole channel does not. */
static void a_board_replaces_the_presets_numbers(void **state) {
    uint64_t khz;
    const uint64_t whole = saxpy_cycles("v100", "board_clock_khz=1000000", &khz),
                   slow = saxpy_cycles("v100", "board_clock_khz=1000000,board_memory_mb_per_s=30000", &khz);
    (void)state;
    assert_int_equal(khz, 1000000);
    assert_true(slow > whole);
    assert_true(saxpy_cycles("v100", "board_clock_khz=1000000,board_memory_mb_per_s=30000,dram_groups=8", &khz) > slow);
}

/* --config switch_stalls reaches the machine: a switch whose bytes do not travel takes the estimate, or one cycle. */
static void switches_may_take_an_estimate_or_one_cycle(void **state) {
    static const char *const ways[] = {"switch_stalls=0", "switch_stalls=1", "switch_stalls=2"};
    char path[1024], error[LAUNCH_ERROR_BYTES];
    uint64_t cycles[3];
    uint32_t i;
    (void)state;
    for (i = 0; i < 3; i++) {
        machine_options options;
        launch_file launch;
        machine *m;
        snprintf(path, sizeof path, "%s/kernels/stencil/small.yaml", MINIGPU_SOURCE_DIR);
        if (launch_file_read(&launch, path, error)) fail_msg("%s", error);
        machine_options_default(&options);
        options.config = ways[i];
        options.preempt_cycle = 500;
        if (!(m = machine_build(&launch, &options, error))) fail_msg("%s", error);
        assert_int_equal(machine_run(m, NEVER), 1);
        cycles[i] = m->now;
        machine_free(m);
        launch_file_free(&launch);
    }
    assert_true(cycles[2] < cycles[1] && cycles[1] != cycles[0]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_machine_preempts_and_ends_right), cmocka_unit_test(test_new_blocks_start_late),
        cmocka_unit_test(wavefronts_run_as_two_warps), cmocka_unit_test(a_board_replaces_the_presets_numbers),
        cmocka_unit_test(switches_may_take_an_estimate_or_one_cycle)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
