/* labels: equivalence slow full link: minigpu_core */
/* Faults are served by a fault unit: whatever the scheme and the link, memory holds what the run without faults leaves,
 * and every report, fault and wait is accounted for. An invalid access ends its process alone. GPUMP_TEST_CASES scales
 * the number of runs per launch. */
#include "test.h"

#include "analysis/analysis.h"
#include "parts/fault_switch/fault_switch.h"
#include "parts/fault_unit/fault_unit.h"
#include "parts/faults/faults.h"
#include "parts/schedule/schedule_facts.h"
#include "tools/check.h"

static machine *build(launch_file *launch, const char *path, const char *config, const faults_options *faults) {
    char error[LAUNCH_ERROR_BYTES];
    machine_options options;
    machine *m;
    machine_options_default(&options);
    options.gpu = "table61";
    options.config = config;
    options.faults = *faults;
    options.absent = faults->absent;
    if (faults->scheme && !strcmp(faults->scheme, "regions")) options.regions = REGIONS_SPARSE;
    if (launch_file_read(launch, path, error)) fail_msg("%s", error);
    if (!launch->sms && launch->process_count < 3) launch->sms = 2;
    if (!(m = machine_build(launch, &options, error))) fail_msg("%s", error);
    return m;
}

static gpump_fault_statistics statistics_of(const machine *m) {
    gpump_fault_statistics f;
    gpump_get_statistics(&gpump_fault_component, fault_unit_of(m)->fault, &f);
    return f;
}

/* Every report is of one kind, every fault is served by somebody, and every wait has ended. */
static void check_counts(const machine *m, const char *path) {
    const gpump_fault_statistics f = statistics_of(m);
    if (f.reported != f.opened + f.merged + f.retried + f.invalid) fail_msg("%s: a report is not counted", path);
    if (f.opened + f.prefetched != f.migrated + f.allocated + f.local + f.remote)
        fail_msg("%s: a fault has no server", path);
    if (f.waits != f.woken + f.cancelled) fail_msg("%s: a wait has not ended", path);
    assert_int_equal(gpump_check(&gpump_fault_component, fault_unit_of(m)->fault, NULL), GPUMP_OK);
}

/* Blocks that have left on a fault. With `ended`, nobody is off the chip any more. */
static uint64_t switched(const machine *m, int ended) {
    uint64_t outs = 0;
    uint32_t i;
    for (i = 0; i < m->sm_count; i++) {
        gpump_block_switch_statistics b;
        gpump_get_statistics(&gpump_block_switch_component, fault_switch_of(m->sms[i])->unit, &b);
        outs += b.outs + b.fair_outs;
        if (ended) assert_int_equal(fault_switch_of(m->sms[i])->off_chip, 0);
        assert_int_equal(gpump_check(&gpump_block_switch_component, fault_switch_of(m->sms[i])->unit, NULL), GPUMP_OK);
    }
    return outs;
}

/* ---- results ---- */

static const char *const configs[] = {"issue_queue_entries=96", "issue_queue_entries=0",
                                      "issue_queue_entries=24,l1_tlb_entries=8,l1_tlb_misses=2,memory_queue_entries=9"};

static uint64_t run(const char *path, uint32_t which, const faults_options *faults) {
    launch_file launch;
    kernel_check results[8];
    uint64_t hash;
    machine *m = build(&launch, path, configs[which % 3], faults);
    assert_true(launch.kernel_count <= 8);
    if (machine_run(m, NEVER) != 1) fail_msg("%s, %s, %s: %s", path, faults->scheme, faults->link, m->error);
    if (check_results(m, &launch, results))
        fail_msg("%s, %s, %s: %s", path, faults->scheme, faults->link, results[0].text);
    hash = launch.kernels[0].reference && launch.kernels[0].reference->check ? 0 : machine_result_hash(m, &launch);
    if (faults->link) check_counts(m, path);
    if (faults->link && m->page_faults.absent && !statistics_of(m).opened) fail_msg("%s: nothing has faulted", path);
    machine_free(m);
    launch_file_free(&launch);
    return hash;
}

static void every_link(const char *path) {
    static uint32_t turn = 9; /* so that half of the launches, one turn each, see every scheme and link */
    uint64_t i, expected;
    faults_options faults;
    memset(&faults, 0, sizeof faults);
    faults.check = NEVER;
    faults.order = GPUMP_REPLAY_CLASS;
    expected = run(path, 0, &faults);
    for (i = 0; i < test_cases(4); i++, turn++) {
        faults.scheme = faults_scheme_name(turn % 9);
        faults.link = fault_unit_link_name(turn / 9 % 5 == 4 ? turn % 5 : turn % 4);
        faults.local = turn % 2;
        faults.lazy = turn % 3 == 2;
        faults.extra = strcmp(faults.scheme, "stall") && turn % 3 ? 1 + turn % 4 : 0;
        faults.absent = "all";
        if (run(path, turn, &faults) != expected)
            fail_msg("%s, %s, %s%s: another result", path, faults.scheme, faults.link, faults.lazy ? ", lazy" : "");
    }
}

