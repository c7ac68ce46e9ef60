/* labels: unit slow link: minigpu_core */
/* Blocks beyond an SM's room (--duet): values really move between register file, shared memory and an L1 that has
 * become a store, and every result is right. */
#include "test.h"
#include "analysis/analysis.h"
#include "parts/duet/duet.h"
#include "machine/machine.h"
#include "tools/check.h"

typedef struct run {
    launch_file launch;
    machine *m;
} run;

static void build(run *r, const char *kernel, const char *file, const char *config, const char *duet) {
    char path[1024], error[LAUNCH_ERROR_BYTES];
    machine_options options;
    snprintf(path, sizeof path, GPUMP_SOURCE_DIR "/examples/minigpu/kernels/%s/%s.yaml", kernel, file);
    if (launch_file_read(&r->launch, path, error)) fail_msg("%s", error);
    machine_options_default(&options);
    options.gpu = "maxwell_duet";
    options.config = config;
    options.duet = duet;
    r->m = machine_build(&r->launch, &options, error);
    if (!r->m) fail_msg("%s", error);
}
static void end(run *r) {
    machine_free(r->m);
    launch_file_free(&r->launch);
}
static void run_right(run *r, const char *what) {
    kernel_check check;
    if (machine_run(r->m, NEVER) != 1) fail_msg("%s: %s", what, r->m->error);
    if (check_results(r->m, &r->launch, &check)) fail_msg("%s: %s", what, check.text);
    assert_int_equal(check.result, CHECK_RIGHT);
}
static gpump_duet_statistics moves(const machine *m) {
    gpump_duet_statistics sum, one;
    uint32_t i;
    memset(&sum, 0, sizeof sum);
    for (i = 0; i < m->sm_count; i++) {
        gpump_get_statistics(&gpump_duet_component, sm_duet_of(m->sms[i])->gpump, &one);
        sum.outs += one.outs;
        sum.ins += one.ins;
        sum.swaps += one.swaps;
        sum.frame_replies += one.frame_replies;
        if (one.most_blocks > sum.most_blocks) sum.most_blocks = one.most_blocks;
    }
    return sum;
}

/* Every kernel, in each form of switching. */
static void results_are_right(void **state) {
    static const char *const forms[] = {"maxwell_duet:all", "duet_block:all", "virtual_thread", "duet_whole:all"};
    const reference_entry *entry;
    uint64_t moved[4] = {0, 0, 0, 0};
    (void)state;
    for (entry = reference_entries; entry->name; entry++) {
        uint32_t form;
        for (form = 0; form < 4; form++) {
            run r;
            gpump_duet_statistics statistics;
            build(&r, entry->name, "small", NULL, forms[form]);
            run_right(&r, entry->name);
            statistics = moves(r.m);
            moved[form] += statistics.outs + statistics.swaps;
            assert_true(statistics.ins <= statistics.outs + statistics.swaps + 128);
            end(&r);
        }
    }
    assert_true(moved[0] > 1000 && moved[1] > 100 && moved[2] > 100 && moved[3] > 100);
}

/* More blocks than there is room for, with registers (bfs_1) and shared memory (histogram) that move.
 * The tables of all SMs stay consistent, and a second run is the same. */
static void more_blocks_than_room(void **state) {
    static const struct {
        const char *kernel, *duet;
        uint32_t native, unit;
    } cases[] = {{"bfs_1", "maxwell_duet:all", 4, GPUMP_DUET_WARP},
                 {"histogram", "maxwell_duet:all", 8, GPUMP_DUET_BLOCK},
                 {"btree_find_k", "duet_block:all", 8, GPUMP_DUET_BLOCK},
                 {"btree_find_k", "virtual_thread:2", 8, GPUMP_DUET_BLOCK}};
    uint32_t i, n;
    (void)state;
    for (i = 0; i < sizeof cases / sizeof *cases; i++) {
        run r, again;

        gpump_duet_statistics statistics;
        build(&r, cases[i].kernel, "launch", NULL, cases[i].duet);
        assert_int_equal(duet_of(r.m)->plans[0].native_blocks, cases[i].native);
        assert_int_equal(duet_of(r.m)->plans[0].unit, cases[i].unit);
        while (machine_run(r.m, r.m->now + 3000) == 0) {
            for (n = 0; n < r.m->sm_count; n++)
                assert_int_equal(gpump_check(&gpump_duet_component, sm_duet_of(r.m->sms[n])->gpump, NULL), GPUMP_OK);
            assert_true(r.m->now < 1000000);
        }
        run_right(&r, cases[i].kernel);
        statistics = moves(r.m);
        assert_true(statistics.most_blocks > cases[i].native);
        assert_true(statistics.swaps > 100 && statistics.frame_replies > 100);
        build(&again, cases[i].kernel, "launch", NULL, cases[i].duet);
        run_right(&again, cases[i].kernel);
        assert_true(machine_hash(again.m) == machine_hash(r.m));
        end(&again);
        end(&r);
    }
}

