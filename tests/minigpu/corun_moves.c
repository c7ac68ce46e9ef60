/* labels: unit property full link: minigpu_core */
/* What a group composes with: blocks above their caps leave by every way, a third kernel takes the place of a
 * co-runner, and faults, rates and preemption are on at once. Results are those of the kernels alone. */
#include "rate_statistics.h"
#include "test.h"

#include "parts/corun/corun_options.h"
#include "parts/corun/corun_group.h"
#include "machine/machine.h"
#include "tools/check.h"
#include "tools/report.h"
#include "tools/run_options.h"

static machine *build(launch_file *launch, const char *path, const machine_options *options, int repeats) {
    char error[LAUNCH_ERROR_BYTES], full[512];
    machine *m = NULL;
    uint32_t i;
    snprintf(full, sizeof full, "%s/examples/minigpu/launches/%s", GPUMP_SOURCE_DIR, path);
    if (launch_file_read(launch, full, error)) fail_msg("%s", error);
    for (i = 0; i < launch->process_count && !repeats; i++) launch->processes[i].repeat = 1;
    if (!repeats) launch->stop_at = 0;
    if (!(m = machine_build(launch, options, error))) fail_msg("%s", error);
    return m;
}

/* A group may never be where no host can be: checked at every stop. */
static void check_group(const machine *m) {
    const struct corun *c = corun_of(m);
    uint32_t i, sm, members = 0;
    assert_int_equal(gpump_check(&gpump_sharing_component, c->sharing, NULL), GPUMP_OK);
    for (i = 0; i < m->kernel_count; i++) {
        const uint32_t member = c->member_of[i];
        if (member == NONE) {
            assert_int_equal(m->kernels[i].resident, 0);
            continue;
        }
        members++;
        assert_int_equal(c->kernel_of[member], i);
        for (sm = 0; sm < m->sm_count; sm++) {
            const gpumpi_sharing_cell *cell = gpumpi_sharing_cell_of(c->sharing, sm, member);
            assert_int_equal(cell->blocks, m->sms[sm]->kernel_resident[i]);
            if (gpump_sharing_state_now(c->sharing) == GPUMP_SHARING_RUN) assert_true(cell->blocks <= cell->cap);
        }
    }
    assert_true(members <= c->places);
}

static uint64_t left_by(const machine *m, uint32_t technique, uint32_t kernel) {
    uint64_t blocks = 0;
    uint32_t i;
    for (i = 0; i < m->preemption_count; i++)
        if (m->preemptions[i].technique == technique && m->preemptions[i].kernel == kernel + 1)
            blocks += m->preemptions[i].blocks;
    return blocks;
}

static void check_right(machine *m, launch_file *launch, const char *move) {
    kernel_check checks[3];
    uint32_t i;
    memset(checks, 0, sizeof checks);
    if (check_results(m, launch, checks) == 0) return;
    for (i = 0; i < 3; i++)
        if (checks[i].result == CHECK_WRONG) fail_msg("--leave %s: %s", move, checks[i].text);
}

/* Pathfinder, of the highest priority, takes the place of backprop, of the lowest, by every way; where backprop was
 * flushed or parked, it comes back when pathfinder has ended, and its first run is right. Nobody is measured, so that
 * moves follow each other. */
static void third_kernel(void **state) {
    static const char *const moves[] = {"drain", "switch", "flush", "chimera", "park"};
    static const uint32_t techniques[] = {GPUMP_TECHNIQUES, GPUMP_TECHNIQUE_SWITCH, GPUMP_TECHNIQUE_FLUSH,
                                          GPUMP_TECHNIQUES, GPUMP_TECHNIQUE_SWITCH};
    uint64_t start[5], saved[5] = {0, 0, 0, 0, 0};
    uint32_t i, n;
    (void)state;
    for (i = 0; i < 5; i++) {
        machine_options options;
        launch_file launch;
        machine *m;
        int ended = 0, was_out = 0;
        machine_options_default(&options);
        options.sharing.policy = gpump_partition_find("even");
        options.sharing.unsampled = 1;
        options.sharing.places = 2;
        assert_int_equal(corun_set_leave(moves[i], &options.sharing), 0);
        m = build(&launch, "corun_third.yaml", &options, 1);
        m->kernels[1].priority = 1;
        m->kernels[2].priority = 2;
        m->kernels[2].arrival_cycle = 8000;
        m->stop_cycle = 400000;
        while (!ended && (i < 2 || i == 3 ? m->kernels[2].start_cycle == NEVER : !m->runs[0].ended)) {
            assert_true((ended = machine_run(m, m->now + 500)) >= 0);
            check_group(m);
            was_out |= corun_of(m)->member_of[0] == NONE;
        }
        if (ended || !was_out)
            fail_msg("--leave %s: cycle %llu, %d, pathfinder %u, backprop has ended %u times", moves[i],
                     (unsigned long long)m->now, was_out, m->kernels[2].state, m->runs[0].ended);
        check_right(m, &launch, moves[i]);
        start[i] = m->kernels[2].start_cycle;
        if (techniques[i] < GPUMP_TECHNIQUES) assert_true(left_by(m, techniques[i], 0) > 0);
        for (n = 0; n < m->sm_count; n++) saved[i] += m->sms[n]->statistics.saved_bytes;
        machine_free(m);
        launch_file_free(&launch);
    }
    for (i = 0; i < 5; i++) assert_true(start[2] <= start[i]); /* who is flushed is gone at once */
    assert_true(saved[4] && saved[1]);
}

