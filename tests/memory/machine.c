/* labels: unit link: minigpu_core */
#define _GNU_SOURCE
/* The queued memory inside the machine: whole kernels, preempted on the way, lose no flit and no line; per kernel, what
 * leaves the L1s arrives, and Little's law holds for every hop. */
#include "test.h"

#include "memory/queued.h"
#include "preemption/preemption.h"
#include "tools/report.h"

/* Four kernels with queued memory: right, and with the traffic that was written down. */
static void kernels_end_right_in_either_memory_model(void **state) {
    static const char *const names[] = {"hotspot", "bfs_1", "saxpy", "backprop_layer_forward"};
    uint32_t n, k, hop;
    (void)state;
    for (n = 0; n < sizeof names / sizeof *names; n++) {
        char path[512], error[LAUNCH_ERROR_BYTES], text[16384] = "";
        machine_options options;
        launch_file launch;
        gpump_traffic t, contexts;
        uint64_t sum = 0, now;
        const char *wrong;
        machine *m;
        FILE *file;
        machine_options_default(&options);
        options.config = "memory_model=1";
        snprintf(path, sizeof path, "%s/tests/minigpu/preempt/%s.yaml", GPUMP_SOURCE_DIR, names[n]);
        if (launch_file_read(&launch, path, error)) fail_msg("%s", error);
        if (!(m = machine_build(&launch, &options, error))) fail_msg("%s", error);
        assert_int_equal(machine_run(m, 300), 0);
        preemption_request(m, m->sms[0], GPUMP_TECHNIQUE_SWITCH, 0, 0);
        m->kernels[1].arrival_cycle = 400;
        if (machine_run(m, NEVER) != 1) fail_msg("%s", m->error);
        now = m->now;
        while (memory_next_cycle(m->memory_system) != NEVER) /* lines that are still written to DRAM */
            memory_advance(m->memory_system, now = memory_next_cycle(m->memory_system));
        /* The machine ends with the last kernel; acknowledgements that nobody waits for have come, too. */
        for (k = 0; k < m->sm_count; k++) {
            memory_reply reply;
            while (memory_take(m->memory_system, NEVER - 1, k, &reply)) {}
        }
        if ((wrong = queued_balance((const queued_memory *)m->memory_system->behind, &m->memory_system->statistics)) !=
            NULL)
            fail_msg("%s: %s", names[n], wrong);
        for (k = 0; k <= m->kernel_count; k++) {
            report_traffic(m, k, &t);
            if (!k) contexts = t;
            sum += t.up_requests;
            if (k) assert_int_equal(t.issued, m->kernels[k - 1].warp_instructions);
            if (k) assert_int_equal(t.up_requests, t.l1_load_misses + t.l1_store_misses + t.l1_atomics);
            for (hop = 0; hop < GPUMP_METER_HOPS; hop++)
                assert_int_equal((&t.up_requests)[2 * hop + 1], t.in_flight_cycles[hop]);
        }
        assert_int_equal(sum, m->memory_system->statistics.requests);
        assert_true(contexts.up_requests > 0);
        file = fmemopen(text, sizeof text, "w");
        report_statistics(m, file);
        fclose(file);
        assert_non_null(strstr(text, "warp instructions"));
        assert_non_null(strstr(text, "contexts of preempted blocks"));
        assert_non_null(strstr(text, "bytes read"));
        printf("%s: %llu requests, %llu of contexts\n", names[n], (unsigned long long)sum,
               (unsigned long long)contexts.up_requests);
        machine_free(m);
        launch_file_free(&launch);
    }
}

/* Lists of numbers with an unknown name, no value, or a value too large. */
static void misspelt_numbers_of_a_machine_are_refused(void **state) {
    static const char *const lists[] = {"memory_model",      "memory_model=",   "nonsense=1",
                                        "memory_model=1,=2", "memory_model=1x", "memory_model=99999999999"};
    minigpu_config config;
    char wrong[256];
    uint32_t i;
    (void)state;
    assert_int_equal(minigpu_config_preset(&config, "maxwell_ccbp"), 0);
    assert_int_equal(minigpu_config_set_list(&config, "memory_model=0,l2_hashed=0", wrong, sizeof wrong), 0);
    assert_int_equal(config.memory_model, 0);
    assert_int_equal(config.l2_hashed, 0);
    for (i = 0; i < sizeof lists / sizeof *lists; i++)
        assert_int_equal(minigpu_config_set_list(&config, lists[i], wrong, sizeof wrong), -1);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(kernels_end_right_in_either_memory_model),
                                       cmocka_unit_test(misspelt_numbers_of_a_machine_are_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
