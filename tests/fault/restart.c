/* labels: unit property */
/* restart: restart PCs, the live-lock of two exceptions and both of its cures, errors and their detection, contexts,
 * and the closed forms. */
#include "test.h"

#include <math.h>

enum { BYTES = 1 << 18, FRAMES = 4, LENGTH = 24 };
static uint64_t memory[2][BYTES / 8];

static gpump_restart_config config_of(const char *preset) {
    gpump_restart_config config;
    assert_int_equal(gpump_preset(&gpump_restart_component, &config, preset, NULL), GPUMP_OK);
    config.warps = 4;
    config.frames = FRAMES;
    return config;
}

static gpump_restart *fresh(const gpump_restart_config *config) {
    gpump_restart *restart = NULL;
    size_t bytes;
    assert_int_equal(gpump_bytes(&gpump_restart_component, config, &bytes, NULL), GPUMP_OK);
    assert_true(bytes <= BYTES);
    assert_int_equal(gpump_init(&gpump_restart_component, memory[0], bytes, config, &restart, NULL), GPUMP_OK);
    return restart;
}

static void boundary(gpump_restart *restart, uint32_t warp, uint32_t region, uint32_t pc) {
    gpump_restart_frame frame = {~UINT64_C(0), 0, GPUMP_NONE};
    frame.pc = pc;
    assert_int_equal(gpump_restart_report_boundary(restart, warp, region, &frame, 1), GPUMP_OK);
}

/* The PC at which the warp would go on; GPUMP_NONE: nowhere. */
static uint32_t pc_of(const gpump_restart *restart, uint32_t warp, uint32_t region) {
    gpump_restart_frame frames[FRAMES];
    uint32_t depth;
    if (gpump_restart_where(restart, warp, region, frames, FRAMES, &depth) != GPUMP_OK) return GPUMP_NONE;
    return frames[depth - 1].pc;
}

/* Rates and voltages of the four detectors are those of iGPU Table 2. */
static void presets_are_table_2(void **state) {
    static const struct {
        const char *name;
        double rate, voltage;
    } table2[] = {{"decor", 0.01, 0.10}, {"emergency", 0.0001, 0.10}, {"razor", 0.01, 0.15}, {"razor2", 0.001, 0.15}};
    gpump_restart_config config;
    gpump_restart_storage storage;
    uint64_t bits;
    uint32_t i;
    (void)state;
    for (i = 0; i < 4; i++) {
        assert_string_equal(gpump_restart_detection_name(i), table2[i].name);
        assert_int_equal(gpump_preset(&gpump_restart_component, &config, table2[i].name, NULL), GPUMP_OK);
        assert_true(fabs(config.error_rate_q32 / 4294967296.0 - table2[i].rate) < 1e-9);
        assert_true(fabs(config.voltage_q16 / 65536.0 - table2[i].voltage) < 1e-4);
        assert_true(config.latency_cycles && config.store_entries);
    }
    assert_null(gpump_restart_detection_name(4));
    assert_int_equal(gpump_preset(&gpump_restart_component, &config, "razor3", NULL), GPUMP_ERROR_UNKNOWN_NAME);
    assert_int_equal(gpump_preset(&gpump_restart_component, &config, "igpu", NULL), GPUMP_OK);
    assert_int_equal(gpump_bits(&gpump_restart_component, &config, &bits, NULL), GPUMP_OK);
    assert_int_equal(gpump_table_bits(&gpump_restart_component, &config, &storage, NULL), GPUMP_OK);
    assert_int_equal(storage.pc_bits / 8, 384); /* iGPU 3.2: 48 warps, two PCs of 4 bytes */
    /* 48 x (two stacks of 64 entries of 96 bits, 7 bits of depth each; two PCs; mode 2; forbidden 2; count 4) */
    assert_int_equal(bits, 48 * (2 * (64 * 96 + 7) + 64 + 2 + 2 + 4));
    config.latency_cycles = 5000;
    assert_int_equal(gpump_bits(&gpump_restart_component, &config, &bits, NULL), GPUMP_ERROR_CONFIG);
}