/* Every decision of a sampled group moves blocks by switching, or parks them; the parked come back. */
static void moves_of_samples(void **state) {
    static const char *const moves[] = {"switch", "park"};
    uint64_t saved[2] = {0, 0};
    uint32_t i, n;
    (void)state;
    for (i = 0; i < 2; i++) {
        machine_options options;
        launch_file launch;
        machine *m;
        machine_options_default(&options);
        options.sharing.policy = gpump_partition_find("ccbp");
        assert_int_equal(corun_set_leave(moves[i], &options.sharing), 0);
        m = build(&launch, "corun_backprop_cfd.yaml", &options, 1);
        m->stop_cycle = 60000;
        while (machine_run(m, m->now + 1000) == 0) check_group(m);
        assert_int_equal(gpump_sharing_state_now(corun_of(m)->sharing), GPUMP_SHARING_RUN);
        assert_true(left_by(m, GPUMP_TECHNIQUE_SWITCH, 1) > 0);
        for (n = 0; n < m->sm_count; n++) saved[i] += m->sms[n]->statistics.saved_bytes;
        machine_free(m);
        launch_file_free(&launch);
    }
    assert_true(saved[1] * 10 < saved[0] * 9); /* a part stayed in place */
}

/* ---- faults, rates and preemption at once ---- */

static void decide_rates(const gpump_partition_args *args, gpump_partition_share *shares) {
    uint32_t k;
    for (k = 0; k < args->request->count; k++) {
        shares[k].blocks = args->request->kernels[k].blocks / 2;
        shares[k].limits.misses_q16 = 6 * GPUMP_RATE_MISS;
    }
}
static const gpump_partition_policy rates_policy = {0, "rates", "Half the blocks, and six misses.", NULL, decide_rates};

/* Two kernels of a group run to their end under a fault scheme, with limits, and all SMs are emptied once on the way.
 * Every line that leaves L1 has paid one token, although accesses that fault are replayed, and blocks that wait for
 * pages have left and come back. */
static void faults_pay_once(void **state) {
    static const char *const schemes[] = {"wd_commit", "wd_check", "queue", "log16"};
    uint32_t i, k, sm, blocked = 0;
    (void)state;
    for (i = 0; i < 4; i++) {
        machine_options options;
        launch_file launch;
        kernel_check checks[3];
        machine *m;
        machine_options_default(&options);
        options.gpu = "maxwell_ccbp";
        options.config = "page_service_cycles=3000";
        options.sharing.policy = &rates_policy;
        options.sharing.unsampled = 1;
        assert_int_equal(corun_set_leave(i % 2 ? "park" : "switch", &options.sharing), 0);
        options.faults.scheme = schemes[i];
        options.absent = options.faults.absent = "all";
        options.preempt_cycle = 9000;
        m = build(&launch, "side_by_side.yaml", &options, 0);
        assert_int_equal(machine_run(m, NEVER), 1);
        memset(checks, 0, sizeof checks);
        assert_int_equal(check_results(m, &launch, checks), 0);
        assert_true(m->preemption_count > 0);
        for (k = 0; k < m->kernel_count; k++) {
            gpump_traffic traffic;
            uint64_t paid = 0;
            report_traffic(m, k + 1, &traffic);
            for (sm = 0; sm < m->sm_count; sm++) {
                gpump_rate_statistics statistics;
                assert_int_equal(rate_statistics(corun_rate(m->sms[sm]), k, &statistics), GPUMP_OK);
                paid += statistics.misses;
            }
            assert_int_equal(paid, traffic.l1_load_misses + traffic.l1_store_misses + traffic.l1_atomics);
            assert_int_equal(paid, traffic.up_requests);
            blocked += paid > 0;
        }
        machine_free(m);
        launch_file_free(&launch);
    }
    assert_int_equal(blocked, 8);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(third_kernel),
        cmocka_unit_test(moves_of_samples),
        cmocka_unit_test(faults_pay_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
