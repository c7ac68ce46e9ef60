/* labels: equivalence link: minigpu_core */
/* Blocks that leave on a fault under a scheduler (--switch-on-fault with --schedule). At every stop the scheduler
 * counts on an SM what is there and what the SM has off the chip. When the SM is vacated, these become preempted
 * blocks; when their process is aborted, they are gone. No block is lost or issued twice, and memory holds what the run
 * alone leaves. */
#include "test.h"

#include "parts/fault_switch/fault_switch.h"
#include "parts/fault_unit/fault_unit.h"
#include "parts/schedule/schedule_facts.h"
#include "preemption/preempted.h"
#include "tools/check.h"

typedef struct way {
    const char *schedule, *scheme, *link;
    uint32_t mechanism, sms, extra, block_cap; /* block_cap 0: as many as fit */
} way;

/* What the runs have shown together: without these, nothing was tested. */
static uint64_t seen_outs, seen_handed_over, seen_killed_off_chip, seen_extra;

/* The three processes of tests/minigpu/schedule/broken.yaml; with `valid`, the second has fewer blocks, none of which
 * reads behind the end. w NULL: no faults and no scheduler. */
static machine *build(launch_file *launch, const way *w, int valid) {
    char error[LAUNCH_ERROR_BYTES];
    machine_options options;
    machine *m;
    uint32_t i;
    machine_options_default(&options);
    options.gpu = "table61";
    if (w) {
        options.faults.check = NEVER;
        options.faults.order = GPUMP_REPLAY_CLASS;
        options.faults.scheme = w->scheme;
        options.faults.link = w->link;
        options.faults.extra = w->extra;
        options.schedule = w->schedule;
        options.vacate = w->mechanism;
        options.slice_ns = strcmp(w->schedule, "time_slice") ? 0 : 20000;
    }
    if (launch_file_read(launch, GPUMP_SOURCE_DIR "/tests/minigpu/schedule/broken.yaml", error)) fail_msg("%s", error);
    if (valid) launch->kernels[1].grid[0] = 192;
    if (w) launch->sms = w->sms;
    if (!(m = machine_build(launch, &options, error))) fail_msg("%s", error);
    for (i = 0; w && i < m->kernel_count; i++) m->kernels[i].block_cap = w->block_cap;
    return m;
}

/* Blocks of a process that SMs have off the chip. */
static uint32_t off_chip(const machine *m, uint32_t process) {
    uint32_t i, n, count = 0;
    for (i = 0; i < m->kernel_count; i++)
        for (n = preempted_first(m, i); m->kernels[i].process == process && n != NONE; n = preempted_after(m, i, n))
            count += m->preempted[n].fault_sm != NONE;
    return count;
}

static void check_laws(const machine *m) {
    const gpump_scheduler_view view = gpump_scheduler_look(schedule_of(m)->scheduler);
    gpump_fault_statistics f;
    gpump_diag diag;
    uint32_t i;
    if (gpump_check(&gpump_scheduler_component, schedule_of(m)->scheduler, &diag))
        fail_msg("cycle %u: %s", (uint32_t)m->now, diag.field);
    gpump_get_statistics(&gpump_fault_component, fault_unit_of(m)->fault, &f);
    if (f.opened != f.served + fault_unit_of(m)->in_flight) fail_msg("cycle %u: a fault is lost", (uint32_t)m->now);
    for (i = 0; i < m->sm_count; i++) {
        const sm *s = m->sms[i];
        assert_int_equal(gpump_check(&gpump_block_switch_component, fault_switch_of(s)->unit, NULL), GPUMP_OK);
        if (view.sms[i].blocks != s->resident + fault_switch_of(s)->off_chip)
            fail_msg("cycle %u: SM %u has %u blocks and %u off the chip, the scheduler counts %u", (uint32_t)m->now, i,
                     s->resident, fault_switch_of(s)->off_chip, view.sms[i].blocks);
        if (view.sms[i].kernel && view.sms[i].blocks > view.kernels[view.sms[i].kernel].blocks_per_sm) seen_extra++;
    }
}

/* Runs to the end, in steps. Returns how many blocks of the process `dying` were off the chip at the last stop before
 * it was aborted. */
