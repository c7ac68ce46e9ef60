/* Inputs of the three steps of the LU decomposition. */
#include "reference.h"
#include "steps.h"

void lud_fill(float *matrix, size_t size, size_t offset, int steps, unsigned long long seed) {
    uint64_t state = seed;
    for (size_t y = 0; y < size; y++)
        for (size_t x = 0; x < size; x++)
            matrix[y * size + x] =
                10.0f * (float)exp(-0.001 * (double)(x > y ? x - y : y - x)) + 0.001f * reference_random_unit(&state);
    const size_t tiles = size / 16;
    for (size_t done = 0; done <= offset / 16; done++) {
        const int last = done == offset / 16;
        const size_t rest = tiles - done - 1;
        if (!last || steps >= 1) lud_factor_diagonal(matrix, size, done * 16);
        for (size_t i = 1; i <= rest && (!last || steps >= 2); i++) lud_solve_perimeter(matrix, size, done * 16, i);
        for (size_t down = 1; down <= rest && !last; down++)
            for (size_t right = 1; right <= rest; right++) lud_update_internal(matrix, size, done * 16, down, right);
    }
}

const char *generate_lud_diagonal(const reference_launch *launch, uint64_t seed) {
    const uint32_t size = reference_u32(launch, 1), offset = reference_u32(launch, 2);
    float *matrices = size > 32767 ? NULL : reference_f32s(launch, 0, (uint64_t)launch->grid[0] * size * size);
    if (!matrices || size < 16 || size % 16 != 0 || offset % 16 != 0 || offset >= size)
        return "lud_diagonal takes f32 matrices[grid][size][size], s32 size and s32 offset, both multiples of 16";
    for (size_t matrix = 0; matrix < launch->grid[0]; matrix++)
        lud_fill(matrices + matrix * size * size, size, offset, 0, seed + matrix);
    return NULL;
}