/* The monitor changes the number of extra blocks while warps move. */
static void the_monitor_decides_while_warps_move(void **state) {
    run r;
    (void)state;
    build(&r, "dwt2d_fdwt53", "measure", NULL, "maxwell_duet");
    r.launch.processes[0].repeat = 100;
    r.m->stop_cycle = 60000;
    if (machine_run(r.m, NEVER) != 1) fail_msg("%s", r.m->error);
    assert_true(moves(r.m).most_blocks > duet_of(r.m)->plans[0].native_blocks);
    end(&r);
}

static void (*add_options)(machine_options *options, uint32_t which); /* to those of run_preempted; NULL: nothing */
static uint32_t added;

/* A kernel, of which everything leaves at `cycle` and comes back. A small one runs on one SM, with registers for one
 * block at a time, so that all others are extra. Returns the warps that lay in frames then; *end_cycle gets the last
 * cycle. */
static uint64_t run_preempted(const char *kernel, const char *file, const char *duet, uint32_t technique,
                              uint32_t omitted, uint64_t cycle, uint64_t *end_cycle, uint32_t *result) {
    char path[1024], error[LAUNCH_ERROR_BYTES];
    machine_options options;
    kernel_check check;
    uint64_t in_slots, switched_out = 0;
    run r;
    int ran;
    snprintf(path, sizeof path, GPUMP_SOURCE_DIR "/examples/minigpu/kernels/%s/%s.yaml", kernel, file);
    if (launch_file_read(&r.launch, path, error)) fail_msg("%s", error);
    machine_options_default(&options);
    options.gpu = "maxwell_duet";
    options.duet = duet;
    options.preempt_cycle = cycle;
    options.technique = technique;
    if (add_options) add_options(&options, added);
    if (!strcmp(file, "small")) {
        r.launch.sms = 1;
        r.launch.kernels[0].override_registers = 36000;
    }
    if (!(r.m = machine_build(&r.launch, &options, error))) fail_msg("%s", error);
    r.m->omit_section = omitted;
    ran = cycle == NEVER ? 0 : machine_run(r.m, cycle);
    if (!ran) duet_warps(r.m, &in_slots, &switched_out);
    if (!ran) ran = machine_run(r.m, omitted ? 400000 : NEVER);
    if (ran != 1 && !omitted)
        fail_msg("%s, %s, cycle %llu, options %u: %s", kernel, duet, (unsigned long long)cycle, added, r.m->error);
    *result = ran != 1 ? CHECK_WRONG : check_results(r.m, &r.launch, &check) ? CHECK_WRONG : (uint32_t)check.result;
    *end_cycle = r.m->now;
    if (ran == 1) assert_int_equal(r.m->sms[0]->resident, 0);
    if (ran == 1) assert_int_equal(gpump_check(&gpump_duet_component, sm_duet_of(r.m->sms[0])->gpump, NULL), GPUMP_OK);
    end(&r);
    return switched_out;
}

/* At every k-th cycle of eight kernels all blocks leave, by switch and by flush, and come back: contexts carry the
 * frames of warps that are switched out. */
