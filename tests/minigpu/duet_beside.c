/* labels: unit slow link: minigpu_core */
/* What goes on beside --duet: warps that wait for pages lie in frames, policies choose victims by what a block really
 * saves, and the occupancy over time is recorded. */
#include "test.h"
#include "parts/corun/corun.h"
#include "parts/duet/duet.h"
#include "parts/faults/faults.h"
#include "machine/machine.h"
#include "parts/trace/trace.h"
#include "preemption/context_bytes.h"
#include "parts/victims/victim_facts.h"
#include "tools/check.h"

typedef struct run {
    launch_file launch;
    machine *m;
} run;

static void read_launch(run *r, const char *file) {
    char path[1024], error[LAUNCH_ERROR_BYTES];
    snprintf(path, sizeof path, GPUMP_SOURCE_DIR "/examples/minigpu/%s.yaml", file);
    if (launch_file_read(&r->launch, path, error)) fail_msg("%s", error);
}
static void build(run *r, const machine_options *options) {
    char error[LAUNCH_ERROR_BYTES];
    if (!(r->m = machine_build(&r->launch, options, error))) fail_msg("%s", error);
}
static void end(run *r) {
    machine_free(r->m);
    launch_file_free(&r->launch);
}
static void finish_right(run *r, const char *what) {
    kernel_check checks[2]; /* no launch here has more kernels */
    uint32_t i;
    if (machine_run(r->m, NEVER) != 1) fail_msg("%s: %s", what, r->m->error);
    if (check_results(r->m, &r->launch, checks)) fail_msg("%s: %s %s", what, checks[0].text, checks[1].text);
    for (i = 0; i < r->launch.kernel_count; i++) assert_int_equal(checks[i].result, CHECK_RIGHT);
}

/* ---- pages ---- */

typedef struct page_case {
    const char *kernel, *duet, *scheme, *link;
} page_case;

/* One SM with registers for one block at a time: all others are extra. All pages are absent at first. */
static void build_with_pages(run *r, const page_case *c, uint64_t preempt_cycle, uint32_t technique) {
    char file[128];
    machine_options options;
    snprintf(file, sizeof file, "kernels/%s/small", c->kernel);
    read_launch(r, file);
    machine_options_default(&options);
    options.gpu = "maxwell_duet";
    options.duet = c->duet;
    options.absent = options.faults.absent = "all";
    options.faults.scheme = c->scheme;
    options.faults.link = c->link;
    if (!c->link) options.fault_service_ns = 3000;
    options.preempt_cycle = preempt_cycle;
    options.technique = technique;
    r->launch.sms = 1;
    r->launch.kernels[0].override_registers = 36000;
    build(r, &options);
}

/* Warps in frames that wait for a page. */
static uint64_t held_in_frames(const machine *m) {
    uint64_t held = 0;
    uint32_t i, n;
    for (i = 0; i < m->block_count; i++)
        for (n = 0; m->blocks[i].life && n < m->blocks[i].warp_count; n++) {
            const warp *w = &m->warps[m->blocks[i].warps[n]];
            held += w->slot == NONE && w->fault_cycle > m->now && faults_is_held(m, w);
        }
    return held;
}

/* Runs a case to its end, looking at it every 500 cycles. Returns the most warps in frames that waited for pages. */
static uint64_t run_with_pages(const page_case *c, uint64_t preempt_cycle, uint32_t technique, uint64_t *end_cycle) {
    uint64_t most = 0;
    run r;
    build_with_pages(&r, c, preempt_cycle, technique);
    while (machine_run(r.m, r.m->now + 500) == 0) {
        const uint64_t held = held_in_frames(r.m);
        if (held > most) most = held;
        assert_int_equal(gpump_check(&gpump_duet_component, sm_duet_of(r.m->sms[0])->gpump, NULL), GPUMP_OK);
        assert_int_equal(gpump_check(&gpump_replay_component, sm_faults_of(r.m->sms[0])->replay, NULL), GPUMP_OK);
    }
    finish_right(&r, c->scheme);
    *end_cycle = r.m->now;
    end(&r);
    return most;
}

/* Under every scheme, in every form of switching, all results are right. A warp that waits for pages lies in a frame
 * until they are there, but under a log, which keeps it at home, and where it cannot leave the pipeline. */
