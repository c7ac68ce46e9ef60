/* matrix_multiply(f32 c[16 gy][columns], f32 a[16 gy][inner], f32 b[inner][columns], s32 columns, s32 inner) */
#include "reference.h"

const char *reference_matrix_multiply(const reference_launch *launch) {
    const int32_t columns = reference_i32(launch, 3), inner = reference_i32(launch, 4);
    if (launch->argument_count != 5 || columns < 1 || inner < 1 || inner % 16 != 0 ||
        !reference_fits(launch, 1u << 20) || launch->block[0] != 16 || launch->block[1] != 16 ||
        launch->block[2] != 1 || launch->grid[2] != 1 || (uint64_t)launch->grid[0] * 16 != (uint64_t)columns)
        return "matrix_multiply takes f32 c, a, b, s32 columns and inner (multiples of 16), and blocks of 16x16 "
               "threads "
               "that cover c";
    const uint64_t width = (uint64_t)columns, height = 16 * (uint64_t)launch->grid[1], depth = (uint64_t)inner;
    float *c = reference_f32s(launch, 0, width * height);
    const float *a = reference_f32s(launch, 1, height * depth), *b = reference_f32s(launch, 2, depth * width);
    if (!a || !b || !c) return "matrix_multiply needs c[rows][columns], a[rows][inner] and b[inner][columns]";
    for (uint64_t y = 0; y < height; y++)
        for (uint64_t x = 0; x < width; x++) {
            float sum = 0.0f;
            for (uint64_t k = 0; k < depth; k++) sum = fmaf(a[y * depth + k], b[k * width + x], sum);
            c[y * width + x] = sum;
        }
    return NULL;
}
