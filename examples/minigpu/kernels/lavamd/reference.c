/* lavamd(f32 forces[boxes][particles][4], f32 positions[boxes][particles][4], s32 boxes[boxes][27], s32 lengths[boxes],
 * s32 particles, f32 decay) */
#include "reference.h"

enum { LAVAMD_LIST = 27, LAVAMD_MOST = 128 };

const char *reference_lavamd(const reference_launch *launch) {
    const int32_t particles = reference_i32(launch, 4);
    const float decay = reference_f32(launch, 5);
    if (launch->argument_count != 6 || particles < 1 || particles > LAVAMD_MOST || !reference_fits(launch, 1u << 20) ||
        launch->block[0] < (uint32_t)particles || launch->block[0] > LAVAMD_MOST || launch->block[1] != 1 ||
        launch->block[2] != 1 || launch->grid[1] != 1 || launch->grid[2] != 1)
        return "lavamd takes f32 forces, f32 positions, s32 boxes, s32 lengths, s32 particles (up to 128), f32 decay, "
               "and a row of blocks with a thread per particle";
    const uint64_t count = launch->grid[0], n = (uint64_t)particles;
    float(*forces)[4] = (float(*)[4])reference_f32s(launch, 0, count * n * 4);
    const float(*positions)[4] = (const float(*)[4])reference_f32s(launch, 1, count * n * 4);
    const int32_t *boxes = reference_i32s(launch, 2, count * LAVAMD_LIST), *lengths = reference_i32s(launch, 3, count);
    if (!forces || !positions || !boxes || !lengths)
        return "lavamd needs forces and positions[boxes][particles][4], boxes[boxes][27] and lengths[boxes]";
    for (uint64_t i = 0; i < count * n; i++) {
        const float *own = positions[i];
        float sum[4] = {0.0f, 0.0f, 0.0f, 0.0f};
        if (lengths[i / n] > LAVAMD_LIST) return "lavamd: a list is longer than 27 boxes";
        for (int32_t near = 0; near < lengths[i / n]; near++) {
            const int32_t box = boxes[i / n * LAVAMD_LIST + (uint64_t)near];
            if (box < 0 || (uint64_t)box >= count) return "lavamd: a list has a box that is not there";
            for (uint64_t j = (uint64_t)box * n; j < ((uint64_t)box + 1) * n; j++) {
                const float dx = own[0] - positions[j][0], dy = own[1] - positions[j][1], dz = own[2] - positions[j][2];
                const float distance2 = fmaf(dz, dz, fmaf(dx, dx, dy * dy));
                const float weight = positions[j][3] * reference_ex2_approx(distance2 * -decay * 1.44269502f);
                sum[0] = fmaf(dx, weight, sum[0]);
                sum[1] = fmaf(dy, weight, sum[1]);
                sum[2] = fmaf(dz, weight, sum[2]);
                sum[3] += weight;
            }
        }
        memcpy(forces[i], sum, sizeof sum);
    }
    return NULL;
}