/* Every small launch with absent pages, over every link: right as with all pages. */
static void every_launch_over_every_link_ends_right(void **state) {
    const reference_entry *entry;
    char path[1024];
    (void)state;
    for (entry = reference_entries; entry->name; entry++) {
        if (test_leaves_out((uint64_t)(entry - reference_entries))) continue;
        snprintf(path, sizeof path, "%s/examples/minigpu/kernels/%s/small.yaml", GPUMP_SOURCE_DIR, entry->name);
        every_link(path);
    }
}

/* ---- an invalid access ---- */

static const char served[] = GPUMP_SOURCE_DIR "/examples/minigpu/launches/faults_served.yaml";

/* Nothing of process 1 is left: no block, no context, no local memory, no wait, no page. */
static void check_nothing_left(const machine *m, const launch_file *launch) {
    uint32_t i;
    for (i = 0; i < m->block_count; i++) assert_int_equal(m->blocks[i].life, 0);
    for (i = 0; i < m->kernel_count; i++) assert_int_equal(m->kernels[i].resident, 0);
    assert_int_equal(gpump_preempted_after(m->preempted_list, 0, NONE), NONE);
    assert_int_equal(m->local_count, m->local_count_free);
    assert_int_equal(gpump_check(&gpump_context_pool_component, m->context_pool, NULL), GPUMP_OK);
    assert_int_equal(fault_unit_of(m)->unmap[1], 0);
    for (i = 0; i < launch->buffer_count; i++)
        if (launch->buffers[i].process == 1)
            assert_int_equal(m->page_table[(launch->buffers[i].address - DEVICE_BASE) / PAGE_BYTES], 0);
}

/* Under every scheme, an access to no buffer aborts its process, and the other one ends right. */
static void an_invalid_access_aborts_its_process_alone(void **state) {
    uint32_t i;
    (void)state;
    for (i = 0; i < 9; i++) {
        faults_options faults;
        launch_file launch;
        kernel_check results[3];
        const fault_abort *a;
        machine *m;
        memset(&faults, 0, sizeof faults);
        faults.check = NEVER;
        faults.order = GPUMP_REPLAY_CLASS;
        faults.scheme = faults_scheme_name(i);
        faults.link = fault_unit_link_name(i % 4);
        faults.local = i / 4 % 2;
        faults.extra = i && i % 2 ? 4 : 0;
        m = build(&launch, served, configs[i % 2], &faults);
        if (machine_run(m, NEVER) != 1) fail_msg("%s: %s", faults.scheme, m->error);
        assert_int_equal(check_results(m, &launch, results), 1);
        assert_int_equal(results[0].result, CHECK_RIGHT);
        assert_int_equal(results[1].result, CHECK_ABORTED);
        assert_int_equal(results[2].result, CHECK_RIGHT);
        a = &fault_unit_of(m)->aborts[1];
        assert_null(fault_unit_of(m)->aborts[0].instruction);
        assert_null(fault_unit_of(m)->aborts[2].instruction);
        assert_int_equal(a->kernel, 1);
        assert_int_equal(a->instruction->opcode, OPCODE_LD);
        assert_true(a->killed > 0);
        /* Element i of x is read by thread i % 256 of block i / 256. */
        assert_true(a->address >= launch.buffers[2].address + 50000 * 4);
        assert_int_equal((a->address - launch.buffers[2].address) / 4,
                         a->linear * 256 + a->warp * 32 + gpump_bits_lowest64(a->lanes));
        check_counts(m, served);
        if (faults.extra && !switched(m, 1)) fail_msg("%s: no block was switched", faults.scheme);
        check_nothing_left(m, &launch);
        machine_free(m);
        launch_file_free(&launch);
    }
}

/* A store behind its buffer, on the last page of the buffer, ends the process before memory changes. */
static void test_store_behind_a_buffer_on_its_last_page_aborts(void **state) {
    uint32_t i;
    (void)state;
    for (i = 0; i < 36; i++) {
        faults_options faults;
        launch_file launch;
        kernel_check result;
        const fault_abort *a;
        machine *m;
        memset(&faults, 0, sizeof faults);
        faults.check = NEVER;
        faults.order = GPUMP_REPLAY_CLASS;
        faults.scheme = faults_scheme_name(i % 9);
        faults.link = fault_unit_link_name(i / 9);
        faults.absent = i % 2 ? "all" : NULL;
        m = build(&launch, GPUMP_SOURCE_DIR "/tests/minigpu/bad_run/writes_behind.yaml", configs[i % 3], &faults);
        if (machine_run(m, NEVER) != 1) fail_msg("%s, %s: %s", faults.scheme, faults.link, m->error);
        assert_int_equal(check_results(m, &launch, &result), 1);
        if (result.result != CHECK_ABORTED) fail_msg("%s, %s: not aborted", faults.scheme, faults.link);
        a = &fault_unit_of(m)->aborts[0];
        assert_int_equal(a->address % 256, a->warp ? 128 : 8);
        assert_int_equal(a->lanes, a->warp ? 0xffffffff : 0xfffffffc);
        assert_int_equal(*(uint32_t *)(void *)(m->memory + (launch.buffers[0].address - DEVICE_BASE) + 8), 0);
        check_counts(m, faults.link);
        machine_free(m);
        launch_file_free(&launch);
    }
}

