/* hotspot(s32 steps, f32 power[rows][columns], f32 before[rows][columns], f32 after[rows][columns], s32 columns, s32
 * rows, f32 rate, f32 per_x, f32 per_y, f32 per_z): whole time steps over the whole chip, one after the other. */
#include <stdlib.h>
#include "reference.h"

const char *reference_hotspot(const reference_launch *launch) {
    const int32_t steps = reference_i32(launch, 0), columns = reference_i32(launch, 4), rows = reference_i32(launch, 5);
    if (launch->argument_count != 10 || steps < 1 || steps > 7 || columns < 1 || rows < 1)
        return "hotspot takes s32 steps (1 to 7), f32 power, before, after, s32 columns, rows, f32 rate, per_x, per_y, "
               "per_z";
    if (launch->block[0] != 16 || launch->block[1] != 16 || launch->block[2] != 1)
        return "hotspot needs blocks of 16x16 threads";
    const size_t width = (size_t)columns, height = (size_t)rows;
    const float *power = reference_f32s(launch, 1, (uint64_t)width * height);
    const float *before = reference_f32s(launch, 2, (uint64_t)width * height);
    float *after = reference_f32s(launch, 3, (uint64_t)width * height);
    const float rate = reference_f32(launch, 6), per_x = reference_f32(launch, 7);
    const float per_y = reference_f32(launch, 8), per_z = reference_f32(launch, 9);
    if (!power || !before || !after) return "hotspot needs three buffers of rows*columns f32";
    size_t covered_columns = (size_t)launch->grid[0] * (size_t)(16 - 2 * steps);
    size_t covered_rows = (size_t)launch->grid[1] * (size_t)(16 - 2 * steps);
    if (covered_columns > width) covered_columns = width;
    if (covered_rows > height) covered_rows = height;

    float *now = (float *)malloc(width * height * sizeof *now), *next = (float *)malloc(width * height * sizeof *next);
    if (!now || !next) {
        free(now);
        free(next);
        return "out of memory";
    }
    memcpy(now, before, width * height * sizeof *now);
    for (int32_t step = 0; step < steps; step++) {
        for (size_t y = 0; y < height; y++) {
            const float *row = now + y * width;
            const float *north = y > 0 ? row - width : row, *south = y + 1 < height ? row + width : row;
            for (size_t x = 0; x < width; x++) {
                float t = row[x], east = row[x + 1 < width ? x + 1 : x], west = row[x > 0 ? x - 1 : x];
                float flow = fmaf(south[x] + north[x] - (t + t), per_y, power[y * width + x]);
                flow = fmaf(east + west - (t + t), per_x, flow);
                flow = fmaf(80.0f - t, per_z, flow);
                next[y * width + x] = fmaf(flow, rate, t);
            }
        }
        float *swap = now;
        now = next;
        next = swap;
    }
    for (size_t y = 0; y < covered_rows; y++) memcpy(after + y * width, now + y * width, covered_columns * sizeof *now);
    free(now);
    free(next);
    return NULL;
}
