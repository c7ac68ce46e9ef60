/* labels: equivalence link: minigpu_core */
/* Preemptions of warps in each state that going back knows: they execute again with an instruction patched, are
 * emulated, step lane by lane, have an error that nobody has detected yet, or have just gone back for one. A run that
 * is looked at cycle by cycle says when that is. Then the same run is preempted there, by every technique: memory as
 * without. GPUMP_TEST_CASES=10000 preempts in every such cycle. */
#include "minigpu/error_runs.h"

#define FIGURE_6 GPUMP_SOURCE_DIR "/examples/minigpu/launches/figure6.yaml"

typedef enum warp_state { AGAIN, EMULATED, STEPPING, ERRING, GONE_BACK, STATES } warp_state;
static const char *const names[STATES] = {"executing again", "emulated", "stepping", "erring", "gone back"};
enum { MOST_CYCLES = 1 << 16 };
static uint32_t cycles_of[STATES][MOST_CYCLES], counts[STATES];

static void note(warp_state state, uint64_t cycle) {
    if (counts[state] == MOST_CYCLES || (counts[state] && cycles_of[state][counts[state] - 1] == cycle)) return;
    cycles_of[state][counts[state]++] = (uint32_t)cycle;
}

/* Runs a launch and notes in which cycles a warp is in each of the states. Returns its result. */
static uint64_t look(const char *path, const machine_options *options) {
    uint64_t emulated_until = 0, back_until = 0, result;
    gpump_restart_statistics sums, before;
    char error[LAUNCH_ERROR_BYTES];
    launch_file launch;
    machine *m = NULL;
    memset(counts, 0, sizeof counts);
    memset(&before, 0, sizeof before);
    if (launch_file_read(&launch, path, error) || !(m = machine_build(&launch, options, error))) fail_msg("%s", error);
    while (machine_run(m, m->now + 1) == 0) {
        uint32_t i, slot;
        recovery_statistics(m, &sums);
        if (sums.emulated != before.emulated) emulated_until = m->now + m->config.emulation_cycles - 1;
        if (sums.restarts != before.restarts && options->errors.detection) back_until = m->now + 20;
        if (m->now < emulated_until) note(EMULATED, m->now);
        if (m->now < back_until) note(GONE_BACK, m->now);
        before = sums;
        for (i = 0; i < m->sm_count; i++) {
            const sm *s = m->sms[i];
            if (s->restart->erring[0]) note(ERRING, m->now);
            for (slot = 0; slot < m->config.gpu.warp_slots; slot++) {
                const gpumpi_restart_warp *w = gpumpi_restart_at(s->restart, slot);
                if (!(s->present >> slot & 1) || m->warps[s->slot_warp[slot]].called_until > m->now + 300) continue;
                if (w->mode == GPUMP_RESTART_AGAIN) note(AGAIN, m->now);
                if (w->mode == GPUMP_RESTART_STEP) note(STEPPING, m->now);
            }
        }
    }
    assert_false(m->failed);
    result = machine_result_hash(m, &launch);
    machine_free(m);
    launch_file_free(&launch);
    return result;
}

/* Preempts in cycles of each state. `expected`: states there must be, as bits. */
static void preempt_in_each(const char *path, machine_options options, uint32_t expected) {
    static const uint32_t techniques[] = {GPUMP_TECHNIQUE_SWITCH, GPUMP_TECHNIQUE_REWIND, GPUMP_TECHNIQUE_FLUSH};
    const uint64_t result = look(path, &options);
    uint32_t state, n, i = 0;
    uint64_t restored = 0;
    for (state = 0; state < STATES; state++) {
        const uint32_t runs = (uint32_t)test_cases(3) < counts[state] ? (uint32_t)test_cases(3) : counts[state];
        if (expected >> state & 1 && counts[state] < 3) fail_msg("%s: hardly ever %s", path, names[state]);
        for (n = 0; n < runs; n++, i++) {
            machine_options preempted = options;
            ran r;
            preempted.preempt_cycle = cycles_of[state][(uint64_t)n * counts[state] / runs];
            preempted.technique = techniques[i % 3];
            preempted.context_form = i / 3 % 2 ? CONTEXT_LIVE : CONTEXT_NAIVE;
            run_launch(path, &preempted, &r);
            if (r.wrong || r.result != result)
                fail_msg("%s, %s at cycle %llu, technique %u: %s", path, names[state],
                         (unsigned long long)preempted.preempt_cycle, preempted.technique, r.error);
            restored += r.recovery.restored;
        }
    }
    assert_true(restored > 0);
}

/* A warp that handles an exception is preempted in each of its states, under either cure. */
static void preempted_in_each_state_of_an_exception(void **state) {
    static const uint32_t regions[] = {REGIONS_SPARSE, 32};
    uint32_t k, cure;
    (void)state;
    for (k = 0; k < 2; k++)
        for (cure = 0; cure < GPUMP_RESTART_CURES; cure++) {
            machine_options options = options_with(regions[k], NULL);
            options.errors.traps = ERRORS_TRAP_DIVISION;
            options.errors.cure = cure;
            preempt_in_each(FIGURE_6, options,
                            1u << AGAIN | 1u << EMULATED | (cure == GPUMP_RESTART_CURE_STEP ? 1u << STEPPING : 0));
            options.errors.traps = 0;
            options.errors.traps_at.at = 5;
            options.errors.traps_at.interval = 37;
            preempt_in_each(KERNELS "hotspot/small.yaml", options, 1u << AGAIN | 1u << EMULATED);
        }
}

/* A warp with an error is preempted before it is found, and after it has gone back. */
static void preempted_in_each_state_of_an_error(void **state) {
    static const char *const kernels[] = {"hotspot", "bfs_1", "lps"};
    uint32_t n;
    (void)state;
    for (n = 0; n < 3; n++) {
        char path[1024];
        machine_options options = options_with(n % 2 ? REGIONS_SPARSE : 32, "decor");
        snprintf(path, sizeof path, KERNELS "%s/small.yaml", kernels[n]);
        options.errors.rate_q32 = (uint64_t)(0.01 * 4294967296.0);
        options.shared_restart = n == 2 ? SHARED_VERSIONED : SHARED_CUTS;
        preempt_in_each(path, options, 1u << ERRING | 1u << GONE_BACK);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(preempted_in_each_state_of_an_exception),
                                       cmocka_unit_test(preempted_in_each_state_of_an_error)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
