/* cutcp(f32 potential[4 gz][4 gy][8 gx], f32 atoms[gz + 2][bins_y][bins_x][4][4], s32 bins_x, s32 bins_y, f32 spacing,
 * f32 cutoff2, f32 inverse_cutoff2): the bins of a region in the order in which a block takes them. */
#include "reference.h"

enum { CUTCP_BIN_ATOMS = 4 };

const char *reference_cutcp(const reference_launch *launch) {
    const int32_t bins_x = reference_i32(launch, 2), bins_y = reference_i32(launch, 3);
    const float spacing = reference_f32(launch, 4), cutoff2 = reference_f32(launch, 5);
    const float inverse_cutoff2 = reference_f32(launch, 6);
    if (launch->argument_count != 7 || !reference_fits(launch, 1u << 20) || launch->block[0] != 8 ||
        launch->block[1] != 4 || launch->block[2] != 2 || bins_x < 1 || bins_y < 1 || bins_x > 65536 || bins_y > 65536)
        return "cutcp takes f32 potential, f32 atoms, s32 bins_x and bins_y, f32 spacing, cutoff2 and inverse_cutoff2, "
               "and blocks of 8x4x2 threads";
    const uint64_t across = (uint64_t)bins_x, down = (uint64_t)bins_y;
    const uint64_t width = 8 * (uint64_t)launch->grid[0], height = 4 * (uint64_t)launch->grid[1];
    const uint64_t depth = 4 * (uint64_t)launch->grid[2];
    const float(*atoms)[4] = (const float(*)[4])reference_f32s(
        launch, 1, (launch->grid[2] + UINT64_C(2)) * across * down * CUTCP_BIN_ATOMS * 4);
    float *potential = reference_f32s(launch, 0, width * height * depth);
    if (!atoms || !potential || launch->grid[0] + UINT64_C(2) > across || launch->grid[1] + UINT64_C(2) > down)
        return "cutcp needs a region of potential[] for each block and atoms[bins][4][4], with a bin more than blocks "
               "at every end";
    for (uint64_t z = 0; z < depth; z++) {
        for (uint64_t y = 0; y < height; y++) {
            for (uint64_t x = 0; x < width; x++) {
                const float at_x = (float)x * spacing, at_y = (float)y * spacing, at_z = (float)z * spacing;
                float sum = 0.0f;
                for (uint64_t near = 0; near < 27; near++) {
                    const uint64_t bin = ((z / 4 + near / 9) * down + y / 4 + near / 3 % 3) * across + x / 8 + near % 3;
                    for (uint64_t i = bin * CUTCP_BIN_ATOMS; i < (bin + 1) * CUTCP_BIN_ATOMS; i++) {
                        const float dx = atoms[i][0] - at_x, dy = atoms[i][1] - at_y, dz = atoms[i][2] - at_z;
                        const float distance2 = fmaf(dz, dz, fmaf(dx, dx, dy * dy));
                        if (!(distance2 < cutoff2)) continue;
                        const float fade = 1.0f - distance2 * inverse_cutoff2;
                        sum = fmaf(fade, fade * (atoms[i][3] * reference_rsqrt_approx(distance2)), sum);
                    }
                }
                potential[(z * height + y) * width + x] = sum;
            }
        }
    }
    return NULL;
}