/* A fault goes back to the short boundary, an error to the sparse one. */
static void a_fault_and_an_error_have_their_restart_pcs(void **state) {
    const gpump_restart_config config = config_of("igpu");
    gpump_restart *restart = fresh(&config);
    gpump_restart_frame frames[FRAMES];
    uint32_t depth, i;
    (void)state;
    assert_int_equal(gpump_restart_open(restart, 1), GPUMP_OK);
    assert_int_equal(gpump_restart_open(restart, 1), GPUMP_ERROR_STATE);
    assert_false(gpump_restart_may_go_back(restart, 1, GPUMP_RESTART_SPARSE));
    boundary(restart, 1, GPUMP_RESTART_SPARSE, 0);
    for (i = 0; i < 5; i++) gpump_restart_report_executed(restart, 1);
    boundary(restart, 1, GPUMP_RESTART_SHORT, 5);
    for (i = 0; i < 3; i++) gpump_restart_report_executed(restart, 1);
    assert_int_equal(gpump_restart_since(restart, 1, GPUMP_RESTART_SPARSE), 8);
    assert_int_equal(gpump_restart_since(restart, 1, GPUMP_RESTART_SHORT), 3);
    gpump_restart_forbid(restart, 1);
    assert_int_equal(gpump_restart_go_back(restart, 1, GPUMP_RESTART_SHORT, frames, FRAMES, &depth), GPUMP_BUSY);
    boundary(restart, 1, GPUMP_RESTART_SHORT, 8); /* the sparse region still holds what must not be done twice */
    assert_true(gpump_restart_may_go_back(restart, 1, GPUMP_RESTART_SHORT));
    assert_false(gpump_restart_may_go_back(restart, 1, GPUMP_RESTART_SPARSE));
    boundary(restart, 1, GPUMP_RESTART_SPARSE, 0);
    boundary(restart, 1, GPUMP_RESTART_SHORT, 8);
    for (i = 0; i < 2; i++) gpump_restart_report_executed(restart, 1);
    assert_int_equal(gpump_restart_go_back(restart, 1, GPUMP_RESTART_SHORT, frames, 0, &depth), GPUMP_ERROR_CAPACITY);
    assert_int_equal(gpump_restart_go_back(restart, 1, GPUMP_RESTART_SHORT, frames, FRAMES, &depth), GPUMP_OK);
    assert_int_equal(frames[0].pc, 8);
    assert_int_equal(gpump_restart_since(restart, 1, GPUMP_RESTART_SPARSE), 0);
    assert_int_equal(gpump_restart_go_back(restart, 1, GPUMP_RESTART_SPARSE, frames, FRAMES, &depth), GPUMP_OK);
    assert_int_equal(frames[0].pc, 0);
    assert_int_equal(pc_of(restart, 1, GPUMP_RESTART_SHORT), 0); /* its short region is the sparse one again */
    assert_int_equal(gpump_restart_close(restart, 1), GPUMP_OK);
    assert_int_equal(gpump_restart_close(restart, 1), GPUMP_ERROR_STATE);
    /* A warp that has only crossed short boundaries since it came has no sparse region to go back to. */
    assert_int_equal(gpump_restart_open(restart, 2), GPUMP_OK);
    boundary(restart, 2, GPUMP_RESTART_SHORT, 7);
    assert_false(gpump_restart_may_go_back(restart, 2, GPUMP_RESTART_SPARSE));
    assert_true(gpump_restart_may_go_back(restart, 2, GPUMP_RESTART_SHORT));
    assert_int_equal(gpump_check(&gpump_restart_component, restart, NULL), GPUMP_OK);
}

