/* labels: unit slow link: minigpu_core */
/* Blocks beyond an SM's room (--duet): values really move between register file, shared memory and an L1 that has
 * become a store, and every result is right. */
#include "test.h"
#include "machine/duet.h"
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
        gpump_duet_get_statistics(m->sms[i]->duet->gpump, &one);
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
    static const char *const forms[] = {"maxwell_duet:all", "duet_block:all", "virtual_thread"};
    const reference_entry *entry;
    uint64_t moved[3] = {0, 0, 0};
    (void)state;
    for (entry = reference_entries; entry->name; entry++) {
        uint32_t form;
        for (form = 0; form < 3; form++) {
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
    assert_true(moved[0] > 1000 && moved[1] > 100 && moved[2] > 100);
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
        assert_int_equal(r.m->duet->plans[0].native_blocks, cases[i].native);
        assert_int_equal(r.m->duet->plans[0].unit, cases[i].unit);
        while (machine_run(r.m, r.m->now + 3000) == 0) {
            for (n = 0; n < r.m->sm_count; n++)
                assert_int_equal(gpump_duet_check(r.m->sms[n]->duet->gpump, NULL), GPUMP_OK);
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
    assert_true(moves(r.m).most_blocks > r.m->duet->plans[0].native_blocks);
    end(&r);
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
        r.m->duet->omit = part;
        ran = machine_run(r.m, 400000);
        assert_int_not_equal(ran, 0);
        if (ran == 1) assert_int_equal(check_results(r.m, &r.launch, &check), 1);
        end(&r);
    }
}

static void wrong_options(void **state) {
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
        cmocka_unit_test(wrong_options),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