static void pages_are_waited_for_in_frames(void **state) {
    static const char *const schemes[] = {"stall", "wd_commit", "wd_check", "queue", "log16"};
    static const char *const forms[] = {"maxwell_duet:all", "duet_block:all", "virtual_thread"};
    static const char *const kernels[] = {"hotspot", "spmv"};
    uint64_t most[5] = {0, 0, 0, 0, 0}, last;
    uint32_t scheme, form, kernel;
    (void)state;
    for (scheme = 0; scheme < 5; scheme++)
        for (form = 0; form < 3; form++)
            for (kernel = 0; kernel < 2; kernel++) {
                const page_case c = {kernels[kernel], forms[form], schemes[scheme], kernel ? "nvlink" : NULL};
                const uint64_t held = run_with_pages(&c, NEVER, GPUMP_TECHNIQUE_SWITCH, &last);
                if (held > most[scheme]) most[scheme] = held;
            }
    assert_int_equal(most[0] + most[4], 0);
    assert_true(most[1] > 4 && most[2] > 4 && most[3] > 4);
}

/* Blocks leave and come back while warps of theirs wait for pages in frames. */
static void preempted_while_pages_come(void **state) {
    static const page_case cases[] = {{"hotspot", "maxwell_duet:all", "queue", NULL},
                                      {"hotspot", "duet_block:all", "wd_check", NULL},
                                      {"bfs_1", "maxwell_duet:all", "wd_commit", "nvlink"},
                                      {"spmv", "maxwell_duet:all", "log8", NULL}};
    const uint64_t points = test_cases(6);
    uint64_t last, ignored, point;
    uint32_t i;
    (void)state;
    for (i = 0; i < sizeof cases / sizeof *cases; i++) {
        (void)run_with_pages(&cases[i], NEVER, GPUMP_TECHNIQUE_SWITCH, &last);
        for (point = 1; point <= points; point++)
            (void)run_with_pages(&cases[i], last * point / (points + 1),
                                 point & 1u ? GPUMP_TECHNIQUE_SWITCH : GPUMP_TECHNIQUE_FLUSH, &ignored);
    }
}

/* ---- policies ---- */

/* A kernel of higher priority takes SMs whose blocks partly lie in frames; the policy is told what each would save. */
static void policies_see_smaller_blocks(void **state) {
    static const char *const policies[] = {"chimera", "switch", "drain"};
    uint32_t i, n, s;
    (void)state;
    for (i = 0; i < sizeof policies / sizeof *policies; i++) {
        machine_options options;
        uint64_t smaller = 0, seen = 0, whole = 0;
        run r;
        read_launch(&r, "launches/btree_synthetic");
        machine_options_default(&options);
        options.gpu = "maxwell_duet";
        options.duet = "maxwell_duet:all";
        options.policy = gpump_victim_find(policies[i]);
        build(&r, &options);
        while (victims_of(r.m)->requests[1].request.since == NEVER) assert_int_equal(machine_run(r.m, r.m->now + 1), 0);
        whole = preemption_context_bytes(&r.m->kernels[0]);
        for (s = 0; s < r.m->sm_count; s++)
            for (n = 0; n < victims_of(r.m)->scratch->sms[s].count; n++) {
                const uint64_t bytes = victims_of(r.m)->scratch->rooms[s].views[n].context_bytes;
                assert_true(bytes <= whole);
                seen++;
                smaller += bytes + 4096 < whole;
            }
        assert_true(seen > 16 * 8 && smaller > seen / 4);
        finish_right(&r, policies[i]);
        end(&r);
    }
}

/* ---- kernels that share SMs ---- */

/* One launch with rates, page faults and duet: hotspot is served in its half of every SM, pathfinder has the other half
 * and never leaves its slots. Memory is as alone. */
