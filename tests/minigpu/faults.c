/* labels: equivalence slow link: minigpu_core */
/* Whatever access faults, and whatever scheme brings its warp back: memory holds what the run without faults leaves.
 * Each small launch runs under each scheme with one look-up forced to fault; the look-ups are spread over the run.
 * GPUMP_TEST_CASES scales their number. With all pages absent at first, everything faults once. */
#include "test.h"

#include "analysis/analysis.h"
#include "machine/machine.h"
#include "parts/faults/faults.h"
#include "tools/check.h"

/* Runs a launch. Returns the hash of its buffers; *checks is the number of look-ups. */
static uint64_t run(const char *path, const char *config, const faults_options *faults, const char *absent,
                    uint64_t *checks, uint64_t *faulted) {
    char error[LAUNCH_ERROR_BYTES];
    machine_options options;
    launch_file launch;
    machine *m;
    kernel_check results[8];
    uint64_t hash;
    uint32_t i;
    machine_options_default(&options);
    options.gpu = "table61";
    options.config = config;
    options.absent = absent;
    options.faults = *faults;
    if (faults->scheme && !strcmp(faults->scheme, "regions")) options.regions = REGIONS_SPARSE;
    options.fault_service_ns = 2000;
    if (launch_file_read(&launch, path, error)) fail_msg("%s", error);
    launch.sms = 2;
    assert_true(launch.kernel_count <= 8);
    if (!(m = machine_build(&launch, &options, error))) fail_msg("%s", error);
    if (machine_run(m, NEVER) != 1)
        fail_msg("%s, %s, %s, look-up %llu: %s", path, config, faults->scheme, (unsigned long long)faults->check,
                 m->error);
    if (check_results(m, &launch, results))
        fail_msg("%s, %s, %s, look-up %llu: %s", path, config, faults->scheme ? faults->scheme : "no faults",
                 (unsigned long long)faults->check, results[0].text);
    /* Results of which only the set counts may stand in another order. */
    hash = launch.kernels[0].reference && launch.kernels[0].reference->check ? 0 : machine_result_hash(m, &launch);
    *checks = *faulted = 0;
    for (i = 0; i < m->sm_count; i++) {
        *checks += sm_faults_of(m->sms[i])->checks;
        *faulted += sm_faults_of(m->sms[i])->faults;
        assert_int_equal(gpump_check(&gpump_replay_component, sm_faults_of(m->sms[i])->replay, NULL), GPUMP_OK);
    }
    machine_free(m);
    launch_file_free(&launch);
    return hash;
}

static const char *const configs[] = {"issue_queue_entries=96", "issue_queue_entries=0",
                                      "issue_queue_entries=24,l1_tlb_entries=8,l1_tlb_misses=2,memory_queue_entries=9"};
#define CONFIGS (sizeof configs / sizeof *configs)

static void every_scheme(const char *path) {
    static uint32_t absents; /* one scheme in three, another with each launch */
    faults_options faults;
    uint64_t expected, checks, faulted, n, step, cases = test_cases(3), total = 0;
    uint32_t scheme, which;
    memset(&faults, 0, sizeof faults);
    faults.order = GPUMP_REPLAY_CLASS;
    faults.check = NEVER;
    expected = run(path, configs[0], &faults, NULL, &checks, &faulted);
    assert_int_equal(faulted, 0);
    step = checks / cases + 1;
    for (scheme = 0; (faults.scheme = faults_scheme_name(scheme)); scheme++) {
        for (n = 0; n < cases; n++) {
            which = (uint32_t)((scheme + n) % CONFIGS);
            faults.lazy = n % 3 == 2;
            faults.order = n % 2 ? GPUMP_REPLAY_ADDRESS : GPUMP_REPLAY_CLASS;
            faults.check = 1 + (n * step + scheme * 7) % checks;
            if (run(path, configs[which], &faults, NULL, &checks, &faulted) != expected)
                fail_msg("%s, %s, %s, order %u%s, look-up %llu: another result", path, configs[which], faults.scheme,
                         faults.order, faults.lazy ? ", lazy" : "", (unsigned long long)faults.check);
            total += faulted;
        }
        if (++absents % 3) continue;
        faults.check = NEVER;
        if (run(path, configs[scheme % CONFIGS], &faults, "all", &checks, &faulted) != expected)
            fail_msg("%s, %s, %s, all pages absent: another result", path, configs[scheme % CONFIGS], faults.scheme);
    }
    if (total == 0) fail_msg("%s: nothing has faulted", path);
}

