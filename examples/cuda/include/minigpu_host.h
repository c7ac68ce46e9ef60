/* minigpu_host: functions of CUDA's mathematics that host code of a .cu file may call and <cmath> lacks. */
#ifndef MINIGPU_HOST_H
#define MINIGPU_HOST_H

#include <cmath>

static inline __host__ double rsqrt(double x) { return 1 / std::sqrt(x); }
static inline __host__ float rsqrtf(float x) { return static_cast<float>(1 / std::sqrt(static_cast<double>(x))); }
static inline __host__ double rcbrt(double x) { return 1 / std::cbrt(x); }
static inline __host__ float rcbrtf(float x) { return static_cast<float>(1 / std::cbrt(static_cast<double>(x))); }
static inline __host__ double normcdf(double x) { return std::erfc(-x / std::sqrt(2.0)) / 2; }
static inline __host__ float normcdff(float x) { return static_cast<float>(normcdf(static_cast<double>(x))); }
static inline __host__ double sinpi(double x);
static inline __host__ double cospi(double x);
static inline __host__ float sinpif(float x) { return static_cast<float>(sinpi(static_cast<double>(x))); }
static inline __host__ float cospif(float x) { return static_cast<float>(cospi(static_cast<double>(x))); }
/* The argument is reduced first, so that whole and half numbers give exact results. */
static inline __host__ double sinpi(double x) {
    const double r = std::remainder(x, 2);
    return std::fabs(r) == 1 ? 0 * r : std::sin(3.14159265358979323846 * r);
}
static inline __host__ double cospi(double x) {
    const double r = std::remainder(x, 2);
    return std::fabs(r) == 0.5 ? 0 : std::cos(3.14159265358979323846 * r);
}

#endif
