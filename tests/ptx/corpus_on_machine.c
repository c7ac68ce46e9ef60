/* labels: unit equivalence link: minigpu_core */
/* Kernels of ptx_corpus on the whole machine, against C: warps that diverge, look across lanes, meet at barriers with a
 * reduction, mix address spaces in one instruction, update memory atomically, call functions. */
#include <stdarg.h>
#include "test.h"
#include <math.h>
#include "tools/check.h"
#include "machine/machine.h"
#include "sm/runtime_calls.h"

static launch_file launch;
static machine *m;

static void run(const char *name) {
    char path[512], error[LAUNCH_ERROR_BYTES];
    machine_options options;
    snprintf(path, sizeof path, "%s/tests/ptx/corpus_launches/%s.yaml", GPUMP_SOURCE_DIR, name);
    if (launch_file_read(&launch, path, error)) fail_msg("%s", error);
    machine_options_default(&options);
    m = machine_build(&launch, &options, error);
    if (!m) fail_msg("%s", error);
    if (machine_run(m, NEVER) != 1) fail_msg("%s: %s", name, m->error);
}
static void end(void) {
    machine_free(m);
    launch_file_free(&launch);
}
static const void *before(uint32_t buffer) { return launch.buffers[buffer].contents; }
static const void *after(uint32_t buffer) { return device_memory(m, launch.buffers[buffer].address); }

/* A sum by shuffles is that of the same order in C. */
static void shuffles_move_values_between_lanes(void **state) {
    (void)state;
    run("warp_sum");
    const float *in = before(0), *out = after(1);
    for (int w = 0; w < 15; w++) {
        float v[32], next[32];
        memcpy(v, in + 32 * w, sizeof v);
        for (int offset = 16; offset; offset >>= 1) {
            for (int l = 0; l < 32; l++) next[l] = v[l] + v[l + offset < 32 ? l + offset : l];
            memcpy(v, next, sizeof v);
        }
        for (int l = 0; l < 32; l++) assert_true(out[32 * w + l] == v[0] + (v[0] + v[0]));
    }
    end();
}

/* What the kernels of runtime.cu print stands in the order of blocks and threads, as C's printf writes it. */
static void test_printf(void **state) {
    static char text[16384], wanted[16384];
    size_t length = 0;
    (void)state;
    run("greets");
    const float *in = before(0);
    for (int i = 0; i < 55; i++) {
        length += (size_t)snprintf(
            wanted + length, sizeof wanted - length, "block %d thread %2u: %.3f %s|%5d|%-5d|%x %c %lld %%\n", i / 20,
            i % 20u, (double)in[i], i & 1 ? "odd" : "even", i, -i, i * 255u, 'a' + i % 26, (long long)i << 33);
        if (i % 5 == 0)
            length += (size_t)snprintf(wanted + length, sizeof wanted - length, "%*d %e %g %08.2f\n", 6, i,
                                       (double)in[i], (double)in[i], i / 7.0);
    }
    FILE *file = tmpfile();
    assert_non_null(file);
    runtime_calls_print(m, file);
    rewind(file);
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
    assert_string_equal(text, wanted);
    end();
}

/* The text has an end: what does not fit is counted, not written over what is there. */
static void test_printf_buffer_full(void **state) {
    char path[512], error[LAUNCH_ERROR_BYTES];
    machine_options options;
    (void)state;
    snprintf(path, sizeof path, "%s/tests/ptx/corpus_launches/greets.yaml", GPUMP_SOURCE_DIR);
    if (launch_file_read(&launch, path, error)) fail_msg("%s", error);
    machine_options_default(&options);
    m = machine_build(&launch, &options, error);
    if (!m) fail_msg("%s", error);
    m->config.print_bytes = 500;
    assert_int_equal(machine_run(m, NEVER), 1);
    assert_true(m->printed_bytes <= 500 && m->printed_bytes > 400 && m->printed_lost > 40);
    end();
}

/* A failed assertion ends the kernel, and is reported with text, file, line, block and thread. */
static void test_assertion_ends_the_kernel(void **state) {
    char path[512], error[LAUNCH_ERROR_BYTES];
    machine_options options;
    (void)state;
    snprintf(path, sizeof path, "%s/tests/ptx/corpus_launches/asserts.yaml", GPUMP_SOURCE_DIR);
    if (launch_file_read(&launch, path, error)) fail_msg("%s", error);
    ((int *)(void *)launch.buffers[0].contents)[83] = 1000;
    machine_options_default(&options);
    m = machine_build(&launch, &options, error);
    if (!m) fail_msg("%s", error);
    assert_int_equal(machine_run(m, NEVER), -1);
    assert_non_null(strstr(m->error, "kernel asserts: assertion `in[i] < 1000` failed at runtime.cu:15 in "));
    assert_non_null(strstr(m->error, ", block 2 thread 3"));
    end();
}

