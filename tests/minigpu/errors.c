/* labels: equivalence slow link: minigpu_core */
/* Instructions that compute something wrong, and arithmetic that traps: memory at the end is that of a run without
 * them. One bit of a result, an address or a value to store is really flipped, at every instruction of every small
 * launch (a sample of them here; all with GPUMP_TEST_CASES=100000), and in storms. */
#include "test.h"

#include "analysis/analysis.h"
#include "kernels/reference.h"
#include "tools/check.h"
#include "tools/recovery.h"

#define KERNELS GPUMP_SOURCE_DIR "/examples/minigpu/kernels/"

typedef struct ran {
    gpump_restart_statistics recovery;
    uint64_t candidates, cycles;
    int wrong;
    char error[LAUNCH_ERROR_BYTES];
} ran;

static void run_launch(const char *path, const machine_options *options, ran *r) {
    launch_file launch;
    kernel_check check[8];
    machine *m;
    memset(r, 0, sizeof *r);
    if (launch_file_read(&launch, path, r->error)) fail_msg("%s", r->error);
    launch.regions = REGIONS_NONE;
    assert_true(launch.kernel_count <= 8);
    if (!(m = machine_build(&launch, options, r->error))) fail_msg("%s: %s", path, r->error);
    r->wrong = machine_run(m, NEVER) != 1 || check_results(m, &launch, check) != 0;
    snprintf(r->error, sizeof r->error, "%s", m->failed ? m->error : r->wrong ? "other results" : "right");
    r->candidates = m->error_candidates;
    r->cycles = m->now;
    recovery_statistics(m, &r->recovery);
    machine_free(m);
    launch_file_free(&launch);
}

static machine_options options_with(uint32_t regions, const char *detection) {
    machine_options options;
    machine_options_default(&options);
    options.regions = regions;
    options.errors.detection = detection;
    return options;
}

/* ==== errors ==== */

static void at_every_instruction_of(const char *name, uint32_t regions, const char *detection, uint64_t *injected) {
    char path[1024];
    machine_options options = options_with(regions, detection);
    ran r;
    uint64_t candidates, place, step;
    snprintf(path, sizeof path, KERNELS "%s/small.yaml", name);
    options.errors.at = NEVER - 1; /* nothing errs, and instructions are counted */
    run_launch(path, &options, &r);
    if (r.wrong) fail_msg("%s, regions %u, without errors: %s", name, regions, r.error);
    candidates = r.candidates;
    step = candidates / test_cases(3) + 1;
    for (place = 1 + test_seed() % step; place <= candidates; place += step) {
        options.errors.at = place;
        run_launch(path, &options, &r);
        if (r.wrong)
            fail_msg("%s, regions %u, %s, an error in instruction %llu: %s", name, regions, detection,
                     (unsigned long long)place, r.error);
        assert_int_equal(r.recovery.errors, 1);
        *injected += r.recovery.detected;
    }
}

static void errors_at_every_instruction(void **state) {
    const reference_entry *entry;
    uint64_t injected = 0;
    (void)state;
    for (entry = reference_entries; entry->name; entry++) {
        at_every_instruction_of(entry->name, REGIONS_SPARSE, "decor", &injected);
        at_every_instruction_of(entry->name, 32, "razor2", &injected);
    }
    print_message("%llu errors, one at a time\n", (unsigned long long)injected);
    assert_true(injected > 100);
}

static void storms(void **state) {
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
            options.errors.at = NEVER - 1;
            run_launch(path, &options, &r);
            end = r.candidates;
            for (place = 1; place <= end; place += end / 24 + 1) {
                options.errors.at = place;
                options.errors.interval = 40; /* some of them are stores, or make addresses of stores */
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_at_every_instruction),
        cmocka_unit_test(storms),
        cmocka_unit_test(stores_that_do_not_wait),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
