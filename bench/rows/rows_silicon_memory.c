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
 * A wavefront of 64 lanes runs as two warps of 32. One thread chases, and each lane reads 8 bytes of its own, so
 * neither kernel depends on how many lanes are one warp.
 *
 * Conditions of --set: l1_ways, l2_kb, l2_random (1: an L2 evicts by chance), block_start (cycles), dram_groups,
 * dram_peak (GB/s), clock.DEVICE (MHz).
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "device/device.h"
#include "reproduce.h"

enum {
    LINE = 128,
    READ_CONFIG_BYTES = 256,
    TIMED_MIN = 1 << 11,
    TIMED_MAX = 1 << 14,
    WALKS = 2,
    KERNEL_TEXT_MAX = 1 << 16
};

/* An RX 6900 XT has four levels of caches (16 KB, 128 KB, 4 MB, 128 MB), of which the preset has two. Here they are the
 * L1, L2 and last-level cache of the mini-GPU, and its DRAM. Cycles: rows M.lat.rx6900xt, beyond the level before; the
 * network is shorter than the preset's, so that it fits into the second level's 123 cycles. */
#define RX6900XT_LEVELS \
    ",network_cycles=20,l2_bytes=131072,l2_ways=16,l2_cycles=74,llc_bytes=4194304,llc_cycles=98,dram_cycles=300"

/* The preset of each device. Numbers of a preset that were chosen with deciding rows in sight do not count here. An L2
 * evicts the oldest line (the presets of A100 and H100 evict by chance). An L1 of Volta, Ampere and Ada has `l1_ways`
 * ways, so that it has the 4 sets that are published of V100 (Jia 2018; the presets have 32 sets); 0: as the preset
 * says. levels: caches that differ from the preset's. */
static const struct {
    const char *device, *preset, *levels;
    uint32_t l1_ways;
} devices[] = {{"v100", "v100", "", 256},       {"a100", "a100", "", 368},
               {"a100pcie", "a100", "", 368},   {"gh200", "gh200", "", 0},
               {"h100pcie", "h100", "", 0},     {"h800pcie", "h100", "", 0},
               {"rtx4090", "rtx4090", "", 240}, {"l40", "l40", "", 240},
               {"a40", "a40", "", 240},         {"mi100", "mi100", "", 0},
               {"mi210", "mi210", "", 0},       {"mi300a", "mi300x", "", 0},
               {"mi300x", "mi300x", "", 0},     {"rx6900xt", "gfx1030", RX6900XT_LEVELS, 0}};

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
    const uint64_t lines = bytes / LINE ? bytes / LINE : 1,
                   cached = (config->llc_bytes > config->l2_bytes ? config->llc_bytes : config->l2_bytes) / LINE;
    /* Walks until the caches hold what they hold from then on: none where no line is ever found again, because every
     * set has more lines of the buffer than ways. */
    const uint64_t walks = lines <= cached + cached / config->l2_ways ? 1
                           : config->l2_random && lines < 3 * cached  ? WALKS
                                                                      : 0;
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

/* Writes the numbers of the machine: one thread needs few SMs, and as the bandwidth is divided as the SMs are, one
 * channel carries their share. */
static void curve_config(const reproduce_context *context, size_t which, char config[READ_CONFIG_BYTES],
                         reproduce_result *result) {
    const double ways = reproduce_condition(context, result, "l1_ways", devices[which].l1_ways),
                 kilobytes = reproduce_condition(context, result, "l2_kb", 0);
    size_t length = (size_t)snprintf(config, READ_CONFIG_BYTES, "dram_channels=1,half_wavefronts=1,l2_random=%.0f%s",
                                     reproduce_condition(context, result, "l2_random", 0), devices[which].levels);
    if (ways > 0) length += (size_t)snprintf(config + length, READ_CONFIG_BYTES - length, ",l1_ways=%.0f", ways);
    if (kilobytes > 0) snprintf(config + length, READ_CONFIG_BYTES - length, ",l2_bytes=%.0f", 1024 * kilobytes);
}

