/* labels: unit link: minigpu_core */
/* Whole kernels of ptx_corpus, run one thread at a time, against C: the reader's and the lanes' agreement about what
 * PTX means. The math library's code is a sharp test: a single wrong rounding shows in its results. */
#include "test.h"
#include <math.h>
#include "analysis/analysis.h"
#include "analysis/latency_schedule.h"
#include "ptx/one_lane.h"

/* Every kernel runs as it is read, and with so many registers: allocated, and spilled where they are few. */
static const uint32_t register_files[] = {0, 255, 24, 14};
static uint32_t registers; /* the present one; 0: as it is read */
static int early_loads;    /* 1: with its loads moved up */

static ptx_module load_corpus(const char *name) {
    char path[512];
    ptx_module module;
    ptx_error error;
    snprintf(path, sizeof path, "%s/tests/ptx/ptx_corpus/%s.ptx", GPUMP_SOURCE_DIR, name);
    if (ptx_read_file(path, &module, &error)) fail_msg("%s", error.text);
    ptx_link(&module, (uint64_t)(uintptr_t)module.constant_image, (uint64_t)(uintptr_t)module.global_image);
    return module;
}

/* Runs threads 0 to threads-1 of one block. parameters: their values, 8 bytes each at their offsets. */
static void run(const ptx_module *module, const char *name, uint32_t threads, const uint64_t *values, uint32_t count) {
    static uint8_t shared[4096];
    uint8_t parameters[256];
    const kernel_program *kernel = ptx_find_kernel(module, name);
    kernel_program allocated, moved;
    lanes_environment e;
    if (!kernel) fail_msg("no kernel %s", name);
    if (early_loads) {
        moved = *kernel;
        moved.instructions = malloc(kernel->count * sizeof *moved.instructions);
        memcpy(moved.instructions, kernel->instructions, kernel->count * sizeof *moved.instructions);
        assert_int_equal(latency_schedule(&moved, 32), 0);
        if (kernel->count > 60)
            assert_memory_not_equal(moved.instructions, kernel->instructions,
                                    kernel->count * sizeof *moved.instructions);
        kernel = &moved;
    }
    if (registers) {
        gpump_registers_report report;
        gpump_diag diag;
        assert_int_equal(analysis_allocate(kernel, registers, &allocated, &report, &diag), GPUMP_OK);
        assert_true(allocated.registers <= registers);
        kernel = &allocated;
    }
    assert_int_equal(count, kernel->parameter_count);
    memset(&e, 0, sizeof e);
    memset(parameters, 0, sizeof parameters);
    e.grid[0] = e.grid[1] = e.grid[2] = 1;
    e.block_threads[0] = 1; /* every thread is lane 0 of a block of its own */
    e.block_threads[1] = e.block_threads[2] = 1;
    for (uint32_t i = 0; i < count; i++)
        memcpy(parameters + kernel->parameters[i].offset, &values[i], kernel->parameters[i].bytes);
    for (uint32_t t = 0; t < threads; t++) {
        e.block[0] = t;
        if (one_lane_run(kernel, &e, parameters, shared)) fail_msg("%s does not end", name);
    }
    if (registers) analysis_free_kernel(&allocated);
    if (early_loads) free(moved.instructions);
}
static uint64_t pointer(const void *p) { return (uint64_t)(uintptr_t)p; }

static double ulps(double got, double want, int is_float) {
    if ((isnan(got) && isnan(want)) || got == want) return 0;
    if (!isfinite(got) || !isfinite(want)) return HUGE_VAL;
    double unit = is_float ? (double)(nextafterf(fabsf((float)want), HUGE_VALF) - fabsf((float)want))
                           : nextafter(fabs(want), HUGE_VAL) - fabs(want);
    return fabs(got - want) / unit;
}

