/* backprop_layer_forward(f32 input[inputs+1], f32 weights[inputs+1][hidden+1], f32 partial[blocks][hidden], s32
 * hidden). Each block is a tree of additions over 16 rows; rows that are added up first keep their sums in the weights.
 */
#include "reference.h"

const char *reference_backprop_layer_forward(const reference_launch *launch) {
    const int32_t hidden = reference_i32(launch, 3);
    if (launch->argument_count != 4 || hidden < 16 || hidden > 65535)
        return "backprop_layer_forward takes f32 buffers input, weights, partial, and s32 hidden from 16 to 65535";
    if (launch->block[0] != 16 || launch->block[1] != 16 || launch->block[2] != 1 || launch->grid[0] != 1 ||
        launch->grid[2] != 1)
        return "backprop_layer_forward needs a grid of 1 x blocks and blocks of 16x16 threads";
    const uint64_t blocks = launch->grid[1], width = (uint64_t)(uint32_t)hidden + 1;
    const float *input = reference_f32s(launch, 0, blocks * 16 + 1);
    float *weights = reference_f32s(launch, 1, (blocks * 16 + 1) * width);
    float *partial = reference_f32s(launch, 2, blocks * (width - 1));
    if (!input || !weights || !partial)
        return "backprop_layer_forward needs input[n+1], weights[n+1][hidden+1] and partial[n/16][hidden]";
    for (uint64_t block = 0; block < blocks; block++) {
        float *corner = weights + (block * 16 + 1) * width + 1;
        for (uint64_t y = 0; y < 16; y++)
            for (uint64_t x = 0; x < 16; x++) corner[y * width + x] = corner[y * width + x] * input[block * 16 + y + 1];
        for (uint64_t span = 2; span <= 16; span *= 2)
            for (uint64_t y = 0; y < 16; y += span)
                for (uint64_t x = 0; x < 16; x++)
                    corner[y * width + x] = corner[y * width + x] + corner[(y + span / 2) * width + x];
        for (uint64_t x = 0; x < 16; x++) partial[block * (width - 1) + x] = corner[x];
    }
    return NULL;
}
