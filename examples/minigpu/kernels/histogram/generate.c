/* Inputs of histogram: sums of four uniform numbers, so that the bins in the middle are crowded. */
#include "reference.h"

const char *generate_histogram(const reference_launch *launch, uint64_t seed) {
    const uint32_t count = reference_u32(launch, 2);
    float *values = reference_f32s(launch, 1, count);
    if (!values) return "histogram takes u32 result[1024], f32 values[count], s32 count, f32 low and f32 bins_per_unit";
    uint64_t state = seed;
    for (uint32_t i = 0; i < count; i++) {
        values[i] = 0.0f;
        for (int part = 0; part < 4; part++) values[i] += reference_random_unit(&state);
    }
    return NULL;
}
