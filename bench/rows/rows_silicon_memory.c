/* link: minigpu_core */
/* Rows of memory on the mini-GPU, which runs the kernels of bench/silicon/kernels.cu.
 *
 * M.lat.curve.<device>: cycles of a dependent load against the size of the buffer that a pointer chase walks through.
 * One thread visits every 128-byte line of the buffer once in an order without neighbours, again and again. A buffer
 * much larger than the L2 is not walked to its end, because none of its lines is found again.
 *
 * M.bw.occ.<device>: bandwidth of DRAM against the threads that are in flight. Each thread reads one double and ends,
 * so the next block of an SM starts when one has ended. The value is that of the rounds between two launches, so that
 * the first and the last round of a launch do not count.
 *
 * The 64-lane devices have no rows: the mini-GPU's warps have 32 lanes.
 *
 * Conditions of --set: block_start (cycles), queued_memory (1: requests queue at banks and rows), clock.DEVICE (MHz).
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "device/device.h"
#include "reproduce.h"

enum { LINE = 128, TIMED_MIN = 1 << 11, TIMED_MAX = 1 << 14, WALKS = 2, KERNEL_TEXT_MAX = 1 << 16 };

/* The preset of each device whose warps have 32 lanes. is_revised: a number of the preset was chosen when deciding rows
 * of that device or its family were known: the sets of an L1 since compute capability 8.0, and an L2 of two halves that
 * evicts by chance; which of the four levels of an RX 6900 XT are left out. */
static const struct {
    const char *device, *preset;
    int is_revised;
} devices[] = {{"v100", "v100", 0},     {"a100", "a100", 1},       {"a100pcie", "a100", 1},   {"gh200", "gh200", 1},
               {"h100pcie", "h100", 1}, {"h800pcie", "h100", 1},   {"rtx4090", "rtx4090", 1}, {"l40", "l40", 1},
               {"a40", "a40", 1},       {"rx6900xt", "gfx1030", 1}};

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

/* Opens the device of a preset with kernels.ptx in it. Returns NULL with the reason in error. options must outlive the
 * device. */
static device *open_device(device_options *options, const char *preset, uint32_t *module,
                           char error[LAUNCH_ERROR_BYTES]) {
    size_t length;
    char *text = read_kernels(&length);
    device *d;
    options->machine.gpu = preset;
    d = device_open(options, error);
    *module = d && text ? device_load(d, text, length, "kernels.ptx", error) : GPUMP_NONE;
    free(text);
    if (*module != GPUMP_NONE) return d;
    if (!*error) snprintf(error, LAUNCH_ERROR_BYTES, "%s cannot be read", BENCH_SILICON_PTX);
    device_close(d);
    return NULL;
}

static void curve(const reproduce_context *context, const char *id, reproduce_result *result) {
    const char *name = strrchr(id, '.') + 1;
    char error[LAUNCH_ERROR_BYTES] = "";
    device_options options;
    size_t which = 0;
    uint32_t module;
    device *d;
    while (strcmp(devices[which].device, name) != 0) which++;
    if (devices[which].is_revised) reproduce_revised(result);
    memset(&options, 0, sizeof options);
    machine_options_default(&options.machine);
    /* One thread needs few SMs. The bandwidth is divided as the SMs are, so one channel carries their share. */
    options.sms = 4;
    options.machine.config = "dram_channels=1";
    d = open_device(&options, devices[which].preset, &module, error);
    for (size_t row = 0; d && row < context->silicon->rows; row++) {
        const char *point = csv_text(context->silicon, row, "id"); /* the size; values are not looked at */
        double cycles;
        if (!silicon_is_of(point, id)) continue;
        cycles = chase(d, module, (uint64_t)(1000 * strtod(point + strlen(id) + 1, NULL)), error);
        if (isnan(cycles)) break;
        reproduce_point(result, point, cycles);
    }
    if (*error) reproduce_failed(result, "%s", error);
    device_close(d);
}

/* ---- bandwidth ---- */

