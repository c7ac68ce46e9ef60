#include "../allocator.h"

/* Each thread puts a point into the list of its cell: a node that it allocates (point, x, y, next). The order of a
 * list is open. */
extern "C" __global__ void grid_points(const float2 *points, int *heads, int4 *heap, unsigned chunk_bytes, int count,
                                       int width) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned place = allocate(i < count ? 16 : 0, chunk_bytes);
    if (i >= count || place == ALLOCATOR_NOTHING) return;
    float2 p = points[i];
    int node = place / 16, cell = (int)p.y * width + (int)p.x;
    int next = atomicExch(&heads[cell], node);
    heap[node] = make_int4(i, __float_as_int(p.x), __float_as_int(p.y), next);
}
