/* labels: unit link: minigpu_core */
/* What is being fetched for a block that leaves at once is forgotten: a block that takes its place, and the memory of
 * its warps, waits for its own first instructions. */
#include "test.h"

#include "machine/machine.h"
#include "preemption/preemption.h"
#include "tools/check.h"

#define FETCH_CYCLES 9

/* No warp has an instruction before it can have been fetched. Returns how many blocks are that young. */
static uint32_t none_too_early(const machine *m) {
    uint32_t i, young = 0;
    for (i = 0; i < m->block_count; i++) {
        const block *b = &m->blocks[i];
        if (!b->life || !b->live_warps || m->now >= b->start_cycle + FETCH_CYCLES) continue;
        young++;
        if (m->sms[b->sm]->fetched & b->slots)
            fail_msg("cycle %llu: a block that started in cycle %llu has instructions", (unsigned long long)m->now,
                     (unsigned long long)b->start_cycle);
    }
    return young;
}

static uint32_t run(uint64_t cycle, const char *config) {
    const char *const path = GPUMP_SOURCE_DIR "/tests/minigpu/preempt/hotspot.yaml";
    char error[LAUNCH_ERROR_BYTES];
    kernel_check checks[8];
    machine_options options;
    launch_file launch;
    machine *m;
    uint32_t i, young = 0;
    machine_options_default(&options);
    options.config = config;
    if (launch_file_read(&launch, path, error)) fail_msg("%s", error);
    if (!(m = machine_build(&launch, &options, error))) fail_msg("%s", error);
    assert_int_equal(machine_run(m, cycle), 0);
    for (i = 0; i < m->sm_count; i++) preemption_request(m, m->sms[i], GPUMP_TECHNIQUE_FLUSH, 0, 0);
    m->kernels[1].arrival_cycle = m->now;
    while (m->now < cycle + 100 && machine_run(m, m->now + 1) == 0) young += none_too_early(m);
    if (machine_run(m, NEVER) != 1) fail_msg("%s", m->error);
    if (check_results(m, &launch, checks) != 0) fail_msg("%s", checks[0].text);
    machine_free(m);
    launch_file_free(&launch);
    return young;
}

/* A fetch under way when its block leaves reaches nobody, in either memory model. */
static void fetches_of_a_block_that_left_are_forgotten(void **state) {
    uint64_t cycle;
    (void)state;
    for (cycle = 100; cycle < 400; cycle += 7) {
        assert_true(run(cycle, "fetch_cycles=9,memory_model=0") > 0);
        assert_true(run(cycle, "fetch_cycles=9,memory_model=1") > 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(fetches_of_a_block_that_left_are_forgotten)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
