/* dg(f32 fields[gx][6][nodes], f32 matrices[3][nodes][nodes], f32 factors[gx][9], f32 rates[gx][6][nodes], s32 nodes)
 */
#include "reference.h"

/* d[c][f]: field f along the element's axis c. Returns its derivative along the axis of space with these factors. */
static float dg_derivative(const float *by, float d[3][6], uint32_t f) {
    return fmaf(by[0], d[0][f], fmaf(by[1], d[1][f], by[2] * d[2][f]));
}

const char *reference_dg(const reference_launch *launch) {
    const int32_t count = reference_i32(launch, 4);
    if (launch->argument_count != 5 || count < 1 || count > 96 || !reference_fits(launch, 1u << 20) ||
        launch->block[0] != 96 || launch->block[1] != 1 || launch->block[2] != 1 || launch->grid[1] != 1 ||
        launch->grid[2] != 1)
        return "dg takes f32 fields, matrices, factors and rates, s32 nodes up to 96, and a row of blocks of 96 "
               "threads";
    const uint64_t elements = launch->grid[0], nodes = (uint64_t)count;
    const float *fields = reference_f32s(launch, 0, elements * 6 * nodes);
    const float *matrices = reference_f32s(launch, 1, 3 * nodes * nodes);
    const float *factors = reference_f32s(launch, 2, elements * 9);
    float *rates = reference_f32s(launch, 3, elements * 6 * nodes);
    if (!fields || !matrices || !factors || !rates)
        return "dg needs fields and rates[gx][6][nodes], matrices[3][nodes][nodes] and factors[gx][9]";
    for (uint64_t i = 0; i < elements * nodes; i++) {
        const uint64_t element = i / nodes, node = i % nodes;
        const float *field = fields + element * 6 * nodes, *by = factors + element * 9;
        float d[3][6] = {{0}};
        for (uint64_t m = 0; m < nodes; m++)
            for (uint32_t c = 0; c < 3; c++)
                for (uint32_t f = 0; f < 6; f++)
                    d[c][f] = fmaf(matrices[(c * nodes + m) * nodes + node], field[f * nodes + m], d[c][f]);
        for (uint32_t f = 0; f < 6; f += 3)
            for (uint32_t c = 0; c < 3; c++) {
                const uint32_t next = (c + 1) % 3, last = (c + 2) % 3;
                const float curl =
                    dg_derivative(by + 3 * next, d, f + last) - dg_derivative(by + 3 * last, d, f + next);
                rates[(element * 6 + 3 - f + c) * nodes + node] = (f ? -1.0f : 1.0f) * curl;
            }
    }
    return NULL;
}
