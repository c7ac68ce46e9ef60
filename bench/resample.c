#include "resample.h"

#include <stdlib.h>

#include "gpump_once.h"

enum { RESAMPLES = 2000 };

static int compare(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

double resampled_mean(const double *values, uint32_t count, double *low, double *high) {
    static double means[RESAMPLES];
    uint64_t random = 0x9e3779b97f4a7c15u;
    double mean = 0;
    uint32_t i, n;
    for (i = 0; i < count; i++) mean += values[i] / count;
    for (n = 0; n < RESAMPLES; n++) {
        means[n] = 0;
        for (i = 0; i < count; i++) means[n] += values[gpump_random_below(&random, count)] / count;
    }
    qsort(means, RESAMPLES, sizeof *means, compare);
    *low = means[RESAMPLES / 40];
    *high = means[RESAMPLES - 1 - RESAMPLES / 40];
    return mean;
}
