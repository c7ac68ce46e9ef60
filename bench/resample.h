/* resample: the mean of a sample with its 95% interval, for the experiments on drawn workloads. */
#ifndef BENCH_RESAMPLE_H
#define BENCH_RESAMPLE_H
#include <stdint.h>

/* Returns the mean of values[count], and sets its 95% interval: the sample is drawn again, with replacement, 2,000
 * times. Nothing is assumed of the distribution, so that a few extreme workloads widen one side alone. The draws do not
 * depend on anything else: the same values have the same interval. */
double resampled_mean(const double *values, uint32_t count, double *low, double *high);

#endif
