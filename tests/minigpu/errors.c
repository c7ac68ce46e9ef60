/* labels: equivalence slow full link: minigpu_core */
/* Instructions that compute something wrong, and arithmetic that traps: memory at the end is that of a run without
 * them. One bit of a result, an address or a value to store is really flipped, at every instruction of every small
 * launch (a sample of them here; bench/every_instruction takes all), and in storms. */
#include "minigpu/error_runs.h"

/* ==== errors ==== */

static void at_every_instruction_of(const char *name, uint32_t regions, const char *detection, uint64_t *injected) {
    char path[1024];
    machine_options options = options_with(regions, detection);
    ran r;
    uint64_t candidates, place, step;
    snprintf(path, sizeof path, KERNELS "%s/small.yaml", name);
    options.errors.errs.at = NEVER - 1; /* nothing errs, and instructions are counted */
    run_launch(path, &options, &r);
    if (r.wrong) fail_msg("%s, regions %u, without errors: %s", name, regions, r.error);
    candidates = r.candidates;
    step = candidates / test_cases(3) + 1;
    for (place = 1 + test_seed() % step; place <= candidates; place += step) {
        options.errors.errs.at = place;
        run_launch(path, &options, &r);
        if (r.wrong)
            fail_msg("%s, regions %u, %s, an error in instruction %llu: %s", name, regions, detection,
                     (unsigned long long)place, r.error);
        assert_int_equal(r.recovery.errors, 1);
        *injected += r.recovery.detected;
    }
}

/* An error at any instruction of any kernel, found by either detector, leaves the results right. */
static void errors_at_every_instruction(void **state) {
    const reference_entry *entry;
    uint64_t injected = 0;
    (void)state;
    for (entry = reference_entries; entry->name; entry++) {
        at_every_instruction_of(entry->name, REGIONS_SPARSE, "decor", &injected);
        at_every_instruction_of(entry->name, 32, "razor2", &injected);
        if (test_cases(1) > 10) print_message("%s: %llu\n", entry->name, (unsigned long long)injected);
    }
    print_message("%llu errors, one at a time\n", (unsigned long long)injected);
    assert_true(injected > 100);
}

/* Two errors in a hundred instructions: every kernel ends right. */
static void every_kernel_survives_a_storm_of_errors(void **state) {
    const reference_entry *entry;
    uint64_t errors = 0, recoveries = 0;
    (void)state;
    for (entry = reference_entries; entry->name; entry++) {
        char path[1024];
        machine_options options = options_with(16, "decor");
        ran r;
        snprintf(path, sizeof path, KERNELS "%s/small.yaml", entry->name);
        options.errors.rate_q32 = (uint64_t)(0.02 * 4294967296.0);
        run_launch(path, &options, &r);
        if (r.wrong) fail_msg("%s in a storm: %s", entry->name, r.error);
        errors += r.recovery.errors;
        recoveries += r.recovery.detected;
    }
    print_message("%llu errors, %llu recoveries\n", (unsigned long long)errors, (unsigned long long)recoveries);
    assert_true(recoveries > 500 && errors >= recoveries);
}

/* Without the store queue, a store to a wrong address cannot be undone: some results are wrong, or the run ends. */
static void stores_that_do_not_wait(void **state) {
    uint64_t wrong = 0, runs = 0;
    uint32_t n, q;
    static const char *const names[] = {"saxpy", "hotspot", "srad_1", "bfs_1"};
    (void)state;
    for (q = 0; q < 2; q++)
        for (n = 0; n < 4; n++) {
            char path[1024];
            machine_options options = options_with(32, "decor");
            ran r;
            uint64_t place, end;
            snprintf(path, sizeof path, KERNELS "%s/small.yaml", names[n]);
            options.errors.no_store_queue = q == 0;
            options.errors.errs.at = NEVER - 1;
            run_launch(path, &options, &r);
            end = r.candidates;
            for (place = 1; place <= end; place += end / 24 + 1) {
                options.errors.errs.at = place;
                options.errors.errs.interval = 40; /* some of them are stores, or make addresses of stores */
                run_launch(path, &options, &r);
                if (q && r.wrong)
                    fail_msg("%s, from instruction %llu: %s", names[n], (unsigned long long)place, r.error);
                wrong += (uint64_t)r.wrong;
                runs++;
            }
        }
    print_message("%llu of %llu runs end wrong without the store queue\n", (unsigned long long)wrong,
                  (unsigned long long)(runs / 2));
    assert_true(wrong > 0);
}

