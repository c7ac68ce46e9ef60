/* link: minigpu_core */
/* Tanasic 6.5.3 and 6.5.4, Figs. 6.13 and 6.15: blocks that give their place to others while they wait for pages, and
 * SMs that allocate pages: T.blockswitch.best, mean, worst, T.local.malloc.nvlink, .pcie, and T.local.output. Choices:
 * docs/papers.md, "Rows of faults served". */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "machine/machine.h"
#include "reproduce.h"
#include "resample.h"
#include "tools/check.h"

enum { KERNELS = 11, MALLOCS = 3, EXTRA = 4 };
static const char *const mallocs[MALLOCS] = {"add_strings", "random_graph", "grid_points"};
static const char *const kernels[KERNELS] = {"cutcp", "lbm",   "sad_1",        "sgemm",     "spmv", "stencil",
                                             "tpacf", "mri_q", "mri_gridding", "bfs_queue", "histo"};
static char broken[LAUNCH_ERROR_BYTES];

static int is_zero(const launch_buffer *buffer) {
    uint64_t i;
    for (i = 0; i < buffer->bytes && !buffer->contents[i]; i++) {}
    return i == buffer->bytes;
}

/* The absent pages of a kernel at first. */
typedef enum absence {
    ABSENT_INPUTS,  /* the CPU has all pages */
    ABSENT_OUTPUTS, /* buffers of zeros are unallocated, the CPU has the others */
    ABSENT_HEAP     /* the heap is unallocated, the other pages are present */
} absence;

static uint32_t owner_of(const launch_buffer *buffer, absence what) {
    if (what == ABSENT_HEAP)
        return buffer->name && !strcmp(buffer->name, "heap") ? GPUMP_FAULT_UNALLOCATED : GPUMP_FAULT_GPU;
    return what == ABSENT_OUTPUTS && is_zero(buffer) ? GPUMP_FAULT_UNALLOCATED : GPUMP_FAULT_CPU;
}

/* Runs a kernel with absent pages under a scheme on a machine with the numbers `config` (NULL: as it is). Returns its
 * cycles, or -1 (broken[]). */
static double run_on(const char *config, const reproduce_context *context, const char *name, const char *scheme,
                     const char *link, uint32_t extra, absence what, uint32_t local) {
    static const char *const forms[] = {"rounds", "measure", "launch"};
    char path[1024], wrong[LAUNCH_ERROR_BYTES];
    machine_options options;
    launch_file launch;
    double took = -1;
    machine *m;
    uint32_t i;
    for (i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/kernels/%s/%s.yaml", MINIGPU_SOURCE_DIR, name,
                 context->is_short ? "small" : forms[i]);
        if (!access(path, R_OK)) break;
    }
    if (launch_file_read(&launch, path, broken)) return -1;
    for (i = 0; i < launch.buffer_count; i++) launch.buffers[i].owner = owner_of(&launch.buffers[i], what);
    machine_options_default(&options);
    options.gpu = "table61";
    options.config = config;
    options.faults.scheme = scheme;
    options.faults.link = link;
    options.faults.extra = extra;
    options.faults.local = local;
    if ((m = machine_build(&launch, &options, broken))) {
        if (check_run_one(m, &launch, wrong))
            snprintf(broken, sizeof broken, "%s, %s: %.300s", name, link, wrong);
        else
            took = (double)m->now;
        machine_free(m);
    }
    launch_file_free(&launch);
    return took;
}

static double run(const reproduce_context *context, const char *name, const char *scheme, const char *link,
                  uint32_t extra, absence what, uint32_t local) {
    return run_on(NULL, context, name, scheme, link, extra, what, local);
}

static double geomean(const double *values, unsigned count) {
    double sum = 0;
    unsigned k;
    for (k = 0; k < count; k++) sum += log(values[k]);
    return exp(sum / count);
}

/* Sets the 95% interval of that mean, by drawing the kernels again. */
static void geomean_interval(const double *values, unsigned count, double interval[2]) {
    double logs[KERNELS];
    unsigned k;
    for (k = 0; k < count; k++) logs[k] = log(values[k]);
    (void)resampled_mean(logs, count, &interval[0], &interval[1]);
    interval[0] = exp(interval[0]);
    interval[1] = exp(interval[1]);
}

/* ---- blocks switched on a fault ---- */

