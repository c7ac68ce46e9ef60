/* Inputs of lbm: a fluid at rest but for small random differences, which flows around a solid ball and between solid
 * walls above and below, as in a channel. */
#include "directions.h"
#include "reference.h"

const char *generate_lbm(const reference_launch *launch, uint64_t seed) {
    const uint64_t width = reference_u32(launch, 3), layer = reference_u32(launch, 4), cells = reference_u32(launch, 5);
    float *source = reference_f32s(launch, 0, 19 * cells);
    uint8_t *solid = reference_u8s(launch, 2, cells);
    if (!source || !solid || width < 3 || layer < width)
        return "lbm needs source[19][cells], solid[cells], s32 width and layer";
    const double sizes[3] = {launch->block[0], launch->grid[0], launch->grid[1]};
    double radius = sizes[0] < sizes[1] ? sizes[0] : sizes[1];
    radius = (radius < sizes[2] ? radius : sizes[2]) / 4;
    uint64_t state = seed;
#define FILL(q, x, y, z, opposite, along, weight) \
    for (uint64_t cell = 0; cell < cells; cell++) \
        source[(uint64_t)q * cells + cell] = (weight) * (0.95f + 0.1f * reference_random_unit(&state));
    LBM_DIRECTIONS(FILL)
    for (uint64_t cell = 0; cell < cells; cell++) {
        const double x = (double)(cell % layer % width) - sizes[0] / 2,
                     y = (double)(cell % layer / width) - sizes[1] / 2;
        const uint64_t height = cell / layer;
        const double z = (double)height - sizes[2] / 2;
        solid[cell] = height <= 1 || height >= launch->grid[1] || x * x + y * y + z * z < radius * radius;
    }
    return NULL;
}