/* ==== shared memory that goes back ==== */

/* Regions that overwrite what they have read in shared memory: errors take it back. Preempted on top, warps leave what
 * they could take back behind. */
static void shared_memory_goes_back(void **state) {
    static const uint32_t techniques[] = {GPUMP_TECHNIQUES, GPUMP_TECHNIQUE_SWITCH, GPUMP_TECHNIQUE_REWIND,
                                          GPUMP_TECHNIQUE_FLUSH};
    static const char *const names[] = {"lps",          "lud_diagonal",           "nw_1",      "pathfinder",
                                        "dwt2d_fdwt53", "backprop_layer_forward", "histogram", "sgemm"};
    shared_log_statistics log;
    uint64_t undone = 0, copies = 0, random = test_seed();
    uint32_t way, n, k;
    (void)state;
    for (n = 0; n < sizeof names / sizeof *names; n++)
        for (k = 0; k < test_cases(4); k++)
            for (way = SHARED_SAVED; way < SHARED_RESTARTS; way++) {
                char path[1024];
                machine_options options = options_with(k % 2 ? REGIONS_SPARSE : 32, "decor");
                ran undisturbed, r;
                snprintf(path, sizeof path, KERNELS "%s/small.yaml", names[n]);
                options.shared_restart = way;
                /* sparse regions of a thousand instructions would hardly ever pass at 2% */
                options.errors.rate_q32 = (uint64_t)((k % 2 ? 0.002 : 0.02) * 4294967296.0);
                run_launch_logged(path, &options, &undisturbed, &log);
                undone += log.undone;
                copies += log.copies;
                options.technique = techniques[(k + way) % 4];
                options.context_form = k % 2 ? CONTEXT_LIVE : CONTEXT_NAIVE;
                if (options.technique != GPUMP_TECHNIQUES)
                    options.preempt_cycle = 1 + gpump_random_below(&random, (uint32_t)undisturbed.cycles);
                run_launch(path, &options, &r);
                if (undisturbed.wrong || r.wrong)
                    fail_msg("%s, %s, technique %u at cycle %llu: %s; %s", names[n], shared_restart_name(way),
                             options.technique, (unsigned long long)options.preempt_cycle, undisturbed.error, r.error);
            }
    print_message("%llu words of shared memory taken back, %llu copies\n", (unsigned long long)undone,
                  (unsigned long long)copies);
    assert_true(undone > 1000 && copies > 0);
}

/* ==== exceptions of arithmetic ==== */

#define FIGURE_6 GPUMP_SOURCE_DIR "/examples/minigpu/launches/figure6.yaml"

/* iGPU Figure 6, made on purpose: two divisions by zero in one region, and a third in later rounds of a loop. */
static void both_cures(void **state) {
    const uint32_t regions[] = {REGIONS_SPARSE, 16, 32};
    machine_options options = options_with(REGIONS_NONE, NULL);
    ran plain, r;
    uint32_t cure, k;
    (void)state;
    run_launch(FIGURE_6, &options, &plain);
    assert_false(plain.wrong);
    for (cure = 0; cure < GPUMP_RESTART_CURES; cure++)
        for (k = 0; k < 3; k++) {
            options = options_with(regions[k], NULL);
            options.errors.traps = ERRORS_TRAP_DIVISION;
            options.errors.cure = cure;
            run_launch(FIGURE_6, &options, &r);
            if (r.wrong || r.result != plain.result) fail_msg("cure %u, regions %u: %s", cure, regions[k], r.error);
            assert_int_equal(r.recovery.live_locks, 16); /* one per warp */
            assert_true(r.recovery.emulated > 0);
            assert_int_equal(r.recovery.steps != 0, cure == GPUMP_RESTART_CURE_STEP);
        }
}