/* Speed with switching relative to the baseline, per kernel: 0 with the link's serial service, 1 pipelined. The
 * baseline is stall on fault (6.5.3); `stays` is relative to the same scheme without switching. */
static double switched[2][KERNELS], stays[2][KERNELS];

static int measure_switching(const reproduce_context *context, reproduce_result *result) {
    static const char *const links[] = {"nvlink", "nvlink_pipelined"};
    static unsigned measured;
    unsigned k, l;
    for (l = 0; l < 2 && !measured && !broken[0]; l++)
        for (k = 0; k < KERNELS && !broken[0]; k++) {
            const double stalls = run(context, kernels[k], "stall", links[l], 0, ABSENT_INPUTS, 0),
                         waits = run(context, kernels[k], "log16", links[l], 0, ABSENT_INPUTS, 0),
                         leaves = run(context, kernels[k], "log16", links[l], EXTRA, ABSENT_INPUTS, 0);
            switched[l][k] = stalls / leaves;
            stays[l][k] = waits / leaves;
        }
    measured = 1;
    if (broken[0]) reproduce_failed(result, "%s", broken);
    return broken[0] ? -1 : 0;
}

static unsigned find(const char *name) {
    unsigned k = 0;
    while (strcmp(kernels[k], name)) k++;
    return k;
}

static void switching(const reproduce_context *context, const char *id, reproduce_result *result) {
    const char *what = id + strlen("T.blockswitch.");
    double interval[2];
    unsigned k;
    if (measure_switching(context, result)) return;
    if (!strcmp(what, "best")) {
        static const char *const named[] = {"sgemm", "histo", "stencil"}; /* that the figure names as gaining most */
        for (k = 0; k < 3; k++) {
            reproduce_number(result, 100 * (switched[0][find(named[k])] - 1), 1);
            reproduce_note(result, "%s; pipelined service: %.1f", named[k], 100 * (switched[1][find(named[k])] - 1));
        }
    } else if (!strcmp(what, "mean")) {
        reproduce_number(result, geomean(switched[0], KERNELS), 3);
        geomean_interval(switched[0], KERNELS, interval);
        reproduce_interval(result, interval[0], interval[1], 3);
        reproduce_note(result, "pipelined service: %.3f", geomean(switched[1], KERNELS));
        for (k = 0; k < KERNELS; k++)
            reproduce_note(result, "%s %.3f and %.3f", kernels[k], switched[0][k], switched[1][k]);
        reproduce_note(result, "relative to log16 without switching: %.3f and %.3f", geomean(stays[0], KERNELS),
                       geomean(stays[1], KERNELS));
    } else {
        k = find("mri_gridding");
        reproduce_number(result, switched[0][k], 3);
        reproduce_note(result, "pipelined service: %.3f", switched[1][k]);
    }
}

/* Over PCIe "the same benchmarks exhibit performance improvement, albeit a lower one (histo is the highest)". */
static void switching_over_pcie(const reproduce_context *context, const char *id, reproduce_result *result) {
    static const char *const named[] = {"sgemm", "histo", "stencil"};
    double gains[3];
    unsigned k;
    (void)id;
    for (k = 0; k < 3 && !broken[0]; k++) {
        const double stalls = run(context, named[k], "stall", "pcie3", 0, ABSENT_INPUTS, 0);
        gains[k] = 100 * (stalls / run(context, named[k], "log16", "pcie3", EXTRA, ABSENT_INPUTS, 0) - 1);
    }
    if (broken[0]) {
        reproduce_failed(result, "%s", broken);
        return;
    }
    reproduce_holds(result, gains[0] > 0 && gains[2] > 0 && gains[1] > gains[0] && gains[1] > gains[2],
                    "sgemm %.1f, histo %.1f, stencil %.1f", gains[0], gains[1], gains[2]);
    reproduce_note(result, "%% over stall on fault; serial service");
}

/* "Only small improvements", and mri_gridding is slower, when a save and a restore take one cycle each. Small: the
 * mean grows by less than 5%. */
