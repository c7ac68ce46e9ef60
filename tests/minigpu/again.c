/* labels: unit link: minigpu_core */
/* Machines that run again (device/kept.h): a device that keeps them and a device that builds one for each run do the
 * same, and a kernel that runs alone takes the same cycles, with random grids, kernels, priorities and allocations. */
#include "test.h"
#include "device/device.h"

#define WORDS 65536u
#define ROUNDS 60

/* Block b does to[i] = to[i] * factor + from[i] + b eight times, for i of its threads. */
static const char text[] = ".version 7.0\n.target sm_80\n.address_size 64\n"
#define KERNEL(name)                                                                                    \
    ".visible .entry " name "(.param .u64 to, .param .u64 from, .param .u32 factor)\n{\n"               \
    ".reg .b32 %r<9>;\n.reg .b64 %rd<9>;\n.reg .pred %p;\n"                                             \
    "ld.param.u64 %rd1, [to];\nld.param.u64 %rd2, [from];\nld.param.u32 %r1, [factor];\n"               \
    "mov.u32 %r2, %ctaid.x;\nmov.u32 %r3, %ntid.x;\nmov.u32 %r4, %tid.x;\n"                             \
    "mad.lo.s32 %r5, %r2, %r3, %r4;\nmul.wide.u32 %rd3, %r5, 4;\n"                                      \
    "add.s64 %rd4, %rd2, %rd3;\nadd.s64 %rd5, %rd1, %rd3;\n"                                            \
    "ld.global.u32 %r6, [%rd4];\nld.global.u32 %r7, [%rd5];\nadd.s32 %r6, %r6, %r2;\nmov.u32 %r8, 8;\n" \
    "AGAIN:\nmad.lo.s32 %r7, %r7, %r1, %r6;\nsub.s32 %r8, %r8, 1;\nsetp.ne.s32 %p, %r8, 0;\n"
#define END "@%p bra AGAIN;\nst.global.u32 [%rd5], %r7;\nret;\n}\n"
    KERNEL("plain") END KERNEL("storing") "st.global.u32 [%rd5], %r7;\n" END;

typedef struct side {
    device_options options;
    device *device;
    uint64_t buffers[3], times[8];
    uint64_t began; /* cycle of the round */
    uint32_t module, built, kernels;
} side;

static void built(void *user, machine *m, const launch_file *launch) {
    side *s = (side *)user;
    (void)launch;
    s->built += m->now == 0;
}

static void open_side(side *s, uint32_t runs_once) {
    char error[LAUNCH_ERROR_BYTES] = "";
    uint32_t i;
    memset(s, 0, sizeof *s);
    machine_options_default(&s->options.machine);
    s->options.runs_once = runs_once;
    s->options.built = built;
    s->options.user = s;
    s->device = device_open(&s->options, error);
    if (!s->device) fail_msg("%s", error);
    s->module = device_load(s->device, text, strlen(text), "again", error);
    if (s->module == NONE) fail_msg("%s", error);
    for (i = 0; i < 3; i++) s->buffers[i] = device_allocate(s->device, WORDS * 4, "words");
}

static uint32_t draw(uint64_t *state, uint32_t below) {
    *state = *state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (uint32_t)(*state >> 33) % below;
}

static void one_round(side *s, uint64_t seed) {
    uint32_t i, kernels = 1 + draw(&seed, 2), first = draw(&seed, 3);
    char error[LAUNCH_ERROR_BYTES] = "";
    if (draw(&seed, 8) == 0) { /* the buffers move, and what was there is nobody's */
        assert_int_equal(device_release(s->device, s->buffers[2]), 0);
        s->buffers[2] = device_allocate(s->device, WORDS * 4 * (1 + draw(&seed, 3)), "words");
        memset(device_bytes(s->device, s->buffers[2], WORDS * 4), 1, WORDS * 4);
    }
    s->kernels = kernels;
    s->began = device_cycle(s->device);
    for (i = 0; i < kernels; i++) {
        uint8_t parameters[24];
        const uint32_t to = (first + i) % 3, from = draw(&seed, 8) ? (first + 2) % 3 : to, factor = 1 + draw(&seed, 5);
        device_launch l = {0};
        memcpy(parameters, &s->buffers[to], 8);
        memcpy(parameters + 8, &s->buffers[from], 8);
        memcpy(parameters + 16, &factor, 4);
        l.module = s->module;
        l.kernel = i ? "storing" : "plain";
        l.grid[0] = 1 + draw(&seed, draw(&seed, 2) ? 8 : 120);
        l.grid[1] = l.grid[2] = l.block[1] = l.block[2] = 1;
        l.block[0] = draw(&seed, 8) ? 256 : 96;
        l.parameters = parameters;
        l.stream = l.priority = i;
        l.ready_cycle = device_cycle(s->device) + i * draw(&seed, 3000);
        l.start_cycle = &s->times[2 * i];
        l.end_cycle = &s->times[2 * i + 1];
        if (device_start(s->device, &l, error)) fail_msg("%s", error);
    }
    if (device_run(s->device, error)) fail_msg("%s", error);
}

/* A machine that ran other launches before gives the same runs as a new one. */
static void a_machine_used_again_is_as_new(void **unused) {
    side kept, anew;
    uint64_t n;
    uint32_t i;
    (void)unused;
    open_side(&kept, 0);
    open_side(&anew, 1);
    for (n = 0; n < ROUNDS; n++) {
        const uint64_t seed = (test_seed() << 32) + n;
        one_round(&kept, seed);
        one_round(&anew, seed);
        /* Which room of an SM a block gets stays as it was, so kernels beside each other may differ by some cycles. */
        for (i = 0; i < 2 && kept.kernels == 1; i++)
            test_check(kept.times[i] - kept.began == anew.times[i] - anew.began, test_seed(), n);
        for (i = 0; i < 3; i++)
            test_check(!memcmp(device_bytes(kept.device, kept.buffers[i], WORDS * 4),
                               device_bytes(anew.device, anew.buffers[i], WORDS * 4), WORDS * 4),
                       test_seed(), n);
    }
    assert_int_equal(anew.built, ROUNDS);
    assert_true(kept.built < ROUNDS * 3 / 4);
    device_close(kept.device);
    device_close(anew.device);
}

/* What was given back is nobody's for a machine that has seen it, too. */
static void released_memory(void **unused) {
    char error[LAUNCH_ERROR_BYTES] = "";
    uint8_t parameters[24] = {0};
    device_launch l = {0};
    side s;
    (void)unused;
    open_side(&s, 0);
    memcpy(parameters, &s.buffers[0], 8);
    memcpy(parameters + 8, &s.buffers[1], 8);
    l.module = s.module;
    l.kernel = "plain";
    l.grid[0] = l.grid[1] = l.grid[2] = l.block[1] = l.block[2] = 1;
    l.block[0] = 64;
    l.parameters = parameters;
    assert_int_equal(device_start(s.device, &l, error), 0);
    assert_int_equal(device_run(s.device, error), 0);
    assert_int_equal(device_release(s.device, s.buffers[1]), 0);
    assert_int_equal(device_start(s.device, &l, error), 0);
    assert_int_equal(device_run(s.device, error), -1);
    assert_int_equal(s.built, 1);
    device_close(s.device);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_machine_used_again_is_as_new),
                                       cmocka_unit_test(released_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