/* An error is found after the detector's latency; stores wait until then. */
static void an_error_goes_back_when_it_is_found(void **state) {
    const gpump_restart_config config = config_of("razor2"); /* 4 cycles */
    gpump_restart *restart = fresh(&config);
    gpump_restart_frame frames[FRAMES];
    gpump_restart_order order;
    uint32_t depth, warp;
    (void)state;
    assert_int_equal(gpump_restart_open(restart, 3), GPUMP_OK);
    assert_int_equal(gpump_restart_report_error(restart, 3, 0), GPUMP_ERROR_STATE); /* nowhere to go back to */
    boundary(restart, 3, GPUMP_RESTART_SPARSE, 0);
    gpump_restart_report_unverified(restart, 3, 10);
    assert_false(gpump_restart_is_verified(restart, 3, 13));
    assert_true(gpump_restart_is_verified(restart, 3, 14));
    assert_int_equal(gpump_restart_report_store(restart, 3), GPUMP_OK);
    assert_true(gpump_restart_has_stores(restart, 3));
    assert_int_equal(gpump_restart_report_error(restart, 3, 20), GPUMP_OK);
    assert_int_equal(gpump_restart_report_error(restart, 3, 22), GPUMP_OK); /* detected with the first */
    assert_int_equal(gpump_restart_report_boundary(restart, 3, GPUMP_RESTART_SHORT, frames, 1), GPUMP_ERROR_STATE);
    assert_int_equal(gpump_restart_report_exception(restart, 3, 7, GPUMP_RESTART_EMULATED, &order), GPUMP_OK);
    assert_int_equal(order.answer, GPUMP_RESTART_IGNORE);
    assert_int_equal(gpump_restart_next(restart, 23, &warp), GPUMP_EMPTY);
    assert_int_equal(gpump_restart_next(restart, 24, &warp), GPUMP_OK);
    assert_int_equal(warp, 3);
    assert_int_equal(gpump_check(&gpump_restart_component, restart, NULL), GPUMP_OK);
    assert_int_equal(gpump_restart_go_back(restart, 3, GPUMP_RESTART_SHORT, frames, FRAMES, &depth), GPUMP_OK);
    assert_int_equal(gpump_restart_next(restart, 24, &warp), GPUMP_EMPTY);
    assert_false(gpump_restart_has_stores(restart, 3));
    assert_true(gpump_restart_is_verified(restart, 3, 24));
    assert_int_equal(gpump_restart_report_stored(restart, 3), GPUMP_ERROR_STATE);
}

/* ==== regions that raise exceptions ==== */

/* A region as the sequence of PCs that a warp executes, and where it raises exceptions. */
typedef struct region {
    uint32_t pcs[LENGTH], length;
    uint32_t raises[LENGTH]; /* 1: at this step, unless it is emulated */
    uint32_t distinct;       /* PCs that raise */
} region;

/* Executes it as a host does, from its boundary to its end; random contexts on the way. Returns the live-locks found,
 * or -1 when it does not come to an end. */
static int execute(gpump_restart *restart, const region *r, uint64_t *random) {
    gpump_restart_statistics before, after;
    gpump_restart_frame frames[FRAMES];
    uint32_t split = 0 /* PCs in regions of their own, a bit each */, warp = 0, at = 0, start = 0, restarts = 0, depth;
    gpump_get_statistics(&gpump_restart_component, restart, &before);
    assert_int_equal(gpump_restart_open(restart, 0), GPUMP_OK);
    boundary(restart, 0, GPUMP_RESTART_SPARSE, 1000);
    while (at < r->length) {
        const uint32_t pc = r->pcs[at];
        gpump_restart_order order;
        if (gpump_random_below(random, 16) == 0) { /* a switch */
            uint64_t words[64];
            uint32_t count;
            assert_int_equal(gpump_restart_save(restart, warp, words, 64, &count), GPUMP_OK);
            assert_int_equal(gpump_restart_close(restart, warp), GPUMP_OK);
            warp = (warp + 1) % 4;
            assert_int_equal(gpump_restart_open(restart, warp), GPUMP_OK);
            assert_int_equal(gpump_restart_restore(restart, warp, words, count, NULL), GPUMP_OK);
        }
        if (split >> pc & 1 && at != start) { /* a region of its own; who goes back stands behind its boundary */
            boundary(restart, warp, GPUMP_RESTART_SHORT, pc);
            start = at;
        }
        if (gpump_restart_mode_at(restart, warp, pc) == GPUMP_RESTART_AGAIN) {
            gpump_restart_report_emulated(restart, warp);
        } else if (r->raises[at]) {
            assert_int_equal(gpump_restart_report_exception(restart, warp, pc, GPUMP_RESTART_EMULATED, &order),
                             GPUMP_OK);
            if (order.answer == GPUMP_RESTART_IN_PLACE) {
                gpump_restart_report_emulated(restart, warp);
            } else {
                if (order.answer == GPUMP_RESTART_SPLIT) { split |= 1u << order.pc | 1u << order.other; }
                assert_int_equal(gpump_restart_go_back(restart, warp, order.region, frames, FRAMES, &depth), GPUMP_OK);
                at = start;
                if (++restarts > 100) return -1;
                continue;
            }
        }
        gpump_restart_report_executed(restart, warp);
        at++;
        if (split >> pc & 1) {
            boundary(restart, warp, GPUMP_RESTART_SHORT, pc + 1);
            start = at;
        }
    }
    assert_int_equal(gpump_check(&gpump_restart_component, restart, NULL), GPUMP_OK);
    assert_int_equal(gpump_restart_close(restart, warp), GPUMP_OK);
    gpump_get_statistics(&gpump_restart_component, restart, &after);
    return (int)(after.live_locks - before.live_locks);
}

