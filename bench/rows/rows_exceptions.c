/* link: minigpu_core */
/* Tanasic 6.5.2, Figs. 6.11 and 6.12: the cost of a pipeline that can take faults, while nothing faults. Eleven kernels
 * on table61 under six schemes: T.exc.wdcommit, wdlast, replay, log8, log16, order, lbm. Choices: docs/papers.md, "Rows
 * of exception pipelines". */
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

enum { KERNELS = 11, SCHEMES = 6, SEEDS = 3, RESAMPLES = 2000, LBM_BLOCKS = 2 };
static const char *const kernels[KERNELS] = {"cutcp", "lbm",   "sad_1",        "sgemm",     "spmv", "stencil",
                                             "tpacf", "mri_q", "mri_gridding", "bfs_queue", "histo"};
static const char *const schemes[SCHEMES] = {"stall", "wd_commit", "wd_check", "queue", "log8", "log16"};
static const char *const rows[SCHEMES] = {NULL,           "T.exc.wdcommit", "T.exc.wdlast",
                                          "T.exc.replay", "T.exc.log8",     "T.exc.log16"};

static double cycles[KERNELS][SCHEMES][SEEDS];
static char broken[LAUNCH_ERROR_BYTES];
static unsigned measured, seeds;

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

/* Runs a kernel under a scheme with all pages present. blocks: the most blocks per SM; 0: no limit. Returns its cycles,
 * 0 when another seed would change nothing, or -1 (broken[]). */
