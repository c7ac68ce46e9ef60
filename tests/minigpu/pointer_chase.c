/* labels: unit link: minigpu_core */
/* One thread that follows a list through memory finds the sizes and load-to-use latencies of the configuration (the
 * method of Wong 2010 and Mei 2016): Lin's Tables 3.1 and 4.1. */
#include "test.h"

#include "machine/machine.h"

/* Returns the cycles per link of a list through so many lines, `stride` apart, in the last of so many passes. */
static double pass(const char *gpu, const char *config, uint32_t lines, uint32_t stride, uint32_t passes) {
    char path[512], error[LAUNCH_ERROR_BYTES];
    machine_options options;
    launch_file launch;
    machine *m;
    uint32_t result[2], i, steps = (lines + 7) / 8;
    machine_options_default(&options);
    options.gpu = gpu;
    options.config = config;
    snprintf(path, sizeof path, "%s/tests/minigpu/machine/chase.yaml", GPUMP_SOURCE_DIR);
    if (launch_file_read(&launch, path, error)) fail_msg("%s", error);
    if (!(m = machine_build(&launch, &options, error))) fail_msg("%s", error);
    for (i = 0; i < lines; i++) {
        const uint64_t next = launch.buffers[0].address + (uint64_t)((i + 1) % lines) * stride * SEGMENT_BYTES;
        memcpy(device_memory(m, launch.buffers[0].address + (uint64_t)i * stride * SEGMENT_BYTES), &next, sizeof next);
    }
    memcpy(m->kernels[0].parameters + 16, &steps, sizeof steps);
    memcpy(m->kernels[0].parameters + 20, &passes, sizeof passes);
    if (machine_run(m, NEVER) != 1) fail_msg("%s", m->error);
    memcpy(result, device_memory(m, launch.buffers[1].address), sizeof result);
    machine_free(m);
    launch_file_free(&launch);
    return (double)result[0] / (8.0 * steps);
}

/* A list of lines that follow each other, when the caches know it. */
static double cycles_per_link(const char *gpu, const char *config, uint32_t lines) {
    return pass(gpu, config, lines, 1, 2);
}

static void near(const char *what, double ours, double configured) {
    printf("%-52s %7.2f cycles, configured %.0f\n", what, ours, configured);
    if (ours < configured - 1.5 || ours > configured + 1.5) fail_msg("%s", what);
}

typedef struct printed {
    const char *gpu;
    uint32_t l1_lines, l2_lines;
    double l2, dram;
} printed;

/* Cycles of a link show the sizes of L1 and L2, and the latencies that the preset names. */
static void a_pointer_chase_finds_latencies_and_sizes(void **state) {
    static const printed machines[] = {{"maxwell_ccbp", 192, 16384, 200, 380}, {"maxwell_duet", 256, 16384, 200, 450}};
    uint32_t i;
    (void)state;
    for (i = 0; i < 2; i++) {
        const printed *p = &machines[i];
        const char *doubled = i ? "l2_load_cycles=400,dram_load_cycles=900" : "l2_load_cycles=400,dram_load_cycles=760";
        double warm, l1 = cycles_per_link(p->gpu, NULL, p->l1_lines);
        printf("%s: %.2f cycles in L1\n", p->gpu, l1);
        assert_true(l1 < 60);
        /* One line more than L1 holds makes one set miss each time; twice as many make all. */
        assert_true(cycles_per_link(p->gpu, NULL, p->l1_lines + 8) > l1 + 2);
        near("  beyond L1", cycles_per_link(p->gpu, NULL, 2 * p->l1_lines), p->l2);
        near("  as many lines as L2 holds", cycles_per_link(p->gpu, NULL, p->l2_lines), p->l2);
        assert_true(cycles_per_link(p->gpu, NULL, p->l2_lines + 512) > p->l2 + 5);
        /* Beyond L2. The configured total is that of a bank without an open row, which only the first touch of each row
         * finds; lines that follow each other mostly find it open. */
        near("  first touches, each in a row of its own", pass(p->gpu, NULL, 8, 257, 1), p->dram);
        warm = cycles_per_link(p->gpu, NULL, 2 * p->l2_lines);
        printf("  twice as many lines as L2 holds, mostly in open rows %7.2f cycles\n", warm);
        assert_true(warm < p->dram && warm > p->dram - 24);
        near("  doubled: in L2", cycles_per_link(p->gpu, doubled, 1024), 2 * p->l2);
        near("  doubled: first touches", pass(p->gpu, doubled, 8, 257, 1), 2 * p->dram);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_pointer_chase_finds_latencies_and_sizes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
