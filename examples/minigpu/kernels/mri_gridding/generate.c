/* Inputs of mri_gridding: samples stand close together in a few places, as those of a trajectory do that begins in the
 * middle of k-space again and again. Bins draw Pareto-distributed shares of the samples (exponent 2/3), so that few
 * bins have most of them; within a bin samples are anywhere. */
#include <stdlib.h>
#include "reference.h"

const char *generate_mri_gridding(const reference_launch *launch, uint64_t seed) {
    const uint64_t across = launch->grid[0], bins = across * launch->grid[1], count = reference_count(launch, 1, 16);
    float *samples = reference_f32s(launch, 1, 4 * count);
    int32_t *first = reference_i32s(launch, 2, bins + 1);
    if (!reference_fits(launch, 1u << 20) || !samples || !first || bins < 1 || count > INT32_MAX)
        return "mri_gridding needs samples[][4], and first[] with one element more than there are blocks";
    double *share = (double *)malloc(bins * sizeof *share), sum = 0, before = 0;
    if (!share) return "out of memory";
    uint64_t state = seed;
    for (uint64_t bin = 0; bin < bins; bin++)
        sum += share[bin] = pow(1.0 - (double)reference_random_unit(&state), -1.5);
    first[0] = 0;
    for (uint64_t bin = 0; bin < bins; bin++) {
        before += share[bin];
        first[bin + 1] = bin + 1 < bins ? (int32_t)((double)count * before / sum) : (int32_t)count;
        if (first[bin + 1] > (int32_t)count) first[bin + 1] = (int32_t)count;
        for (int32_t i = first[bin]; i < first[bin + 1]; i++) {
            samples[4 * i] = (float)(bin % across * 16) + 16.0f * reference_random_unit(&state);
            samples[4 * i + 1] = (float)(bin / across * 8) + 8.0f * reference_random_unit(&state);
            samples[4 * i + 2] = 2.0f * reference_random_unit(&state) - 1.0f;
            samples[4 * i + 3] = 2.0f * reference_random_unit(&state) - 1.0f;
        }
    }
    free(share);
    return NULL;
}
