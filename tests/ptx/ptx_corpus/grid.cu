// arch: sm_80
// Barriers of the whole grid, and groups of several warps, which meet in the system's part of shared memory.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;

// Every thread passes its number to the thread on its right, across blocks, `rounds` times.
extern "C" __global__ void passed_on(int *a, int *b, int rounds) {
    cg::grid_group grid = cg::this_grid();
    const int n = (int)grid.size(), i = (int)grid.thread_rank();
    for (int k = 0; k < rounds; k++) {
        (k % 2 ? a : b)[(i + 1) % n] = (k % 2 ? b : a)[i] * 3 + k;
        grid.sync();
    }
}

extern "C" __global__ void wide_groups(const int *in, int *out) {
    __shared__ cg::block_tile_memory<256> scratch;
    auto block = cg::this_thread_block(scratch);
    auto tile = cg::tiled_partition<64>(block);
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = cg::reduce(tile, in[i], cg::plus<int>());
}