/* Lists that threads allocate on the device's heap have their own elements. */
static void device_malloc_gives_each_thread_its_list(void **state) {
    (void)state;
    run("lists");
    const int *out = after(0);
    for (int i = 0; i < 120; i++) assert_int_equal(out[i], 9 * i * 10 + 36);
    end();
}

/* Copies to shared memory while the warp multiplies; lanes past the end copy zeros. */
static void test_asynchronous_copies(void **state) {
    char path[512], error[LAUNCH_ERROR_BYTES];
    machine_options options;
    (void)state;
    snprintf(path, sizeof path, "%s/tests/ptx/corpus_launches/copied_product.yaml", GPUMP_SOURCE_DIR);
    if (launch_file_read(&launch, path, error)) fail_msg("%s", error);
    /* f16 of -3 to 3 */
    static const uint16_t halves[7] = {0xc200, 0xc000, 0xbc00, 0, 0x3c00, 0x4000, 0x4200};
    uint16_t *halves_of[2] = {(uint16_t *)(void *)launch.buffers[0].contents,
                              (uint16_t *)(void *)launch.buffers[1].contents};
    for (int k = 0; k < 32 * 64; k++) halves_of[0][k] = halves[(k * 5 + k / 64) % 7];
    for (int k = 0; k < 59 * 64; k++) halves_of[1][k] = halves[(k * 3 + k / 64 * 2) % 7];
    machine_options_default(&options);
    m = machine_build(&launch, &options, error);
    if (!m) fail_msg("%s", error);
    if (machine_run(m, NEVER) != 1) fail_msg("%s", m->error);
    const float *c = after(2);
    for (int row = 0; row < 32; row++)
        for (int column = 0; column < 59; column++) {
            int sum = 0;
            for (int k = 0; k < 64; k++) {
                const int i = row * 64 + k, j = column * 64 + k;
                sum += ((i * 5 + row) % 7 - 3) * ((j * 3 + column * 2) % 7 - 3);
            }
            assert_true(c[row * 59 + column] == (float)sum);
        }
    end();
}

/* Half of a block fills a buffer that the other half reads, with barrier objects between them. */
static void test_barrier_objects(void **state) {
    (void)state;
    run("handed_over");
    const int *in = before(0), *out = after(1);
    for (int b = 0; b < 3; b++)
        for (int t = 0; t < 64; t++) {
            uint32_t sum = 0;
            for (int k = 0; k < 7; k++) sum = sum * 3 + (uint32_t)in[(b * 7 + k) * 64 + 63 - t];
            assert_int_equal((uint32_t)out[b * 64 + t], sum);
        }
    end();
}

/* Barriers of the whole grid: a number passes from thread to thread, and from block to block. */
static void test_grid_barriers(void **state) {
    char path[512], error[LAUNCH_ERROR_BYTES];
    machine_options options;
    (void)state;
    run("passed_on");
    const int *in = before(0), *out = after(0);
    for (int i = 0; i < 576; i++) {
        uint32_t v = (uint32_t)in[(i + 576 - 4) % 576];
        for (uint32_t k = 0; k < 4; k++) v = v * 3 + k;
        assert_int_equal((uint32_t)out[i], v);
    }
    end();
    /* More blocks than the machine holds would wait for ever. */
    snprintf(path, sizeof path, "%s/tests/ptx/corpus_launches/passed_on.yaml", GPUMP_SOURCE_DIR);
    if (launch_file_read(&launch, path, error)) fail_msg("%s", error);
    launch.kernels[0].grid[0] = 1000;
    machine_options_default(&options);
    assert_null(machine_build(&launch, &options, error));
    assert_non_null(strstr(error, "the blocks of kernel passed_on wait for each other, and the GPU holds 120 of them"));
    launch_file_free(&launch);
}

