/* labels: equivalence unit slow full link: minigpu_core */
/* Every idempotent region of every kernel, started again from every instruction in it: the memory at the end is that of
 * a run without restarts. What is not live at the region's start is overwritten, so that nobody lives on it by chance.
 * The executor of interpret.h goes back once from every instruction that any warp executes; the mini-GPU confirms with
 * restarts of half its warps at places throughout the run, 30 of them, or 2,400 with GPUMP_TEST_CASES=80.
 * tests/minigpu/boundaries_removed.c shows that these restarts miss a boundary, or a move, that is taken away. */
#include "minigpu/restarts.h"

static const uint32_t kinds[] = {REGIONS_SPARSE, 16, 32, 64};
/* live-ins stored and loaded at sparse boundaries take part */
static const uint32_t spilling[] = {SPILLING_NONE, SPILLING_ALL, SPILLING_CHANGED, SPILLING_NONE};

static uint64_t restarts_taken;
/* Restarts for each pair of a region's start and an instruction, in a kernel that executes so many instructions: all
 * there are in most kernels, the first hundreds in those with regions of ten thousand instructions, where going back
 * from each costs the square; in sanitized runs a few. */
static uint64_t places(uint64_t instructions) {
    const uint64_t most = 3000000 / (instructions + 1);
    return test_cases(10) < 10 && test_cases(10) < most ? test_cases(10) : most;
}

/* one_buffer: see open_subject. Returns 0 when that changes nothing, or the interpreter cannot run the kernel. */
static int restart_every_region(const char *name, int one_buffer) {
    static experiment e;
    subject s;
    uint64_t expected, instructions;
    uint32_t k;
    open_subject(&s, name, one_buffer);
    if (!interpret_can(&s.module, s.kernel) || (one_buffer && !s.shared_buffers)) {
        close_subject(&s);
        return 0;
    }
    expected = undisturbed(&s, s.kernel, &instructions);
    for (k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        uint32_t few;
        for (few = 0; few < 2; few++) { /* registers enough, and so few that most kernels spill */
            kernel_program lowered;
            uint32_t level;
            if (few && k % 2) continue; /* sparse and 32 */
            lowered = lower(&s, kinds[k], few ? 20 : 63, 0, one_buffer ? SPILLING_NONE : spilling[k]);
            assert_true(undisturbed(&s, &lowered, NULL) == expected);
            for (level = 0; level <= (kinds[k] != REGIONS_SPARSE); level++) {
                memset(&e, 0, sizeof e);
                e.removed = e.removed_move = NONE;
                e.level = level;
                e.spilling = one_buffer ? SPILLING_NONE : spilling[k];
                if (run_once(&e, &lowered, &s.launch, places(instructions)) != expected)
                    fail_msg("%s, regions %u, %s registers, level %u: %s", name, kinds[k], few ? "few" : "many", level,
                             e.missing ? "an instruction that must not be done twice has no boundary behind it"
                                       : "other memory at the end");
                assert_true(e.restarts >= lowered.count / 2);
                restarts_taken += e.restarts;
            }
            analysis_free_kernel(&lowered);
        }
    }
    close_subject(&s);
    return 1;
}

/* Each region of each kernel can be run again from its start, and the results stay right. */
static void every_region_of_every_kernel(void **state) {
    const reference_entry *entry;
    (void)state;
    for (entry = reference_entries; entry->name; entry++) restart_every_region(entry->name, 0);
    print_message("%llu restarts\n", (unsigned long long)restarts_taken);
}

/* Kernels that mostly read one buffer and write another get one for both: then regions end where they overwrite what
 * they have read. Those whose addresses come from memory are left out, since they would run wild. */
static void every_region_with_one_buffer_for_two_parameters(void **state) {
    static const char *const names[] = {
        "saxpy", "hotspot", "pathfinder", "stencil", "srad_1", "srad_2", "matrix_multiply_accumulate", "dwt2d_fdwt53"};
    uint32_t n, changed = 0;
    (void)state;
    for (n = 0; n < sizeof names / sizeof *names; n++) changed += (uint32_t)restart_every_region(names[n], 1);
    print_message("%u kernels ran with one buffer for two parameters\n", changed);
    assert_true(changed >= 4);
}

/* ==== on the mini-GPU: pipelines, several warps at once, whatever is in flight ==== */

static uint64_t restart_on_machine(const char *name, uint32_t regions, uint64_t places, uint64_t *random) {
    char path[1024], error[LAUNCH_ERROR_BYTES];
    machine_options options;
    launch_file launch;
    kernel_check check;
    machine *m;
    uint64_t cycles, done = 0, place;
    uint32_t round, i;
    snprintf(path, sizeof path, KERNELS "%s/small.yaml", name);
    if (launch_file_read(&launch, path, error)) fail_msg("%s", error);
    machine_options_default(&options);
    options.regions = regions;
    for (round = 0, cycles = 0; round < 2; round++) { /* how long it takes; then with restarts */
        if (!(m = machine_build(&launch, &options, error))) fail_msg("%s", error);
        for (place = 1; round && place <= places; place++) {
            if (machine_run(m, cycles * place / (places + 1)) != 0) break;
            for (i = 0; i < m->warp_count; i++) {
                warp *w = &m->warps[i];
                if (w->sm == NONE || gpump_random_below(random, 2)) continue;
                done += (uint64_t)restart_warp(m, m->sms[w->sm], w,
                                               regions != REGIONS_SPARSE && gpump_random_below(random, 2)
                                                   ? GPUMP_RESTART_SHORT
                                                   : GPUMP_RESTART_SPARSE);
            }
        }
        if (machine_run(m, NEVER) != 1 || check_results(m, &launch, &check))
            fail_msg("%s with regions %u after %llu restarts: %s", name, regions, (unsigned long long)done,
                     m->failed || m->deadlocked ? m->error : check.text);
        cycles = m->now;
        machine_free(m);
    }
    launch_file_free(&launch);
    return done;
}

/* Warps that are sent back to their regions' starts at random times on the whole machine leave the results right. */
static void every_kernel_on_the_machine(void **state) {
    const reference_entry *entry;
    uint64_t random = test_seed(), done = 0;
    uint32_t k;
    (void)state;
    for (entry = reference_entries; entry->name; entry++)
        for (k = 0; k < sizeof kinds / sizeof *kinds; k += 2)
            done += restart_on_machine(entry->name, kinds[k], test_cases(30), &random);
    printf("%llu warps sent back on the machine\n", (unsigned long long)done);
    assert_true(done > 60 * test_cases(30)); /* most places find warps that can go back */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_region_of_every_kernel),
        cmocka_unit_test(every_region_with_one_buffer_for_two_parameters),
        cmocka_unit_test(every_kernel_on_the_machine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
