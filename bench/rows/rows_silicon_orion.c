/* Row M.orion.mps: inference beside training of ResNet-50 under MPS on a V100. Every kernel of a request waits for one
 * of the training. The kernels are the source's profiles, in the order of their launches (orion_kernels.csv). Requests
 * are those of the stored configuration: 100 by chance, 30 a second on average, by NumPy's generator with seed 42,
 * which is repeated here. The first 10 are not measured, and the training begins a batch with the 11th.
 *
 * Conditions of --set: mps_rate (requests per second), mps_waits (kernels of the training for each of a request). */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "reproduce.h"
#include "sorted.h"
#include "twister.h"

enum { KERNELS_MAX = 1024, REQUESTS = 100, WARM = 10, MEASURED = REQUESTS - WARM, SEED = 42 };
typedef struct kernels {
    double us[KERNELS_MAX], sum;
    size_t count;
} kernels;

/* Reads the kernels of a model in their order. */
static kernels kernels_of(const csv_table *table, const char *model) {
    kernels k;
    memset(&k, 0, sizeof k);
    for (size_t row = 0; row < table->rows && k.count < KERNELS_MAX; row++) {
        double ns;
        if (strcmp(csv_text(table, row, "model"), model) != 0 || !csv_number(table, row, "kernel_ns", &ns)) continue;
        k.us[k.count++] = ns / 1000;
        k.sum += ns / 1000;
    }
    return k;
}

/* The training, which never pauses: its kernel that runs, and when that ends. */
typedef struct training {
    const kernels *batch;
    size_t at;
    double end_us;
} training;

/* The training has the device until a time, and ends the kernel that runs or begins then. */
static void train_until(training *t, double us) {
    if (us - t->end_us > t->batch->sum) t->end_us += floor((us - t->end_us) / t->batch->sum) * t->batch->sum;
    while (t->end_us <= us) {
        t->at = (t->at + 1) % t->batch->count;
        t->end_us += t->batch->us[t->at];
    }
}

/* Returns when a request ends that begins at a time. */
static double serve(training *t, const kernels *request, double waits, double us) {
    double owed = 0;
    train_until(t, us);
    for (size_t i = 0; i < request->count; i++) {
        for (owed += i ? waits : 0; owed >= 0.5; owed--) train_until(t, t->end_us);
        t->end_us += request->us[i];
    }
    return t->end_us;
}

/* Returns a quantile as NumPy does: between two numbers on their line. */
static double quantile(const double *sorted, size_t count, double share) {
    const double at = share * (double)(count - 1), rest = at - floor(at);
    const size_t low = (size_t)at, high = low + 1 < count ? low + 1 : low;
    return sorted[low] + rest * (sorted[high] - sorted[low]);
}

static void multi_process(const reproduce_context *context, const char *id, reproduce_result *result) {
    static const struct {
        const char *name;
        double share;
    } statistics[] = {{"p50", 0.5}, {"p90", 0.9}, {"p95", 0.95}, {"p99", 0.99}};
    static kernels batch, request;
    static twister random;
    const double waits = reproduce_condition(context, result, "mps_waits", 1),
                 per_second = reproduce_condition(context, result, "mps_rate", 30);
    double latency_ms[MEASURED], due = 0, end = 0;
    char path[1024], error[256];
    csv_table table;
    training t;
    snprintf(path, sizeof path, "%s/orion_kernels.csv", context->data_dir);
    if (!csv_read(&table, path, error, sizeof error)) {
        reproduce_failed(result, "%s", error);
        return;
    }
    batch = kernels_of(&table, "resnet50_32_fb1");
    request = kernels_of(&table, "resnet50_4_fwd");
    csv_free(&table);
    if (!batch.count || !request.count) return;
    t.batch = &batch;
    t.at = 0;
    t.end_us = batch.us[0];
    twister_seed(&random, SEED);
    for (int i = 0; i < REQUESTS; i++) {
        const double interval_us = -log(1 - twister_unit53(&random)) * 1e6 / per_second;
        if (i < WARM) continue;
        end = serve(&t, &request, waits, fmax(due, end));
        latency_ms[i - WARM] = (end - due) / 1000;
        due += interval_us;
    }
    sorted_sort(latency_ms, MEASURED);
    for (size_t i = 0; i < sizeof statistics / sizeof *statistics; i++) {
        snprintf(path, sizeof path, "%s.%s", id, statistics[i].name);
        reproduce_point(result, path, quantile(latency_ms, MEASURED, statistics[i].share));
    }
    snprintf(path, sizeof path, "%s.thpt0", id);
    reproduce_point(result, path, (MEASURED - 1) * 1e6 / end);
}

const reproduce_row rows_silicon_orion[] = {{"M.orion.mps", multi_process}, {NULL, NULL}};