/* A random path through a region with a loop, and up to four PCs that raise exceptions in some rounds. */
static region random_region(uint64_t *random) {
    region r;
    uint32_t i, n, pcs = 2 + gpump_random_below(random, 10), raising[4], kinds = gpump_random_below(random, 5);
    memset(&r, 0, sizeof r);
    r.length = LENGTH;
    for (i = 0; i < kinds; i++) raising[i] = gpump_random_below(random, pcs);
    for (i = 0; i < LENGTH; i++) {
        r.pcs[i] = i % pcs;
        for (n = 0; n < kinds; n++)
            if (raising[n] == r.pcs[i] && gpump_random_below(random, 2)) r.raises[i] = 1;
    }
    for (i = 0; i < pcs; i++) {
        for (n = i; n < LENGTH && !r.raises[n]; n += pcs) {}
        r.distinct += n < LENGTH;
    }
    return r;
}

/* Every region ends, however often exceptions recur; a live-lock is suspected only where two PCs raise exceptions, and
 * is found wherever two do. */
static void test_live_locks(void **state) {
    uint64_t random = test_seed(), n;
    uint32_t cure, found = 0;
    (void)state;
    for (cure = 0; cure < GPUMP_RESTART_CURES; cure++) {
        gpump_restart_config config = config_of("igpu");
        gpump_restart *restart;
        config.cure = cure;
        restart = fresh(&config);
        for (n = 0; n < test_cases(2000); n++) {
            const region r = random_region(&random);
            const int live_locks = execute(restart, &r, &random);
            assert_true(live_locks >= 0);
            if (r.distinct < 2)
                assert_int_equal(live_locks, 0);
            else
                assert_true(live_locks > 0);
            found += (uint32_t)live_locks;
        }
    }
    assert_true(found > test_cases(100));
}

/* iGPU Figure 6: the first exception is handled, then the second; on the way back the first recurs. */
static void test_figure_6(void **state) {
    const uint32_t answers[] = {GPUMP_RESTART_GO_BACK, GPUMP_RESTART_GO_BACK, GPUMP_RESTART_SPLIT},
                   pcs[] = {10, 20, 10};
    const gpump_restart_config config = config_of("igpu");
    gpump_restart *restart = fresh(&config);
    gpump_restart_frame frames[FRAMES];
    gpump_restart_order order;
    uint32_t i, depth;
    (void)state;
    assert_int_equal(gpump_restart_open(restart, 0), GPUMP_OK);
    boundary(restart, 0, GPUMP_RESTART_SPARSE, 0);
    for (i = 0; i < 3; i++) {
        assert_int_equal(gpump_restart_report_exception(restart, 0, pcs[i], GPUMP_RESTART_EMULATED, &order), GPUMP_OK);
        assert_int_equal(order.answer, answers[i]);
        assert_int_equal(gpump_restart_go_back(restart, 0, order.region, frames, FRAMES, &depth), GPUMP_OK);
    }
    assert_int_equal(order.pc, 10);
    assert_int_equal(order.other, 20);
}

