/* Rows of measured devices that follow by arithmetic from other measurements of the same device: fault batches, models
 * by their kernels, and what bounds them. */
#include <stdlib.h>
#include <string.h>
#include "gpump_once.h"
#include "reproduce.h"

/* The bound that the source's analysis takes. update_us of --set: what an update takes, if all took the same. */
static void update_bound(const reproduce_context *context, const char *id, reproduce_result *result) {
    static const char *const statistics[] = {"min", "mean", "p50"};
    const double update_us = reproduce_condition(context, result, "update_us", 0);
    char row[56];
    for (int i = 0; i < 3 && update_us > 0; i++) {
        snprintf(row, sizeof row, "%s.xavier.%s", id, statistics[i]);
        reproduce_point(result, row, update_us);
    }
    snprintf(row, sizeof row, "%s.xavier.max", id);
    reproduce_point(result, row, 1000);
    reproduce_note(result, "only the bound of the source's analysis is known: 1 ms");
}

/* Microseconds from the fetch of a batch to its end, by the numbers of the driver in gpump. */
static double batch_us(const gpump_gpu *gpu, const gpump_uvm_config *uvm, double entries, double blocks) {
    return (entries * uvm->entry_cycles + blocks * uvm->block_cycles) * 1000 / gpu->clock_khz;
}
static int driver(gpump_gpu *gpu, gpump_uvm_config *uvm, reproduce_result *result) {
    if (gpump_preset(&gpump_gpu_component, gpu, "v100", NULL) == GPUMP_OK &&
        gpumpi_uvm_config_from_gpu(uvm, "uvm595", gpu) == GPUMP_OK)
        return 1;
    reproduce_failed(result, "the driver's numbers are missing");
    return 0;
}

/* A warp reads a page of two arrays in each of its 32 lanes: 64 faults. The first batch has as many as an SM can have
 * outstanding, by the rows that may set parameters, and the second one the rest, all in the second array. */
static void two_batches(const reproduce_context *context, const char *id, reproduce_result *result) {
    const double outstanding =
        reproduce_condition(context, result, "outstanding", reproduce_fitted(context, "M.uvm.abc.1.1.n"));
    const double rest = outstanding < 64 ? 64 - outstanding : 0;
    gpump_gpu gpu;
    gpump_uvm_config uvm;
    if (!driver(&gpu, &uvm, result)) return;
    for (int log = 1; log <= 4; log++) {
        char row[56];
        snprintf(row, sizeof row, "%s.%d.2", id, log);
        reproduce_point(result, row, batch_us(&gpu, &uvm, rest, rest > 0));
        snprintf(row, sizeof row, "%s.%d.2.n", id, log);
        reproduce_point(result, row, rest);
    }
    reproduce_revised(result);
}

/* Full batches of a matrix product, which fall into one VA block each. */
static void full_batches(const reproduce_context *context, const char *id, reproduce_result *result) {
    const double blocks = reproduce_condition(context, result, "sgemm_blocks", 1);
    gpump_gpu gpu;
    gpump_uvm_config uvm;
    char row[56];
    if (!driver(&gpu, &uvm, result)) return;
    snprintf(row, sizeof row, "%s.gap.p50", id);
    reproduce_point(result, row, uvm.batch_cycles * 1000.0 / gpu.clock_khz + batch_us(&gpu, &uvm, uvm.batch, blocks));
    reproduce_note(result, "how many VA blocks a batch has, and how many of its faults are duplicates, follows from "
                           "the library's kernel, which is not published");
}

/* Adds up the kernels of a model by reef_kernels.csv. */
typedef struct reef_model {
    double kernels_us, launches, model_us;
} reef_model;
static reef_model reef_kernels(const csv_table *table, const char *name) {
    reef_model sum = {0, 0, 0};
    for (size_t row = 0; row < table->rows; row++) {
        double us, launches;
        if (strcmp(csv_text(table, row, "model"), name) != 0) continue;
        if (!csv_number(table, row, "kernel_us", &us) || !csv_number(table, row, "launches", &launches)) continue;
        (void)csv_number(table, row, "model_us", &sum.model_us);
        sum.kernels_us += us * launches;
        sum.launches += launches;
    }
    return sum;
}

/* Models on an MI50 by the times of their kernels, each of which was launched alone. Two models of the source, of one
 * and of two short kernels, give what a launch behind another one saves, and what a model takes besides its kernels.
 * The real-time client of REEF takes what its model takes alone. launch_us of --set: another time that is saved. */
static void models(const reproduce_context *context, const char *id, reproduce_result *result) {
    static const char *const names[] = {"alexnet", "inception", "resnet152", "bert", "mobilenet", "resnet18"};
    char row[1024], error[256];
    csv_table table;
    reef_model one, two;
    double saved, rest;
    snprintf(row, sizeof row, "%s/reef_kernels.csv", context->data_dir);
    if (!csv_read(&table, row, error, sizeof error)) {
        reproduce_failed(result, "%s", error);
        return;
    }
    one = reef_kernels(&table, "bench");
    two = reef_kernels(&table, "mocked");
    saved = (one.model_us - one.kernels_us) - (two.model_us - two.kernels_us);
    saved = reproduce_condition(context, result, "launch_us", saved);
    rest = one.model_us - one.kernels_us + saved;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const reef_model m = reef_kernels(&table, names[i]);
        snprintf(row, sizeof row, "%s.model.%s", id, names[i]);
        if (m.launches > 0) reproduce_point(result, row, m.kernels_us - m.launches * saved + rest);
    }
    csv_free(&table);
    snprintf(row, sizeof row, "%s.rt.fast", id);
    reproduce_point(result, row, reproduce_fitted(context, "M.reef.model.resnet152") / 1000);
    reproduce_note(result, "a launch behind another one saves %.0f us", saved);
}

/* Copies into shared memory with twice the bytes in flight: the rate doubles (Little's law), but for the bytes' own
 * time at the peak. b300_peak of --set, GB/s; 0: none. */
static void copies(const reproduce_context *context, const char *id, reproduce_result *result) {
    static const char *const ways[] = {"ldgsts.2", "ldgsts.4", "ldgsts.8", "tma.2", "tma.4", "tma.8"};
    const double peak = reproduce_condition(context, result, "b300_peak", 0), own = peak > 0 ? 1 / peak : 0;
    for (int i = 0; i < 6; i++) {
        char row[56];
        double once;
        snprintf(row, sizeof row, "%s.%s.16", id, ways[i]);
        once = reproduce_fitted(context, row);
        snprintf(row, sizeof row, "%s.%s.32", id, ways[i]);
        reproduce_point(result, row, 1 / ((1 / once - own) / 2 + own));
    }
}

const reproduce_row rows_silicon_added[] = {{"M.gcaps.eps", update_bound}, {"M.uvm.abc", two_batches},
                                            {"M.uvm.sgemm", full_batches}, {"M.reef", models},
                                            {"M.bw.b300", copies},         {NULL, NULL}};