/* The blocks that each SM holds, and their threads, by the threads that the row counts. The two newer result files
 * print the threads of one block per SM and an occupancy of two. */
typedef struct read_point {
    uint32_t threads, block, blocks;
} read_point;

enum { READ_POINTS = 4, ROUNDS_FEW = 6, ROUNDS_MANY = 30, READ_CONFIG_BYTES = 128 };

/* Cycles until a new block's first instruction: one number for all devices, fitted on the rows `fit` of these series of
 * eight devices by least squares of relative errors. */
#define BLOCK_START 314

/* clock_khz, sms: of the measured device, where they are not the preset's; 0. The A100 with 80 GB has the preset of
 * that with 40 GB, and the H100 PCIe that of the other board: no row of them fills the DRAM. */
static const struct {
    const char *device, *preset;
    uint32_t clock_khz, sms;
    read_point points[READ_POINTS];
} readers[] = {
    {"v100", "v100", 1380000, 0, {{5120, 64, 1}, {10240, 64, 2}, {40960, 256, 2}, {81920, 512, 2}}},
    {"a100_40", "a100", 0, 0, {{6912, 64, 1}, {13824, 128, 1}, {55296, 512, 1}, {110592, 1024, 1}}},
    {"a100_80", "a100", 0, 0, {{6912, 64, 1}, {13824, 64, 2}, {55296, 256, 2}, {110592, 512, 2}}},
    {"gh200", "gh200", 0, 0, {{8448, 64, 1}, {16896, 64, 2}, {67584, 256, 2}, {135168, 512, 2}}},
    {"h100pcie", "h100", 1755000, 114, {{3648, 32, 2}, {7296, 64, 2}, {29184, 256, 2}, {58368, 512, 2}}},
    {"h200", "h200", 0, 0, {{4224, 32, 2}, {8448, 64, 2}, {33792, 256, 2}, {67584, 512, 2}}},
    {"l40", "l40", 0, 0, {{6816, 48, 1}, {13632, 96, 1}, {54528, 192, 2}, {109056, 384, 2}}},
    {"a40", "a40", 0, 0, {{4032, 48, 1}, {8064, 96, 1}, {32256, 192, 2}, {64512, 384, 2}}},
    /* the latency of DRAM is not printed, that of the last-level cache is */
    {"rx6900xt", "gfx1030", 0, 0, {{2560, 32, 1}, {5120, 64, 1}, {20480, 256, 1}, {40960, 512, 1}}},
};

/* Returns the shared memory with which an SM holds so many blocks, or 0. */
static uint32_t shared_bytes_for(const gpump_gpu *gpu, const read_point *p) {
    gpump_footprint need = {p->block, 0, 0}; /* shared memory is what limits the blocks here */
    gpump_occupancy found;
    for (; need.shared_bytes < 65536; need.shared_bytes += 256)
        if (gpump_gpu_occupancy(gpu, &need, &found, NULL) == GPUMP_OK && found.blocks == p->blocks)
            return need.shared_bytes;
    return 0;
}

/* Returns the cycles in which every SM runs `rounds` rounds of its blocks, or NAN with the reason in error. */
static double read_rounds(device *d, uint32_t module, const read_point *p, uint32_t rounds,
                          char error[LAUNCH_ERROR_BYTES]) {
    const gpump_gpu *gpu = &device_config(d)->gpu;
    const uint64_t blocks = (uint64_t)rounds * p->blocks * gpu->sms, bytes = blocks * p->block * sizeof(double);
    const uint64_t from = device_allocate(d, bytes, "from");
    uint64_t parameters[2] = {from, from}, start = 0, end = 0;
    device_launch launch;
    int failed;
    if (!from) {
        snprintf(error, LAUNCH_ERROR_BYTES, "no memory for %llu bytes", (unsigned long long)bytes);
        return NAN;
    }
    memset(&launch, 0, sizeof launch);
    launch.module = module;
    launch.kernel = "read_once";
    launch.grid[0] = (uint32_t)blocks;
    launch.block[0] = p->block;
    launch.grid[1] = launch.grid[2] = launch.block[1] = launch.block[2] = 1;
    launch.dynamic_shared_bytes = shared_bytes_for(gpu, p);
    launch.parameters = (const uint8_t *)parameters;
    launch.start_cycle = &start;
    launch.end_cycle = &end;
    failed = device_start(d, &launch, error) || device_run(d, error);
    (void)device_release(d, from);
    return failed ? NAN : (double)(end - start);
}