static double run(const reproduce_context *context, const char *name, const char *scheme, uint32_t order, uint64_t seed,
                  uint32_t blocks) {
    char path[1024], wrong[LAUNCH_ERROR_BYTES];
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
    launch.kernels[0].block_cap = blocks;
    machine_options_default(&options);
    options.gpu = "table61";
    options.faults.scheme = scheme;
    options.faults.order = order;
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

static int measure(const reproduce_context *context, reproduce_result *result) {
    unsigned k, s, seed;
    if (!measured) {
        measured = 1;
        seeds = context->is_short ? 1 : SEEDS;
        for (k = 0; k < KERNELS && !broken[0]; k++)
            for (s = 0; s < SCHEMES && !broken[0]; s++)
                for (seed = 0; seed < seeds && !broken[0]; seed++) {
                    cycles[k][s][seed] = run(context, kernels[k], schemes[s], GPUMP_REPLAY_CLASS, seed + 1, 0);
                    if (cycles[k][s][seed] == 0) cycles[k][s][seed] = cycles[k][s][0];
                }
    }
    if (broken[0]) reproduce_failed(result, "%s", broken);
    return broken[0] ? -1 : 0;
}

/* Returns the speed in percent of stall-on-fault. */
static double speed(unsigned kernel, unsigned scheme, unsigned seed) {
    return 100 * cycles[kernel][0][seed] / cycles[kernel][scheme][seed];
}
/* Returns the geometric mean over the kernels of a sample. */
static double mean_of(const unsigned *sample, unsigned scheme, unsigned seed) {
    double sum = 0;
    unsigned k;
    for (k = 0; k < KERNELS; k++) sum += log(speed(sample[k], scheme, seed));
    return exp(sum / KERNELS);
}
static double mean_over_seeds(const unsigned *sample, unsigned scheme) {
    double sum = 0;
    unsigned seed;
    for (seed = 0; seed < seeds; seed++) sum += mean_of(sample, scheme, seed);
    return sum / seeds;
}

/* Sets the 95% interval of geometric means of kernels drawn with replacement. */
static void interval(unsigned scheme, double bounds[2]) {
    static double means[RESAMPLES];
    uint64_t random = 1;
    unsigned i, k, sample[KERNELS];
    for (i = 0; i < RESAMPLES; i++) {
        for (k = 0; k < KERNELS; k++) sample[k] = gpump_random_below(&random, KERNELS);
        means[i] = mean_over_seeds(sample, scheme);
    }
    sorted_sort(means, RESAMPLES);
    bounds[0] = means[RESAMPLES / 40];
    bounds[1] = means[RESAMPLES - 1 - RESAMPLES / 40];
}

static void geomean(const reproduce_context *context, const char *id, reproduce_result *result) {
    static const unsigned all[KERNELS] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
    double values[SEEDS], bounds[2], sum;
    unsigned scheme = 1, k, seed;
    if (measure(context, result)) return;
    while (strcmp(rows[scheme], id)) scheme++;
    for (seed = 0; seed < seeds; seed++) values[seed] = mean_of(all, scheme, seed);
    reproduce_samples(result, values, seeds, 1);
    interval(scheme, bounds);
    reproduce_interval(result, bounds[0], bounds[1], 1);
    for (k = 0; k < KERNELS; k++) {
        for (sum = 0, seed = 0; seed < seeds; seed++) sum += speed(k, scheme, seed);
        reproduce_note(result, "%s %.1f", kernels[k], sum / seeds);
    }
    if (!context->is_short && scheme >= 3) { /* the thesis's order, which gives wrong results through memory */
        for (sum = 0, k = 0; k < KERNELS; k++) {
            const double printed = run(context, kernels[k], schemes[scheme], GPUMP_REPLAY_PRINTED, 1, 0);
            if (printed <= 0) return;
            sum += log(100 * cycles[k][0][0] / printed);
        }
        reproduce_note(result, "with the order of memory accesses as printed %.1f (one seed)", exp(sum / KERNELS));
    }
}

static void order(const reproduce_context *context, const char *id, reproduce_result *result) {
    static const unsigned all[KERNELS] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
    double mean[SCHEMES];
    unsigned s, k, holds = 1, alike = 0;
    (void)id;
    if (measure(context, result)) return;
    for (s = 1; s < SCHEMES; s++) mean[s] = mean_over_seeds(all, s);
    for (s = 2; s < SCHEMES; s++) holds &= mean[s] >= mean[s - 1];
    reproduce_holds(result, (int)holds, "log16 %.1f, log8 %.1f, replay %.1f, wdlast %.1f, wdcommit %.1f", mean[5],
                    mean[4], mean[3], mean[2], mean[1]);
    for (k = 0; k < KERNELS; k++) {
        unsigned kept = 1;
        for (s = 2; s < SCHEMES; s++) kept &= speed(k, s, 0) >= speed(k, s - 1, 0);
        alike += kept;
    }
    reproduce_note(result, "%u of %u kernels by themselves are in this order", alike, KERNELS);
}

static void lbm(const reproduce_context *context, const char *id, reproduce_result *result) {
    double took[SCHEMES], full[SCHEMES];
    unsigned s;
    (void)id;
    for (s = 0; s < SCHEMES && !broken[0]; s++) {
        took[s] = run(context, "lbm", schemes[s], GPUMP_REPLAY_CLASS, 1, LBM_BLOCKS);
        full[s] = run(context, "lbm", schemes[s], GPUMP_REPLAY_CLASS, 1, 0);
    }
    if (broken[0]) {
        reproduce_failed(result, "%s", broken);
        return;
    }
    reproduce_number(result, 100 * took[0] / took[3], 1);
    reproduce_number(result, 100 * took[0] / took[5], 1);
    reproduce_note(result, "at 8 warps per SM: wdcommit %.1f, wdlast %.1f, queue %.1f, log8 %.1f, log16 %.1f",
                   100 * took[0] / took[1], 100 * took[0] / took[2], 100 * took[0] / took[3], 100 * took[0] / took[4],
                   100 * took[0] / took[5]);
    reproduce_note(result, "at full occupancy: wdcommit %.1f, wdlast %.1f, queue %.1f, log8 %.1f, log16 %.1f",
                   100 * full[0] / full[1], 100 * full[0] / full[2], 100 * full[0] / full[3], 100 * full[0] / full[4],
                   100 * full[0] / full[5]);
}

const reproduce_row rows_exceptions[] = {
    {"T.exc.wdcommit", geomean}, {"T.exc.wdlast", geomean}, {"T.exc.replay", geomean}, {"T.exc.log8", geomean},
    {"T.exc.log16", geomean},    {"T.exc.order", order},    {"T.exc.lbm", lbm},        {NULL, NULL}};