static void preempted_at_every_kth_cycle(void **state) {
    static const char *const kernels[] = {"bfs_1",   "btree_find_k", "histogram", "dwt2d_fdwt53",
                                          "hotspot", "spmv",         "stencil",   "kmeans_invert_mapping"};
    static const char *const forms[] = {"maxwell_duet:all", "duet_block:all"};
    const uint64_t points = test_cases(8);
    uint64_t switched_out[2] = {0, 0}, last, ignored, point;
    uint32_t i, form, result;
    (void)state;
    for (i = 0; i < 8; i++) {
        for (form = 0; form < 2; form++) {
            (void)run_preempted(kernels[i], "small", forms[form], GPUMP_TECHNIQUE_SWITCH, 0, NEVER, &last, &result);
            assert_int_equal(result, CHECK_RIGHT);
            for (point = 1; point <= points; point++) {
                const uint64_t cycle = last * point / (points + 1);
                switched_out[form] += run_preempted(kernels[i], "small", forms[form],
                                                    point & 1u ? GPUMP_TECHNIQUE_SWITCH : GPUMP_TECHNIQUE_FLUSH, 0,
                                                    cycle, &ignored, &result);
                if (result != CHECK_RIGHT)
                    fail_msg("%s, %s, preempted in cycle %llu: wrong", kernels[i], forms[form],
                             (unsigned long long)cycle);
            }
        }
    }
    print_message("warps in frames when all blocks left: %u alone, %u with their blocks\n", (unsigned)switched_out[0],
                  (unsigned)switched_out[1]);
    assert_true(switched_out[0] > 10 * points && switched_out[1] > 10 * points);
}

/* The same where blocks move with their shared memory, and where only slots move: these registers stay in place. */
static void preempted_with_shared_memory_and_slots(void **state) {
    static const struct {
        const char *kernel, *duet;
        uint64_t cycle;
    } cases[] = {{"histogram", "maxwell_duet:all", 9000}, {"btree_find_k", "virtual_thread", 6000}};
    uint32_t i, technique, result;
    uint64_t last;
    (void)state;
    for (i = 0; i < 2; i++) {
        for (technique = GPUMP_TECHNIQUE_FLUSH; technique <= GPUMP_TECHNIQUE_SWITCH; technique++) {
            assert_true(run_preempted(cases[i].kernel, "launch", cases[i].duet, technique, 0, cases[i].cycle, &last,
                                      &result) > 50);
            assert_int_equal(result, CHECK_RIGHT);
        }
    }
}

/* Negative control: without the frames that a context carries, results are wrong. */
static void frames_travel(void **state) {
    uint64_t last, ignored;
    uint32_t result;
    (void)state;
    (void)run_preempted("bfs_1", "small", "maxwell_duet:all", GPUMP_TECHNIQUE_SWITCH, 0, NEVER, &last, &result);
    assert_true(run_preempted("bfs_1", "small", "maxwell_duet:all", GPUMP_TECHNIQUE_SWITCH, GPUMP_CONTEXT_FRAME,
                              last / 2, &ignored, &result) > 0);
    assert_int_equal(result, CHECK_WRONG);
}

/* Without room for frames, or with no extra block, nothing changes but that stalls are looked at. */
static void nothing_to_gain_costs_no_cycle(void **state) {
    static const char *const kernels[] = {"bfs_1", "btree_find_k", "histogram"};
    uint32_t i;
    (void)state;
    for (i = 0; i < 3; i++) {
        run off, on;
        build(&off, kernels[i], "small", NULL, NULL);
        build(&on, kernels[i], "small", NULL, "maxwell_duet:0");
        run_right(&off, kernels[i]);
        run_right(&on, kernels[i]);
        assert_int_equal(off.m->now, on.m->now);
        assert_int_equal(moves(on.m).outs + moves(on.m).swaps, 0);
        end(&off);
        end(&on);
    }
}

/* Negative controls: without the values that a move carries, results are wrong. */
static void what_does_not_move_is_missed(void **state) {
    uint32_t part;
    (void)state;
    for (part = DUET_OMIT_REGISTERS; part <= DUET_OMIT_REPLIES; part++) {
        run r;
        kernel_check check;
        int ran;
        build(&r, part == DUET_OMIT_SHARED ? "histogram" : "bfs_1", "launch", NULL, "maxwell_duet:all");
        duet_of(r.m)->omit = part;
        ran = machine_run(r.m, 400000);
        assert_int_not_equal(ran, 0);
        if (ran == 1) assert_int_equal(check_results(r.m, &r.launch, &check), 1);
        end(&r);
    }
}

