/* labels: unit equivalence link: minigpu_core */
/* Textures end to end: launch file, tex instructions, memory path; also when the kernel is preempted at any time. */
#include <stdarg.h>
#include "test.h"
#include <math.h>
#include "tools/check.h"
#include "machine/machine.h"

static machine *build(launch_file *launch, const char *name, uint64_t preempt) {
    char path[512], error[LAUNCH_ERROR_BYTES];
    machine_options options;
    machine *m;
    snprintf(path, sizeof path, "%s/tests/ptx/textures/%s.yaml", GPUMP_SOURCE_DIR, name);
    if (launch_file_read(launch, path, error)) fail_msg("%s", error);
    machine_options_default(&options);
    if (preempt) options.preempt_cycle = preempt;
    m = machine_build(launch, &options, error);
    if (!m) fail_msg("%s", error);
    if (machine_run(m, NEVER) != 1) fail_msg("%s: %s", name, m->error);
    return m;
}

static const void *output(machine *m, const launch_file *launch) {
    return device_memory(m, launch->buffers[1].address);
}

/* tex1Dfetch, inside and beyond the end. */
static void fetches_beyond_the_end_are_clamped(void **state) {
    launch_file launch;
    machine *m = build(&launch, "fetch", 0);
    const float *out = output(m, &launch);
    (void)state;
    for (int i = 0; i < 288; i++) assert_true(out[i] == 2 * (0.5f + 0.25f * (float)(i < 250 ? i : 249)));
    machine_free(m);
    launch_file_free(&launch);
}

/* Bilinear filtering at the centres gives the texels, through L1. */
static void a_texels_centre_is_that_texel_alone(void **state) {
    launch_file launch;
    machine *m = build(&launch, "bilinear", 0);
    const float *out = output(m, &launch);
    const uint8_t *in = launch.buffers[0].contents;
    (void)state;
    /* a texel's centre is that texel alone */
    for (int i = 0; i < 40 * 33 * 4; i++) assert_true(out[i] == (float)(in[i] / 255.0));
    assert_true(m->sms[0]->statistics.l1_hits > 0);
    machine_free(m);
    launch_file_free(&launch);
}

/* Three coordinates: the weights are 1/4 in x, none in y, 1/2 in z; what is outside is the nearest texel. */
static void test_volume(void **state) {
    launch_file launch;
    machine *m = build(&launch, "volume", 0);
    const float *in = (const float *)(const void *)launch.buffers[0].contents, *out = output(m, &launch);
    (void)state;
    for (int z = 0; z < 5; z++)
        for (int y = 0; y < 6; y++)
            for (int x = 0; x < 32; x++) {
                const int right = x < 31 ? x + 1 : 31, behind = z < 4 ? z + 1 : 4;
                const float *near = in + (z * 6 + y) * 32, *far = in + (behind * 6 + y) * 32;
                const double want = (0.75 * (double)near[x] + 0.25 * (double)near[right]) * 0.5 +
                                    (0.75 * (double)far[x] + 0.25 * (double)far[right]) * 0.5;
                assert_true(fabs((double)out[(z * 6 + y) * 32 + x] - want) < 1e-6);
            }
    machine_free(m);
    launch_file_free(&launch);
}

/* Layered textures, and a layer beyond the last. */
static void layers_are_chosen_by_number(void **state) {
    launch_file launch;
    machine *m = build(&launch, "layers", 0);
    const float *in = (const float *)(const void *)launch.buffers[0].contents, *out = output(m, &launch);
    (void)state;
    for (int i = 0; i < 960; i++) assert_true(out[i] == in[i < 768 ? i : i - 192] + in[0]);
    machine_free(m);
    launch_file_free(&launch);
}

/* A surface is read and written, undisturbed and preempted. */
static void surfaces_are_written_also_when_preempted(void **state) {
    launch_file launch;
    uint64_t cycles[] = {0, 300, 700};
    (void)state;
    for (int run = 0; run < 3; run++) { /* preempted too */
        machine *m = build(&launch, "surfaces", cycles[run]);
        const int16_t *in = (const int16_t *)(const void *)launch.buffers[0].contents, *out = output(m, &launch);
        for (int y = 0; y < 7; y++)
            for (int x = 0; x < 40; x++) {
                const int at = y * 40 + x, to = (6 - y) * 40 + x;
                assert_int_equal(out[2 * to], (int16_t)(in[2 * at + 1] + (x ? in[2 * at - 2] : 0)));
                assert_int_equal(out[2 * to + 1], in[2 * at]);
            }
        machine_free(m);
        launch_file_free(&launch);
    }
}