/* Returns the clock at which a device is taken to run. */
static double read_khz(const reproduce_context *context, const char *device, double khz, reproduce_result *result) {
    char name[48];
    snprintf(name, sizeof name, "clock.%s", device);
    return 1000 * reproduce_condition(context, result, name, khz / 1000);
}

/* Writes the numbers of the machine: those that --set switches. */
static void read_config(const reproduce_context *context, char config[READ_CONFIG_BYTES], reproduce_result *result) {
    const int length = snprintf(config, READ_CONFIG_BYTES, "block_start_cycles=%.0f",
                                reproduce_condition(context, result, "block_start", BLOCK_START));
    if (reproduce_condition(context, result, "queued_memory", 0) > 0)
        snprintf(config + length, READ_CONFIG_BYTES - (size_t)length, ",memory_model=1");
}

static void bandwidth(const reproduce_context *context, const char *id, reproduce_result *result) {
    const char *name = strrchr(id, '.') + 1;
    char error[LAUNCH_ERROR_BYTES] = "", config[READ_CONFIG_BYTES];
    device_options options;
    size_t which = 0;
    uint32_t module, i;
    device *d;
    while (strcmp(readers[which].device, name) != 0) which++;
    memset(&options, 0, sizeof options);
    machine_options_default(&options.machine);
    read_config(context, config, result);
    options.machine.config = config;
    options.sms = readers[which].sms;
    d = open_device(&options, readers[which].preset, &module, error);
    for (i = 0; d && i < READ_POINTS; i++) {
        const read_point *p = &readers[which].points[i];
        const double few = read_rounds(d, module, p, ROUNDS_FEW, error);
        const double many = isnan(few) ? NAN : read_rounds(d, module, p, ROUNDS_MANY, error);
        const gpump_gpu *gpu = &device_config(d)->gpu;
        const double threads = (double)(ROUNDS_MANY - ROUNDS_FEW) * p->blocks * p->block * gpu->sms;
        const double khz = read_khz(context, readers[which].device,
                                    readers[which].clock_khz ? readers[which].clock_khz : gpu->clock_khz, result);
        char point[64];
        if (isnan(many)) break;
        snprintf(point, sizeof point, "%s.%u", id, (unsigned)p->threads);
        reproduce_point(result, point, threads * (double)sizeof(double) / (many - few) * khz / 1e6);
    }
    if (*error) reproduce_failed(result, "%s", error);
    device_close(d);
}

const reproduce_row rows_silicon_memory[] = {{"M.lat.curve.v100", curve},      {"M.lat.curve.a100", curve},
                                             {"M.lat.curve.a100pcie", curve},  {"M.lat.curve.gh200", curve},
                                             {"M.lat.curve.h100pcie", curve},  {"M.lat.curve.h800pcie", curve},
                                             {"M.lat.curve.rtx4090", curve},   {"M.lat.curve.l40", curve},
                                             {"M.lat.curve.a40", curve},       {"M.lat.curve.rx6900xt", curve},
                                             {"M.bw.occ.v100", bandwidth},     {"M.bw.occ.a100_40", bandwidth},
                                             {"M.bw.occ.a100_80", bandwidth},  {"M.bw.occ.gh200", bandwidth},
                                             {"M.bw.occ.h100pcie", bandwidth}, {"M.bw.occ.h200", bandwidth},
                                             {"M.bw.occ.l40", bandwidth},      {"M.bw.occ.a40", bandwidth},
                                             {"M.bw.occ.rx6900xt", bandwidth}, {NULL, NULL}};
