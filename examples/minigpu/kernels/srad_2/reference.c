/* srad_2(f32 to_north[], to_south[], to_west[], to_east[], f32 image[], f32 freedom[] (all rows*columns), s32 columns,
 * s32 rows, f32 rate) */
#include "reference.h"

const char *reference_srad_2(const reference_launch *launch) {
    const int32_t columns = reference_i32(launch, 6), rows = reference_i32(launch, 7);
    const float rate = reference_f32(launch, 8);
    if (launch->argument_count != 9 || columns < 1 || rows < 1)
        return "srad_2 takes f32 to_north, to_south, to_west, to_east, image, freedom, s32 columns, s32 rows and f32 "
               "rate";
    const uint64_t width = (uint64_t)(uint32_t)columns, height = (uint64_t)(uint32_t)rows;
    if (launch->block[0] != 16 || launch->block[1] != 16 || launch->block[2] != 1 || launch->grid[2] != 1 ||
        (uint64_t)launch->grid[0] * 16 != width || (uint64_t)launch->grid[1] * 16 != height)
        return "srad_2 needs blocks of 16x16 threads that cover the image exactly";
    const float *north = reference_f32s(launch, 0, width * height), *south = reference_f32s(launch, 1, width * height);
    const float *west = reference_f32s(launch, 2, width * height), *east = reference_f32s(launch, 3, width * height);
    float *image = reference_f32s(launch, 4, width * height);
    const float *freedom = reference_f32s(launch, 5, width * height);
    if (!north || !south || !west || !east || !image || !freedom) return "srad_2 needs six buffers of rows*columns f32";
    for (uint64_t y = 0; y < height; y++) {
        for (uint64_t x = 0; x < width; x++) {
            const uint64_t i = y * width + x;
            const float here = freedom[i], below = freedom[y + 1 < height ? i + width : i];
            const float behind = freedom[x + 1 < width ? i + 1 : i];
            float divergence = fmaf(here, north[i], below * south[i]);
            divergence = fmaf(here, west[i], divergence);
            divergence = fmaf(behind, east[i], divergence);
            image[i] = fmaf(rate * 0.25f, divergence, image[i]);
        }
    }
    return NULL;
}