static void curve(const reproduce_context *context, const char *id, reproduce_result *result) {
    const char *name = strrchr(id, '.') + 1;
    char error[LAUNCH_ERROR_BYTES] = "", config[READ_CONFIG_BYTES];
    device_options options;
    size_t which = 0;
    uint32_t module;
    device *d;
    while (strcmp(devices[which].device, name) != 0) which++;
    memset(&options, 0, sizeof options);
    machine_options_default(&options.machine);
    curve_config(context, which, config, result);
    options.sms = 4;
    options.machine.config = config;
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

/* DRAM_GROUPS: a channel of GDDR6, HBM2 or HBM3 has four groups of banks (JEDEC), each of which transfers one line at a
 * time here. */
enum { READ_POINTS = 4, ROUNDS_FEW = 6, ROUNDS_MANY = 30, DRAM_GROUPS = 4 };

/* A device: its preset, its rows of M.lat with the board's clock and latency of DRAM (NULL: the preset's), its SMs (0:
 * the preset's), and the cycles until a new block's first instruction, fitted on the device's own rows `fit` of this
 * series by least squares of relative errors. The DRAM has the bandwidth of the row M.bw.DEVICE.dram.read, which may
 * set parameters: what the same kernel gets with all threads. */
static const struct {
    const char *device, *preset, *clock;
    uint32_t sms, block_start;
    read_point points[READ_POINTS];
} readers[] = {
    {"v100", "v100", "v100", 0, 268, {{5120, 64, 1}, {10240, 64, 2}, {40960, 256, 2}, {81920, 512, 2}}},
    {"a100_40", "a100", "a100", 0, 282, {{6912, 64, 1}, {13824, 128, 1}, {55296, 512, 1}, {110592, 1024, 1}}},
    {"a100_80", "a100", "a100", 0, 274, {{6912, 64, 1}, {13824, 64, 2}, {55296, 256, 2}, {110592, 512, 2}}},
    {"gh200", "gh200", "gh200", 0, 298, {{8448, 64, 1}, {16896, 64, 2}, {67584, 256, 2}, {135168, 512, 2}}},
    {"h100pcie", "h100", "h100pcie", 114, 328, {{3648, 32, 2}, {7296, 64, 2}, {29184, 256, 2}, {58368, 512, 2}}},
    {"h200", "h200", NULL, 0, 296, {{4224, 32, 2}, {8448, 64, 2}, {33792, 256, 2}, {67584, 512, 2}}},
    {"l40", "l40", "l40", 0, 363, {{6816, 48, 1}, {13632, 96, 1}, {54528, 192, 2}, {109056, 384, 2}}},
    {"a40", "a40", "a40", 0, 288, {{4032, 48, 1}, {8064, 96, 1}, {32256, 192, 2}, {64512, 384, 2}}},
    /* the latency of DRAM is not printed, that of the last-level cache is */
    {"rx6900xt", "gfx1030", "rx6900xt", 0, 82, {{2560, 32, 1}, {5120, 64, 1}, {20480, 128, 2}, {40960, 256, 2}}},
    {"mi100", "mi100", "mi100", 0, 218, {{7680, 64, 1}, {15360, 64, 2}, {61440, 256, 2}, {122880, 512, 2}}},
    {"mi210", "mi210", "mi210", 0, 302, {{6656, 64, 1}, {13312, 64, 2}, {53248, 256, 2}, {106496, 512, 2}}},
    {"mi300a", "mi300x", "mi300a", 228, 172, {{14592, 64, 1}, {29184, 64, 2}, {116736, 256, 2}, {233472, 512, 2}}},
    {"mi300x", "mi300x", "mi300x", 0, 184, {{19456, 64, 1}, {38912, 64, 2}, {155648, 256, 2}, {311296, 512, 2}}},
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

/* Returns the clock of the board, kHz, or 0: it is the preset's. */
static double board_khz(const reproduce_context *context, size_t which, reproduce_result *result) {
    char name[48];
    double mhz = 0;
    if (readers[which].clock) {
        snprintf(name, sizeof name, "M.lat.%s.clock", readers[which].clock);
        mhz = reproduce_fitted(context, name);
    }
    snprintf(name, sizeof name, "clock.%s", readers[which].device);
    return 1000 * reproduce_condition(context, result, name, mhz);
}

/* Returns the cycles beyond L2 with which a load from DRAM takes what it takes on the board, or the preset's where no
 * row says it. */
static double board_dram_cycles(const reproduce_context *context, size_t which) {
    enum { L2_LOAD_REST = 9 }; /* of a load beyond the parts below (launch/config.c) */
    minigpu_config c;
    char name[48];
    snprintf(name, sizeof name, "M.lat.%s.dram", readers[which].clock ? readers[which].clock : "");
    if (minigpu_config_preset(&c, readers[which].preset)) return 0;
    if (silicon_row(context->silicon, name) == context->silicon->rows) return c.dram_cycles;
    return floor(reproduce_fitted(context, name) + 0.5) - c.l2_cycles - L2_LOAD_REST - 2 * c.network_cycles;
}

/* Writes the numbers of the machine. Returns 0, or -1 when a row is missing. */
static int read_config(const reproduce_context *context, size_t which, char config[READ_CONFIG_BYTES],
                       reproduce_result *result) {
    const double khz = board_khz(context, which, result),
                 start = reproduce_condition(context, result, "block_start", readers[which].block_start);
    char row[48];
    double peak;
    int length;
    snprintf(row, sizeof row, "M.bw.%s.dram.read", readers[which].device);
    peak = reproduce_condition(context, result, "dram_peak", reproduce_fitted(context, row));
    if (!(peak > 0) || !(khz >= 0)) return -1;
    length = snprintf(config, READ_CONFIG_BYTES,
                      "half_wavefronts=1,block_start_cycles=%.0f,board_memory_mb_per_s=%.0f,board_clock_khz=%.0f",
                      start, 1000 * peak, khz);
    snprintf(config + length, READ_CONFIG_BYTES - (size_t)length, ",dram_groups=%.0f,dram_cycles=%.0f",
             reproduce_condition(context, result, "dram_groups", DRAM_GROUPS), board_dram_cycles(context, which));
    return 0;
}

static void bandwidth(const reproduce_context *context, const char *id, reproduce_result *result) {
    const char *name = strrchr(id, '.') + 1;
    char error[LAUNCH_ERROR_BYTES] = "", config[READ_CONFIG_BYTES];
    device_options options;
    size_t which = 0;
    uint32_t module, i;
    device *d = NULL;
    while (strcmp(readers[which].device, name) != 0) which++;
    memset(&options, 0, sizeof options);
    machine_options_default(&options.machine);
    if (read_config(context, which, config, result)) snprintf(error, sizeof error, "the board's numbers are missing");
    options.machine.config = config;
    options.sms = readers[which].sms;
    if (!*error) d = open_device(&options, readers[which].preset, &module, error);
    for (i = 0; d && i < READ_POINTS; i++) {
        const read_point *p = &readers[which].points[i];
        const double few = read_rounds(d, module, p, ROUNDS_FEW, error);
        const double many = isnan(few) ? NAN : read_rounds(d, module, p, ROUNDS_MANY, error);
        const gpump_gpu *gpu = &device_config(d)->gpu;
        const double threads = (double)(ROUNDS_MANY - ROUNDS_FEW) * p->blocks * p->block * gpu->sms;
        char point[64];
        if (isnan(many)) break;
        snprintf(point, sizeof point, "%s.%u", id, (unsigned)p->threads);
        reproduce_point(result, point, threads * (double)sizeof(double) / (many - few) * gpu->clock_khz / 1e6);
    }
    if (*error) reproduce_failed(result, "%s", error);
    device_close(d);
}

const reproduce_row rows_silicon_memory[] = {{"M.lat.curve.v100", curve},      {"M.lat.curve.a100", curve},
                                             {"M.lat.curve.a100pcie", curve},  {"M.lat.curve.gh200", curve},
                                             {"M.lat.curve.h100pcie", curve},  {"M.lat.curve.h800pcie", curve},
                                             {"M.lat.curve.rtx4090", curve},   {"M.lat.curve.l40", curve},
                                             {"M.lat.curve.a40", curve},       {"M.lat.curve.rx6900xt", curve},
                                             {"M.lat.curve.mi100", curve},     {"M.lat.curve.mi210", curve},
                                             {"M.lat.curve.mi300a", curve},    {"M.lat.curve.mi300x", curve},
                                             {"M.bw.occ.v100", bandwidth},     {"M.bw.occ.a100_40", bandwidth},
                                             {"M.bw.occ.a100_80", bandwidth},  {"M.bw.occ.gh200", bandwidth},
                                             {"M.bw.occ.h100pcie", bandwidth}, {"M.bw.occ.h200", bandwidth},
                                             {"M.bw.occ.l40", bandwidth},      {"M.bw.occ.a40", bandwidth},
                                             {"M.bw.occ.rx6900xt", bandwidth}, {"M.bw.occ.mi100", bandwidth},
                                             {"M.bw.occ.mi210", bandwidth},    {"M.bw.occ.mi300a", bandwidth},
                                             {"M.bw.occ.mi300x", bandwidth},   {NULL, NULL}};
