/* link: minigpu_core */
/* Tanasic 6.5.2, Figs. 6.11 and 6.12: the cost of a pipeline that can take faults, while nothing faults. Eleven kernels
 * on table61 under six schemes: T.exc.wdcommit, wdlast, replay, log8, log16, order, lbm; and under larger logs:
 * T.exc.sweep. Choices: docs/papers.md, "Rows of exception pipelines". */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernels/reference.h"
#include "machine/machine.h"
#include "reproduce.h"
#include "sorted.h"
#include "tools/check.h"

enum { KERNELS = 11, LBM = 1, SCHEMES = 6, SEEDS = 3, RESAMPLES = 2000, LBM_BLOCKS = 2, WINDOW = 16 };
/* The rows, and two second readings: lbm runs 8 warps on an SM (6.5.2), and besides, instructions are in a compiler's
 * order (4.2.2). */
enum { AS_RUN, EIGHT_WARPS, COMPILED, SETS };
static const char *const kernels[KERNELS] = {"cutcp", "lbm",   "sad_1",        "sgemm",     "spmv", "stencil",
                                             "tpacf", "mri_q", "mri_gridding", "bfs_queue", "histo"};
static const char *const schemes[SCHEMES] = {"stall", "wd_commit", "wd_check", "queue", "log8", "log16"};
static const char *const rows[SCHEMES] = {NULL,           "T.exc.wdcommit", "T.exc.wdlast",
                                          "T.exc.replay", "T.exc.log8",     "T.exc.log16"};

static double cycles[SETS][KERNELS][SCHEMES][SEEDS];
static char broken[LAUNCH_ERROR_BYTES];
static unsigned measured, seeds, sets;

/* What a run differs in. */
typedef struct setting {
    uint32_t order;  /* of memory accesses */
    uint32_t blocks; /* the most per SM; 0: no limit */
    uint32_t window; /* of instructions in a compiler's order; 0: the order of PTX */
} setting;
static const setting as_run = {GPUMP_REPLAY_CLASS, 0, 0};

/* Fills the kernel's buffers again. Returns 1, or 0 when the kernel has no generator: its inputs are the same for each
 * seed. */
static int seed_inputs(launch_file *launch, uint64_t seed) {
    const launch_kernel *k = &launch->kernels[0];
    reference_argument arguments[32];
    reference_launch view;
    uint32_t i;
    if (!k->reference || !k->reference->generate || k->argument_count > 32) return 0;
    memset(arguments, 0, sizeof arguments);
    for (i = 0; i < k->argument_count; i++) {
        const launch_argument *a = &k->arguments[i];
        arguments[i].scalar = a->is_buffer ? 0 : a->scalar;
        if (!a->is_buffer) continue;
        arguments[i].buffer = launch->buffers[a->buffer].contents;
        arguments[i].bytes = launch->buffers[a->buffer].bytes;
    }
    memcpy(view.grid, k->grid, sizeof view.grid);
    memcpy(view.block, k->block, sizeof view.block);
    view.dynamic_shared_bytes = k->dynamic_shared_bytes;
    view.argument_count = k->argument_count;
    view.arguments = arguments;
    return !k->reference->generate(&view, seed);
}

/* Runs a kernel under a scheme with all pages present. Returns its cycles, 0 when another seed would change nothing, or
 * -1 (broken[]). */
