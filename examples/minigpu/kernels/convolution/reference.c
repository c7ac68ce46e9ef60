/* convolution(f32 out[rows][columns], f32 in[rows][columns], s32 columns, s32 rows) */
#include "reference.h"

const char *reference_convolution(const reference_launch *launch) {
    const int32_t columns = reference_i32(launch, 2), rows = reference_i32(launch, 3);
    if (launch->argument_count != 4 || columns < 1 || rows < 1 || !reference_fits(launch, 1u << 20) ||
        launch->block[2] != 1 || launch->grid[2] != 1)
        return "convolution takes f32 out[rows][columns], f32 in[rows][columns], s32 columns, s32 rows, and "
               "two-dimensional blocks";
    const uint64_t width = (uint64_t)columns, height = (uint64_t)rows;
    const uint64_t last_x = (uint64_t)launch->grid[0] * launch->block[0];
    const uint64_t last_y = (uint64_t)launch->grid[1] * launch->block[1];
    static const float weights[9] = {0.2f, -0.3f, 0.4f, 0.5f, 0.6f, 0.7f, -0.8f, -0.9f, 0.1f};
    static const uint64_t order[9] = {1, 0, 2, 3, 4, 5, 6, 7, 8};
    float *out = reference_f32s(launch, 0, width * height);
    const float *in = reference_f32s(launch, 1, width * height);
    if (!out || !in) return "convolution needs out and in[rows][columns]";
    for (uint64_t y = 1; y + 1 < height && y < last_y; y++)
        for (uint64_t x = 1; x + 1 < width && x < last_x; x++) {
            float sum = 0.0f;
            for (int n = 0; n < 9; n++) {
                const uint64_t tap = order[n];
                const float value = in[(y + tap / 3 - 1) * width + x + tap % 3 - 1];
                sum = n ? fmaf(value, weights[tap], sum) : value * weights[tap];
            }
            out[y * width + x] = sum;
        }
    return NULL;
}
