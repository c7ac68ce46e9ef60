/* mm2(f32 a[rows][inner], f32 b[inner][columns], f32 d[rows][columns], s32 rows, s32 columns, s32 inner) */
#include "reference.h"

const char *reference_mm2(const reference_launch *launch) {
    const int32_t columns = reference_i32(launch, 4), rows = reference_i32(launch, 3);
    if (launch->argument_count != 6 || columns < 1 || rows < 1 || !reference_fits(launch, 1u << 20) ||
        launch->block[2] != 1 || launch->grid[2] != 1)
        return "mm2 takes f32 a[rows][inner], f32 b[inner][columns], f32 d[rows][columns], s32 rows, s32 columns, s32 "
               "inner, and two-dimensional blocks";
    const uint64_t width = (uint64_t)columns, height = (uint64_t)rows;
    const uint64_t last_x = (uint64_t)launch->grid[0] * launch->block[0];
    const uint64_t last_y = (uint64_t)launch->grid[1] * launch->block[1];
    const int32_t inner = reference_i32(launch, 5);
    const uint64_t depth = inner > 0 ? (uint64_t)inner : 0;
    const float *a = reference_f32s(launch, 0, height * depth), *b = reference_f32s(launch, 1, depth * width);
    float *d = reference_f32s(launch, 2, width * height);
    if (!a || !b || !d) return "mm2 needs a[rows][inner], b[inner][columns] and d[rows][columns]";
    for (uint64_t y = 0; y < height && y < last_y; y++)
        for (uint64_t x = 0; x < width && x < last_x; x++) {
            float sum = 0.0f;
            for (uint64_t k = 0; k < depth; k++) sum = fmaf(a[y * depth + k], b[k * width + x], sum);
            d[y * width + x] = sum;
        }
    return NULL;
}
