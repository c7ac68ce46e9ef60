/* labels: equivalence link: minigpu_core */
/* The scheduling policy dss_fault is told which warps can run: while those of a kernel wait for pages the scheduler
 * knows it, and SMs are lent. Memory holds what the policy dss leaves. */
#include "test.h"

#include <inttypes.h>

#include "machine/machine.h"
#include "parts/schedule/schedule_facts.h"

typedef struct outcome {
    uint64_t hash, waits, cycles; /* waits: looks at which the scheduler knew of a kernel that waits */
} outcome;

static outcome run(const char *policy) {
    outcome o = {0, 0, 0};
    char error[LAUNCH_ERROR_BYTES];
    machine_options options;
    launch_file launch;
    machine *m;
    int ended;
    machine_options_default(&options);
    options.gpu = "table61";
    options.faults.scheme = "queue";
    options.faults.link = "pcie3";
    options.absent = "all";
    options.schedule = policy;
    options.vacate = GPUMP_TECHNIQUE_SWITCH;
    if (launch_file_read(&launch, GPUMP_SOURCE_DIR "/tests/minigpu/schedule/broken.yaml", error)) fail_msg("%s", error);
    launch.kernels[1].grid[0] = 192; /* none of its blocks reads behind the end */
    launch.sms = 4;
    if (!(m = machine_build(&launch, &options, error))) fail_msg("%s", error);
    do {
        const gpump_scheduler_view view = gpump_scheduler_look(schedule_of(m)->scheduler);
        uint32_t row;
        for (row = 1; row <= view.config->active_kernels; row++)
            o.waits += view.kernels[row].in_use && view.kernels[row].waits_since != GPUMP_UNKNOWN;
        ended = machine_run(m, m->now + 500);
    } while (!ended);
    if (ended < 0) fail_msg("%s: %s", policy, m->error);
    o.hash = machine_result_hash(m, &launch);
    o.cycles = m->now;
    machine_free(m);
    launch_file_free(&launch);
    return o;
}

/* dss_fault sees kernels that wait for pages, dss does not; both end with the same memory. */
static void dss_fault_knows_who_waits_for_pages(void **state) {
    const outcome dss = run("dss"), dss_fault = run("dss_fault");
    (void)state;
    printf("dss %" PRIu64 " cycles, dss_fault %" PRIu64 ", which knew of a kernel that waits at %" PRIu64 " looks\n",
           dss.cycles, dss_fault.cycles, dss_fault.waits);
    assert_true(dss_fault.waits > 0);
    assert_int_equal(dss.waits, 0);
    assert_true(dss.hash == dss_fault.hash);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(dss_fault_knows_who_waits_for_pages)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
