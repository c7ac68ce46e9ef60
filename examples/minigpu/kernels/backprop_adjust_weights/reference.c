/* backprop_adjust_weights(f32 error[hidden+1], f32 input[inputs+1], f32 weights[inputs+1][hidden+1], f32 steps[as
 * weights], s32 hidden) */
#include "reference.h"

static void adjust(float *weight, float *old_step, float step) {
    *weight = *weight + step;
    *old_step = step;
}

const char *reference_backprop_adjust_weights(const reference_launch *launch) {
    const int32_t hidden = reference_i32(launch, 4);
    if (launch->argument_count != 5 || hidden < 16 || hidden > 65535)
        return "backprop_adjust_weights takes f32 buffers error, input, weights, steps, and s32 hidden from 16 to "
               "65535";
    if (launch->block[0] != 16 || launch->block[1] != 16 || launch->block[2] != 1 || launch->grid[0] != 1 ||
        launch->grid[2] != 1)
        return "backprop_adjust_weights needs a grid of 1 x blocks and blocks of 16x16 threads";
    const uint64_t inputs = (uint64_t)launch->grid[1] * 16, width = (uint64_t)(uint32_t)hidden + 1;
    const float *error = reference_f32s(launch, 0, 17), *input = reference_f32s(launch, 1, inputs + 1);
    float *weights = reference_f32s(launch, 2, (inputs + 1) * width),
          *steps = reference_f32s(launch, 3, (inputs + 1) * width);
    if (!error || !input || !weights || !steps)
        return "backprop_adjust_weights needs error[17], input[n+1], weights[n+1][hidden+1] and steps as large";
    for (uint64_t unit = 1; unit <= inputs; unit++)
        for (uint64_t x = 1; x <= 16; x++) {
            uint64_t i = unit * width + x;
            adjust(&weights[i], &steps[i], fmaf(error[x] * 0.3f, input[unit], steps[i] * 0.3f));
        }
    for (uint64_t x = 1; x <= 16; x++) adjust(&weights[x], &steps[x], fmaf(error[x], 0.3f, steps[x] * 0.3f));
    return NULL;
}
