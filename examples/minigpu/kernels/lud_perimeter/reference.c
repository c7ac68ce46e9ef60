/* lud_perimeter(f32 matrices[grid y][size][size], s32 size, s32 offset) */
#include "reference.h"
#include "../lud_diagonal/steps.h"

void lud_solve_perimeter(float *matrix, size_t size, size_t offset, size_t index) {
    const float *diagonal = matrix + offset * size + offset;
    float *right = matrix + offset * size + offset + index * 16;
    float *below = matrix + (offset + index * 16) * size + offset;
    for (size_t y = 1; y < 16; y++)
        for (size_t x = 0; x < 16; x++)
            for (size_t k = 0; k < y; k++) right[y * size + x] -= diagonal[y * size + k] * right[k * size + x];
    for (size_t y = 0; y < 16; y++) {
        for (size_t x = 0; x < 16; x++) {
            for (size_t k = 0; k < x; k++) below[y * size + x] -= below[y * size + k] * diagonal[k * size + x];
            below[y * size + x] /= diagonal[x * size + x];
        }
    }
}

const char *reference_lud_perimeter(const reference_launch *launch) {
    const int32_t size = reference_i32(launch, 1), offset = reference_i32(launch, 2);
    if (launch->argument_count != 3 || size < 32 || size > 32767 || offset < 0 || offset > size - 32)
        return "lud_perimeter takes f32 matrices, s32 size (32 to 32767) and s32 offset, at most size-32";
    const size_t width = (size_t)size;
    float *matrices = reference_f32s(launch, 0, (uint64_t)launch->grid[1] * width * width);
    if (!matrices) return "lud_perimeter needs a buffer of grid*size*size f32";
    if (launch->block[0] != 32 || reference_block_threads(launch) != 32 || launch->grid[2] != 1 ||
        launch->grid[0] > (uint32_t)(size - offset) / 16 - 1)
        return "lud_perimeter needs a block of 32 threads per tile beside the diagonal, and a row of them per matrix";
    for (size_t matrix = 0; matrix < launch->grid[1]; matrix++)
        for (size_t index = 1; index <= launch->grid[0]; index++)
            lud_solve_perimeter(matrices + matrix * width * width, width, (size_t)offset, index);
    return NULL;
}