static uint32_t run(machine *m, const way *w, uint32_t step_cycles, uint32_t dying) {
    gpump_scheduler_statistics scheduler;
    uint64_t outs = 0, ins = 0, blocks = 0;
    uint32_t i, before = 0;
    int ended;
    do {
        if (!m->kernels[dying].killed) before = off_chip(m, dying);
        ended = machine_run(m, m->now + step_cycles);
        if (ended < 0) fail_msg("%s, %s, %s: %s", w->schedule, w->scheme, w->link, m->error);
        check_laws(m);
    } while (!ended);
    assert_int_equal(fault_unit_of(m)->in_flight, 0);
    for (i = 0; i < m->sm_count; i++) {
        gpump_block_switch_statistics b;
        gpump_get_statistics(&gpump_block_switch_component, fault_switch_of(m->sms[i])->unit, &b);
        assert_int_equal(fault_switch_of(m->sms[i])->off_chip, 0);
        assert_int_equal(b.placed, b.ended);
        outs += b.outs + b.fair_outs;
        ins += b.ins;
    }
    assert_true(ins <= outs);
    for (i = 0; i < m->block_count; i++) assert_int_equal(m->blocks[i].life, 0);
    for (i = 0; i < m->kernel_count; i++) {
        assert_true(preempted_first(m, i) == NONE && !m->kernels[i].resident);
        blocks += m->kernels[i].blocks;
    }
    assert_int_equal(m->local_count, m->local_count_free);
    assert_int_equal(gpump_check(&gpump_context_pool_component, m->context_pool, NULL), GPUMP_OK);
    gpump_get_statistics(&gpump_scheduler_component, schedule_of(m)->scheduler, &scheduler);
    if (scheduler.aborts) {
        assert_int_equal(scheduler.aborts, 1);
        assert_true(scheduler.blocks_new <= blocks);
        assert_true(scheduler.blocks_resumed <= scheduler.blocks_preempted);
    } else { /* each block once, and as often again as it was preempted */
        assert_int_equal(scheduler.blocks_new, blocks);
        assert_int_equal(scheduler.blocks_finished, blocks);
        assert_int_equal(scheduler.blocks_resumed, scheduler.blocks_preempted);
        seen_handed_over += outs - ins;
    }
    seen_outs += outs;
    return m->kernels[dying].killed ? before : 0;
}

static const way ways[] = {{"dss", "log16", "nvlink", GPUMP_TECHNIQUE_SWITCH, 3, 4, 2},
                           {"dss", "queue", "pcie3_pipelined", GPUMP_TECHNIQUE_DRAIN, 4, 1, 1},
                           {"dss", "log8", "nvlink_pipelined", GPUMP_TECHNIQUE_SELECT, 3, 2, 2},
                           {"ppq", "wd_check", "nvlink", GPUMP_TECHNIQUE_SWITCH, 2, 4, 0},
                           {"ppq", "log16", "pcie3", GPUMP_TECHNIQUE_DRAIN, 2, 60, 2},
                           {"ppq", "queue", "nvlink", GPUMP_TECHNIQUE_SELECT, 2, 4, 2},
                           {"equal", "wd_commit", "nvlink", GPUMP_TECHNIQUE_SWITCH, 3, 4, 1},
                           {"time_slice", "log16", "nvlink", GPUMP_TECHNIQUE_SWITCH, 2, 4, 2},
                           {"time_slice", "queue", "nvlink_pipelined", GPUMP_TECHNIQUE_SWITCH, 2, 4, 0},
                           {"time_slice", "log64", "nvlink", GPUMP_TECHNIQUE_DRAIN, 2, 3, 2}};

/* Three processes, each way of switching: all end right, with the memory of one after the other. */
static void blocks_in_the_way_of_saves_end_right(void **state) {
    launch_file launch;
    uint64_t expected;
    uint32_t i;
    machine *m = build(&launch, NULL, 1);
    (void)state;
    assert_int_equal(machine_run(m, NEVER), 1);
    expected = machine_result_hash(m, &launch);
    machine_free(m);
    launch_file_free(&launch);
    for (i = 0; i < sizeof ways / sizeof *ways; i++) {
        kernel_check checks[3];
        m = build(&launch, &ways[i], 1);
        run(m, &ways[i], 1501, 1);
        if (machine_result_hash(m, &launch) != expected) fail_msg("%s: another result", ways[i].schedule);
        assert_int_equal(check_results(m, &launch, checks), 0);
        machine_free(m);
        launch_file_free(&launch);
    }
    assert_true(seen_outs > 100);
    assert_true(seen_handed_over > 10);
    assert_true(seen_extra > 10);
}

/* A process that is aborted while its blocks are saved ends, and the other two end right. */
static void an_abort_kills_blocks_that_are_off_chip(void **state) {
    uint32_t i;
    (void)state;
    for (i = 0; i < sizeof ways / sizeof *ways; i++) {
        launch_file launch;
        kernel_check checks[3];
        machine *m = build(&launch, &ways[i], 0);
        seen_killed_off_chip += run(m, &ways[i], 1009, 1);
        assert_int_equal(check_results(m, &launch, checks), 1);
        assert_int_equal(checks[0].result, CHECK_RIGHT);
        assert_int_equal(checks[1].result, CHECK_ABORTED);
        assert_int_equal(checks[2].result, CHECK_RIGHT);
        /* Nothing of it is left with the scheduler. */
        assert_int_equal(gpump_scheduler_close(schedule_of(m)->scheduler, m->now, schedule_of(m)->processes[1]),
                         GPUMP_OK);
        machine_free(m);
        launch_file_free(&launch);
    }
    assert_true(seen_killed_off_chip > 10);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(blocks_in_the_way_of_saves_end_right),
                                       cmocka_unit_test(an_abort_kills_blocks_that_are_off_chip)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