/* Under a scheduler, too: what the aborted process has in its tables goes, and its SMs go to the others. */
static void test_invalid_access_under_a_scheduler(void **state) {
    static const struct {
        const char *schedule, *scheme, *link;
        uint32_t mechanism;
        uint64_t memory, slice_ns;
    } runs[] = {{"time_slice", "log16", "nvlink", GPUMP_TECHNIQUE_SWITCH, 0, 20000},
                {"time_slice", "log16", "nvlink", GPUMP_TECHNIQUE_SELECT, 0, 100000},
                {"time_slice", "stall", "nvlink_pipelined", GPUMP_TECHNIQUE_SWITCH, 0, 100000},
                {"dss", "queue", "pcie3", GPUMP_TECHNIQUE_SELECT, 0, 0},
                {"dss", "stall", "nvlink", GPUMP_TECHNIQUE_SELECT, 0, 0},
                {"ppq", "wd_check", "uvm595", GPUMP_TECHNIQUE_SWITCH, 0, 0},
                {"equal", "wd_commit", "nvlink", GPUMP_TECHNIQUE_DRAIN, UINT64_C(2) << 20, 0}};
    uint32_t i, waited = 0;
    (void)state;
    for (i = 0; i < sizeof runs / sizeof *runs; i++) {
        machine_options options;
        launch_file launch;
        kernel_check results[3];
        gpump_scheduler_statistics scheduler;
        char error[LAUNCH_ERROR_BYTES];
        machine *m;
        machine_options_default(&options);
        options.gpu = "table61";
        options.faults.check = NEVER;
        options.faults.order = GPUMP_REPLAY_CLASS;
        options.faults.scheme = runs[i].scheme;
        options.faults.link = runs[i].link;
        options.faults.memory = runs[i].memory;
        options.schedule = runs[i].schedule;
        options.vacate = runs[i].mechanism;
        options.slice_ns = runs[i].slice_ns;
        if (launch_file_read(&launch, served, error)) fail_msg("%s", error);
        if (!(m = machine_build(&launch, &options, error))) fail_msg("%s", error);
        if (machine_run(m, NEVER) != 1) fail_msg("%s, %s: %s", runs[i].schedule, runs[i].scheme, m->error);
        assert_int_equal(check_results(m, &launch, results), 1);
        assert_int_equal(results[0].result, CHECK_RIGHT);
        assert_int_equal(results[1].result, CHECK_ABORTED);
        assert_int_equal(results[2].result, CHECK_RIGHT);
        gpump_get_statistics(&gpump_scheduler_component, schedule_of(m)->scheduler, &scheduler);
        assert_int_equal(scheduler.aborts, 1);
        assert_int_equal(gpump_check(&gpump_scheduler_component, schedule_of(m)->scheduler, NULL), GPUMP_OK);
        check_counts(m, served);
        check_nothing_left(m, &launch);
        /* Its command has ended and nothing of it was issued again: it can be closed. */
        assert_int_equal(gpump_scheduler_close(schedule_of(m)->scheduler, m->now, schedule_of(m)->processes[1]),
                         GPUMP_OK);
        waited += m->preemption_count;
        machine_free(m);
        launch_file_free(&launch);
    }
    assert_true(waited > 100);
}

/* ---- launch files ---- */

/* Other owners in a launch file are refused with their place. */
static void an_owner_is_gpu_cpu_or_unallocated(void **state) {
    static const char *const wrong[][2] = {{"constant: 0, owner: nobody", "owner must be gpu, cpu or unallocated"},
                                           {"constant: 1, owner: unallocated", "so its values must be constant: 0"}};
    char error[LAUNCH_ERROR_BYTES], path[] = "fault_unit_owner.yaml";
    launch_file launch;
    uint32_t i;
    (void)state;
    for (i = 0; i < 2; i++) {
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        fprintf(file,
                "kernels:\n  - ptx: a.ptx\n    kernel: a\n    grid: [1, 1, 1]\n    block: [32, 1, 1]\n"
                "    arguments:\n      - buffer: {type: u32, count: 8, %s}\n",
                wrong[i][0]);
        fclose(file);
        assert_true(launch_file_read(&launch, path, error));
        if (!strstr(error, wrong[i][1])) fail_msg("%s", error);
    }
    remove(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_launch_over_every_link_ends_right),
                                       cmocka_unit_test(an_invalid_access_aborts_its_process_alone),
                                       cmocka_unit_test(test_store_behind_a_buffer_on_its_last_page_aborts),
                                       cmocka_unit_test(test_invalid_access_under_a_scheduler),
                                       cmocka_unit_test(an_owner_is_gpu_cpu_or_unallocated)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