enum { REWINDS, ERRS, TRAPS, RESTORES_SHARED, ISSUES_OUT_OF_ORDER, BOTH, ADDED };

/* What else names warps, or sends them back. */
static void restarts_or_queue(machine_options *options, uint32_t which) {
    options->regions = which == ISSUES_OUT_OF_ORDER ? (uint32_t)REGIONS_NONE : which == REWINDS ? REGIONS_SPARSE : 16u;
    if (which == REWINDS) options->technique = gpump_technique_find("rewind");
    if (which == ERRS || which == BOTH) {
        options->errors.detection = "razor2";
        options->errors.rate_q32 = UINT64_C(1) << 23; /* 1 of 512 */
    }
    if (which == TRAPS) {
        options->errors.traps_at.at = 5;
        options->errors.traps_at.interval = 37;
    }
    if (which == RESTORES_SHARED) options->shared_restart = SHARED_BUFFERED;
    if (which >= ISSUES_OUT_OF_ORDER) options->config = "issue_queue_entries=96";
}

/* Warps go back to the start of a region while they are in frames, at home and on their way, and leave with their block
 * meanwhile. With out-of-order issue those at barriers are switched out. */
static void restarts_and_a_queue_beside_frames(void **state) {
    static const char *const kernels[] = {"hotspot", "dwt2d_fdwt53", "histogram"};
    static const char *const forms[] = {"maxwell_duet:all", "duet_block:all"};
    uint64_t switched_out[ADDED] = {0}, last, ignored, point;
    uint32_t i, result;
    (void)state;
    add_options = restarts_or_queue;
    for (added = 0; added < ADDED; added++)
        for (i = 0; i < 6; i++) {
            (void)run_preempted(kernels[i / 2], "small", forms[i % 2], GPUMP_TECHNIQUE_SWITCH, 0, NEVER, &last,
                                &result);
            assert_int_equal(result, CHECK_RIGHT);
            for (point = 1; point <= 3; point++) {
                switched_out[added] += run_preempted(kernels[i / 2], "small", forms[i % 2], GPUMP_TECHNIQUE_SWITCH, 0,
                                                     last * point / 4, &ignored, &result);
                if (result != CHECK_RIGHT)
                    fail_msg("%s, %s, options %u, quarter %u: wrong", kernels[i / 2], forms[i % 2], added,
                             (unsigned)point);
            }
        }
    for (i = 0; i < ADDED; i++) print_message("options %u: %u warps in frames\n", i, (unsigned)switched_out[i]);
    for (i = 0; i < ADDED; i++) assert_true(switched_out[i] > 0);
    add_options = NULL;
}

/* Texts of --duet that name no machine, or numbers that are none. */
static void misspelt_duets_are_refused(void **state) {
    static const char *const wrong[] = {"nonsense", "maxwell_duet:", "maxwell_duet:x", "maxwell_duet:1:0",
                                        "maxwell_duet:1:64x"};
    uint32_t i;
    (void)state;
    for (i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char error[LAUNCH_ERROR_BYTES] = "";
        machine_options options;
        launch_file launch;
        assert_int_equal(
            launch_file_read(&launch, GPUMP_SOURCE_DIR "/examples/minigpu/kernels/saxpy/small.yaml", error), 0);
        machine_options_default(&options);
        options.gpu = "maxwell_duet";
        options.duet = wrong[i];
        assert_null(machine_build(&launch, &options, error));
        assert_non_null(strstr(error, "--duet"));
        launch_file_free(&launch);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_are_right),
        cmocka_unit_test(more_blocks_than_room),
        cmocka_unit_test(nothing_to_gain_costs_no_cycle),
        cmocka_unit_test(the_monitor_decides_while_warps_move),
        cmocka_unit_test(what_does_not_move_is_missed),
        cmocka_unit_test(preempted_at_every_kth_cycle),
        cmocka_unit_test(preempted_with_shared_memory_and_slots),
        cmocka_unit_test(frames_travel),
        cmocka_unit_test(restarts_and_a_queue_beside_frames),
        cmocka_unit_test(misspelt_duets_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
