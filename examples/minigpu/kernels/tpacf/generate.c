/* Inputs of tpacf: directions spread evenly over the sphere, and edges at equal steps of the logarithm of the angle,
 * down to a hundredth of a degree, as cosines. */
#include "reference.h"

const char *generate_tpacf(const reference_launch *launch, uint64_t seed) {
    const uint32_t count = reference_u32(launch, 4), bins = reference_u32(launch, 6);
    float *x = reference_f32s(launch, 1, count), *y = reference_f32s(launch, 2, count),
          *z = reference_f32s(launch, 3, count);
    float *edges = bins < 1 || bins > 32 ? NULL : reference_f32s(launch, 5, bins - 1);
    if (!x || !y || !z || !edges) return "tpacf needs x, y, z[count], edges[bins - 1] and 1 to 32 bins";
    uint64_t state = seed;
    for (uint32_t i = 0; i < count; i++) {
        const double height = 2.0 * (double)reference_random_unit(&state) - 1.0;
        const double turn = 6.283185307179586 * (double)reference_random_unit(&state), flat = sqrt(1 - height * height);
        x[i] = (float)(flat * cos(turn));
        y[i] = (float)(flat * sin(turn));
        z[i] = (float)height;
    }
    for (uint32_t bin = 0; bin + 1 < bins; bin++)
        edges[bin] = (float)cos(3.141592653589793 * pow(10.0, -4.25 * (1.0 - (bin + 1.0) / bins)));
    return NULL;
}
