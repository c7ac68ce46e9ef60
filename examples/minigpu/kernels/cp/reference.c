/* cp(f32 potential[8 gy][128 gx], f32 atoms[count][4], s32 count, f32 spacing): distances along a row are added up as
 * the kernel does. */
#include "reference.h"

const char *reference_cp(const reference_launch *launch) {
    const int32_t count = reference_i32(launch, 2);
    const float spacing = reference_f32(launch, 3), step = spacing * 16.0f;
    if (launch->argument_count != 4 || count < 0 || !reference_fits(launch, 1u << 20) || launch->block[0] != 16 ||
        launch->block[1] != 8 || launch->block[2] != 1 || launch->grid[2] != 1)
        return "cp takes f32 potential, f32 atoms[count][4], s32 count, f32 spacing, and blocks of 16x8 threads";
    const uint64_t width = 128 * (uint64_t)launch->grid[0], height = 8 * (uint64_t)launch->grid[1];
    float *potential = reference_f32s(launch, 0, width * height);
    const float(*atoms)[4] = (const float(*)[4])reference_f32s(launch, 1, 4 * (uint64_t)count);
    if (!potential || !atoms) return "cp needs potential[8 gy][128 gx] and atoms[count][4]";
    for (uint64_t i = 0; i < width * height; i++) {
        const uint64_t column = i % width, first = column / 128 * 128 + column % 16;
        const float x = (float)first * spacing, y = (float)(i / width) * spacing;
        float sum = 0.0f;
        for (int32_t n = 0; n < count; n++) {
            const float dy = y - atoms[n][1], rest = fmaf(dy, dy, atoms[n][2]);
            float dx = x - atoms[n][0];
            for (uint64_t k = 0; k < column % 128 / 16; k++) dx += step;
            sum = fmaf(atoms[n][3], reference_rsqrt_approx(fmaf(dx, dx, rest)), sum);
        }
        potential[i] += sum;
    }
    return NULL;
}
