/* The counters of one kernel of a rate controller: gpump_get_statistics fills those of all. */
#ifndef RATE_STATISTICS_H
#define RATE_STATISTICS_H
#include "gpump.h"

static inline gpump_result rate_statistics(const gpump_rate *rate, uint32_t kernel, gpump_rate_statistics *statistics) {
    gpump_rate_statistics all[GPUMP_RATE_KERNELS] = {{0}};
    const gpump_result result = gpump_get_statistics(&gpump_rate_component, rate, all);
    *statistics = all[kernel];
    return result;
}
#endif