/* Texels of 16-bit integers, inside and beyond the edges. */
static void integer_texels_are_clamped(void **state) {
    launch_file launch;
    machine *m = build(&launch, "integers", 0);
    const int32_t *out = output(m, &launch);
    const uint8_t *in = launch.buffers[0].contents;
    (void)state;
    for (int y = 0; y < 20; y++)
        for (int x = 0; x < 32; x++) {
            int16_t want;
            memcpy(&want, in + 2 * ((y < 16 ? y : 15) * 24 + (x < 24 ? x : 23)), 2);
            assert_int_equal(out[y * 32 + x], want);
        }
    machine_free(m);
    launch_file_free(&launch);
}

/* Textures that are global names, bound by the launch file. */
static void texture_references_of_old_cuda(void **state) {
    launch_file launch;
    machine *m = build(&launch, "references", 0);
    const float *out = (const float *)device_memory(m, launch.buffers[0].address);
    (void)state;
    for (int i = 0; i < 240; i++) assert_true(out[i] == (float)(100 + i) + (float)(3 * (i % 40) - 7));
    machine_free(m);
    launch_file_free(&launch);
}

/* Preempted every fortieth of the run: blocks come back, results are the same. */
static void preempted_while_texels_are_in_flight(void **state) {
    launch_file launch;
    machine *whole = build(&launch, "bilinear", 0);
    uint64_t cycles = whole->now, hash = gpump_hash_bytes(GPUMP_HASH_SEED, output(whole, &launch), 5280 * 4),
             step = cycles / 40 + 1, resumed = 0;
    (void)state;
    machine_free(whole);
    launch_file_free(&launch);
    for (uint64_t at = 1; at < cycles; at += step) {
        machine *m = build(&launch, "bilinear", at);
        resumed += m->kernels[0].resumed;
        if (gpump_hash_bytes(GPUMP_HASH_SEED, output(m, &launch), 5280 * 4) != hash)
            fail_msg("preempted at cycle %llu", (unsigned long long)at);
        machine_free(m);
        launch_file_free(&launch);
    }
    assert_true(resumed > 100);
}

static void refuse(const char *argument, const char *expected) {
    char path[512], error[LAUNCH_ERROR_BYTES];
    launch_file launch;
    machine_options options;
    machine *m = NULL;
    FILE *file;
    snprintf(path, sizeof path, "%s/bad_texture.yaml", GPUMP_BINARY_DIR);
    file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file,
            "kernels:\n  - ptx: %s/tests/ptx/ptx_corpus/textures.ptx\n    kernel: texture_1d\n    grid: 1\n    block: "
            "32\n    arguments:\n%s"
            "      - buffer: {type: f32, count: 32}\n      - scalar: {type: s32, value: 32}\n",
            GPUMP_SOURCE_DIR, argument);
    fclose(file);
    machine_options_default(&options);
    if (launch_file_read(&launch, path, error) == 0) {
        m = machine_build(&launch, &options, error);
        if (m && machine_run(m, NEVER) != 1) snprintf(error, sizeof error, "%s", m->error);
        if (m) machine_free(m);
        launch_file_free(&launch);
    }
    if (!strstr(error, expected)) fail_msg("expected \"%s\", got \"%s\"", expected, error);
}

/* Sizes, channels, filters and types of textures that cannot be. */
static void wrong_textures_are_refused_with_their_place(void **state) {
    (void)state;
    refuse("      - texture: {width: 33}\n        buffer: {type: f32, count: 32}\n",
           "bad_texture.yaml:7:18: a texture of 33 x 1 x 1 texels takes 132 bytes, the buffer has 128");
    refuse("      - texture: {width: 4, channels: 3}\n        buffer: {type: f32, count: 32}\n",
           "a texture has 1, 2 or 4 channels");
    refuse("      - texture: {width: 4, filter: cubic}\n        buffer: {type: f32, count: 32}\n",
           "filter is \"cubic\", must be nearest, linear or the like");
    refuse("      - texture: {width: 4}\n        buffer: {type: f64, count: 32}\n", "a texture of f64 is not possible");
    refuse("      - texture: {width: 4}\n        scalar: {type: u64, value: 1}\n",
           "a texture needs a buffer, not a scalar");
    refuse("      - scalar: {type: u64, value: 1}\n", "no texture was given: handle at texture address 0x1");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(fetches_beyond_the_end_are_clamped),
                                       cmocka_unit_test(a_texels_centre_is_that_texel_alone),
                                       cmocka_unit_test(test_volume),
                                       cmocka_unit_test(layers_are_chosen_by_number),
                                       cmocka_unit_test(surfaces_are_written_also_when_preempted),
                                       cmocka_unit_test(integer_texels_are_clamped),
                                       cmocka_unit_test(texture_references_of_old_cuda),
                                       cmocka_unit_test(preempted_while_texels_are_in_flight),
                                       cmocka_unit_test(wrong_textures_are_refused_with_their_place)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