/* Every small launch with absent pages under every pipeline: right as with all pages. */
static void every_launch_under_every_scheme_ends_right(void **state) {
    const reference_entry *entry;
    char path[1024];
    (void)state;
    for (entry = reference_entries; entry->name; entry++) {
        snprintf(path, sizeof path, "%s/examples/minigpu/kernels/%s/small.yaml", GPUMP_SOURCE_DIR, entry->name);
        every_scheme(path);
    }
}

/* ---- pages that are evicted all the time ---- */

/* Every M-th look-up evicts its page first, down to every single one. Each warp gets on, because what has faulted finds
 * its pages when it is executed again. */
static void test_eviction_ends(void **state) {
    static const char *const names[] = {"pointer_chase", "bfs_1", "histo", "matrix_multiply"};
    static const uint64_t intervals[] = {1, 2, 3, 7, 64};
    faults_options faults;
    uint64_t checks, faulted, n;
    uint32_t scheme, i;
    (void)state;
    memset(&faults, 0, sizeof faults);
    faults.order = GPUMP_REPLAY_CLASS;
    for (i = 0; i < 4; i++) {
        char path[512];
        uint64_t expected;
        snprintf(path, sizeof path, "%s/examples/minigpu/kernels/%s/small.yaml", GPUMP_SOURCE_DIR, names[i]);
        faults.scheme = NULL;
        faults.check = NEVER;
        expected = run(path, configs[0], &faults, NULL, &checks, &faulted);
        for (scheme = 0; (faults.scheme = faults_scheme_name(scheme)); scheme++) {
            n = (i + scheme) % 5;
            faults.check = 7 % intervals[n] + 1;
            faults.interval = intervals[n];
            if (run(path, configs[(i + scheme) % CONFIGS], &faults, NULL, &checks, &faulted) != expected)
                fail_msg("%s, %s, every %llu look-ups: another result", path, faults.scheme,
                         (unsigned long long)intervals[n]);
            if (faulted < 2)
                fail_msg("%s, %s, every %llu look-ups: %llu faults", path, faults.scheme,
                         (unsigned long long)intervals[n], (unsigned long long)faulted);
        }
    }
}

/* ---- idle cycles ---- */

/* A machine that skips idle cycles and one that ticks through them are in the same cycle and state at the end. */
static void test_idle_cycles(void **state) {
    static const char *const names[] = {"bfs_1", "sgemm", "tpacf"};
    uint32_t i;
    (void)state;
    for (i = 0; i < 6; i++) {
        uint64_t hash[2];
        uint32_t skips;
        for (skips = 0; skips < 2; skips++) {
            char path[512], error[LAUNCH_ERROR_BYTES];
            machine_options options;
            launch_file launch;
            machine *m;
            machine_options_default(&options);
            options.gpu = "table61";
            options.config = configs[i % CONFIGS];
            options.skip_idle = skips;
            options.absent = "all";
            options.faults.scheme = faults_scheme_name(i);
            options.fault_service_ns = 3000;
            snprintf(path, sizeof path, "%s/examples/minigpu/kernels/%s/small.yaml", GPUMP_SOURCE_DIR, names[i % 3]);
            if (launch_file_read(&launch, path, error)) fail_msg("%s", error);
            launch.sms = 2;
            if (!(m = machine_build(&launch, &options, error))) fail_msg("%s", error);
            if (machine_run(m, NEVER) != 1) fail_msg("%s", m->error);
            hash[skips] = machine_hash(m);
            machine_free(m);
            launch_file_free(&launch);
        }
        if (hash[0] != hash[1]) fail_msg("%s, %s: another state", names[i % 3], faults_scheme_name(i));
    }
}