/* Cooperative groups of 64 threads sum their elements. */
static void groups_of_two_warps_add_up(void **state) {
    (void)state;
    run("wide_groups");
    const int *in = before(0), *out = after(1);
    for (int i = 0; i < 768; i++) {
        int sum = 0;
        for (int k = 0; k < 64; k++) sum += in[i / 64 * 64 + k];
        assert_int_equal(out[i], sum);
    }
    end();
}

/* all, any, ballot and match beside loops over lanes. */
static void votes_are_over_the_lanes_that_take_part(void **state) {
    int odd = 0, nine = 0, no_eleven = 1;
    (void)state;
    run("votes");
    const int *in = before(0);
    const uint32_t *out = after(1);
    for (int i = 0; i < 96; i++) odd += in[i] & 1, nine |= in[i] == 9, no_eleven &= in[i] != 11;
    for (int i = 0; i < 96; i++) {
        const int *w = in + i / 32 * 32;
        uint32_t all = 0, same = 0, seven = 0;
        for (int l = 0; l < 32; l++) all |= (uint32_t)(w[l] > 3) << l, same += w[l] == in[i], seven |= w[l] == 7;
        all = ((all ^ seven) ^ 2) + same + 0xffffffffu;
        assert_int_equal(out[i], all + (uint32_t)(odd + nine + 2 * no_eleven));
    }
    end();
}

/* Sums, extremes, exchanges and chains of compare-and-swap end with the values of any order. */
static void atomics_of_every_kind_add_up(void **state) {
    uint32_t chain = 100;
    (void)state;
    run("atomics");
    const int *i = after(0);
    const uint32_t *u = after(1);
    const uint64_t *l = after(4);
    for (int k = 0; k < 192; k++) chain = chain * 3 + 1;
    assert_int_equal(i[0], 192);
    assert_int_equal(i[1], -63);
    assert_int_equal(i[2], 63);
    assert_int_equal(i[3], 2016);
    static const uint32_t want[6] = {0, 100, 11, 6, 0, 100};
    for (int k = 0; k < 6; k++) assert_int_equal(u[k], want[k]);
    assert_int_equal(u[7], chain);
    assert_int_equal(u[8], 0xffffffffu);
    assert_true(*(const float *)after(2) == 288.0f && *(const double *)after(3) == 48.0);
    assert_true(l[0] == 576 && l[1] == 63);
    end();
}

/* Shared memory of a size given at launch, and through generic addresses. */
static void shared_memory_is_its_blocks_own(void **state) {
    (void)state;
    run("dynamic_shared");
    const float *in = before(0), *out = after(1);
    for (int b = 0; b < 4; b++)
        for (int t = 0; t < 128; t++)
            assert_true(out[128 * b + t] == in[128 * b + 127 - t] + 2 * in[128 * b + (t & 31)]);
    end();
    run("generic");
    const int *g = after(0);
    for (int t = 0; t < 64; t++) assert_int_equal(g[t], t + !(0x0f0f00ffu >> (t & 31) & 1));
    end();
}

/* An array that is indexed by data lies in the thread's local memory. */
static void local_arrays_are_their_threads_own(void **state) {
    (void)state;
    run("local_array");
    const int *in = before(0), *out = after(1);
    for (int t = 0; t < 40; t++) {
        unsigned bins[24], sum = 0;
        for (unsigned k = 0; k < 24; k++) bins[k] = k;
        for (unsigned k = 0; k < 40; k++) bins[in[t * 40 + (int)k] % 24] += k;
        for (int k = 0; k < 24; k++) sum = sum * 3 + bins[k * 7 % 24];
        assert_int_equal((unsigned)out[t], sum);
    }
    end();
}

/* Structures as parameters, and the address of a parameter. */
static void structures_are_passed_by_value(void **state) {
    static const int members[5] = {5, -7, 11, 13, 1000};
    (void)state;
    run("by_value");
    const double *out = after(0);
    for (int t = 0; t < 64; t++) assert_true(out[t] == members[t % 5] + 0.25 - 3);
    end();
    run("parameter_address");
    const float *weights = after(0);
    for (int t = 0; t < 64; t++) assert_true(weights[t] == (float)(1 << (t * 3 & 7)) + 1.0f);
    end();
}

static float helper(float x, int k) {
    for (int i = 0; i < k; i++) x = fmaf(x, 0.5f, 1.0f);
    return x;
}

