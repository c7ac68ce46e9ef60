/* Inputs of cfd_step_factor: gas near free flow, that is density about 1.4, Mach number about 1.2 along x, pressure
 * about 1. */
#include "reference.h"

const char *generate_cfd_step_factor(const reference_launch *launch, uint64_t seed) {
    const uint64_t cells = reference_u32(launch, 3);
    float *variables = reference_f32s(launch, 0, 5 * cells);
    if (!variables) return "cfd_step_factor needs f32 variables[5][cells]";
    uint64_t state = seed;
    for (uint64_t i = 0; i < cells; i++) {
        float density = 1.3f + 0.2f * reference_random_unit(&state);
        float velocity[3] = {1.2f, 0.0f, 0.0f};
        float square = 0.0f;
        for (uint64_t axis = 0; axis < 3; axis++) {
            velocity[axis] += 0.2f * reference_random_unit(&state) - 0.1f;
            variables[(1 + axis) * cells + i] = density * velocity[axis];
            square += velocity[axis] * velocity[axis];
        }
        variables[i] = density;
        variables[4 * cells + i] = (0.9f + 0.2f * reference_random_unit(&state)) / 0.4f + 0.5f * density * square;
    }
    return NULL;
}