static double run(const reproduce_context *context, const char *name, const char *scheme, uint64_t seed, setting how) {
    char path[1024], wrong[LAUNCH_ERROR_BYTES], window[32];
    machine_options options;
    launch_file launch;
    double took = -1;
    machine *m;
    snprintf(path, sizeof path, "%s/kernels/%s/%s.yaml", MINIGPU_SOURCE_DIR, name,
             context->is_short ? "small" : "rounds");
    if (access(path, R_OK)) snprintf(path, sizeof path, "%s/kernels/%s/measure.yaml", MINIGPU_SOURCE_DIR, name);
    if (launch_file_read(&launch, path, broken)) return -1;
    if (seed > 1 && !seed_inputs(&launch, seed)) {
        launch_file_free(&launch);
        return 0;
    }
    launch.kernels[0].block_cap = how.blocks;
    machine_options_default(&options);
    options.gpu = "table61";
    options.faults.scheme = scheme;
    options.faults.order = how.order;
    snprintf(window, sizeof window, "schedule_window=%u", how.window);
    options.config = window;
    if ((m = machine_build(&launch, &options, broken))) {
        if (check_run_one(m, &launch, wrong))
            snprintf(broken, sizeof broken, "%s, %s: %.300s", name, scheme, wrong);
        else
            took = (double)m->now;
        machine_free(m);
    }
    launch_file_free(&launch);
    return took;
}

/* Runs every kernel of a set under every scheme. */
static void measure_set(const reproduce_context *context, unsigned set) {
    unsigned k, s, seed;
    for (k = 0; k < KERNELS && !broken[0]; k++)
        for (s = 0; s < SCHEMES && !broken[0]; s++)
            for (seed = 0; seed < seeds && !broken[0]; seed++) {
                double *const took = cycles[set][k][s];
                setting how = as_run;
                if (set && k == LBM) how.blocks = LBM_BLOCKS;
                if (set == COMPILED) how.window = WINDOW;
                took[seed] = set == EIGHT_WARPS && k != LBM ? cycles[AS_RUN][k][s][seed]
                                                            : run(context, kernels[k], schemes[s], seed + 1, how);
                if (took[seed] == 0) took[seed] = took[0];
            }
}

static int measure(const reproduce_context *context, reproduce_result *result) {
    unsigned set;
    if (!measured) {
        measured = 1;
        seeds = context->is_short ? 1 : SEEDS;
        sets = context->is_short ? 1 : SETS;
        for (set = 0; set < sets; set++) measure_set(context, set);
    }
    if (broken[0]) reproduce_failed(result, "%s", broken);
    return broken[0] ? -1 : 0;
}

/* Returns the speed in percent of stall-on-fault. */
static double speed(unsigned set, unsigned kernel, unsigned scheme, unsigned seed) {
    return 100 * cycles[set][kernel][0][seed] / cycles[set][kernel][scheme][seed];
}
/* Returns the geometric mean over the kernels of a sample. */
static double mean_of(unsigned set, const unsigned *sample, unsigned scheme, unsigned seed) {
    double sum = 0;
    unsigned k;
    for (k = 0; k < KERNELS; k++) sum += log(speed(set, sample[k], scheme, seed));
    return exp(sum / KERNELS);
}
static double mean_over_seeds(unsigned set, const unsigned *sample, unsigned scheme) {
    double sum = 0;
    unsigned seed;
    for (seed = 0; seed < seeds; seed++) sum += mean_of(set, sample, scheme, seed);
    return sum / seeds;
}

/* Sets the 95% interval of geometric means of kernels drawn with replacement. */
static void interval(unsigned set, unsigned scheme, double bounds[2]) {
    static double means[RESAMPLES];
    uint64_t random = 1;
    unsigned i, k, sample[KERNELS];
    for (i = 0; i < RESAMPLES; i++) {
        for (k = 0; k < KERNELS; k++) sample[k] = gpump_random_below(&random, KERNELS);
        means[i] = mean_over_seeds(set, sample, scheme);
    }
    sorted_sort(means, RESAMPLES);
    bounds[0] = means[RESAMPLES / 40];
    bounds[1] = means[RESAMPLES - 1 - RESAMPLES / 40];
}

static const unsigned all[KERNELS] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10};

