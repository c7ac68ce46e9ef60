/* nn_3(f32 in[n][1250], weights[neurons][1251], out[n][100]) */
#include "reference.h"

const char *reference_nn_3(const reference_launch *launch) {
    const uint64_t maps = launch->grid[0], images = launch->grid[1];
    if (launch->argument_count != 3 || !reference_fits(launch, 1u << 20) || launch->grid[2] != 1 ||
        launch->block[0] != 1 || launch->block[1] != 1 || launch->block[2] != 1)
        return "nn_3 takes f32 in[n][1250], weights[neurons][1251], out[n][100], and blocks of 1x1 threads";
    const float *in = reference_f32s(launch, 0, images * 1250), *weights = reference_f32s(launch, 1, maps * 1251);
    float *out = reference_f32s(launch, 2, images * 100);
    if (!in || !weights || !out || maps > 100)
        return "nn_3 needs in[n][1250], weights[neurons][1251], out[n][100], and a block per map";
    for (uint64_t i = 0; i < images * maps; i++) {
        const float *before = in + i / maps * 1250, *weight = weights + i % maps * 1251;
        float sum = weight[0];
        for (uint64_t n = 0; n < 1250; n++) sum = fmaf(before[n], weight[1 + n], sum);
        const float power = reference_ex2_approx(sum * 1.3333333f * 1.44269502f);
        out[i / maps * 100 + i % maps] = 1.7159f * (1.0f - 2.0f / (power + 1.0f));
    }
    return NULL;
}
