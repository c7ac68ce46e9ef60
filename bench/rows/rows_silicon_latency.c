/* link: minigpu_core */
/* Rows M.lat.curve.<device>: cycles of a dependent load against the size of the buffer that a pointer chase walks
 * through, on the mini-GPU. The kernel is that of bench/silicon/measure.cu. One thread visits every 128-byte line of
 * the buffer once in an order without neighbours, again and again. A buffer much larger than the L2 is not walked to
 * its end, because none of its lines is found again. The 64-lane devices have no rows: the mini-GPU's warps have 32
 * lanes. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "device/device.h"
#include "reproduce.h"

enum { LINE = 128, TIMED_MIN = 1 << 11, TIMED_MAX = 1 << 14, WALKS = 2, KERNEL_TEXT_MAX = 1 << 16 };

/* The preset of each device whose warps have 32 lanes. is_revised: a number of the preset was chosen when deciding rows
 * of that device or its family were known: the sets of an L1 since compute capability 8.0, and an L2 of two halves that
 * evicts by chance. */
static const struct {
    const char *device, *preset;
    int is_revised;
} devices[] = {{"v100", "v100", 0},       {"a100", "a100", 1},     {"a100pcie", "a100", 1},
               {"gh200", "gh200", 1},     {"h100pcie", "h100", 1}, {"h800pcie", "h100", 1},
               {"rtx4090", "rtx4090", 1}, {"l40", "l40", 1},       {"a40", "a40", 1}};

/* Links `lines` lines into one ring, of which the first `used` links are written. The step from line to line has no
 * common divisor with their number. */
static void link_lines(uint8_t *buffer, uint64_t address, uint64_t lines, uint64_t used) {
    uint64_t step = (uint64_t)((double)lines * 0.6180339887) | 1, a, b;
    for (;; step += 2) {
        for (a = step, b = lines; b;) {
            const uint64_t rest = a % b;
            a = b;
            b = rest;
        }
        if (a == 1) break;
    }
    step %= lines;
    for (uint64_t i = 0, at = 0; i < used; i++) {
        const uint64_t next = at + step < lines ? at + step : at + step - lines;
        memcpy(buffer + at * LINE, &(uint64_t){address + next * LINE}, 8);
        at = next;
    }
}

/* Returns the cycles of a load in a buffer of `bytes`, or NAN with the reason in error. */
static double chase(device *d, uint32_t module, uint64_t bytes, char error[LAUNCH_ERROR_BYTES]) {
    const minigpu_config *config = device_config(d);
    const uint64_t lines = bytes / LINE ? bytes / LINE : 1, cached = config->l2_bytes / LINE;
    /* Walks until the caches hold what they hold from then on: none where no line is ever found again. */
    const uint64_t walks = lines <= cached ? 1 : config->l2_random && lines < 3 * cached ? WALKS : 0;
    const uint64_t buffer = device_allocate(d, lines * LINE, "lines"), cycles = device_allocate(d, 16, "cycles");
    struct {
        uint64_t start;
        uint32_t warm, steps;
        uint64_t cycles;
    } parameters = {buffer, 0, 0, cycles};
    device_launch launch;
    double result = NAN;
    if (!buffer || !cycles) {
        snprintf(error, LAUNCH_ERROR_BYTES, "no memory for a buffer of %llu bytes", (unsigned long long)bytes);
        return NAN;
    }
    parameters.steps = (uint32_t)(lines < TIMED_MIN   ? TIMED_MIN
                                  : lines < TIMED_MAX ? (lines + 31) / 32 * 32
                                                      : TIMED_MAX);
    parameters.warm = (uint32_t)((walks * lines + 31) / 32 * 32);
    link_lines(device_bytes(d, buffer, lines * LINE), buffer, lines, walks ? lines : parameters.steps);
    memset(&launch, 0, sizeof launch);
    launch.module = module;
    launch.kernel = "chase";
    launch.grid[0] = launch.grid[1] = launch.grid[2] = launch.block[0] = launch.block[1] = launch.block[2] = 1;
    launch.parameters = (const uint8_t *)&parameters;
    if (!device_start(d, &launch, error) && !device_run(d, error)) {
        uint64_t taken;
        memcpy(&taken, device_bytes(d, cycles, 8), 8);
        result = (double)taken / parameters.steps;
    }
    (void)device_release(d, buffer);
    (void)device_release(d, cycles);
    return result;
}

/* Reads kernels.ptx. Returns its text, or NULL. */
static char *read_kernels(size_t *length) {
    char *text = (char *)malloc(KERNEL_TEXT_MAX);
    FILE *file = fopen(BENCH_SILICON_PTX, "r");
    *length = file && text ? fread(text, 1, KERNEL_TEXT_MAX, file) : 0;
    if (file) fclose(file);
    return text;
}

static void curve(const reproduce_context *context, const char *id, reproduce_result *result) {
    const char *name = strrchr(id, '.') + 1;
    char error[LAUNCH_ERROR_BYTES] = "";
    device_options options;
    size_t length = 0, which = 0;
    uint32_t module = GPUMP_NONE;
    char *text = read_kernels(&length);
    device *d;
    while (strcmp(devices[which].device, name) != 0) which++;
    if (devices[which].is_revised) reproduce_revised(result);
    memset(&options, 0, sizeof options);
    machine_options_default(&options.machine);
    options.machine.gpu = devices[which].preset;
    /* One thread needs few SMs. The bandwidth is divided as the SMs are, so one channel carries their share. */
    options.sms = 4;
    options.machine.config = "dram_channels=1";
    d = device_open(&options, error);
    if (d && text) module = device_load(d, text, length, "kernels.ptx", error);
    for (size_t row = 0; module != GPUMP_NONE && row < context->silicon->rows; row++) {
        const char *point = csv_text(context->silicon, row, "id"); /* the size; values are not looked at */
        double cycles;
        if (!silicon_is_of(point, id)) continue;
        cycles = chase(d, module, (uint64_t)(1000 * strtod(point + strlen(id) + 1, NULL)), error);
        if (isnan(cycles)) break;
        reproduce_point(result, point, cycles);
    }
    if (*error) reproduce_failed(result, "%s", error);
    device_close(d);
    free(text);
}

const reproduce_row rows_silicon_latency[] = {{"M.lat.curve.v100", curve},     {"M.lat.curve.a100", curve},
                                              {"M.lat.curve.a100pcie", curve}, {"M.lat.curve.gh200", curve},
                                              {"M.lat.curve.h100pcie", curve}, {"M.lat.curve.h800pcie", curve},
                                              {"M.lat.curve.rtx4090", curve},  {"M.lat.curve.l40", curve},
                                              {"M.lat.curve.a40", curve},      {NULL, NULL}};
