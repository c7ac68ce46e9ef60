/* heartwall(f32 frame[][width], f32 templates[points][16][16], s32 row[points], s32 column[points], f32 error[points],
 * s32 width, s32 reach). Of equal sums the first place in reading order wins. */
#include "reference.h"

const char *reference_heartwall(const reference_launch *launch) {
    const int32_t width = reference_i32(launch, 5), reach = reference_i32(launch, 6);
    const uint64_t points = launch->grid[0];
    if (launch->argument_count != 7 || width < 64 || reach < 1 || reach > 32)
        return "heartwall takes f32 frame, f32 templates, s32 row, s32 column, f32 error, s32 width and s32 reach (1 "
               "to 32)";
    if (launch->block[0] != 256 || reference_block_threads(launch) != 256 || reference_blocks(launch) != points)
        return "heartwall needs a block of 256 threads per point";
    const int32_t side = 16 + reach - 1;
    const float *frame = reference_f32s(launch, 0, 0), *templates = reference_f32s(launch, 1, points * 256);
    int32_t *row = reference_i32s(launch, 2, points), *column = reference_i32s(launch, 3, points);
    float *error = reference_f32s(launch, 4, points);
    if (!frame || !templates || !row || !column || !error)
        return "heartwall needs templates[points][256], row, column and error[points]";
    const int64_t height = (int64_t)(reference_count(launch, 0, 4) / (uint64_t)width);
    for (uint64_t point = 0; point < points; point++) {
        const int64_t top = (int64_t)row[point] - side / 2, left = (int64_t)column[point] - side / 2;
        if (top < 0 || left < 0 || top + side > height || left + side > width)
            return "heartwall: a search area leaves the frame";
        float best = 3.402823466e+38f;
        int32_t best_place = 0;
        for (int32_t place = 0; place < reach * reach; place++) {
            const float *corner = frame + (top + place / reach) * width + left + place % reach;
            float sum = 0.0f;
            for (int64_t i = 0; i < 256; i++) {
                const float difference = corner[i / 16 * width + i % 16] - templates[point * 256 + (uint64_t)i];
                sum = fmaf(difference, difference, sum);
            }
            if (sum < best) {
                best = sum;
                best_place = place;
            }
        }
        row[point] = (int32_t)top + best_place / reach + 8;
        column[point] = (int32_t)left + best_place % reach + 8;
        error[point] = best;
    }
    return NULL;
}
