/* labels: equivalence unit link: minigpu_core */
/* The whole machine is copied, by memcpy of its arena and by fork, and both copies go on exactly alike; so does a
 * machine built anew, and one that ticks through idle cycles. */
#include "test.h"

#include <sys/wait.h>
#include <unistd.h>

#include "tools/check.h"
#include "machine/machine.h"
#include "preemption/preemption.h"

static const char *model; /* of the memory: both must hold */

static machine *build(launch_file *launch, const char *path, uint32_t skip_idle) {
    char full[512], error[LAUNCH_ERROR_BYTES];
    machine_options options;
    machine *m;
    machine_options_default(&options);
    options.skip_idle = skip_idle;
    options.config = model;
    snprintf(full, sizeof full, "%s/%s", GPUMP_SOURCE_DIR, path);
    if (launch_file_read(launch, full, error)) fail_msg("%s", error);
    if (!(m = machine_build(launch, &options, error))) fail_msg("%s", error);
    return m;
}

static const char *const files[] = {"tests/minigpu/preempt/hotspot.yaml", "tests/minigpu/preempt/bfs_1.yaml",
                                    "tests/minigpu/preempt/everything.yaml"};
#define FILES (sizeof files / sizeof *files)

/* Runs to the end and returns the hash of everything. */
static uint64_t finish(machine *m) {
    if (machine_run(m, NEVER) != 1) fail_msg("%s", m->error);
    return machine_hash(m);
}

/* In the middle of a preemption: the SM's blocks are being saved when the copy is taken. */
static void go_to_the_middle(machine *m, uint64_t cycle) {
    assert_int_equal(machine_run(m, cycle), 0);
    m->kernels[1].arrival_cycle = m->now;
    preemption_request(m, m->sms[cycle % m->sm_count], GPUMP_TECHNIQUE_SWITCH, 2, 0);
    assert_int_equal(machine_run(m, cycle + 150), 0);
}

/* A machine copied in the middle ends in the same state as the original. */
static void a_copy_of_the_arena_goes_on_alike(void **state) {
    uint32_t f;
    uint64_t cycle;
    (void)state;
    for (f = 0; f < FILES; f++) {
        for (cycle = 50; cycle < 1500; cycle += 211) {
            launch_file launch;
            machine *m = build(&launch, files[f], 1);
            void *copy;
            uint64_t first, at_copy;
            go_to_the_middle(m, cycle);
            at_copy = machine_hash(m);
            copy = arena_checkpoint(&m->arena);
            assert_non_null(copy);
            first = finish(m);
            arena_restore(&m->arena, copy);
            assert_int_equal(machine_hash(m), at_copy);
            assert_int_equal(finish(m), first);
            free(copy);
            machine_free(m);
            launch_file_free(&launch);
        }
    }
}

/* gpump's blocks by themselves: a copy of the bytes at another address is taken over and hashes alike. */
static void test_gpump_blocks_can_be_moved(void **state) {
    launch_file launch;
    machine *m = build(&launch, files[0], 1);
    uint32_t i;
    (void)state;
    go_to_the_middle(m, 700);
    for (i = 0; i < m->sm_count; i++) {
        gpump_sm *original = m->sms[i]->gpump, *adopted = NULL;
        size_t bytes;
        void *copy;
        assert_int_equal(gpump_bytes(&gpump_sm_component, &original->config, &bytes, NULL), GPUMP_OK);
        copy = malloc(bytes);
        assert_non_null(copy);
        memcpy(copy, original, bytes);
        assert_int_equal(gpump_adopt(&gpump_sm_component, copy, bytes, &original->config, &adopted, NULL), GPUMP_OK);
        assert_int_equal(gpump_hash(&gpump_sm_component, adopted), gpump_hash(&gpump_sm_component, original));
        free(copy);
    }
    machine_free(m);
    launch_file_free(&launch);
}

/* fork in the middle: parent and child end in the same state. */
static void a_forked_machine_goes_on_alike(void **state) {
    uint32_t f;
    (void)state;
    for (f = 0; f < FILES; f++) {
        launch_file launch;
        machine *m = build(&launch, files[f], 1);
        uint64_t theirs = 0, ours;
        int ends[2], status;
        pid_t pid;
        go_to_the_middle(m, 900);
        assert_int_equal(pipe(ends), 0);
        pid = fork();
        assert_true(pid >= 0);
        if (pid == 0) {
            theirs = machine_run(m, NEVER) == 1 ? machine_hash(m) : 0;
            _exit(write(ends[1], &theirs, sizeof theirs) != sizeof theirs);
        }
        ours = finish(m);
        assert_int_equal(read(ends[0], &theirs, sizeof theirs), sizeof theirs);
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_int_equal(status, 0);
        assert_int_equal(theirs, ours);
        close(ends[0]);
        close(ends[1]);
        machine_free(m);
        launch_file_free(&launch);
    }
}

/* Two machines from one file, at two addresses, end in the same state. */
static void a_machine_at_another_address_is_the_same(void **state) {
    launch_file a, b;
    machine *first = build(&a, files[0], 1), *second = build(&b, files[0], 1); /* at another address */
    (void)state;
    go_to_the_middle(first, 800);
    go_to_the_middle(second, 800);
    assert_int_equal(finish(first), finish(second));
    machine_free(first);
    machine_free(second);
    launch_file_free(&a);
    launch_file_free(&b);
}

/* Idle cycles are skipped without changing anything: not even a counter. */
static void test_idle_cycles(void **state) {
    uint32_t f;
    (void)state;
    for (f = 0; f < FILES; f++) {
        launch_file a, b;
        machine *skips = build(&a, files[f], 1), *ticks = build(&b, files[f], 0);
        go_to_the_middle(skips, 600);
        go_to_the_middle(ticks, 600);
        skips->kernels[1].arrival_cycle = ticks->kernels[1].arrival_cycle = skips->now;
        assert_int_equal(finish(skips), finish(ticks));
        machine_free(skips);
        machine_free(ticks);
        launch_file_free(&a);
        launch_file_free(&b);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_copy_of_the_arena_goes_on_alike),
        cmocka_unit_test(test_gpump_blocks_can_be_moved),
        cmocka_unit_test(a_forked_machine_goes_on_alike),
        cmocka_unit_test(a_machine_at_another_address_is_the_same),
        cmocka_unit_test(test_idle_cycles),
    };
    int failed;
    model = "memory_model=0";
    failed = cmocka_run_group_tests_name("memory model 0", tests, NULL, NULL);
    model = "memory_model=1";
    return failed + cmocka_run_group_tests_name("memory model 1", tests, NULL, NULL);
}
