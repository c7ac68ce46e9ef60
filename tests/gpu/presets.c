/* labels: unit golden */
/* Every number of every preset with where it is from, in tests/gpu/decisions: a change has to be meant, and is written
 * down there (GPUMP_DECISIONS=write, tests/decisions.h). AMD's save areas over all generations, from a table of what a
 * compute unit takes. */
#include "decisions.h"

static void note(decisions *all, const char *preset, const char *field, const uint32_t *numbers, uint32_t count) {
    static const char *const origins[] = {"published", "derived", "assumed"};
    gpump_provenance provenance;
    const char *source;
    char text[64] = "";
    for (uint32_t i = 0; i < count; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), " %" PRIu32, numbers[i]);
    assert_int_equal(gpump_gpu_provenance(preset, field, &provenance, &source), GPUMP_OK);
    decided(all, "%s %s%s: %s, %s", preset, field, text,
            origins[provenance == GPUMP_PROVENANCE_PUBLISHED ? 0
                    : provenance == GPUMP_PROVENANCE_DERIVED ? 1
                                                             : 2],
            source);
}

/* No number of a preset changes unnoticed, nor its source. */
static void presets_are_as_written_down(void **state) {
    decisions all = decisions_begin(1000);
    const char *name;
    (void)state;
    for (uint32_t p = 0; (name = gpump_gpu_preset_name(p)) != NULL; p++) {
        gpump_gpu gpu;
        memset(&gpu, 0xff, sizeof gpu);
        assert_int_equal(gpump_preset(&gpump_gpu_component, &gpu, name, NULL), GPUMP_OK);
#define NOTE(field) note(&all, name, #field, &gpu.field, 1)
        NOTE(sms), NOTE(clock_khz), NOTE(lanes), NOTE(schedulers), NOTE(block_slots), NOTE(warp_slots);
        NOTE(thread_slots), NOTE(registers), NOTE(register_granule), NOTE(shared_granule_bytes);
        NOTE(shared_option_count), NOTE(memory_mb_per_s);
#undef NOTE
        note(&all, name, "shared_bytes", gpu.shared_bytes, GPUMP_GPU_SHARED_OPTIONS);
    }
    assert_null(gpump_gpu_preset_name(UINT32_MAX));
    assert_false(decisions_differ(&all, "tests/gpu/decisions/presets.txt"));
}

/* What a compute unit of a generation takes, KB, and how many waves it has. */
typedef struct unit {
    uint32_t version, vector_kb, scalar_kb, local_kb, hardware_kb, waves, wave_bytes;
} unit;
static const unit units[] = {
    {800, 256, 16, 64, 4, 40, 8},     {801, 256, 16, 64, 4, 40, 8},   {900, 256, 16, 64, 4, 40, 8},
    {906, 256, 16, 64, 4, 40, 8},     {943, 256, 16, 64, 4, 40, 8},   {1036, 256, 16, 64, 4, 32, 12},
    {1152, 256, 16, 64, 4, 32, 12},   {907, 256, 16, 64, 4, 40, 8},   {908, 512, 16, 64, 4, 40, 8},
    {909, 256, 16, 64, 4, 40, 8},     {910, 512, 16, 64, 4, 40, 8},   {911, 256, 16, 64, 4, 40, 8},
    {940, 256, 16, 64, 4, 40, 8},     {942, 512, 16, 64, 4, 40, 8},   {950, 512, 16, 160, 4, 40, 8},
    {951, 256, 16, 64, 4, 40, 8},     {999, 256, 16, 64, 4, 40, 8},   {1000, 256, 16, 64, 4, 40, 8},
    {1009, 256, 16, 64, 4, 40, 8},    {1010, 256, 16, 64, 4, 32, 12}, {1012, 256, 16, 64, 4, 32, 12},
    {1030, 256, 16, 64, 4, 32, 12},   {1099, 256, 16, 64, 4, 32, 12}, {1100, 384, 16, 64, 4, 32, 12},
    {1101, 384, 16, 64, 4, 32, 12},   {1102, 256, 16, 64, 4, 32, 12}, {1150, 256, 16, 64, 4, 32, 12},
    {1151, 384, 16, 64, 4, 32, 12},   {1200, 384, 16, 64, 4, 32, 12}, {1201, 384, 16, 64, 4, 32, 12},
    {1202, 256, 16, 64, 4, 32, 12},   {1249, 256, 16, 64, 4, 32, 12}, {1250, 512, 32, 320, 32, 64, 12},
    {1251, 512, 32, 320, 32, 64, 12},
};

static uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }
static uint64_t aligned(uint64_t bytes, uint64_t to) { return bytes % to ? bytes + to - bytes % to : bytes; }

