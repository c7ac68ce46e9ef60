/* labels: equivalence slow link: minigpu_core */
/* Three kernels on one SM with parts kept in place: while blocks of the first are parked, or on their way to it, a
 * third kernel asks for room. Under every policy, whenever the second and the third come, all three end with the
 * results of the undisturbed run. */
#include "test.h"

#include "machine/machine.h"
#include "preemption/context_forms.h"
#include "parts/victims/victims.h"
#include "tools/check.h"

enum { RUN_RIGHT, RUN_RIGHT_PARKED, RUN_WRONG, RUN_STOPPED };

static int arrive_and_run_on(machine *m, const launch_file *launch, const gpump_victim_policy *policy, uint64_t second,
                             uint64_t third, uint64_t expected) {
    gpump_sm_statistics statistics;
    m->policy = policy;
    m->limit_cycles = 2800;
    m->kernels[1].arrival_cycle = second;
    m->kernels[2].arrival_cycle = third;
    if (machine_run(m, NEVER) != 1) {
        fprintf(stderr, "%s\n", m->error);
        return RUN_STOPPED;
    }
    if (machine_result_hash(m, launch) != expected) return RUN_WRONG;
    gpump_get_statistics(&gpump_sm_component, m->sms[0]->gpump, &statistics);
    if (statistics.bytes_saved != m->sms[0]->statistics.saved_bytes ||
        statistics.bytes_restored != m->sms[0]->statistics.restored_bytes)
        return RUN_WRONG; /* the SM counts what travelled, also where a part stayed */
    if (statistics.parked != statistics.unparked || victims_of(m)->requests[2].request.since == NEVER)
        return RUN_STOPPED;
    return statistics.parked ? RUN_RIGHT_PARKED : RUN_RIGHT;
}

static void three_kernels(uint32_t form, uint32_t regions) {
    char path[512], error[LAUNCH_ERROR_BYTES];
    const gpump_victim_policy *policy;
    machine_options options;
    launch_file launch;
    machine *m = NULL;
    void *start;
    uint64_t expected, end, second, third, step, runs = 0, parked = 0;
    uint32_t i;
    machine_options_default(&options);
    options.policy = gpump_victim_find("dual");
    options.in_place = 1;
    options.context_form = form;
    options.regions = regions;
    snprintf(path, sizeof path, "%s/tests/minigpu/preempt/in_place_three.yaml", GPUMP_SOURCE_DIR);
    if (launch_file_read(&launch, path, error) || !(m = machine_build(&launch, &options, error))) fail_msg("%s", error);
    start = arena_checkpoint(&m->arena);
    assert_int_equal(machine_run(m, NEVER), 1);
    expected = machine_result_hash(m, &launch);
    end = m->kernels[0].end_cycle;
    /* At least seven arrivals: with longer steps the third kernel would arrive after the others have ended. */
    step = end / (test_cases(6) < 7 ? 7 : test_cases(6)) + 1;
    for (second = step / 2; second < end; second += step)
        for (third = second + step / 3; third < end + step; third += step)
            for (i = 0; (policy = gpump_victim_policy_at(i)); i++) {
                int outcome;
                arena_restore(&m->arena, start);
                outcome = arrive_and_run_on(m, &launch, policy, second, third, expected);
                if (outcome > RUN_RIGHT_PARKED)
                    fail_msg("arrivals at cycles %llu and %llu, policy %s: %s", (unsigned long long)second,
                             (unsigned long long)third, policy->name,
                             outcome == RUN_WRONG ? "another result" : "it stops");
                runs++;
                parked += outcome == RUN_RIGHT_PARKED;
            }
    printf("three kernels in place: %llu runs, %llu of them with parts kept in place, all right\n",
           (unsigned long long)runs, (unsigned long long)parked);
    assert_true(parked > runs / 10);
    free(start);
    machine_free(m);
    launch_file_free(&launch);
}

/* Three kernels in turn in place, with whole contexts. */
static void three_kernels_in_place_with_whole_contexts(void **state) {
    (void)state;
    three_kernels(CONTEXT_NAIVE, 0);
}
/* Three kernels in turn in place, with live registers and regions. */
static void three_kernels_in_place_with_live_registers(void **state) { /* a rewind too leaves parts in place */
    (void)state;
    three_kernels(CONTEXT_LIVE, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(three_kernels_in_place_with_whole_contexts),
        cmocka_unit_test(three_kernels_in_place_with_live_registers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
