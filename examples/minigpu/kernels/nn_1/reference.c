/* nn_1(f32 images[n][29][29], weights[maps][26], out[n][6][13][13]) */
#include "reference.h"

const char *reference_nn_1(const reference_launch *launch) {
    const uint64_t maps = launch->grid[0], images = launch->grid[1];
    if (launch->argument_count != 3 || !reference_fits(launch, 1u << 20) || launch->grid[2] != 1 ||
        launch->block[0] != 13 || launch->block[1] != 13 || launch->block[2] != 1)
        return "nn_1 takes f32 images[n][29][29], weights[maps][26], out[n][6][13][13], and blocks of 13x13 threads";
    const float *in = reference_f32s(launch, 0, images * 841), *weights = reference_f32s(launch, 1, maps * 26);
    float *out = reference_f32s(launch, 2, images * 1014);
    if (!in || !weights || !out || maps > 1014 / 169)
        return "nn_1 needs images[n][29][29], weights[maps][26], out[n][6][13][13], and a block per map";
    for (uint64_t i = 0; i < images * maps * 169; i++) {
        const uint64_t image = i / 169 / maps, map = i / 169 % maps, place = i % 169;
        const float *corner = in + image * 841 + place / 13 * 58 + place % 13 * 2, *weight = weights + map * 26;
        float sum = weight[0];
        for (uint64_t tap = 0; tap < 25; tap++) sum = fmaf(corner[tap / 5 * 29 + tap % 5], weight[1 + tap], sum);
        const float power = reference_ex2_approx(sum * 1.3333333f * 1.44269502f);
        out[(image * 6 + map) * 169 + place] = 1.7159f * (1.0f - 2.0f / (power + 1.0f));
    }
    return NULL;
}
