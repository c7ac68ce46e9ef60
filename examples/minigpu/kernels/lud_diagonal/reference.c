/* lud_diagonal(f32 matrices[grid][size][size], s32 size, s32 offset). The PTX multiplies and subtracts without fusing.
 */
#include "reference.h"
#include "steps.h"

void lud_factor_diagonal(float *matrix, size_t size, size_t offset) {
    float *tile = matrix + offset * size + offset;
    for (size_t pivot = 0; pivot < 15; pivot++) {
        for (size_t y = pivot + 1; y < 16; y++) {
            float *cell = tile + y * size + pivot;
            for (size_t k = 0; k < pivot; k++) *cell -= tile[y * size + k] * tile[k * size + pivot];
            *cell /= tile[pivot * size + pivot];
        }
        for (size_t x = pivot + 1; x < 16; x++) {
            float *cell = tile + (pivot + 1) * size + x;
            for (size_t k = 0; k <= pivot; k++) *cell -= tile[(pivot + 1) * size + k] * tile[k * size + x];
        }
    }
}

const char *reference_lud_diagonal(const reference_launch *launch) {
    const int32_t size = reference_i32(launch, 1), offset = reference_i32(launch, 2);
    if (launch->argument_count != 3 || size < 16 || size > 32767 || offset < 0 || offset > size - 16)
        return "lud_diagonal takes f32 matrices, s32 size (16 to 32767) and s32 offset, at most size-16";
    if (launch->block[0] != 16 || reference_block_threads(launch) != 16 || reference_blocks(launch) != launch->grid[0])
        return "lud_diagonal needs a block of 16 threads per matrix";
    const size_t width = (size_t)size;
    float *matrices = reference_f32s(launch, 0, (uint64_t)launch->grid[0] * width * width);
    if (!matrices) return "lud_diagonal needs a buffer of grid*size*size f32";
    for (size_t matrix = 0; matrix < launch->grid[0]; matrix++)
        lud_factor_diagonal(matrices + matrix * width * width, width, (size_t)offset);
    return NULL;
}
