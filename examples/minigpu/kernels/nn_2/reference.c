/* nn_2(f32 in[n][6][13][13], weights[maps][151], out[n][50][5][5]) */
#include "reference.h"

const char *reference_nn_2(const reference_launch *launch) {
    const uint64_t maps = launch->grid[0], images = launch->grid[1];
    if (launch->argument_count != 3 || !reference_fits(launch, 1u << 20) || launch->grid[2] != 1 ||
        launch->block[0] != 5 || launch->block[1] != 5 || launch->block[2] != 1)
        return "nn_2 takes f32 in[n][6][13][13], weights[maps][151], out[n][50][5][5], and blocks of 5x5 threads";
    const float *in = reference_f32s(launch, 0, images * 1014), *weights = reference_f32s(launch, 1, maps * 151);
    float *out = reference_f32s(launch, 2, images * 1250);
    if (!in || !weights || !out || maps > 1250 / 25)
        return "nn_2 needs in[n][6][13][13], weights[maps][151], out[n][50][5][5], and a block per map";
    for (uint64_t i = 0; i < images * maps * 25; i++) {
        const uint64_t image = i / 25 / maps, map = i / 25 % maps, place = i % 25;
        const float *corner = in + image * 1014 + place / 5 * 26 + place % 5 * 2, *weight = weights + map * 151;
        float sum = weight[0];
        for (uint64_t n = 0; n < 150; n++)
            sum = fmaf(corner[n % 6 * 169 + n / 30 * 13 + n / 6 % 5], weight[1 + n], sum);
        const float power = reference_ex2_approx(sum * 1.3333333f * 1.44269502f);
        out[(image * 50 + map) * 25 + place] = 1.7159f * (1.0f - 2.0f / (power + 1.0f));
    }
    return NULL;
}
