/* labels: unit link: minigpu_core */
/* Eight blocks of own_kernel's example leave their SMs one after the other, and come back to as many SMs: an SM that
 * restores a block takes no second one while another SM has none. */
#include "test.h"

#include "machine/machine.h"
#include "preemption/preemption.h"

/* A saved block is restored on an SM without a block, and no context is lost or saved twice. */
static void blocks_come_back_to_sms_without_blocks(void **state) {
    char error[LAUNCH_ERROR_BYTES];
    launch_file launch;
    machine_options options;
    machine *m = NULL;
    gpump_sm_statistics statistics;
    uint64_t came_back = 0, saved = 0;
    uint32_t i, most = 0;
    (void)state;
    machine_options_default(&options);
    if (launch_file_read(&launch, GPUMP_SOURCE_DIR "/examples/minigpu/own_kernel/smooth.yaml", error) ||
        !(m = machine_build(&launch, &options, error)))
        fail_msg("%s", error);
    assert_int_equal(machine_run(m, 400), 0);
    for (i = 0; i < m->sm_count; i++)
        if (m->sms[i]->resident) preemption_request(m, m->sms[i], GPUMP_TECHNIQUE_SWITCH, 0, 0);
    while (came_back < m->kernels[0].blocks) {
        assert_int_equal(machine_run(m, m->now + 1), 0);
        came_back = m->kernels[0].resumed;
        for (i = 0; i < m->sm_count; i++) {
            uint32_t entry, here = 0;
            for (entry = 0; entry < BLOCK_ENTRIES_MAX; entry++)
                here += m->sms[i]->block_of_entry[entry] != NONE &&
                        gpump_block_stays(gpump_sm_state(m->sms[i]->gpump, entry));
            if (came_back && here > most) most = here;
        }
    }
    assert_int_equal(most, 1);
    assert_int_equal(m->kernels[0].resumed_elsewhere, 8);
    assert_int_equal(machine_run(m, NEVER), 1);
    for (i = 0; i < m->sm_count; i++) { /* each SM counts what travelled */
        gpump_get_statistics(&gpump_sm_component, m->sms[i]->gpump, &statistics);
        assert_int_equal(statistics.bytes_saved, m->sms[i]->statistics.saved_bytes);
        assert_int_equal(statistics.bytes_restored, m->sms[i]->statistics.restored_bytes);
        saved += statistics.bytes_saved;
    }
    assert_int_equal(saved, 8 * 6424);
    machine_free(m);
    launch_file_free(&launch);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_come_back_to_sms_without_blocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
