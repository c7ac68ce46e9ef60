/* stencil(f32 centre_weight, f32 neighbour_weight, f32 before[nz][ny][nx], f32 after[nz][ny][nx], s32 nx, s32 ny, s32
 * nz). The PTX multiplies twice and subtracts without fusing. */
#include "reference.h"

const char *reference_stencil(const reference_launch *launch) {
    const float centre_weight = reference_f32(launch, 0), neighbour_weight = reference_f32(launch, 1);
    const int32_t sizes[3] = {reference_i32(launch, 4), reference_i32(launch, 5), reference_i32(launch, 6)};
    if (launch->argument_count != 7 || sizes[0] < 1 || sizes[1] < 1 || sizes[2] < 2 || sizes[0] > 65535 ||
        sizes[1] > 65535)
        return "stencil takes f32 centre_weight, f32 neighbour_weight, f32 before and after, s32 nx, ny and nz";
    const uint64_t nx = (uint64_t)sizes[0], ny = (uint64_t)sizes[1], nz = (uint64_t)sizes[2], layer = nx * ny;
    const float *before = reference_f32s(launch, 2, layer * nz);
    float *after = reference_f32s(launch, 3, layer * nz);
    if (!before || !after) return "stencil needs two buffers of nx*ny*nz f32";
    const uint64_t threads = reference_block_threads(launch);
    if (launch->block[2] != 1 || launch->grid[2] != 1 || launch->dynamic_shared_bytes < threads * 8)
        return "stencil needs two-dimensional blocks and 8 bytes of dynamic shared memory per thread";
    uint64_t right = (uint64_t)launch->grid[0] * launch->block[0] * 2,
             bottom = (uint64_t)launch->grid[1] * launch->block[1];
    if (right > nx - 1) right = nx - 1;
    if (bottom > ny - 1) bottom = ny - 1;
    for (uint64_t z = 1; z + 1 < nz; z++) {
        for (uint64_t y = 1; y < bottom; y++) {
            for (uint64_t x = 1; x < right; x++) {
                const float *cell = before + z * layer + y * nx + x;
                float sum = cell[layer] + cell[-(int64_t)layer] + cell[-(int64_t)nx] + cell[nx] + cell[-1] + cell[1];
                after[z * layer + y * nx + x] = sum * neighbour_weight - cell[0] * centre_weight;
            }
        }
    }
    return NULL;
}