/* Calls, recursion by tables, switches and nested loops beside C. */
static void calls_loops_and_switches_end_right(void **state) {
    (void)state;
    run("calls");
    const float *in = before(0), *out = after(1);
    for (int i = 0; i < 200; i++) {
        float a = in[i], b = in[i] + 1.0f;
        if (i & 1) {
            float first = b * 0.25f;
            b = helper(a, 2);
            a = first;
        }
        assert_true(out[i] == helper(a, i & 7) + b);
    }
    end();
    run("switches");
    const int *v = before(0), *r = after(1);
    for (int i = 0; i < 60; i++) {
        int x = 0, stored = 1;
        for (int k = 0; k < 60; k++) {
            int c = v[(i + k) % 60];
            if (c == 4 && x > 1000) break;
            switch (c) {
            case 0: x += 3; break;
            case 1: x ^= 0x55; break;
            case 2: x = (int)((unsigned)x * 7u) - k; break;
            case 3: x -= k; break;
            case 4: x = (int)((unsigned)x << 1); break;
            case 5: x = __builtin_popcount((unsigned)x); break;
            case 6: break;
            case 7: x /= 3; break;
            case 8: x = -x; break;
            default: x++;
            }
            if (c != 6 && x < -100000) {
                stored = 0;
                break;
            }
        }
        assert_int_equal(r[i], stored ? x : 12345);
    }
    end();
    run("nested");
    const int *n = before(0), *sums = after(1);
    int sum = 0;
    for (int i = 0; i < n[0]; i++)
        for (int j = i; j < n[1]; j++) {
            if (n[j % 9] == i) break;
            while (sum < n[i % 9]) sum += j + 1;
        }
    for (int t = 0; t < 64; t++) assert_int_equal(sums[t], sum);
    end();
}

static int steps(int a, int b) {
    int r = 0;
    while (a > 0 && r < 20) a -= b & 7, r++;
    return r;
}
static int operation(int which, int a, int b) { return which == 0 ? a + b : which == 1 ? a * b : steps(a, b); }

/* The lanes of a warp call different functions: through tables of pointers, and by virtual methods. */
static void test_calls_through_pointers(void **state) {
    char path[512], error[LAUNCH_ERROR_BYTES];
    machine_options options;
    (void)state;
    run("tables");
    const int *in = before(0), *out = after(1);
    for (int i = 0; i < 200; i++) {
        int r = operation(in[i], i, 3);
        if (i & 4) r = operation((i % 3 + 2) % 3, r, i);
        assert_int_equal(out[i], r);
    }
    end();
    run("methods");
    in = before(0), out = after(1);
    for (int i = 0; i < 200; i++) {
        const int k = in[i], whole = k & 1;
        const int area = whole ? i * i : (i + 2) * (i + 2) - k * k, corners = whole ? 4 + k : 8 * k;
        assert_int_equal(out[i], area * 100 + corners);
    }
    end();
    /* One lane calls through a null pointer. */
    snprintf(path, sizeof path, "%s/tests/ptx/corpus_launches/tables.yaml", GPUMP_SOURCE_DIR);
    if (launch_file_read(&launch, path, error)) fail_msg("%s", error);
    ((int *)(void *)launch.buffers[0].contents)[83] = 3;
    machine_options_default(&options);
    m = machine_build(&launch, &options, error);
    if (!m) fail_msg("%s", error);
    assert_int_equal(machine_run(m, NEVER), -1);
    assert_non_null(strstr(m->error, "kernel tables: the pointer that is called names no function that fits; block 1"));
    end();
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_printf),
                                       cmocka_unit_test(test_printf_buffer_full),
                                       cmocka_unit_test(test_assertion_ends_the_kernel),
                                       cmocka_unit_test(device_malloc_gives_each_thread_its_list),
                                       cmocka_unit_test(test_asynchronous_copies),
                                       cmocka_unit_test(test_barrier_objects),
                                       cmocka_unit_test(test_grid_barriers),
                                       cmocka_unit_test(groups_of_two_warps_add_up),
                                       cmocka_unit_test(shuffles_move_values_between_lanes),
                                       cmocka_unit_test(votes_are_over_the_lanes_that_take_part),
                                       cmocka_unit_test(atomics_of_every_kind_add_up),
                                       cmocka_unit_test(shared_memory_is_its_blocks_own),
                                       cmocka_unit_test(local_arrays_are_their_threads_own),
                                       cmocka_unit_test(structures_are_passed_by_value),
                                       cmocka_unit_test(calls_loops_and_switches_end_right),
                                       cmocka_unit_test(test_calls_through_pointers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
