#include "gpu/metrics.h"

GPUMP_API double gpumpi_metrics_ntt(const gpump_metrics_run *run) {
    return run->alone ? (double)run->shared / (double)run->alone : 0.0;
}

/* Adds one program to the sums. gpumpi_metrics_finish turns the sums into metrics. */
static void gpumpi_metrics_add(gpump_metrics *sums, double ntt, int first) {
    sums->antt += ntt;
    sums->stp += 1.0 / ntt;
    if (first || ntt < sums->best_ntt) sums->best_ntt = ntt;
    if (first || ntt > sums->worst_ntt) sums->worst_ntt = ntt;
}

static void gpumpi_metrics_finish(gpump_metrics *sums, uint32_t count) {
    sums->antt /= (double)count;
    sums->harmonic_speedup = 1.0 / sums->antt;
    sums->weighted_speedup = sums->stp;
    sums->fairness = sums->best_ntt / sums->worst_ntt;
}

static gpump_metrics gpumpi_metrics_zero(void) {
    gpump_metrics zero;
    zero.antt = zero.stp = zero.fairness = zero.harmonic_speedup = zero.weighted_speedup = zero.best_ntt =
        zero.worst_ntt = 0.0;
    return zero;
}

GPUMP_API gpump_result gpump_metrics_compute(const gpump_metrics_run *runs, uint32_t count, gpump_metrics *metrics,
                                             gpump_diag *diag) {
    gpump_metrics sums = gpumpi_metrics_zero();
    if (!runs || !metrics) return gpumpi_null(diag, metrics ? "runs" : "metrics");
    if (count == 0) return gpumpi_bad_argument(diag, "count", 0, 0, 1, UINT32_MAX);
    for (uint32_t i = 0; i < count; i++) {
        if (runs[i].alone == 0) return gpumpi_bad_argument(diag, "alone", i, 0, 1, GPUMP_UNKNOWN - 1);
        if (runs[i].shared == 0) return gpumpi_bad_argument(diag, "shared", i, 0, 1, GPUMP_UNKNOWN - 1);
        gpumpi_metrics_add(&sums, gpumpi_metrics_ntt(&runs[i]), i == 0);
    }
    gpumpi_metrics_finish(&sums, count);
    *metrics = sums;
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_metrics_compute_rates(const gpump_metrics_rate *rates, uint32_t count,
                                                   gpump_metrics *metrics, gpump_diag *diag) {
    gpump_metrics sums = gpumpi_metrics_zero();
    if (!rates || !metrics) return gpumpi_null(diag, metrics ? "rates" : "metrics");
    if (count == 0) return gpumpi_bad_argument(diag, "count", 0, 0, 1, UINT32_MAX);
    for (uint32_t i = 0; i < count; i++) {
        if (!(rates[i].alone > 0.0)) return gpumpi_bad_argument(diag, "alone", i, 0, 1, GPUMP_UNKNOWN - 1);
        if (!(rates[i].shared > 0.0)) return gpumpi_bad_argument(diag, "shared", i, 0, 1, GPUMP_UNKNOWN - 1);
        gpumpi_metrics_add(&sums, rates[i].alone / rates[i].shared, i == 0);
    }
    gpumpi_metrics_finish(&sums, count);
    *metrics = sums;
    return GPUMP_OK;
}

GPUMP_API double gpump_metrics_violation_rate(const uint64_t *latencies, uint32_t count, uint64_t limit) {
    uint32_t violations = 0;
    for (uint32_t i = 0; i < count; i++) violations += latencies[i] > limit || latencies[i] == GPUMP_UNKNOWN;
    return count ? (double)violations / (double)count : 0.0;
}
