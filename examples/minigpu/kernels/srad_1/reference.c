/* srad_1(f32 to_north[], to_south[], to_west[], to_east[], f32 image[], f32 freedom[] (all rows*columns), s32 columns,
 * s32 rows, f32 speckle) */
#include "reference.h"

const char *reference_srad_1(const reference_launch *launch) {
    const int32_t columns = reference_i32(launch, 6), rows = reference_i32(launch, 7);
    const float speckle = reference_f32(launch, 8);
    if (launch->argument_count != 9 || columns < 1 || rows < 1)
        return "srad_1 takes f32 to_north, to_south, to_west, to_east, image, freedom, s32 columns, s32 rows and f32 "
               "speckle";
    const uint64_t width = (uint64_t)(uint32_t)columns, height = (uint64_t)(uint32_t)rows;
    if (launch->block[0] != 16 || launch->block[1] != 16 || launch->block[2] != 1 || launch->grid[2] != 1 ||
        (uint64_t)launch->grid[0] * 16 != width || (uint64_t)launch->grid[1] * 16 != height)
        return "srad_1 needs blocks of 16x16 threads that cover the image exactly";
    float *north = reference_f32s(launch, 0, width * height), *south = reference_f32s(launch, 1, width * height);
    float *west = reference_f32s(launch, 2, width * height), *east = reference_f32s(launch, 3, width * height);
    const float *image = reference_f32s(launch, 4, width * height);
    float *freedom = reference_f32s(launch, 5, width * height);
    if (!north || !south || !west || !east || !image || !freedom) return "srad_1 needs six buffers of rows*columns f32";
    for (uint64_t y = 0; y < height; y++) {
        for (uint64_t x = 0; x < width; x++) {
            const uint64_t i = y * width + x;
            const float c = image[i];
            const float n = image[y > 0 ? i - width : i] - c, s = image[y + 1 < height ? i + width : i] - c;
            const float w = image[x > 0 ? i - 1 : i] - c, e = image[x + 1 < width ? i + 1 : i] - c;
            const float gradient = fmaf(e, e, fmaf(w, w, fmaf(n, n, s * s))) / (c * c);
            const float laplacian = (n + s + w + e) / c;
            const float numerator = fmaf(gradient, 0.5f, (laplacian * laplacian) * -0.0625f);
            const float denominator = fmaf(laplacian, 0.25f, 1.0f);
            const float variation = numerator / (denominator * denominator);
            const float excess = (variation - speckle) / ((speckle + 1.0f) * speckle);
            const float share = 1.0f / (excess + 1.0f);
            freedom[i] = share < 0.0f ? 0.0f : share > 1.0f ? 1.0f : share;
            north[i] = n;
            south[i] = s;
            west[i] = w;
            east[i] = e;
        }
    }
    return NULL;
}
