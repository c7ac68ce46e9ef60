/* Rows of measured devices that follow by arithmetic from other rows of the same device: what preemption adds to urgent
 * requests and takes from others (GPreempt), fault batches, and what bounds them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "gpump.h"
#include "reproduce.h"
#include "sorted.h"

/* What a scheme adds to the urgent request of a workload, us: that of workload A or D, which have the same requests. */
static double added_us(const reproduce_context *context, const char *scheme, char workload) {
    char row[56];
    snprintf(row, sizeof row, "M.gp.add.%s.%c", scheme, workload == 'E' ? 'D' : 'A');
    return reproduce_fitted(context, row);
}

static void additions(const reproduce_context *context, const char *id, reproduce_result *result) {
    static const char *const schemes[] = {"WB", "GPwo", "GP"};
    const double factor = reproduce_condition(context, result, "added", 1);
    for (int i = 0; i < 9; i++) {
        const char workload = "BEZ"[i % 3];
        char row[56];
        snprintf(row, sizeof row, "%s.%s.%c", id, schemes[i / 3], workload);
        reproduce_point(result, row, factor * added_us(context, schemes[i / 3], workload));
    }
    reproduce_note(result, "each workload adds what the one with the same urgent requests does");
}

/* Best-effort requests per second without urgent ones, by least squares of relative errors on the rows that may set
 * parameters: urgent requests take their time alone and what the scheme adds. */
static double best_effort(const reproduce_context *context, const char *scheme, double urgent_us) {
    double sum = 0, squares = 0;
    for (int hz = 100; hz <= 250; hz += 150) {
        char row[56];
        double share = 1 - hz * urgent_us / 1e6;
        snprintf(row, sizeof row, "M.gp.thpt.%s.%d", scheme, hz);
        share /= reproduce_fitted(context, row);
        sum += share;
        squares += share * share;
    }
    return sum / squares;
}
static double urgent_us(const reproduce_context *context, const char *added) {
    return 1000 * reproduce_fitted(context, "M.gp.lat.LCO.A") + added_us(context, added, 'A');
}

static void left_over(const reproduce_context *context, const char *id, reproduce_result *result) {
    static const char *const schemes[][2] = {{"WB", "WB"}, {"GPwores", "GPwo"}, {"GP", "GP"}};
    for (int i = 0; i < 3; i++) {
        const double us = urgent_us(context, schemes[i][1]), alone = best_effort(context, schemes[i][0], us);
        for (int hz = 150; hz <= 300; hz += 150) {
            char row[56];
            snprintf(row, sizeof row, "%s.%s.%d", id, schemes[i][0], hz);
            reproduce_point(result, row, alone * (1 - hz * us / 1e6));
        }
    }
    reproduce_revised(result);
}

/* The row of a workload and a scheme that may set parameters. */
static double latency_ms(const reproduce_context *context, const char *id, const char *scheme, char workload) {
    char row[56];
    snprintf(row, sizeof row, "%s.%s.%c", id, scheme, workload);
    return reproduce_fitted(context, row);
}

/* Urgent requests: their time alone and what the scheme adds in workload A or D, which have the same urgent requests.
 * One after the other (SEQ) in workload B, where both kinds come more often than the device can serve, a request waits
 * for one of the other kind. other_ms of --set: what an urgent request waits for one after the other in E and Z. */
static void requests(const reproduce_context *context, const char *id, reproduce_result *result) {
    static const char *const schemes[] = {"WB", "GP", "NP", "SEQ"};
    const double others = best_effort(context, "GP", urgent_us(context, "GP")),
                 other_ms = reproduce_condition(context, result, "other_ms", 0);
    char row[56];
    for (int i = 0; i < 12; i++) {
        const char workload = "BEZ"[i % 3], known = workload == 'E' ? 'D' : 'A';
        const char *scheme = schemes[i / 3];
        const int waits = i >= 9;
        double more = latency_ms(context, id, scheme, known) - latency_ms(context, id, "LCO", known);
        if (i < 6) more = added_us(context, scheme, workload) / 1000;
        if (waits && workload == 'B') more = 1000 / others;
        if (waits && workload != 'B' && other_ms > 0) more = other_ms;
        snprintf(row, sizeof row, "%s.%s.%c", id, scheme, workload);
        reproduce_point(result, row, latency_ms(context, id, "LCO", workload) + more);
    }
    reproduce_note(result, "each workload adds what the one with the same urgent requests does");
    reproduce_revised(result);
}

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

