/* fdtd_1(f32 ey[rows][columns], f32 hz[rows][columns], f32 pulse[], s32 columns, s32 rows, s32 step) */
#include "reference.h"

const char *reference_fdtd_1(const reference_launch *launch) {
    const int32_t columns = reference_i32(launch, 3), rows = reference_i32(launch, 4);
    if (launch->argument_count != 6 || columns < 1 || rows < 1 || !reference_fits(launch, 1u << 20) ||
        launch->block[2] != 1 || launch->grid[2] != 1)
        return "fdtd_1 takes f32 ey[rows][columns], f32 hz[rows][columns], f32 pulse[], s32 columns, s32 rows, s32 "
               "step, and two-dimensional blocks";
    const uint64_t width = (uint64_t)columns, height = (uint64_t)rows;
    const uint64_t last_x = (uint64_t)launch->grid[0] * launch->block[0],
                   last_y = (uint64_t)launch->grid[1] * launch->block[1];
    const int32_t step = reference_i32(launch, 5);
    float *ey = reference_f32s(launch, 0, width * height);
    const float *hz = reference_f32s(launch, 1, width * height);
    const float *pulse = step < 0 ? NULL : reference_f32s(launch, 2, (uint64_t)step + 1);
    if (!ey || !hz || !pulse) return "fdtd_1 needs ey and hz[rows][columns], and a pulse for the step";
    for (uint64_t y = 0; y < height && y < last_y; y++)
        for (uint64_t x = 0; x < width && x < last_x; x++) {
            const uint64_t i = y * width + x;
            ey[i] = y ? fmaf(hz[i] - hz[i - width], -0.5f, ey[i]) : pulse[step];
        }
    return NULL;
}