/* Kernels whose arithmetic raises no exception are never suspected, and results stay. */
static void every_kernel_with_traps(void **state) {
    const reference_entry *entry;
    uint64_t exceptions = 0;
    (void)state;
    for (entry = reference_entries; entry->name; entry++) {
        char path[1024];
        machine_options options = options_with(32, NULL);
        ran r;
        snprintf(path, sizeof path, KERNELS "%s/small.yaml", entry->name);
        options.errors.traps = ERRORS_TRAP_DIVISION | ERRORS_TRAP_INVALID;
        run_launch(path, &options, &r);
        if (r.wrong) fail_msg("%s with traps: %s", entry->name, r.error);
        if (!r.recovery.exceptions) assert_int_equal(r.recovery.live_locks, 0);
        exceptions += r.recovery.exceptions;
    }
    print_message("%llu exceptions\n", (unsigned long long)exceptions);
}

/* ==== exceptions at every instruction ==== */

typedef struct trap_sums {
    uint64_t runs, exceptions, live_locks;
} trap_sums;

/* The lines of a launch's kernels that hold arithmetic, once per instruction. Returns how many. */
static uint32_t trap_lines_of(const char *path, const machine_options *options, uint32_t *lines, uint32_t capacity) {
    char error[LAUNCH_ERROR_BYTES];
    launch_file launch;
    machine *m = NULL;
    uint32_t k, pc, count = 0;
    if (launch_file_read(&launch, path, error) || !(m = machine_build(&launch, options, error))) fail_msg("%s", error);
    for (k = 0; k < m->kernel_count; k++)
        for (pc = 0; pc < m->kernels[k].program->count && count < capacity; pc++)
            if (errors_can_trap(&m->kernels[k].program->instructions[pc]))
                lines[count++] = m->kernels[k].program->instructions[pc].line;
    machine_free(m);
    launch_file_free(&launch);
    return count;
}

/* A line may have become several instructions: moves that keep live-ins have the line of what they stand for. */
static uint32_t instructions_of(const char *path, const machine_options *options, uint32_t line) {
    static uint32_t lines[16384];
    machine_options without = *options;
    uint32_t count, i, found = 0;
    without.errors.traps = 0; /* it would refuse a line without arithmetic */
    count = trap_lines_of(path, &without, lines, 16384);
    for (i = 0; i < count; i++) found += lines[i] == line;
    return found;
}

/* Arithmetic of one line traps whenever it executes, or of two: memory as without, and the run ends. One instruction
 * alone is no live-lock. */
static void trap_at(const char *path, machine_options *options, uint32_t first, uint32_t second, trap_sums *sums) {
    ran r;
    if (!instructions_of(path, options, first)) return; /* the compiler needs no instruction for it */
    if (second && !instructions_of(path, options, second)) second = first;
    options->errors.traps = ERRORS_TRAP_LINES;
    options->errors.lines[0] = first;
    options->errors.lines[1] = second;
    run_launch(path, options, &r);
    if (r.wrong)
        fail_msg("%s, regions %u, cure %u, lines %u and %u: %s", path, options->regions, options->errors.cure, first,
                 second, r.error);
    if (!second && r.recovery.live_locks && instructions_of(path, options, first) == 1)
        fail_msg("%s, regions %u, line %u: a live-lock of one exception", path, options->regions, first);
    sums->runs++;
    sums->exceptions += r.recovery.exceptions;
    sums->live_locks += r.recovery.live_locks;
}

