/* labels: equivalence slow link: minigpu_core */
/* Every policy of gpump's victim selector may choose who leaves, and how, at any cycle and with any limit: the results
 * stay those of the undisturbed run. Choices mix techniques on one SM, and blocks of two kernels share SMs. */
#include "test.h"

#include "minigpu/moment.h"
#include "tools/check.h"
#include "machine/machine.h"
#include "preemption/context_forms.h"
#include "parts/victims/victims.h"

enum { RUN_RIGHT, RUN_WRONG, RUN_STOPPED, RUN_NO_REQUEST, RUN_RIGHT_PARKED };

static int choose_and_run_on(machine *m, const launch_file *launch, const gpump_victim_policy *policy, uint64_t limit,
                             uint64_t expected) {
    gpump_sm_statistics statistics;
    uint64_t parked = 0;
    uint32_t i;
    m->policy = policy;
    m->limit_cycles = limit;
    m->kernels[1].arrival_cycle = m->now;
    if (machine_run(m, NEVER) != 1) {
        fprintf(stderr, "%s\n", m->error);
        return RUN_STOPPED;
    }
    if (machine_result_hash(m, launch) != expected) return RUN_WRONG;
    for (i = 0; i < m->sm_count; i++) {
        gpump_get_statistics(&gpump_sm_component, m->sms[i]->gpump, &statistics);
        if (statistics.parked != statistics.unparked) return RUN_STOPPED;
        parked += statistics.parked;
    }
    if (parked) return RUN_RIGHT_PARKED;
    return victims_of(m)->requests[1].request.since != NEVER ? RUN_RIGHT : RUN_NO_REQUEST;
}

/* Returns in how many runs parts of blocks stayed in place. */
static uint64_t policies_on(const char *name, uint32_t in_place, uint32_t form, uint32_t regions) {
    static const uint64_t limits[] = {0, 700, 1400, 4200, NEVER};
    char path[512], error[LAUNCH_ERROR_BYTES];
    machine_options options;
    launch_file launch;
    machine *m = NULL;
    void *start;
    uint64_t expected, end, cycle, step, requests = 0, runs = 0, parked = 0;
    uint32_t i, seed = 0;
    moment here = {NULL, 0};
    const gpump_victim_policy *policy;
    machine_options_default(&options);
    options.policy = gpump_victim_find("dual");
    options.in_place = in_place;
    options.context_form = form;
    options.regions = regions;
    snprintf(path, sizeof path, "%s/tests/minigpu/preempt/%s.yaml", GPUMP_SOURCE_DIR, name);
    if (launch_file_read(&launch, path, error) || !(m = machine_build(&launch, &options, error))) fail_msg("%s", error);
    start = arena_checkpoint(&m->arena);
    assert_int_equal(machine_run(m, NEVER), 1);
    expected = machine_result_hash(m, &launch);
    end = m->kernels[0].end_cycle;
    arena_restore(&m->arena, start);
    free(start);
    step = end / test_cases(20) + 1;
    for (cycle = step / 2; cycle < end; cycle += step) {
        if (machine_run(m, cycle) != 0) break;
        moment_keep(&here, m);
        for (i = 0; (policy = gpump_victim_policy_at(i)); i++) {
            int outcome = choose_and_run_on(m, &launch, policy, limits[seed % 5], expected);
            moment_return(&here, m);
            if (outcome == RUN_WRONG || outcome == RUN_STOPPED) {
                fail_msg("%s, cycle %llu, policy %s, limit %llu: %s", name, (unsigned long long)cycle, policy->name,
                         (unsigned long long)limits[seed % 5], outcome == RUN_WRONG ? "another result" : "it stops");
            }
            requests += outcome != RUN_NO_REQUEST;
            parked += outcome == RUN_RIGHT_PARKED;
            runs++;
            seed++;
        }
    }
    printf("%s%s: %llu runs, %llu of them with a request, %llu with parts kept in place, all right\n", name,
           in_place ? ", in place" : "", (unsigned long long)runs, (unsigned long long)requests,
           (unsigned long long)parked);
    assert_true(requests > runs / 2);
    moment_free(&here);
    machine_free(m);
    launch_file_free(&launch);
    return parked;
}

/* Every victim policy lets a second kernel in, and both end right: saxpy gives way. */
static void test_saxpy(void **state) {
    (void)state;
    policies_on("saxpy", 0, CONTEXT_NAIVE, 0);
}
/* Likewise pathfinder, whose blocks meet at barriers. */
static void test_pathfinder(void **state) {
    (void)state;
    policies_on("pathfinder", 0, CONTEXT_NAIVE, 0);
}
/* Likewise hotspot, which overwrites what it reads. */
static void test_hotspot(void **state) {
    (void)state;
    policies_on("hotspot", 0, CONTEXT_NAIVE, 0);
}
/* Likewise a layer of backprop. */
static void test_backprop(void **state) {
    (void)state;
    policies_on("backprop_layer_forward", 0, CONTEXT_NAIVE, 0);
}
/* Likewise bfs, whose warps part. */
static void test_bfs(void **state) {
    (void)state;
    policies_on("bfs_1", 0, CONTEXT_NAIVE, 0);
}
/* Likewise a kernel with all kinds of state. */
static void test_everything(void **state) {
    (void)state;
    policies_on("everything", 0, CONTEXT_NAIVE, 0);
}

/* What no position of the incoming kernel needs stays where it is, and its block comes back to it. */
static void test_in_place(void **state) {
    uint64_t parked = 0;
    (void)state;
    parked += policies_on("in_place", 1, CONTEXT_NAIVE, 0);
    parked += policies_on("in_place", 1, CONTEXT_LIVE_COMPRESS, 0);
    parked += policies_on("in_place", 1, CONTEXT_LIVE, 1); /* sparse regions: a rewind too may leave parts in place */
    assert_true(parked > 5 * test_cases(20));
    policies_on("everything", 1, CONTEXT_LIVE_COMPRESS, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_saxpy),    cmocka_unit_test(test_pathfinder), cmocka_unit_test(test_hotspot),
        cmocka_unit_test(test_backprop), cmocka_unit_test(test_bfs),        cmocka_unit_test(test_everything),
        cmocka_unit_test(test_in_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
