/* Inputs of cutcp: up to four atoms in each bin that is not at an end, three of four places taken, anywhere in the bin,
 * with charges of both signs, as in a box of water. Places without an atom are far away and have no charge. */
#include "reference.h"

const char *generate_cutcp(const reference_launch *launch, uint64_t seed) {
    const int32_t bins_x = reference_i32(launch, 2), bins_y = reference_i32(launch, 3);
    const float spacing = reference_f32(launch, 4), edges[3] = {8.0f * spacing, 4.0f * spacing, 4.0f * spacing};
    const uint64_t count = reference_count(launch, 1, 16);
    float *atoms = reference_f32s(launch, 1, 4 * count);
    if (!atoms || bins_x < 1 || bins_y < 1) return "cutcp needs atoms[bins][4][4], and bins_x and bins_y of at least 1";
    uint64_t state = seed;
    const uint64_t across = (uint64_t)bins_x, down = (uint64_t)bins_y, deep = count / 4 / across / down;
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t bin[3] = {i / 4 % across, i / 4 / across % down, i / 4 / across / down};
        const int inside = bin[0] > 0 && bin[0] + 1 < across && bin[1] > 0 && bin[1] + 1 < down && bin[2] > 0 &&
                           bin[2] + 1 < deep && reference_random_below(&state, 4) > 0;
        for (int axis = 0; axis < 3; axis++)
            atoms[4 * i + (uint64_t)axis] =
                inside ? ((float)bin[axis] - 1.0f + reference_random_unit(&state)) * edges[axis] : -1.0e6f;
        atoms[4 * i + 3] = inside ? reference_random_unit(&state) * 2.0f - 1.0f : 0.0f;
    }
    return NULL;
}