static void check_mathematics(void) {
    static const struct {
        const char *name;
        int is_float;
        double allowed, low, high; /* ulps, range of x */
    } functions[] = {{"sin_f32", 1, 2, -1e6, 1e6},  {"exp_f32", 1, 2, -80, 80},   {"pow_f32", 1, 4, 0, 30},
                     {"fmod_f32", 1, 0, -1e6, 1e6}, {"cos_f64", 0, 2, -1e9, 1e9}, {"pow_f64", 0, 2, 0, 30},
                     {"erf_f64", 0, 2, -4, 4},      {"cbrt_f64", 0, 2, -1e6, 1e6}};
    ptx_module module = load_corpus("mathematics");
    uint64_t seed = test_seed();
    for (uint32_t i = 0; i < sizeof functions / sizeof *functions; i++)
        for (uint32_t n = 0; n < test_cases(60); n++) {
            double part = (double)(gpump_random_next(&seed) >> 11) / 9007199254740992.0,
                   x = functions[i].low + part * (functions[i].high - functions[i].low);
            double y = (double)(gpump_random_next(&seed) >> 11) / 9007199254740992.0 * 9 - 4.5, want, got;
            float in32[2], out32 = 0;
            double in64[2], out64 = 0;
            if (n % 8 == 0) x *= 1e-6;
            if (functions[i].is_float) x = (double)(float)x, y = (double)(float)y;
            in32[0] = (float)x, in32[1] = (float)y;
            in64[0] = x, in64[1] = y;
            uint64_t values[2] = {pointer(functions[i].is_float ? (void *)in32 : (void *)in64),
                                  pointer(functions[i].is_float ? (void *)&out32 : (void *)&out64)};
            run(&module, functions[i].name, 1, values, 2);
            got = functions[i].is_float ? (double)out32 : out64;
            switch (i) {
            case 0: want = (double)(float)sin(x); break;
            case 1: want = (double)(float)exp(x); break;
            case 2: want = (double)(float)pow(x, y); break;
            case 3: want = fmod(x, y); break;
            case 4: want = cos(x); break;
            case 5: want = pow(x, y); break;
            case 6: want = erf(x); break;
            default: want = (double)cbrtl((long double)x); /* the C library's cbrt is up to four units off */
            }
            if (ulps(got, want, functions[i].is_float) > functions[i].allowed)
                fail_msg("%s(%.17g, %.17g) = %.17g, expected %.17g", functions[i].name, x, y, got, want);
        }
    ptx_free(&module);
}

static void check_control(void) {
    enum { N = 64 };
    int in[N], out[N];
    float f[N], g[N];
    ptx_module module = load_corpus("control");
    for (int i = 0; i < N; i++) {
        in[i] = (i * 7 + i / 5) % 11;
        f[i] = 0.375f * (float)i - 3;
        out[i] = 12345;
    }
    uint64_t values[3] = {pointer(in), pointer(out), N};
    run(&module, "switches", N, values, 3);
    for (int i = 0; i < N; i++) {
        int r = 0, stored = 1;
        for (int k = 0; k < N; k++) {
            int v = in[(i + k) % N], go_on = 0;
            if (v == 0)
                r += 3;
            else if (v == 1)
                r ^= 0x55;
            else if (v == 2)
                r = (int)((unsigned)r * 7u) - k;
            else if (v == 3)
                r -= k;
            else if (v == 4) {
                if (r > 1000) break;
                r = (int)((unsigned)r << 1);
            } else if (v == 5)
                r = __builtin_popcount((unsigned)r);
            else if (v == 6)
                go_on = 1;
            else if (v == 7)
                r = r / 3;
            else if (v == 8)
                r = -r;
            else
                r++;
            if (!go_on && r < -100000) {
                stored = 0;
                break;
            }
        }
        assert_int_equal(out[i], stored ? r : 12345);
    }
    uint64_t more[3] = {pointer(f), pointer(g), N};
    run(&module, "calls", N, more, 3);
    for (int i = 0; i < N; i++) {
        float a = f[i], b = f[i] + 1.0f, x;
        if (i & 1) {
            float na = b * 0.25f, nb = a;
            for (int k = 0; k < 2; k++) nb = fmaf(nb, 0.5f, 1.0f);
            a = na, b = nb;
        }
        x = a;
        for (int k = 0; k < (i & 7); k++) x = fmaf(x, 0.5f, 1.0f);
        assert_true(g[i] == x + b);
    }
    unsigned pairs[2 * 5] = {0xffffffffu, 0xffffffffu, 0xffffffffu, 2, 77, 0x80000001u, 0xdeadbeefu, 0xcafebabeu, 1, 1},
                       sum[3];
    unsigned __int128 want = 0;
    for (int i = 0; i < 5; i++) want += (unsigned __int128)pairs[2 * i] * pairs[2 * i + 1];
    uint64_t wide[3] = {pointer(pairs), pointer(sum), 5};
    run(&module, "wide_accumulate", 1, wide, 3);
    for (int k = 0; k < 3; k++) assert_int_equal(sum[k], (unsigned)(want >> (32 * k)));
    ptx_free(&module);
}