/* As printed, the instruction is emulated once: an exception in the second round of a loop recurs for ever, at the one
 * PC that the comparison allows. Only the count of restarts finds it. */
static void test_patched_once(void **state) {
    region r;
    uint64_t random = 1;
    uint32_t patch;
    (void)state;
    memset(&r, 0, sizeof r);
    r.length = 2;
    r.pcs[0] = r.pcs[1] = 5;
    r.raises[1] = 1;
    for (patch = 0; patch < GPUMP_RESTART_PATCHES; patch++) {
        gpump_restart_config config = config_of("igpu");
        config.patch = patch;
        assert_int_equal(execute(fresh(&config), &r, &random), patch == GPUMP_RESTART_PATCH_ONCE);
    }
    /* A loop that touches a page after the other at one PC makes progress: that is never suspected. */
    {
        const gpump_restart_config config = config_of("igpu");
        gpump_restart *restart = fresh(&config);
        gpump_restart_order order;
        assert_int_equal(gpump_restart_open(restart, 0), GPUMP_OK);
        boundary(restart, 0, GPUMP_RESTART_SPARSE, 0);
        for (patch = 0; patch < 100; patch++) {
            assert_int_equal(gpump_restart_report_exception(restart, 0, 5 + patch % 2, GPUMP_RESTART_SERVED, &order),
                             GPUMP_OK);
            assert_int_equal(order.answer, GPUMP_RESTART_GO_BACK);
        }
    }
}

/* ==== contexts and memory from outside ==== */

/* A warp's record is saved, refused where a word contradicts, and restored. */
static void a_context_with_restart_pcs_comes_back(void **state) {
    const gpump_restart_config config = config_of("igpu");
    gpump_restart *restart = fresh(&config), *copy = NULL;
    gpump_restart_frame stack[2] = {{3, 40, GPUMP_NONE}, {1, 50, 60}};
    uint64_t words[32], random = test_seed();
    uint32_t count, i, refused = 0;
    size_t bytes;
    (void)state;
    assert_int_equal(gpump_restart_open(restart, 0), GPUMP_OK);
    assert_int_equal(gpump_restart_report_boundary(restart, 0, GPUMP_RESTART_SPARSE, stack, 1), GPUMP_OK);
    assert_int_equal(gpump_restart_report_boundary(restart, 0, GPUMP_RESTART_SHORT, stack, 2), GPUMP_OK);
    assert_int_equal(gpump_restart_save(restart, 0, words, 2, &count), GPUMP_ERROR_CAPACITY);
    assert_int_equal(gpump_restart_save(restart, 0, words, 32, &count), GPUMP_OK);
    assert_int_equal(count, 3 + 2 * 3);
    assert_int_equal(gpump_restart_open(restart, 1), GPUMP_OK);
    assert_int_equal(gpump_restart_restore(restart, 1, words, count - 1, NULL), GPUMP_ERROR_FORMAT);
    assert_int_equal(gpump_restart_restore(restart, 1, words, count, NULL), GPUMP_OK);
    assert_int_equal(gpump_restart_restore(restart, 1, words, count, NULL), GPUMP_ERROR_STATE);
    assert_int_equal(pc_of(restart, 1, GPUMP_RESTART_SPARSE), 40);
    assert_int_equal(pc_of(restart, 1, GPUMP_RESTART_SHORT), 50);
    assert_int_equal(gpump_bytes(&gpump_restart_component, &config, &bytes, NULL), GPUMP_OK);
    memcpy(memory[1], memory[0], bytes);
    assert_int_equal(gpump_adopt(&gpump_restart_component, memory[1], bytes, &config, &copy, NULL), GPUMP_OK);
    assert_true(gpump_hash(&gpump_restart_component, copy) == gpump_hash(&gpump_restart_component, restart));
    for (i = 0; i < test_cases(20000); i++) { /* altered: refused, or every call is safe */
        const uint32_t word = (uint32_t)(sizeof(gpump_restart) / 8) + gpump_random_below(&random, 4 * 8);
        gpump_restart_frame frames[FRAMES];
        gpump_restart_order order;
        uint32_t depth;
        memcpy(memory[1], memory[0], bytes);
        memory[1][word] ^= UINT64_C(1) << gpump_random_below(&random, 64);
        if (gpump_check(&gpump_restart_component, copy, NULL) != GPUMP_OK) {
            refused++;
            continue;
        }
        (void)gpump_restart_report_exception(copy, 1, 5, GPUMP_RESTART_EMULATED, &order);
        (void)gpump_restart_go_back(copy, 1, GPUMP_RESTART_SHORT, frames, FRAMES, &depth);
        (void)gpump_restart_save(copy, 0, words, 32, &count);
        (void)gpump_restart_close(copy, 1);
    }
    assert_true(refused > 0);
}

