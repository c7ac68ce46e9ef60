/* fdtd_2(f32 ex[rows][columns], f32 hz[rows][columns], s32 columns, s32 rows) */
#include "reference.h"

const char *reference_fdtd_2(const reference_launch *launch) {
    const int32_t columns = reference_i32(launch, 2), rows = reference_i32(launch, 3);
    if (launch->argument_count != 4 || columns < 1 || rows < 1 || !reference_fits(launch, 1u << 20) ||
        launch->block[2] != 1 || launch->grid[2] != 1)
        return "fdtd_2 takes f32 ex[rows][columns], f32 hz[rows][columns], s32 columns, s32 rows, and two-dimensional "
               "blocks";
    const uint64_t width = (uint64_t)columns, height = (uint64_t)rows;
    const uint64_t last_x = (uint64_t)launch->grid[0] * launch->block[0],
                   last_y = (uint64_t)launch->grid[1] * launch->block[1];
    float *ex = reference_f32s(launch, 0, width * height);
    const float *hz = reference_f32s(launch, 1, width * height);
    if (!ex || !hz) return "fdtd_2 needs ex and hz[rows][columns]";
    for (uint64_t y = 0; y < height && y < last_y; y++)
        for (uint64_t x = 1; x < width && x < last_x; x++) {
            const uint64_t i = y * width + x;
            ex[i] = fmaf(hz[i] - hz[i - 1], -0.5f, ex[i]);
        }
    return NULL;
}