/* Models on an MI50 by their multiply-adds (their papers), at one speed that is fitted (has_alexnet of --set: on
 * AlexNet, too). The real-time client of REEF
 * takes what the model takes alone. */
static void models(const reproduce_context *context, const char *id, reproduce_result *result) {
    static const struct {
        const char *name;
        double giga;
        int is_input;
    } all[] = {{"alexnet", 0.72, 1},
               {"inception", 5.7, 1},
               {"resnet152", 11.3, 1},
               {"mobilenet", 0.57, 0},
               {"resnet18", 1.8, 0}};
    const double has_alexnet = reproduce_condition(context, result, "has_alexnet", 1);
    double sum = 0, squares = 0;
    char row[56];
    for (int i = has_alexnet > 0 ? 0 : 1; i < 5; i++) {
        double share;
        snprintf(row, sizeof row, "%s.model.%s", id, all[i].name);
        if (!all[i].is_input) {
            reproduce_point(result, row, all[i].giga * sum / squares);
            continue;
        }
        share = all[i].giga / reproduce_fitted(context, row);
        sum += share;
        squares += share * share;
    }
    snprintf(row, sizeof row, "%s.rt.fast", id);
    reproduce_point(result, row, reproduce_fitted(context, "M.reef.model.resnet152") / 1000);
    reproduce_note(result, "a model's time alone is an input, and multiply-adds do not give it");
}

/* Inference beside training under MPS: every kernel of a request waits for one of the training. Requests come by
 * chance, 30 a second on average (the artifact's configuration), and wait for each other. */
static void multi_process(const reproduce_context *context, const char *id, reproduce_result *result) {
    enum { SAMPLES = 4000 };
    static const struct {
        const char *name;
        double share;
    } statistics[] = {{"p50", 0.5}, {"p90", 0.9}, {"p95", 0.95}, {"p99", 0.99}};
    static double latency[SAMPLES];
    const double trained = reproduce_fitted(context, "M.orion.kern.resnet50_32_fb1.sum") /
                           reproduce_fitted(context, "M.orion.kern.resnet50_32_fb1.count"),
                 kernels = reproduce_fitted(context, "M.orion.kern.resnet50_4_fwd.count"),
                 waits = reproduce_condition(context, result, "mps_waits", 1),
                 per_second = reproduce_condition(context, result, "mps_rate", 30),
                 service = reproduce_fitted(context, "M.orion.kern.resnet50_4_fwd.sum") + kernels * waits * trained;
    uint64_t random = 5;
    double arrival = 0, end = 0;
    char row[56];
    if (!(service > 0)) return;
    for (int i = 0; i < SAMPLES; i++) {
        arrival -= log((gpump_random_below(&random, 1000000) + 0.5) / 1e6) * 1e6 / per_second;
        end = (end > arrival ? end : arrival) + service;
        latency[i] = (end - arrival) / 1000;
    }
    sorted_sort(latency, SAMPLES);
    for (size_t i = 0; i < sizeof statistics / sizeof *statistics; i++) {
        snprintf(row, sizeof row, "%s.%s", id, statistics[i].name);
        reproduce_point(result, row, sorted_quantile(latency, SAMPLES, statistics[i].share));
    }
    snprintf(row, sizeof row, "%s.thpt0", id);
    reproduce_point(result, row, SAMPLES * 1e6 / end);
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

const reproduce_row rows_silicon_added[] = {{"M.gp.add", additions},    {"M.gp.thpt", left_over},
                                            {"M.gp.lat", requests},     {"M.gcaps.eps", update_bound},
                                            {"M.uvm.abc", two_batches}, {"M.uvm.sgemm", full_batches},
                                            {"M.reef", models},         {"M.orion.mps", multi_process},
                                            {"M.bw.b300", copies},      {NULL, NULL}};