static void check_memory(void) {
    enum { N = 48 };
    ptx_module module = load_corpus("memory_spaces");
    float in[N], out[N];
    static const float table[16] = {1, 2, 3, 4, 5, 6, 7, 8};
    static const short steps[4] = {-1, 2, -3, 4};
    for (int i = 0; i < N; i++) in[i] = (float)((i * 37) % 101) / 8;
    uint64_t values[3] = {pointer(in), pointer(out), N};
    run(&module, "constants", N, values, 3);
    for (int i = 0; i < N; i++) {
        float sum = 0;
        for (int k = 0; k < 16; k++) sum = fmaf(table[(k + i) & 15], in[(i + k) % N], sum);
        assert_true(out[i] == sum + steps[i & 3]);
    }
    /* local arrays: thread 0 only, its block's index is not used */
    int numbers[64], result[1] = {0}, bins[24];
    for (int i = 0; i < 64; i++) numbers[i] = (i * i + 5) % 50;
    uint64_t local[3] = {pointer(numbers), pointer(result), 64};
    run(&module, "local_array", 1, local, 3);
    for (int k = 0; k < 24; k++) bins[k] = k;
    for (int k = 0; k < 64; k++) bins[numbers[k] % 24] += k;
    unsigned total = 0;
    for (int k = 0; k < 24; k++) total = total * 3 + (unsigned)bins[(k * 7) % 24];
    assert_int_equal(result[0], (int)total);
    /* vectors and narrow types */
    float a[4 * 4];
    int b[2 * 4];
    double c[2 * 4];
    uint8_t d[4 * 4];
    short e[4], before[4];
    for (int i = 0; i < 16; i++) a[i] = (float)(i * 3) + 0.75f;
    for (int i = 0; i < 8; i++) b[i] = 1000 * i - 2500;
    for (int i = 0; i < 4; i++) e[i] = before[i] = (short)(i * 9000 - 20000);
    uint64_t vectors[5] = {pointer(a), pointer(b), pointer(c), pointer(d), pointer(e)};
    run(&module, "vectors", 4, vectors, 5);
    for (int i = 0; i < 4; i++) {
        assert_true(c[2 * i] == (double)(a[4 * i] + a[4 * i + 1]) && c[2 * i + 1] == (double)b[2 * i] * b[2 * i + 1]);
        for (int k = 0; k < 3; k++) assert_int_equal(d[4 * i + k], (uint8_t)a[4 * i + k]);
        assert_int_equal(d[4 * i + 3], (uint8_t)b[2 * i]);
        assert_int_equal(e[i], (short)(before[i] * 3 - d[4 * i]));
    }
    ptx_free(&module);
}

static void check_half(void) {
    ptx_module module = load_corpus("half");
    uint16_t in[4] = {0x3c00, 0xc100, 0x7bff, 0x0001}, out[4];        /* 1, -2.5, 65504, the least */
    static const uint16_t want[4] = {0x3f00, 0xc300, 0x7c00, 0x3400}; /* 1.75, -3.5, infinite, 0.25 */
    uint64_t values[3] = {pointer(in), pointer(out), 4};
    run(&module, "half_storage", 4, values, 3);
    for (int i = 0; i < 4; i++) assert_int_equal(out[i], want[i]);
    ptx_free(&module);
}

#define TEST(name)                                                                            \
    static void test_##name(void **state) {                                                   \
        (void)state;                                                                          \
        for (uint32_t i = 0; i < 2 * (sizeof register_files / sizeof *register_files); i++) { \
            registers = register_files[i / 2];                                                \
            early_loads = i % 2;                                                              \
            check_##name();                                                                   \
        }                                                                                     \
    }
TEST(mathematics)
TEST(control)
TEST(memory)
TEST(half)

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_mathematics), cmocka_unit_test(test_control),
                                       cmocka_unit_test(test_memory), cmocka_unit_test(test_half)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