/* ==== closed forms ==== */

/* The expected instructions of a region are those of the closed formula. */
static void the_expected_time_is_the_formula(void **state) {
    static const double rates[] = {0.01, 0.001, 0.0001, 0.25};
    static const uint32_t lengths[] = {1, 10, 32, 64, 70};
    uint32_t p, n;
    (void)state;
    for (p = 0; p < 4; p++)
        for (n = 0; n < 5; n++) {
            const double expected = (pow(1 - rates[p], -(double)lengths[n]) - 1) / rates[p];
            const double got =
                (double)gpump_restart_expected(lengths[n], (uint32_t)(rates[p] * 4294967296.0), 0) / 65536;
            assert_true(fabs(got - expected) < 1e-4 * expected + 2.0 / 65536);
        }
    assert_int_equal(gpump_restart_expected(32, 0, 7), 32 << 16);
    for (n = 1; n <= 47; n++) /* an error in every second instruction: 2^(n + 1) - 2, with no rounding anywhere */
        assert_true(gpump_restart_expected(n, UINT32_C(1) << 31, 0) == ((UINT64_C(1) << n) - 1) << 17);
    /* Detected at the region's end, each try costs the region: n (1-p)^-n. */
    assert_true(fabs((double)gpump_restart_expected(32, UINT32_C(42949673), 1000) / 65536 - 32 * pow(0.99, -32)) <
                0.01);
    assert_true(gpump_restart_expected(0, 5, 0) == UINT64_MAX);
    assert_true(gpump_restart_expected(1u << 20, UINT32_MAX, 0) == UINT64_MAX);
}

/* The same by playing it. */
static void test_expected_played(void **state) {
    const uint32_t n = 32, latency = 5, rate = UINT32_C(42949673) * 3;
    uint64_t random = test_seed(), executed = 0, i;
    const uint64_t plays = 200000;
    double mean, expected = (double)gpump_restart_expected(n, rate, latency) / 65536;
    (void)state;
    for (i = 0; i < plays; i++) {
        for (;;) {
            uint32_t at = 1;
            while (at <= n && gpump_random_next(&random) >> 32 >= rate) at++;
            executed += at > n ? n : at + latency < n ? at + latency : n;
            if (at > n) break;
        }
    }
    mean = (double)executed / (double)plays;
    assert_true(fabs(mean - expected) < 0.01 * expected);
}

/* Energy falls with the square of the voltage and rises with time. */
static void energy_is_voltage_squared_by_time(void **state) {
    (void)state;
    assert_int_equal(gpump_restart_energy(0, 65536), 65536);
    assert_true(fabs((double)gpump_restart_energy(9830, 65536) / 65536 - 0.7225) < 1e-4); /* 27.75% saved at 15% */
    assert_true(fabs((double)gpump_restart_energy(6553, 65536 * 2) / 65536 - 1.62) < 1e-4);
    assert_int_equal(gpump_restart_energy(65536, 65536), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(presets_are_table_2),
        cmocka_unit_test(a_fault_and_an_error_have_their_restart_pcs),
        cmocka_unit_test(an_error_goes_back_when_it_is_found),
        cmocka_unit_test(test_live_locks),
        cmocka_unit_test(test_figure_6),
        cmocka_unit_test(test_patched_once),
        cmocka_unit_test(a_context_with_restart_pcs_comes_back),
        cmocka_unit_test(the_expected_time_is_the_formula),
        cmocka_unit_test(energy_is_voltage_squared_by_time),
        cmocka_unit_test(test_expected_played),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
