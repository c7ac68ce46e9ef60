/* mri_gridding(f32 grid[8 gy][16 gx][2], f32 samples[][4], s32 first[gx gy + 1], f32 reach2, f32 inverse_reach2) */
#include "reference.h"

const char *reference_mri_gridding(const reference_launch *launch) {
    const float reach2 = reference_f32(launch, 3), inverse_reach2 = reference_f32(launch, 4);
    if (launch->argument_count != 5 || !reference_fits(launch, 1u << 20) || launch->block[0] != 16 ||
        launch->block[1] != 8 || launch->block[2] != 1 || launch->grid[2] != 1)
        return "mri_gridding takes f32 grid, f32 samples, s32 first, f32 reach2 and inverse_reach2, and blocks of 16x8 "
               "threads";
    const int64_t across = launch->grid[0], down = launch->grid[1];
    float(*grid)[2] = (float(*)[2])reference_f32s(launch, 0, (uint64_t)(across * down * 256));
    const int32_t *first = reference_i32s(launch, 2, (uint64_t)(across * down + 1));
    const uint64_t count = reference_count(launch, 1, 16);
    const float(*samples)[4] = (const float(*)[4])reference_f32s(launch, 1, 4 * count);
    if (!grid || !first || !samples) return "mri_gridding needs grid[8 gy][16 gx][2], samples[][4], first[bins + 1]";
    for (int64_t bin = 0; bin < across * down; bin++)
        if (first[bin] < 0 || first[bin + 1] < first[bin] || (uint64_t)first[bin + 1] > count)
            return "mri_gridding: a bin lies outside the samples";
    for (int64_t row = 0; row < 8 * down; row++) {
        for (int64_t column = 0; column < 16 * across; column++) {
            float real = 0.0f, imaginary = 0.0f;
            for (int64_t near = 0; near < 9; near++) {
                const int64_t bin_x = column / 16 + near % 3 - 1, bin_y = row / 8 + near / 3 - 1;
                if (bin_x < 0 || bin_y < 0 || bin_x >= across || bin_y >= down) continue;
                for (int32_t i = first[bin_y * across + bin_x]; i < first[bin_y * across + bin_x + 1]; i++) {
                    const float dx = samples[i][0] - (float)column, dy = samples[i][1] - (float)row;
                    const float distance2 = fmaf(dx, dx, dy * dy);
                    if (!(distance2 < reach2)) continue;
                    const float fade = 1.0f - distance2 * inverse_reach2, weight = fade * fade;
                    real = fmaf(samples[i][2], weight, real);
                    imaginary = fmaf(samples[i][3], weight, imaginary);
                }
            }
            grid[row * 16 * across + column][0] = real;
            grid[row * 16 * across + column][1] = imaginary;
        }
    }
    return NULL;
}