/* Reports the mean under the second readings, with the interval of kernels drawn with replacement. */
static void geomean_readings(unsigned scheme, reproduce_result *result) {
    static const char *const words[SETS] = {
        NULL, "lbm runs 8 warps on an SM (6.5.2)",
        "lbm runs 8 warps on an SM, and instructions are in a compiler's order (4.2.2: an LLVM back end)"};
    double bounds[2];
    unsigned set;
    for (set = 1; set < sets; set++) {
        interval(set, scheme, bounds);
        reproduce_reading(result, mean_over_seeds(set, all, scheme), 1, "%s; 95%% interval %.1f to %.1f", words[set],
                          bounds[0], bounds[1]);
    }
}

static void geomean(const reproduce_context *context, const char *id, reproduce_result *result) {
    static const setting printed_order = {GPUMP_REPLAY_PRINTED, 0, 0};
    double values[SEEDS], bounds[2], sum;
    unsigned scheme = 1, k, seed;
    if (measure(context, result)) return;
    while (strcmp(rows[scheme], id)) scheme++;
    for (seed = 0; seed < seeds; seed++) values[seed] = mean_of(AS_RUN, all, scheme, seed);
    reproduce_samples(result, values, seeds, 1);
    interval(AS_RUN, scheme, bounds);
    reproduce_interval(result, bounds[0], bounds[1], 1);
    for (k = 0; k < KERNELS; k++) {
        for (sum = 0, seed = 0; seed < seeds; seed++) sum += speed(AS_RUN, k, scheme, seed);
        reproduce_note(result, "%s %.1f", kernels[k], sum / seeds);
    }
    geomean_readings(scheme, result);
    if (!context->is_short && scheme >= 3) { /* the thesis's order, which gives wrong results through memory */
        for (sum = 0, k = 0; k < KERNELS; k++) {
            const double printed = run(context, kernels[k], schemes[scheme], 1, printed_order);
            if (printed <= 0) return;
            sum += log(100 * cycles[AS_RUN][k][0][0] / printed);
        }
        reproduce_note(result, "with the order of memory accesses as printed %.1f (one seed)", exp(sum / KERNELS));
    }
}

/* Are the means of a set in the printed order? */
static unsigned set_holds(unsigned set, double mean[SCHEMES]) {
    unsigned s, holds = 1;
    for (s = 1; s < SCHEMES; s++) mean[s] = mean_over_seeds(set, all, s);
    for (s = 2; s < SCHEMES; s++) holds &= mean[s] >= mean[s - 1];
    return holds;
}

static void order(const reproduce_context *context, const char *id, reproduce_result *result) {
    double mean[SCHEMES];
    unsigned s, k, set, holds, alike = 0;
    (void)id;
    if (measure(context, result)) return;
    holds = set_holds(AS_RUN, mean);
    reproduce_holds(result, (int)holds, "log16 %.1f, log8 %.1f, replay %.1f, wdlast %.1f, wdcommit %.1f", mean[5],
                    mean[4], mean[3], mean[2], mean[1]);
    for (k = 0; k < KERNELS; k++) {
        unsigned kept = 1;
        for (s = 2; s < SCHEMES; s++) kept &= speed(AS_RUN, k, s, 0) >= speed(AS_RUN, k, s - 1, 0);
        alike += kept;
    }
    reproduce_note(result, "%u of %u kernels by themselves are in this order", alike, KERNELS);
    for (set = 1; set < sets; set++) {
        holds = set_holds(set, mean);
        reproduce_note(result, "%s: log16 %.1f, log8 %.1f, replay %.1f, wdlast %.1f, wdcommit %.1f (%s)",
                       set == COMPILED ? "besides in a compiler's order" : "lbm at 8 warps per SM", mean[5], mean[4],
                       mean[3], mean[2], mean[1], holds ? "as printed" : "not as printed");
    }
}

/* Reports the speeds of lbm under all schemes. */
static void lbm_note(const double took[SCHEMES], const char *where, reproduce_result *result) {
    reproduce_note(result, "%s: wdcommit %.1f, wdlast %.1f, queue %.1f, log8 %.1f, log16 %.1f", where,
                   100 * took[0] / took[1], 100 * took[0] / took[2], 100 * took[0] / took[3], 100 * took[0] / took[4],
                   100 * took[0] / took[5]);
}

