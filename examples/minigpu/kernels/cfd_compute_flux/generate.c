/* Inputs of cfd_compute_flux: cells of a mesh numbered so that three of four neighbours are near and one lies anywhere,
 * as in an unstructured grid; one face in fifty is a wall and one in fifty borders on the free flow. */
#include "reference.h"

const char *generate_cfd_compute_flux(const reference_launch *launch, uint64_t seed) {
    const uint64_t cells = reference_u32(launch, 4);
    int32_t *neighbours = reference_i32s(launch, 0, 4 * cells);
    float *normals = reference_f32s(launch, 1, 12 * cells), *variables = reference_f32s(launch, 2, 5 * cells);
    if (!neighbours || !normals || !variables || cells < 1 || cells > INT32_MAX)
        return "cfd_compute_flux needs s32 neighbours[4][cells], f32 normals[12][cells] and f32 variables[5][cells]";
    uint64_t state = seed;
    for (uint64_t i = 0; i < cells; i++) {
        const float density = 1.3f + 0.2f * reference_random_unit(&state);
        float square = 0.0f;
        for (uint64_t axis = 0; axis < 3; axis++) {
            const float velocity = (axis == 0 ? 1.2f : 0.0f) + 0.2f * reference_random_unit(&state) - 0.1f;
            variables[(1 + axis) * cells + i] = density * velocity;
            square += velocity * velocity;
        }
        variables[i] = density;
        variables[4 * cells + i] = (0.9f + 0.2f * reference_random_unit(&state)) / 0.4f + 0.5f * density * square;
        for (uint64_t face = 0; face < 4; face++) {
            const uint32_t kind = reference_random_below(&state, 50);
            const uint32_t near = reference_random_below(&state, 64),
                           far = reference_random_below(&state, (uint32_t)cells);
            const uint64_t neighbour = face < 3 ? (i + near + cells - (cells < 32 ? cells : 32)) % cells : far;
            neighbours[face * cells + i] = kind == 0 ? -1 : kind == 1 ? -2 : (int32_t)neighbour;
            for (uint64_t axis = 0; axis < 3; axis++)
                normals[(axis * 4 + face) * cells + i] = 0.02f * reference_random_unit(&state) - 0.01f;
        }
    }
    return NULL;
}
