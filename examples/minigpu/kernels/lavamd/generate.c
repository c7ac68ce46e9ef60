/* Inputs of lavamd: a cube of boxes as large as the blocks fill one, else a row of them; each box lists itself and
 * those that touch it. Particles are anywhere in their box of edge 1, with charges of one sign. */
#include "reference.h"

const char *generate_lavamd(const reference_launch *launch, uint64_t seed) {
    const uint64_t count = launch->grid[0], particles = reference_u32(launch, 4);
    float *positions = reference_f32s(launch, 1, count * particles * 4);
    int32_t *boxes = reference_i32s(launch, 2, count * 27), *lengths = reference_i32s(launch, 3, count);
    if (!positions || !boxes || !lengths || count < 1 || particles < 1 || particles > 128)
        return "lavamd needs positions[boxes][particles][4], boxes[boxes][27] and lengths[boxes]";
    uint64_t state = seed;
    int64_t edge = 1;
    while ((uint64_t)(edge * edge * edge) < count) edge++;
    const int cube = (uint64_t)(edge * edge * edge) == count;
    const int64_t across = cube ? edge : (int64_t)count, high = cube ? edge : 1;
    for (int64_t box = 0; box < (int64_t)count; box++) {
        const int64_t x = box % across, y = box / across % high, z = box / across / high;
        lengths[box] = 0;
        for (int64_t near = 0; near < 27; near++) {
            const int64_t at[3] = {x + near % 3 - 1, y + near / 3 % 3 - 1, z + near / 9 - 1};
            if (at[0] < 0 || at[1] < 0 || at[2] < 0 || at[0] >= across || at[1] >= high || at[2] >= high) continue;
            boxes[box * 27 + lengths[box]++] = (int32_t)((at[2] * high + at[1]) * across + at[0]);
        }
        for (uint64_t i = (uint64_t)box * particles; i < ((uint64_t)box + 1) * particles; i++) {
            positions[4 * i] = (float)x + reference_random_unit(&state);
            positions[4 * i + 1] = (float)y + reference_random_unit(&state);
            positions[4 * i + 2] = (float)z + reference_random_unit(&state);
            positions[4 * i + 3] = 0.1f + reference_random_unit(&state);
        }
    }
    return NULL;
}