static void one_kernel_of_two_is_served(void **state) {
    static const char *const policies[] = {"ccbp", "even"};
    uint32_t i, s, n, k;
    (void)state;
    for (i = 0; i < 2; i++) {
        machine_options options;
        gpump_duet_statistics statistics;
        uint64_t most = 0, upper = 0;
        run r;
        read_launch(&r, "launches/hotspot_pathfinder");
        machine_options_default(&options);
        options.gpu = "maxwell_duet";
        options.duet = "maxwell_duet:all";
        options.sharing.policy = gpump_partition_find(policies[i]);
        options.absent = options.faults.absent = "all";
        options.faults.scheme = "queue";
        options.fault_service_ns = 2000;
        build(&r, &options);
        while (machine_run(r.m, r.m->now + 2000) == 0)
            for (n = 0; n < r.m->block_count; n++) {
                const block *b = &r.m->blocks[n];
                for (k = 0; b->life && b->kernel == 1 && k < b->warp_count; k++) {
                    assert_true(duet_slots_beside(r.m) >> r.m->warps[b->warps[k]].slot & 1);
                    upper++;
                }
            }
        for (s = 0; s < r.m->sm_count; s++) {
            gpump_get_statistics(&gpump_duet_component, sm_duet_of(r.m->sms[s])->gpump, &statistics);
            if (statistics.most_blocks > most) most = statistics.most_blocks;
            assert_true(statistics.outs + statistics.swaps > 0);
        }
        assert_true(most > duet_of(r.m)->plans[0].native_blocks && upper > 0);
        assert_non_null(corun_rate(r.m->sms[0]));
        finish_right(&r, policies[i]);
        end(&r);
    }
}

/* ---- occupancy over time ---- */

/* The page's series "in slots" and "switched out" are what the SMs hold at their samples. */
static void occupancy_is_recorded(void **state) {
    uint64_t checked = 0, most_out = 0;
    uint32_t in = TIMELINE_NONE, i;
    machine_options options;
    timeline *t;
    run r;
    (void)state;
    read_launch(&r, "kernels/histogram/launch");
    machine_options_default(&options);
    options.gpu = "maxwell_duet";
    options.duet = "maxwell_duet:all";
    build(&r, &options);
    assert_int_equal(trace_open(r.m, &r.launch), 0);
    t = trace_of(r.m);
    for (i = 0; i < t->series_count; i++) /* there are more warps than slots, but no more issue slots than before */
        if (!strcmp(t->series[i].chart, "issue slots"))
            assert_true(t->series[i].limit == 100);
        else if (!strcmp(t->series[i].chart, "occupancy"))
            assert_true(t->series[i].limit > 100);
    for (i = 0; i + 1 < t->series_count; i++)
        if (!strcmp(t->series[i].name, "in slots") && !strcmp(t->series[i + 1].name, "switched out")) in = i;
    assert_int_not_equal(in, TIMELINE_NONE);
    for (;;) {
        const uint64_t before = t->sample_count, now = r.m->now;
        uint64_t slots, out;
        duet_warps(r.m, &slots, &out);
        if (machine_run(r.m, now + 1)) break;
        if (t->sample_count != before + 1) continue; /* what has held since the sample's cycle, up to now */
        assert_true(t->sample_cycles[before] <= now);
        assert_int_equal(t->samples[before * t->series_count + in], slots);
        assert_int_equal(t->samples[before * t->series_count + in + 1], out);
        if (out > most_out) most_out = out;
        checked++;
    }
    assert_true(checked > 50 && most_out > 16);
    timeline_free(trace_close(r.m));
    finish_right(&r, "histogram");
    end(&r);
}

/* ---- what stays in place ---- */

/* Blocks of the kernel that is not served leave a part of their state in place and come back to it. */
static void blocks_beside_stay_in_place(void **state) {
    machine_options options;
    uint64_t parked = 0;
    uint32_t i;
    run r;
    (void)state;
    read_launch(&r, "launches/hotspot_pathfinder");
    machine_options_default(&options);
    options.duet = "maxwell_duet";
    options.sharing.policy = gpump_partition_find("ccbp");
    options.sharing.leave = gpump_victim_find("switch");
    options.sharing.parks = 1;
    build(&r, &options);
    finish_right(&r, "hotspot and pathfinder, park");
    for (i = 0; i < r.m->sm_count; i++) {
        gpump_sm_statistics statistics;
        gpump_get_statistics(&gpump_sm_component, r.m->sms[i]->gpump, &statistics);
        parked += statistics.parked;
    }
    assert_true(parked > 0);
    end(&r);
}

/* ---- under a scheduler ---- */

