/* grid_points(f32 points[count][2], s32 heads[], s32 heap[][4], u32 chunk_bytes, s32 count, s32 width): the points of
 * each cell as a list of nodes (point, x, y, next); the order of a list is open. */
#include "allocator_reference.h"

const char *reference_grid_points(const reference_launch *launch) {
    const int32_t signed_count = reference_i32(launch, 4), width = reference_i32(launch, 5);
    const uint32_t chunk = reference_u32(launch, 3);
    const uint64_t count = signed_count < 0 ? 0 : (uint64_t)signed_count, threads = reference_threads(launch);
    const float *points = reference_f32s(launch, 0, 2 * count);
    int32_t *heads = reference_i32s(launch, 1, 1), *heap = reference_i32s(launch, 2, 4);
    allocator_reference a = {0, 0};
    uint64_t i;
    if (launch->argument_count != 6 || signed_count < 0 || width < 1 || !points || !heads || !heap ||
        !allocator_suits(launch, 2, chunk))
        return "grid_points takes f32 points[count][2], s32 heads of the cells, s32 heap[][4] with chunk_bytes per "
               "block, u32 chunk_bytes, s32 count, s32 width, and blocks of up to 256 threads";
    for (i = 0; i < count && i < threads; i++) {
        const float x = points[2 * i], y = points[2 * i + 1];
        const uint32_t place = allocator_take(&a, i, launch->block[0], 16, chunk);
        int64_t cell;
        int32_t *node;
        if (place == ALLOCATOR_NOTHING) continue;
        if (!(x >= 0 && x < (float)width && y >= 0 && y < 32768)) return "grid_points: a point outside the grid";
        cell = (int64_t)y * width + (int64_t)x;
        if ((uint64_t)cell >= reference_count(launch, 1, 4)) return "grid_points: a point outside the grid";
        node = heap + place / 4;
        node[0] = (int32_t)i;
        memcpy(node + 1, &x, 4);
        memcpy(node + 2, &y, 4);
        node[3] = heads[cell];
        heads[cell] = (int32_t)(place / 16);
    }
    return NULL;
}
