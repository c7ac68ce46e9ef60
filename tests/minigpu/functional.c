/* labels: equivalence unit link: minigpu_core */
/* Kernels that execute without time (machine/functional.h) leave the memory that timed runs leave, blocks that wait for
 * each other end, and what is wrong is refused as in a timed run. */
#include "test.h"

#include <glob.h>

#include "device/device.h"
#include "machine/machine.h"

/* Runs a launch file. Returns the hash of its buffers, and the thread instructions of its kernels. */
static uint64_t run(const char *path, uint32_t functional, uint64_t *instructions) {
    char error[LAUNCH_ERROR_BYTES];
    machine_options options;
    launch_file launch;
    uint64_t hash;
    machine *m;
    uint32_t i;
    machine_options_default(&options);
    options.functional = functional;
    if (launch_file_read(&launch, path, error)) fail_msg("%s", error);
    if (!(m = machine_build(&launch, &options, error))) fail_msg("%s: %s", path, error);
    if (machine_run(m, NEVER) != 1) fail_msg("%s: %s", path, m->error);
    for (*instructions = i = 0; i < m->kernel_count; i++) *instructions += m->kernels[i].thread_instructions;
    hash = machine_result_hash(m, &launch);
    machine_free(m);
    launch_file_free(&launch);
    return hash;
}

/* Kernels whose atomics give out places in the order in which warps come. */
static int is_unordered(const char *path) {
    static const char *const names[] = {"/bfs_queue/", "/bucketsort/", "/grid_points/"};
    size_t i;
    for (i = 0; i < sizeof names / sizeof *names; i++)
        if (strstr(path, names[i])) return 1;
    return 0;
}

/* Every small launch leaves the same memory, after as many instructions. */
static void test_results_are_those_of_timed_runs(void **state) {
    uint64_t timed_instructions, instructions;
    uint32_t compared = 0;
    glob_t files;
    size_t i;
    (void)state;
    assert_int_equal(glob(GPUMP_SOURCE_DIR "/examples/minigpu/kernels/*/small.yaml", 0, NULL, &files), 0);
    for (i = 0; i < files.gl_pathc; i++) {
        const char *path = files.gl_pathv[i];
        const uint64_t timed = run(path, 0, &timed_instructions);
        const uint64_t hash = run(path, FUNCTIONAL_ALL, &instructions);
        if (is_unordered(path)) continue;
        if (hash != timed) fail_msg("%s: another result without time", path);
        if (instructions != timed_instructions)
            fail_msg("%s: %llu thread instructions, with time %llu", path, (unsigned long long)instructions,
                     (unsigned long long)timed_instructions);
        compared++;
    }
    globfree(&files);
    assert_true(compared >= 60);
}

