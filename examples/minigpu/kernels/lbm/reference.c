/* lbm(f32 source[19][cells], f32 target[19][cells], u8 solid[cells], s32 width, s32 layer, s32 cells, f32 omega) */
#include "directions.h"
#include "reference.h"

const char *reference_lbm(const reference_launch *launch) {
    const int32_t width = reference_i32(launch, 3), layer = reference_i32(launch, 4), cells = reference_i32(launch, 5);
    const float omega = reference_f32(launch, 6);
    const uint64_t columns = launch->block[0], rows = launch->grid[0], layers = launch->grid[1];
    if (launch->argument_count != 7 || width < 3 || layer < 9 || cells < 27)
        return "lbm takes f32 source, f32 target, u8 solid, s32 width, layer and cells, and f32 omega";
    if (launch->block[1] != 1 || launch->block[2] != 1 || launch->grid[2] != 1 || columns + 2 > (uint64_t)width ||
        (rows + 2) * (uint64_t)width > (uint64_t)layer || (layers + 2) * (uint64_t)layer > (uint64_t)cells ||
        cells > INT32_MAX / 19)
        return "lbm needs a layer of cells around the box of block x grid x grid cells";
    const float *source = reference_f32s(launch, 0, 19 * (uint64_t)cells);
    float *target = reference_f32s(launch, 1, 19 * (uint64_t)cells);
    const uint8_t *solid = reference_u8s(launch, 2, (uint64_t)cells);
    if (!source || !target || !solid) return "lbm needs source[19][cells], target[19][cells] and solid[cells]";
    for (uint64_t z = 0; z < layers; z++) {
        for (uint64_t y = 0; y < rows; y++) {
            for (uint64_t x = 0; x < columns; x++) {
                const int64_t cell = (int64_t)((z + 1) * (uint64_t)layer + (y + 1) * (uint64_t)width + x + 1);
#define LOAD(q, x, y, z, opposite, along, weight) const float f##q = source[(int64_t)q * cells + cell];
                LBM_DIRECTIONS(LOAD)
                if (solid[cell]) {
#define BOUNCE(q, x, y, z, opposite, along, weight) \
    target[(int64_t)q * cells + cell + (x) + (int64_t)(y)*width + (int64_t)(z)*layer] = f##opposite;
                    LBM_DIRECTIONS(BOUNCE)
                    continue;
                }
                const float density = f0 + f1 + f2 + f3 + f4 + f5 + f6 + f7 + f8 + f9 + f10 + f11 + f12 + f13 + f14 +
                                      f15 + f16 + f17 + f18;
                const float ux = (f1 - f2 + f7 - f8 + f9 - f10 + f11 - f12 + f13 - f14) / density;
                const float uy = (f3 - f4 + f7 - f8 - f9 + f10 + f15 - f16 + f17 - f18) / density;
                const float uz = (f5 - f6 + f11 - f12 - f13 + f14 + f15 - f16 - f17 + f18) / density;
                const float still = fmaf(fmaf(uz, uz, fmaf(ux, ux, uy * uy)), -1.5f, 1.0f);
#define COLLIDE(q, x, y, z, opposite, along, weight)                                        \
    {                                                                                       \
        const float u = along;                                                              \
        const float balance = density * (weight)*fmaf(u, fmaf(u, 4.5f, 3.0f), still);       \
        target[(int64_t)q * cells + cell + (x) + (int64_t)(y)*width + (int64_t)(z)*layer] = \
            fmaf(balance - f##q, omega, f##q);                                              \
    }
                LBM_DIRECTIONS(COLLIDE)
            }
        }
    }
    return NULL;
}