/* A trap at any instruction, alone or in pairs, ends right, or as a live-lock that is recognised. */
static void traps_at_every_instruction(void **state) {
    static uint32_t lines[8192];
    const reference_entry *entry;
    trap_sums alone = {0, 0, 0}, pairs = {0, 0, 0};
    uint64_t random = test_seed();
    (void)state;
    for (entry = reference_entries; entry->name; entry++) {
        char path[1024];
        machine_options options;
        uint32_t count, n, step, way;
        snprintf(path, sizeof path, KERNELS "%s/small.yaml", entry->name);
        machine_options_default(&options);
        count = trap_lines_of(path, &options, lines, 8192);
        step = (uint32_t)(count / test_cases(2)) + 1;
        for (n = gpump_random_below(&random, step); n < count; n += step) {
            way = gpump_random_below(&random, 4);
            options = options_with(way % 2 ? REGIONS_SPARSE : 32, NULL);
            options.errors.cure = way / 2;
            trap_at(path, &options, lines[n], 0, &alone);
            trap_at(path, &options, lines[n], lines[(n + 1 + gpump_random_below(&random, 12)) % count], &pairs);
        }
    }
    print_message("%llu runs, %llu exceptions of one instruction; %llu runs, %llu of two, %llu live-locks\n",
                  (unsigned long long)alone.runs, (unsigned long long)alone.exceptions, (unsigned long long)pairs.runs,
                  (unsigned long long)pairs.exceptions, (unsigned long long)pairs.live_locks);
    assert_true(alone.exceptions > 100 && pairs.live_locks > 10);
}

/* ==== exceptions in storms ==== */

/* Every third, or every seventeenth, instruction that may trap does: every run ends, with memory as without, under
 * either cure. A live-lock that nobody saw would not end before the watchdog. */
static void exceptions_in_storms(void **state) {
    static const uint64_t intervals[] = {3, 17};
    const reference_entry *entry;
    uint64_t exceptions = 0, live_locks = 0, n = test_seed();
    (void)state;
    for (entry = reference_entries; entry->name; entry++, n++) {
        char path[1024];
        machine_options options = options_with(n % 2 ? REGIONS_SPARSE : 32, NULL);
        ran r;
        snprintf(path, sizeof path, KERNELS "%s/small.yaml", entry->name);
        options.errors.traps_at.at = 1 + n % 5;
        options.errors.traps_at.interval = intervals[n / 2 % 2];
        options.errors.cure = (uint32_t)(n / 4 % 2);
        run_launch(path, &options, &r);
        if (r.wrong)
            fail_msg("%s, one of %llu traps, cure %u: %s", entry->name,
                     (unsigned long long)options.errors.traps_at.interval, options.errors.cure, r.error);
        exceptions += r.recovery.exceptions;
        live_locks += r.recovery.live_locks;
    }
    print_message("%llu exceptions in storms, %llu live-locks\n", (unsigned long long)exceptions,
                  (unsigned long long)live_locks);
    assert_true(exceptions > 1000 && live_locks > 10);
}

/* ==== preemptions on top ==== */

/* Warps leave while they execute again, are emulated or step, with errors on top, and come back elsewhere. */
static void preempted_anywhere(const char *path, uint32_t traps, double rate, uint64_t random) {
    static const uint32_t techniques[] = {GPUMP_TECHNIQUE_SWITCH, GPUMP_TECHNIQUE_REWIND, GPUMP_TECHNIQUE_FLUSH};
    machine_options options = options_with(REGIONS_NONE, NULL);
    ran plain, undisturbed, r;
    uint64_t n, restored = 0;
    run_launch(path, &options, &plain);
    for (n = 0; n < test_cases(8); n++) {
        options = options_with(n % 2 ? 16 : REGIONS_SPARSE, rate > 0 ? "decor" : NULL);
        options.errors.rate_q32 = (uint64_t)(rate * 4294967296.0);
        options.errors.traps = traps;
        options.errors.cure = (uint32_t)(n / 2 % 2);
        options.context_form = n / 4 % 2 ? CONTEXT_LIVE : CONTEXT_NAIVE;
        options.technique = techniques[n % 3];
        options.spilling = (uint32_t)(n / 3 % 3); /* just in time, or continuous of either kind */
        run_launch(path, &options, &undisturbed);
        options.preempt_cycle = 1 + gpump_random_below(&random, (uint32_t)undisturbed.cycles);
        run_launch(path, &options, &r);
        if (undisturbed.wrong || r.wrong || r.result != plain.result)
            fail_msg("%s, technique %u at cycle %llu: %s", path, options.technique,
                     (unsigned long long)options.preempt_cycle, r.error);
        restored += r.recovery.restored;
    }
    assert_true(restored > 0);
}

