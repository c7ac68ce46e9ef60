/* fdtd_3(f32 hz[rows][columns], f32 ex[rows][columns], f32 ey[rows][columns], s32 columns, s32 rows) */
#include "reference.h"

const char *reference_fdtd_3(const reference_launch *launch) {
    const int32_t columns = reference_i32(launch, 3), rows = reference_i32(launch, 4);
    if (launch->argument_count != 5 || columns < 1 || rows < 1 || !reference_fits(launch, 1u << 20) ||
        launch->block[2] != 1 || launch->grid[2] != 1)
        return "fdtd_3 takes f32 hz[rows][columns], f32 ex[rows][columns], f32 ey[rows][columns], s32 columns, s32 "
               "rows, and two-dimensional blocks";
    const uint64_t width = (uint64_t)columns, height = (uint64_t)rows;
    const uint64_t last_x = (uint64_t)launch->grid[0] * launch->block[0],
                   last_y = (uint64_t)launch->grid[1] * launch->block[1];
    float *hz = reference_f32s(launch, 0, width * height);
    const float *ex = reference_f32s(launch, 1, width * height), *ey = reference_f32s(launch, 2, width * height);
    if (!hz || !ex || !ey) return "fdtd_3 needs hz, ex and ey[rows][columns]";
    for (uint64_t y = 0; y + 1 < height && y < last_y; y++)
        for (uint64_t x = 0; x + 1 < width && x < last_x; x++) {
            const uint64_t i = y * width + x;
            hz[i] = fmaf(ex[i + 1] - ex[i] + ey[i + width] - ey[i], -0.7f, hz[i]);
        }
    return NULL;
}