static void switching_in_one_cycle(const reproduce_context *context, const char *id, reproduce_result *result) {
    double gains[KERNELS], mean, interval[2], half;
    const unsigned last = find("mri_gridding");
    unsigned k;
    (void)id;
    for (k = 0; k < KERNELS && !broken[0]; k++)
        gains[k] = run(context, kernels[k], "log16", "nvlink", EXTRA, ABSENT_INPUTS, 0) /
                   run_on("switch_stalls=2", context, kernels[k], "log16", "nvlink", EXTRA, ABSENT_INPUTS, 0);
    if (broken[0]) {
        reproduce_failed(result, "%s", broken);
        return;
    }
    mean = geomean(gains, KERNELS);
    geomean_interval(gains, KERNELS, interval);
    half = (interval[1] - interval[0]) / 2;
    reproduce_holds(result, mean > 1 && mean < 1.05 && gains[last] < 1, "mean %+.1f, mri_gridding %+.1f",
                    100 * (mean - 1), 100 * (gains[last] - 1));
    reproduce_resampled(result, reproduce_share_reversed(mean, half, 1, 0));
    reproduce_resampled(result, reproduce_share_reversed(1.05, 0, mean, half));
    reproduce_note(result, "95%% interval of the mean %+.1f to %+.1f, by drawing the kernels anew",
                   100 * (interval[0] - 1), 100 * (interval[1] - 1));
    for (k = 0; k < KERNELS; k++) reproduce_note(result, "%s %+.1f", kernels[k], 100 * (gains[k] - 1));
    reproduce_note(result, "%% over the same with contexts through memory; NVLink, serial service");
}

/* ---- pages that SMs allocate ---- */

/* Returns the geometric mean gain in percent of allocation by SMs over allocation by the CPU; -100 after an error
 * (broken[]). Notes every kernel when a result is given. */
static double gain(const reproduce_context *context, const char *const *names, unsigned count, const char *link,
                   absence what, reproduce_result *result) {
    double speeds[KERNELS];
    unsigned k;
    for (k = 0; k < count && !broken[0]; k++) {
        speeds[k] =
            run(context, names[k], "log16", link, 0, what, 0) / run(context, names[k], "log16", link, 0, what, 1);
        if (!broken[0] && result) reproduce_note(result, "%s %.2f", names[k], speeds[k]);
    }
    return broken[0] ? -100 : 100 * (geomean(speeds, count) - 1);
}

static void allocation(const reproduce_context *context, const char *id, reproduce_result *result) {
    const int is_pcie = strstr(id, "pcie") != NULL;
    const double serial = gain(context, mallocs, MALLOCS, is_pcie ? "pcie3" : "nvlink", ABSENT_HEAP, result);
    const double pipelined =
        gain(context, mallocs, MALLOCS, is_pcie ? "pcie3_pipelined" : "nvlink_pipelined", ABSENT_HEAP, NULL);
    if (broken[0]) {
        reproduce_failed(result, "%s", broken);
        return;
    }
    reproduce_number(result, serial, 1);
    reproduce_note(result, "pipelined service: %.1f; the serial service is read from the same figure", pipelined);
    reproduce_revised(result);
}

static void output(const reproduce_context *context, const char *id, reproduce_result *result) {
    static const char *const links[] = {"nvlink", "pcie3", "nvlink_pipelined", "pcie3_pipelined"};
    double gains[4];
    unsigned l;
    (void)id;
    for (l = 0; l < 4; l++) gains[l] = gain(context, kernels, KERNELS, links[l], ABSENT_OUTPUTS, l < 2 ? result : NULL);
    if (broken[0]) {
        reproduce_failed(result, "%s", broken);
        return;
    }
    reproduce_holds(result, gains[1] > gains[0] && gains[0] > 0, "NVLink %.1f %%, PCIe %.1f %%", gains[0], gains[1]);
    reproduce_note(result, "pipelined service: NVLink %.1f %%, PCIe %.1f %%", gains[2], gains[3]);
    reproduce_note(result, "the serial service is read from the same figure");
    reproduce_revised(result);
}

const reproduce_row rows_fault_service[] = {{"T.blockswitch.best", switching},
                                            {"T.blockswitch.mean", switching},
                                            {"T.blockswitch.worst", switching},
                                            {"T.blockswitch.pcie", switching_over_pcie},
                                            {"T.blockswitch.cycle", switching_in_one_cycle},
                                            {"T.local.malloc.nvlink", allocation},
                                            {"T.local.malloc.pcie", allocation},
                                            {"T.local.output", output},
                                            {NULL, NULL}};
