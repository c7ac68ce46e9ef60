/* tiles.cu: tiles of several warps (block_tile_memory) reduce, exchange and vote, and parts of a tile are numbered
 * within it. */
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cstdio>

namespace cg = cooperative_groups;
enum { THREADS = 1024, VALUES = 6 };

struct triple {
    int a, b, c;
};
struct sum {
    __device__ triple operator()(triple x, triple y) const { return {x.a + y.a, x.b + y.b, x.c + y.c}; }
};

template <unsigned int Size> __global__ void tiles(int *out) {
    __shared__ cg::block_tile_memory<THREADS> memory;
    const cg::thread_block block = cg::this_thread_block(memory);
    const cg::thread_block_tile<Size> tile = cg::tiled_partition<Size>(block);
    const int id = (int)block.thread_rank();
    int *const mine = out + VALUES * id;
    mine[0] = cg::reduce(tile, id, cg::plus<int>());
    mine[1] = cg::reduce(tile, triple{id, 2 * id, 1}, sum()).b;
    mine[2] = tile.shfl(3 * id, Size - 5);
    mine[3] = tile.any(id == 70) + 2 * tile.all(id < 2 * (int)Size);
    mine[4] = (int)(tile.meta_group_rank() * 100 + tile.meta_group_size());
    const cg::thread_block_tile<4> part = cg::tiled_partition<4>(cg::tiled_partition<16>(block));
    mine[5] = (int)(part.meta_group_rank() * 100 + part.meta_group_size());
}

template <unsigned int Size> static int wrong(int *out) {
    const int size = Size;
    int bad = 0;
    tiles<Size><<<1, THREADS>>>(out);
    if (cudaDeviceSynchronize() != cudaSuccess) return 1;
    for (int i = 0; i < THREADS; i++) {
        const int tile = i / size, first = tile * size, total = size * first + size * (size - 1) / 2;
        const int wanted[VALUES] = {total,
                                    2 * total,
                                    3 * (first + size - 5),
                                    (tile == 70 / size) + 2 * (tile < 2),
                                    tile * 100 + THREADS / size,
                                    i % 16 / 4 * 100 + 4};
        for (int k = 0; k < VALUES; k++)
            if (out[VALUES * i + k] != wanted[k] && bad++ < 3)
                printf("tiles of %d, thread %d, value %d: %d, not %d\n", size, i, k, out[VALUES * i + k], wanted[k]);
    }
    return bad;
}

int main() {
    int *out;
    cudaMallocManaged(&out, VALUES * THREADS * sizeof *out);
    return wrong<64>(out) + wrong<256>(out) + wrong<1024>(out) != 0;
}