#define KERNEL(name, registers)                                                  \
    ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry " name       \
    "(.param .u64 to)\n{\n.reg .b32 %r<9>;\n.reg .b64 %rd<9>;\n.reg .pred %p;\n" \
    "ld.param.u64 %rd1, [to];\nmov.u32 %r1, %" registers ".x;\n"

/* Runs a kernel on one buffer of 64 words. Returns 0, or -1 with the reason in error. */
static int run_kernel(const char *text, const char *name, uint32_t blocks, uint32_t threads, uint32_t functional,
                      uint32_t words[64], char error[LAUNCH_ERROR_BYTES]) {
    device_options options;
    device_launch launch;
    uint64_t buffer;
    device *d;
    int failed;
    memset(&options, 0, sizeof options);
    machine_options_default(&options.machine);
    options.machine.functional = functional;
    if (!(d = device_open(&options, error))) fail_msg("%s", error);
    memset(&launch, 0, sizeof launch);
    launch.module = device_load(d, text, strlen(text), "text", error);
    if (launch.module == NONE) fail_msg("%s", error);
    buffer = device_allocate(d, 256, "words");
    memset(device_bytes(d, buffer, 256), 0, 256);
    launch.kernel = name;
    launch.grid[0] = blocks;
    launch.block[0] = threads;
    launch.grid[1] = launch.grid[2] = launch.block[1] = launch.block[2] = 1;
    launch.parameters = (const uint8_t *)&buffer;
    if (device_start(d, &launch, error)) fail_msg("%s", error);
    failed = device_run(d, error);
    memcpy(words, device_bytes(d, buffer, 256), 256);
    device_close(d);
    return failed;
}

/* Each block, or each warp, waits until the one with the next number has written its word: the last goes first. */
#define CHAIN(index)                                                                                               \
    "mul.wide.u32 %rd2, " index ", 4;\nadd.s64 %rd3, %rd1, %rd2;\nsetp.eq.u32 %p, " index ", 7;\n@%p bra WRITE;\n" \
    "WAIT:\nld.volatile.global.u32 %r2, [%rd3+4];\nsetp.eq.u32 %p, %r2, 0;\n@%p bra WAIT;\n"                       \
    "WRITE:\nst.volatile.global.u32 [%rd3], 1;\nret;\n}\n"

/* Blocks, and warps of a block, that wait for a word which a later one writes must not hang. */
static void test_blocks_wait_for_each_other(void **state) {
    static const char blocks[] = KERNEL("chain", "ctaid") CHAIN("%r1");
    static const char warps[] = KERNEL("chain", "tid") "shr.u32 %r1, %r1, 5;\n" CHAIN("%r1");
    char error[LAUNCH_ERROR_BYTES];
    uint32_t words[64], i;
    (void)state;
    assert_int_equal(run_kernel(blocks, "chain", 8, 32, FUNCTIONAL_ALL, words, error), 0);
    for (i = 0; i < 8; i++) assert_int_equal(words[i], 1);
    assert_int_equal(run_kernel(warps, "chain", 1, 256, FUNCTIONAL_ALL, words, error), 0);
    for (i = 0; i < 8; i++) assert_int_equal(words[i], 1);
}

/* A wrong access or a trap ends with the words of the timed run. */
static void test_what_is_wrong_is_refused_alike(void **state) {
    static const char *const texts[] = {
        KERNEL("wrong", "tid") "st.global.u32 [%rd1+256], %r1;\nret;\n}\n",
        KERNEL("wrong", "tid") "st.global.u32 [%rd1+1048576], %r1;\nret;\n}\n",
        KERNEL("wrong", "tid") "st.global.u32 [%rd1+2], %r1;\nret;\n}\n",
        KERNEL("wrong", "tid") "st.shared.u32 [%r1], %r1;\nret;\n}\n",
        KERNEL("wrong", "tid") "trap;\nret;\n}\n",
    };
    char timed[LAUNCH_ERROR_BYTES], error[LAUNCH_ERROR_BYTES];
    uint32_t words[64];
    size_t i;
    (void)state;
    for (i = 0; i < sizeof texts / sizeof *texts; i++) {
        assert_int_equal(run_kernel(texts[i], "wrong", 1, 32, 0, words, timed), -1);
        assert_int_equal(run_kernel(texts[i], "wrong", 1, 32, FUNCTIONAL_ALL, words, error), -1);
        assert_string_equal(error, timed);
    }
}

/* A barrier for more threads than there are. */
static void test_a_deadlock_ends(void **state) {
    static const char text[] = KERNEL("stuck", "tid") "bar.sync 0, 64;\nret;\n}\n";
    char error[LAUNCH_ERROR_BYTES];
    uint32_t words[64];
    (void)state;
    assert_int_equal(run_kernel(text, "stuck", 1, 32, FUNCTIONAL_ALL, words, error), -1);
    assert_non_null(strstr(error, "no instruction has been issued"));
}

/* Of three launches in a loop the first two take no time. */
static void test_the_first_launches_alone(void **state) {
    static const char text[] = KERNEL("add", "tid") "atom.global.add.u32 %r2, [%rd1], 1;\nret;\n}\n";
    char error[LAUNCH_ERROR_BYTES];
    device_options options;
    device_launch launch;
    uint64_t buffer, start, end;
    uint32_t i, sum;
    device *d;
    (void)state;
    memset(&options, 0, sizeof options);
    machine_options_default(&options.machine);
    options.machine.functional = 2;
    if (!(d = device_open(&options, error))) fail_msg("%s", error);
    memset(&launch, 0, sizeof launch);
    launch.module = device_load(d, text, strlen(text), "text", error);
    buffer = device_allocate(d, 256, "words");
    memset(device_bytes(d, buffer, 256), 0, 256);
    launch.kernel = "add";
    for (i = 0; i < 3; i++) launch.grid[i] = launch.block[i] = 1;
    launch.block[0] = 32;
    launch.parameters = (const uint8_t *)&buffer;
    launch.start_cycle = &start;
    launch.end_cycle = &end;
    for (i = 0; i < 3; i++) {
        assert_int_equal(device_start(d, &launch, error), 0);
        if (i != 1) assert_int_equal(device_run(d, error), 0); /* launch 2 begins when launch 3 is started */
        if (i == 0) assert_true(end - start < 5);
    }
    assert_true(end - start > 100);
    memcpy(&sum, device_bytes(d, buffer, 4), 4);
    assert_int_equal(sum, 96);
    device_close(d);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_results_are_those_of_timed_runs), cmocka_unit_test(test_blocks_wait_for_each_other),
        cmocka_unit_test(test_what_is_wrong_is_refused_alike),  cmocka_unit_test(test_a_deadlock_ends),
        cmocka_unit_test(test_the_first_launches_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
