/* lud_internal(f32 matrix[size][size], s32 size, s32 offset) */
#include "reference.h"
#include "../lud_diagonal/steps.h"

void lud_update_internal(float *matrix, size_t size, size_t offset, size_t down, size_t right) {
    const float *row = matrix + offset * size + offset + right * 16; /* the tile above, beside the diagonal one */
    const float *column =
        matrix + (offset + down * 16) * size + offset; /* the tile to the left, below the diagonal one */
    float *tile = matrix + (offset + down * 16) * size + offset + right * 16;
    for (size_t y = 0; y < 16; y++) {
        for (size_t x = 0; x < 16; x++) {
            float sum = 0.0f;
            for (size_t k = 0; k < 16; k++) sum = fmaf(column[y * size + k], row[k * size + x], sum);
            tile[y * size + x] -= sum;
        }
    }
}

const char *reference_lud_internal(const reference_launch *launch) {
    const int32_t size = reference_i32(launch, 1), offset = reference_i32(launch, 2);
    if (launch->argument_count != 3 || size < 32 || size > 32767 || offset < 0 || offset > size - 32)
        return "lud_internal takes f32 matrix, s32 size (32 to 32767) and s32 offset, at most size-32";
    const size_t width = (size_t)size;
    const uint32_t rest = (uint32_t)(size - offset) / 16 - 1;
    float *matrix = reference_f32s(launch, 0, (uint64_t)width * width);
    if (!matrix) return "lud_internal needs a buffer of size*size f32";
    if (launch->block[0] != 16 || launch->block[1] != 16 || launch->block[2] != 1 || launch->grid[2] != 1 ||
        launch->grid[0] > rest || launch->grid[1] > rest)
        return "lud_internal needs a block of 16x16 threads per tile right of and below the diagonal";
    for (size_t down = 1; down <= launch->grid[1]; down++)
        for (size_t right = 1; right <= launch->grid[0]; right++)
            lud_update_internal(matrix, width, (size_t)offset, down, right);
    return NULL;
}