static void lbm(const reproduce_context *context, const char *id, reproduce_result *result) {
    static const setting at_8 = {GPUMP_REPLAY_CLASS, LBM_BLOCKS, 0},
                         compiled = {GPUMP_REPLAY_CLASS, LBM_BLOCKS, WINDOW};
    double took[SCHEMES], full[SCHEMES], moved[SCHEMES];
    unsigned s;
    (void)id;
    for (s = 0; s < SCHEMES && !broken[0]; s++) {
        took[s] = run(context, "lbm", schemes[s], 1, at_8);
        full[s] = run(context, "lbm", schemes[s], 1, as_run);
        moved[s] = run(context, "lbm", schemes[s], 1, compiled);
    }
    if (broken[0]) {
        reproduce_failed(result, "%s", broken);
        return;
    }
    reproduce_number(result, 100 * took[0] / took[3], 1);
    reproduce_number(result, 100 * took[0] / took[5], 1);
    lbm_note(took, "at 8 warps per SM", result);
    lbm_note(full, "at full occupancy", result);
    lbm_note(moved, "at 8 warps per SM in a compiler's order", result);
    for (s = 0; s < 2 && !broken[0]; s++) /* Fig. 6.12 goes on to larger logs */
        reproduce_note(result, "log of %u KB at 8 warps per SM: %.1f", 32 << s,
                       100 * took[0] / run(context, "lbm", s ? "log64" : "log32", 1, at_8));
    reproduce_reading(result, 100 * moved[0] / moved[3], 1,
                      "the queue, instructions in a compiler's order (4.2.2: an LLVM back end)");
}

/* Fig. 6.12 has curves by the size of the log and prints two of their points. By design a log that is large enough has
 * the speed of the baseline (6.5.2). */
static void sweep(const reproduce_context *context, const char *id, reproduce_result *result) {
    enum { SIZES = 4 };
    static const char *const logs[SIZES] = {"log8", "log16", "log32", "log64"};
    double mean[SIZES] = {0}, lowest[SIZES], speeds[SIZES];
    unsigned k, i, falls = 0;
    (void)id;
    for (i = 0; i < SIZES; i++) lowest[i] = 100;
    for (k = 0; k < KERNELS && !broken[0]; k++) {
        const double stalls = run(context, kernels[k], schemes[0], 1, as_run);
        for (i = 0; i < SIZES && !broken[0]; i++) {
            speeds[i] = 100 * stalls / run(context, kernels[k], logs[i], 1, as_run);
            mean[i] += log(speeds[i]) / KERNELS;
            lowest[i] = fmin(lowest[i], speeds[i]);
        }
        reproduce_note(result, "%s %.1f %.1f %.1f %.1f", kernels[k], speeds[0], speeds[1], speeds[2], speeds[3]);
    }
    if (broken[0]) {
        reproduce_failed(result, "%s", broken);
        return;
    }
    for (i = 0; i < SIZES; i++) mean[i] = exp(mean[i]);
    for (i = 1; i < SIZES; i++) falls += mean[i] < mean[i - 1] - 0.5;
    reproduce_holds(result, !falls && fabs(mean[SIZES - 1] - 100) <= 1, "%.1f, %.1f, %.1f, %.1f", mean[0], mean[1],
                    mean[2], mean[3]);
    reproduce_note(result, "lowest of a kernel %.1f, %.1f, %.1f, %.1f; one seed", lowest[0], lowest[1], lowest[2],
                   lowest[3]);
}

const reproduce_row rows_exceptions[] = {
    {"T.exc.wdcommit", geomean}, {"T.exc.wdlast", geomean}, {"T.exc.replay", geomean},
    {"T.exc.log8", geomean},     {"T.exc.log16", geomean},  {"T.exc.order", order},
    {"T.exc.lbm", lbm},          {"T.exc.sweep", sweep},    {NULL, NULL}};