/* ---- memory order ---- */

/* What tests/minigpu/machine/order.ptx does, in C. */
static int order_is_right(const machine *m, const launch_file *launch) {
    enum { THREADS = 256, APART = 2048 };
    const uint32_t *out = (const uint32_t *)(const void *)(m->memory + (launch->buffers[0].address - DEVICE_BASE)),
                   *data = (const uint32_t *)(const void *)(m->memory + (launch->buffers[1].address - DEVICE_BASE));
    uint32_t id;
    for (id = 0; id < THREADS; id++) {
        const uint32_t odd = id & 1u, stored = id + 1000;
        if (out[id] != (odd ? stored * 3 : 0) + stored) return 0;
        if (data[id + odd * APART] != (odd ? id + 2000 : stored)) return 0;
    }
    return 1;
}

/* Lets each look-up fault in turn. Returns the runs whose memory is wrong. */
static uint32_t wrong_orders(uint32_t order, uint32_t first_scheme) {
    char path[512], error[LAUNCH_ERROR_BYTES];
    uint32_t scheme, wrong = 0, n;
    snprintf(path, sizeof path, "%s/tests/minigpu/machine/order.yaml", GPUMP_SOURCE_DIR);
    for (scheme = first_scheme; faults_scheme_name(scheme + 1); scheme++) {
        for (n = 1; n <= 40; n += scheme ? 3 : 1) {
            machine_options options;
            launch_file launch;
            machine *m;
            machine_options_default(&options);
            options.faults.scheme = faults_scheme_name(scheme);
            options.faults.order = order;
            options.faults.check = n;
            options.fault_service_ns = 1000;
            if (launch_file_read(&launch, path, error)) fail_msg("%s", error);
            if (!(m = machine_build(&launch, &options, error))) fail_msg("%s", error);
            if (machine_run(m, NEVER) != 1) fail_msg("%s", m->error);
            wrong += !order_is_right(m, &launch);
            machine_free(m);
            launch_file_free(&launch);
        }
    }
    return wrong;
}

/* The thesis guards registers only; a squashed store and a younger load of the same place are wrong then
 * (docs/papers.md).
 */
static void test_memory_order(void **state) {
    (void)state;
    assert_int_equal(wrong_orders(GPUMP_REPLAY_CLASS, 0), 0);
    assert_int_equal(wrong_orders(GPUMP_REPLAY_ADDRESS, 0), 0);
    assert_true(wrong_orders(GPUMP_REPLAY_PRINTED, 3) > 0); /* from the replay queue on */
}

/* ---- no end ---- */

/* A page that takes longer than the watchdog's patience is waited for: the run is not stuck. */
static void test_slow_pages(void **state) {
    char path[512], error[LAUNCH_ERROR_BYTES];
    machine_options options;
    launch_file launch;
    machine *m;
    (void)state;
    machine_options_default(&options);
    options.gpu = "table61";
    options.config = "watchdog_cycles=60000";
    options.faults.scheme = "log8";
    options.faults.check = 7;
    options.fault_service_ns = 1000000;
    snprintf(path, sizeof path, "%s/examples/minigpu/kernels/pointer_chase/small.yaml", GPUMP_SOURCE_DIR);
    if (launch_file_read(&launch, path, error)) fail_msg("%s", error);
    if (!(m = machine_build(&launch, &options, error))) fail_msg("%s", error);
    if (machine_run(m, NEVER) != 1) fail_msg("%s", m->error);
    assert_true(m->now > 10 * 60000);
    machine_free(m);
    launch_file_free(&launch);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_launch_under_every_scheme_ends_right),
                                       cmocka_unit_test(test_eviction_ends), cmocka_unit_test(test_idle_cycles),
                                       cmocka_unit_test(test_memory_order), cmocka_unit_test(test_slow_pages)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
