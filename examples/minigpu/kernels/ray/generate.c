/* Inputs of ray: spheres around the middle of the picture, with radii from 0.3 to 1.3; looks stay as the launch file
 * makes them. */
#include "reference.h"

const char *generate_ray(const reference_launch *launch, uint64_t seed) {
    const int32_t count = reference_i32(launch, 3);
    float *spheres = count < 0 ? NULL : reference_f32s(launch, 1, 4 * (uint64_t)count);
    uint64_t state = seed;
    if (!spheres) return "ray needs spheres[count][4] and s32 count";
    for (uint64_t i = 0; i < 4 * (uint64_t)count; i++) {
        const float unit = (float)reference_random_unit(&state);
        spheres[i] = i % 4 == 3 ? 0.3f + unit : 6.0f * unit - 3.0f;
    }
    return NULL;
}