/* The control stack and the units' memories, in pages; what the debugger needs; all dies together. */
static void save_areas_are_the_sum_of_their_parts(void **state) {
    const uint64_t seed = test_seed();
    uint64_t random = seed;
    (void)state;
    for (uint64_t n = 0; n < 30000; n++) {
        const unit *u = &units[n % (sizeof units / sizeof *units)];
        const uint32_t count = gpump_random_below(&random, 3) ? 1 + gpump_random_below(&random, 400)
                                                              : 1 + gpump_random_below(&random, 65536);
        const uint32_t dies = 1 + gpump_random_below(&random, gpump_random_below(&random, 2) ? 64 : 2);
        const uint32_t per_engine = 1 + gpump_random_below(&random, 4),
                       arrays = per_engine + gpump_random_below(&random, 40);
        const int old = u->version < 1010; /* the arrays bound the waves */
        const uint64_t waves = least((uint64_t)u->waves * count, old ? arrays / per_engine * 512u : UINT64_MAX);
        uint64_t stack = aligned(40 + waves * u->wave_bytes + 8, 4096);
        const uint64_t groups =
            aligned(count * (uint64_t)(u->vector_kb + u->scalar_kb + u->local_kb + u->hardware_kb) * 1024, 4096);
        gpump_gpu_cwsr area;
        if (u->version >= 1000 && u->version < 1100) stack = least(stack, 0x7000);
        test_check(gpump_gpu_cwsr_area(u->version, count, dies, old ? arrays : 0, old ? per_engine : 0, &area, NULL) ==
                       GPUMP_OK,
                   seed, n);
        test_check(area.control_stack_bytes == stack && area.workgroup_bytes == groups, seed, n);
        test_check(area.debugger_bytes == aligned(32 * waves, 64), seed, n);
        test_check(area.save_area_bytes == aligned(stack + groups, 4096), seed, n);
        test_check(area.total_bytes == aligned(dies * (area.save_area_bytes + area.debugger_bytes), 4096), seed, n);
    }
}

/* What fits, each resource by itself; the smallest size of shared memory that holds one block. */
static void occupancy_is_the_least_of_all_resources(void **state) {
    const uint64_t seed = test_seed();
    uint64_t random = seed, fits = 0;
    (void)state;
    for (uint64_t n = 0; n < 20000; n++) {
        const gpump_footprint need = {1 + gpump_random_below(&random, 1100), gpump_random_below(&random, 20000),
                                      gpump_random_below(&random, 3) ? gpump_random_below(&random, 100000) : 0};
        gpump_gpu gpu;
        gpump_occupancy o;
        uint64_t warps, registers, shared, most[5], blocks = UINT64_MAX;
        uint32_t option = 0, limits = 0;
        assert_int_equal(gpump_preset(&gpump_gpu_component, &gpu, gpump_gpu_preset_name((uint32_t)(n % 23)), NULL),
                         GPUMP_OK);
        if (n % 3 == 0) gpu.block_slots = 1 + gpump_random_below(&random, 8);
        if (n % 5 == 0) gpu.thread_slots = 1 + gpump_random_below(&random, 2000);
        warps = aligned(need.threads, gpu.lanes) / gpu.lanes;
        registers = aligned(need.registers, gpu.register_granule);
        shared = aligned(need.shared_bytes, gpu.shared_granule_bytes);
        while (option + 1 < gpu.shared_option_count && gpu.shared_bytes[option] < shared) option++;
        most[0] = gpu.block_slots;
        most[1] = gpu.warp_slots / warps;
        most[2] = gpu.thread_slots / need.threads;
        most[3] = registers ? gpu.registers / registers : UINT64_MAX;
        most[4] = shared ? gpu.shared_bytes[option] / shared : UINT64_MAX;
        for (uint32_t i = 0; i < 5; i++) blocks = least(blocks, most[i]);
        for (uint32_t i = 0; i < 5; i++) limits |= (uint32_t)(most[i] == blocks) << i;
        memset(&o, 0xff, sizeof o);
        test_check(gpump_gpu_occupancy(&gpu, &need, &o, NULL) == GPUMP_OK, seed, n);
        test_check(o.blocks == blocks && o.limits == limits && o.warps == warps, seed, n);
        test_check(o.registers == registers && o.block_shared_bytes == shared, seed, n);
        test_check(o.shared_bytes == gpu.shared_bytes[option], seed, n);
        test_check(gpump_gpu_context_bytes(&gpu, &need) == 4 * registers + shared, seed, n);
        fits += blocks > 0;
    }
    assert_true(fits > 5000);
}

/* Save times are bytes over the SM's part of the bandwidth, rounded up. */
static void save_times_are_bytes_over_bandwidth(void **state) {
    const uint64_t seed = test_seed();
    uint64_t random = seed;
    (void)state;
    for (uint64_t n = 0; n < 10000; n++) {
        const uint64_t bytes = gpump_random_next(&random) >> (30 + gpump_random_below(&random, 34));
        gpump_gpu gpu;
        gpump_port port;
        long double seconds;
        assert_int_equal(gpump_preset(&gpump_gpu_component, &gpu, gpump_gpu_preset_name((uint32_t)(n % 23)), NULL),
                         GPUMP_OK);
        seconds = (long double)bytes * gpu.sms / ((long double)gpu.memory_mb_per_s * 1e6L);
        port = gpump_gpu_port(&gpu);
        test_check(port.free_cycle == 0 && gpump_port_cycles(&port, bytes) == gpump_gpu_save_cycles(&gpu, bytes), seed,
                   n);
        test_check((long double)gpump_gpu_save_cycles(&gpu, bytes) >= seconds * gpu.clock_khz * 1e3L - 1e-4L, seed, n);
        test_check((long double)gpump_gpu_save_cycles(&gpu, bytes) < seconds * gpu.clock_khz * 1e3L + 1.0001L, seed, n);
        test_check((long double)gpump_gpu_save_ps(&gpu, bytes) >= seconds * 1e12L - 1e-2L, seed, n);
        test_check((long double)gpump_gpu_save_ps(&gpu, bytes) < seconds * 1e12L + 1.01L, seed, n);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(presets_are_as_written_down),
        cmocka_unit_test(save_areas_are_the_sum_of_their_parts),
        cmocka_unit_test(occupancy_is_the_least_of_all_resources),
        cmocka_unit_test(save_times_are_bytes_over_bandwidth),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