/* Kernels with errors and traps, all SMs emptied in the middle, end right. */
static void preempted_in_a_storm_of_errors(void **state) {
    static const char *const names[] = {"saxpy", "hotspot", "bfs_1", "backprop_layer_forward", "lud_diagonal"};
    uint32_t i;
    (void)state;
    preempted_anywhere(FIGURE_6, ERRORS_TRAP_DIVISION, 0, test_seed());
    preempted_anywhere(FIGURE_6, ERRORS_TRAP_DIVISION, 0.005, test_seed() + 1);
    for (i = 0; i < 5; i++) {
        char path[1024];
        snprintf(path, sizeof path, KERNELS "%s/small.yaml", names[i]);
        preempted_anywhere(path, 0, 0.005, test_seed() + i);
    }
}

/* Page faults, errors and a preemption in one run: warps go back for all of them by one record. */
static void everything_at_once(void **state) {
    static const uint32_t techniques[] = {GPUMP_TECHNIQUE_SWITCH, GPUMP_TECHNIQUE_REWIND};
    const char *path = KERNELS "hotspot/small.yaml";
    machine_options options = options_with(REGIONS_NONE, NULL);
    ran plain, r;
    uint32_t i;
    (void)state;
    run_launch(path, &options, &plain);
    for (i = 0; i < 4; i++) {
        options = options_with(i / 2 ? 32 : REGIONS_SPARSE, "razor2");
        options.errors.rate_q32 = (uint64_t)(0.003 * 4294967296.0);
        options.faults.scheme = "regions";
        options.absent = "all";
        options.fault_service_ns = 2000;
        options.preempt_cycle = 3000;
        options.technique = techniques[i % 2];
        options.context_form = CONTEXT_LIVE;
        run_launch(path, &options, &r);
        if (r.wrong || r.result != plain.result) fail_msg("case %u: %s", i, r.error);
        assert_true(r.recovery.faults > 0 && r.recovery.detected > 0 && r.recovery.restored > 0);
    }
}

/* What cannot be done is refused with a reason that names the remedy. */
static void errors_refuse_with_a_remedy(void **state) {
    const char *path = KERNELS "hotspot/small.yaml";
    machine_options options = options_with(32, NULL);
    char error[LAUNCH_ERROR_BYTES];
    launch_file launch;
    (void)state;
    if (launch_file_read(&launch, path, error)) fail_msg("%s", error);
    options.errors.traps = ERRORS_TRAP_LINES;
    options.errors.lines[0] = 1; /* a comment */
    assert_null(machine_build(&launch, &options, error));
    assert_non_null(strstr(error, "no arithmetic in line 1"));
    launch_file_free(&launch);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_at_every_instruction),
        cmocka_unit_test(every_kernel_survives_a_storm_of_errors),
        cmocka_unit_test(stores_that_do_not_wait),
        cmocka_unit_test(shared_memory_goes_back),
        cmocka_unit_test(both_cures),
        cmocka_unit_test(every_kernel_with_traps),
        cmocka_unit_test(traps_at_every_instruction),
        cmocka_unit_test(exceptions_in_storms),
        cmocka_unit_test(preempted_in_a_storm_of_errors),
        cmocka_unit_test(everything_at_once),
        cmocka_unit_test(errors_refuse_with_a_remedy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