static uint64_t most_blocks(const machine *m, uint32_t space) {
    uint64_t most = 0;
    uint32_t i;
    for (i = 0; i < m->sm_count; i++) {
        const gpump_duet *duet = sm_duet_of(m->sms[i])->spaces[space];
        gpump_duet_statistics statistics;
        assert_non_null(duet);
        gpump_get_statistics(&gpump_duet_component, duet, &statistics);
        if (statistics.most_blocks > most) most = statistics.most_blocks;
    }
    return most;
}

/* A scheduler issues the blocks that run at a time, and then those beyond. */
static void extra_blocks_come_under_a_scheduler(void **state) {
    machine_options options;
    run r;
    (void)state;
    read_launch(&r, "launches/hotspot_pathfinder");
    machine_options_default(&options);
    options.gpu = "maxwell_duet";
    options.duet = "maxwell_duet:all";
    options.schedule = "ppq";
    build(&r, &options);
    finish_right(&r, "ppq");
    assert_int_equal(duet_of(r.m)->plans[0].native_blocks, 8);
    assert_int_equal(most_blocks(r.m, DUET_WHOLE), 16);
    end(&r);
}

/* The kernels of a group share its SMs in halves, and the first one is served; a third kernel has its SMs whole. */
static void a_group_has_halves_and_a_third_kernel_whole_sms(void **state) {
    uint32_t in_place;
    (void)state;
    for (in_place = 0; in_place < 2; in_place++) {
        machine_options options;
        uint64_t together = 0, third = 0;
        uint32_t i;
        run r;
        read_launch(&r, "launches/three_processes");
        machine_options_default(&options);
        options.gpu = "maxwell_duet";
        options.duet = "maxwell_duet:all";
        options.schedule = "dss";
        options.in_place = in_place;
        options.sharing.policy = gpump_partition_find("even");
        options.sharing.group = 2;
        options.sharing.unsampled = 1;
        build(&r, &options);
        while (machine_run(r.m, r.m->now + 500) == 0 && r.m->kernels[2].state != KERNEL_DONE)
            for (i = 0; i < r.m->sm_count; i++) {
                const sm *s = r.m->sms[i];
                const uint32_t group = s->kernel_resident[0] + s->kernel_resident[1];
                assert_true(!group || !s->kernel_resident[2]);
                together += s->kernel_resident[0] && s->kernel_resident[1];
                third += s->kernel_resident[2] > 8;
                if (s->kernel_resident[2]) assert_int_equal(sm_duet_of(s)->space, DUET_WHOLE);
                if (s->kernel_resident[0]) assert_int_equal(sm_duet_of(s)->space, DUET_HALF);
                assert_int_equal(gpump_check(&gpump_duet_component, sm_duet_of(s)->gpump, NULL), GPUMP_OK);
                assert_int_equal(gpump_check(&gpump_sm_component, s->gpump, NULL), GPUMP_OK);
            }
        if (r.m->error[0]) fail_msg("%s", r.m->error);
        assert_true(together > 100 && third > 100 && most_blocks(r.m, DUET_HALF) > 4);
        end(&r);
    }
}

/* ---- what is refused says why ---- */

/* A duet that cannot be built is refused with the reason. */
static void what_is_refused_says_why(void **state) {
    machine_options options;
    char error[LAUNCH_ERROR_BYTES];
    run r;
    (void)state;
    read_launch(&r, "launches/btree_synthetic");
    machine_options_default(&options);
    options.gpu = "maxwell_duet";
    options.duet = "maxwell_duet";
    options.policy = gpump_victim_find("dual");
    assert_null(machine_build(&r.launch, &options, error));
    assert_non_null(strstr(error, "gives SMs over as a whole"));
    launch_file_free(&r.launch);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pages_are_waited_for_in_frames),
        cmocka_unit_test(preempted_while_pages_come),
        cmocka_unit_test(policies_see_smaller_blocks),
        cmocka_unit_test(one_kernel_of_two_is_served),
        cmocka_unit_test(occupancy_is_recorded),
        cmocka_unit_test(blocks_beside_stay_in_place),
        cmocka_unit_test(extra_blocks_come_under_a_scheduler),
        cmocka_unit_test(a_group_has_halves_and_a_third_kernel_whole_sms),
        cmocka_unit_test(what_is_refused_says_why),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
