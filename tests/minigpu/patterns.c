/* labels: unit link: minigpu_core */
/* What the analysis of patterns claims holds for the values that the mini-GPU really produces: every kernel, every warp
 * that has nothing in flight, at many moments. */
#include "test.h"
#include "machine/machine.h"
#include "preemption/context_forms.h"
#include "tools/check.h"

typedef struct counts {
    uint64_t uniform, affine, unknown;
} counts;

static void check_register(const machine *m, const warp *w, const uint32_t *values, uint32_t pattern, uint32_t lanes,
                           const char *name, uint32_t reg) {
    const uint32_t first = gpump_bits_lowest64(lanes);
    uint32_t lane, step = 0, known = pattern == GPUMP_PATTERN_UNIFORM;
    for (lane = 0; lane + 1 < LANES && !known; lane++)
        if ((lanes >> lane & 3u) == 3u) step = values[lane + 1] - values[lane], known = 1;
    for (lane = 0; lane < LANES && known; lane++) {
        if (!(lanes >> lane & 1u) || values[lane] == values[first] + (lane - first) * step) continue;
        fail_msg("%s: register %u of warp %u at instruction %u, cycle %llu: lane %u holds %x, lane %u %x (pattern %u)",
                 name, reg, w->index, simt_top(&w->stack)->pc, (unsigned long long)m->now, lane, values[lane], first,
                 values[first], pattern);
    }
}

static void check_warps(machine *m, const context_view *view, const gpump_patterns *patterns, const char *name,
                        counts *found) {
    uint32_t i, n, r;
    for (i = 0; i < m->block_count; i++) {
        const block *b = &m->blocks[i];
        for (n = 0; b->life && n < b->warp_count; n++) {
            const warp *w = &m->warps[b->warps[n]];
            uint32_t lanes = 0, level;
            if (!w->stack.depth || w->in_flight) continue;
            for (level = 0; level < w->stack.depth; level++) lanes |= w->stack.entries[level].mask;
            for (r = 0; lanes && r < m->kernels[0].registers; r++) {
                const uint32_t pattern = context_pattern_of(view, patterns, w, r);
                found->uniform += pattern == GPUMP_PATTERN_UNIFORM;
                found->affine += pattern == GPUMP_PATTERN_AFFINE;
                found->unknown += pattern == GPUMP_PATTERN_UNKNOWN;
                if (pattern == GPUMP_PATTERN_UNKNOWN) continue;
                check_register(m, w, warp_registers(m, b, w) + (size_t)r * LANES, pattern, lanes, name, r);
            }
        }
    }
}

/* What the analysis claims of registers holds for all lanes wherever kernels are looked at. */
static void claims_about_values_hold_in_every_kernel(void **state) {
    const reference_entry *entry;
    counts found = {0, 0, 0};
    (void)state;
    for (entry = reference_entries; entry->name; entry++) {
        char path[1024], error[LAUNCH_ERROR_BYTES];
        machine_options options;
        launch_file launch;
        context_view *view;
        gpump_patterns *patterns;
        machine *m;
        int ran = 0;
        snprintf(path, sizeof path, GPUMP_SOURCE_DIR "/examples/minigpu/kernels/%s/small.yaml", entry->name);
        if (launch_file_read(&launch, path, error)) fail_msg("%s", error);
        machine_options_default(&options);
        if (!(m = machine_build(&launch, &options, error))) fail_msg("%s", error);
        if (!(view = context_view_create(m->kernels[0].program, error))) fail_msg("%s", error);
        patterns = context_patterns(view, m->kernels[0].program, launch.kernels[0].block[0]);
        assert_non_null(patterns);
        while (!ran && m->now < 4000) {
            ran = machine_run(m, m->now + 5);
            if (ran < 0) fail_msg("%s: %s", entry->name, m->error);
            check_warps(m, view, patterns, entry->name, &found);
        }
        gpump_patterns_destroy(patterns);
        context_view_free(view);
        machine_free(m);
        launch_file_free(&launch);
    }
    print_message("register samples: %llu uniform, %llu affine, %llu unknown\n", (unsigned long long)found.uniform,
                  (unsigned long long)found.affine, (unsigned long long)found.unknown);
    assert_true(found.uniform > 50000 && found.affine > 20000);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(claims_about_values_hold_in_every_kernel)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
