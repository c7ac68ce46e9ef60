/* tiles.cu: tiles of several warps, with and without block_tile_memory, reduce, exchange and vote, tiles of
 * several sizes share that memory, and parts of a tile or of a coalesced group are numbered within it. */
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

template <unsigned int Size> static __device__ void fill(const cg::thread_block &block, int *out) {
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

template <unsigned int Size> __global__ void with_memory(int *out) {
    __shared__ cg::block_tile_memory<THREADS> memory;
    fill<Size>(cg::this_thread_block(memory), out);
}
/* Twice, so that the second tiles begin while counts of the first are left. */
template <unsigned int Size> __global__ void without_memory(int *out) {
    fill<Size>(cg::this_thread_block(), out);
    fill<Size>(cg::this_thread_block(), out);
}

/* Tiles of 64 and of 256 threads in one memory, and tiles of 64 within those of 256, with and without memory. Warps
 * leave a tile at different times, so one tile's warps are in another tile while the others still read. */
static __device__ void take_turns(const cg::thread_block &block, int *out) {
    const cg::thread_block_tile<64> small = cg::tiled_partition<64>(block);
    const auto large = cg::tiled_partition<256>(block);
    const auto inner = cg::tiled_partition<64>(large);
    const cg::thread_block_tile<64> same = inner;
    const int id = (int)block.thread_rank();
    int *const mine = out + VALUES * id;
    for (int k = 0; k < VALUES; k++) mine[k] = 0;
    for (int turn = 0; turn < 3; turn++) {
        mine[0] += cg::reduce(small, id, cg::plus<int>());
        mine[1] += cg::reduce(large, id, cg::plus<int>());
        mine[2] += cg::reduce(inner, id, cg::plus<int>());
        for (int wait = 0; wait < id / 64 % 3 * 20; wait++) small.sync();
        mine[3] += same.shfl(id, 63);
    }
    mine[4] = (int)(inner.meta_group_rank() * 100 + inner.meta_group_size());
    mine[5] = (int)(small.meta_group_rank() * 100 + small.meta_group_size());
}
__global__ void turns(int *out, int has_memory) {
    __shared__ cg::block_tile_memory<512> memory;
    take_turns(has_memory ? cg::this_thread_block(memory) : cg::this_thread_block(), out);
}

static int wrong_turns(int *out, int has_memory) {
    int bad = 0;
    turns<<<1, 512>>>(out, has_memory);
    if (cudaDeviceSynchronize() != cudaSuccess) return 1;
    for (int i = 0; i < 512; i++) {
        const int first = i / 64 * 64, first_large = i / 256 * 256, total = 64 * first + 64 * 63 / 2;
        const int wanted[VALUES] = {
            3 * total,       3 * (256 * first_large + 256 * 255 / 2), 3 * total, 3 * (first + 63), i / 64 % 4 * 100 + 4,
            i / 64 * 100 + 8};
        for (int k = 0; k < VALUES; k++)
            if (out[VALUES * i + k] != wanted[k] && bad++ < 3)
                printf("turns, thread %d, value %d: %d, not %d\n", i, k, out[VALUES * i + k], wanted[k]);
    }
    return bad;
}

/* Parts of the lanes that are not divisible by 3: by size 4, by parity, and by their number modulo 5. */
__global__ void parts(int *out) {
    const int lane = (int)threadIdx.x;
    if (lane % 3 == 0) return;
    const cg::coalesced_group together = cg::coalesced_threads();
    const cg::coalesced_group groups[] = {together, cg::tiled_partition(together, 4),
                                          cg::binary_partition(together, lane % 2 == 1),
                                          cg::labeled_partition(together, lane % 5)};
    for (int k = 0; k < 4; k++)
        out[4 * lane + k] = (int)(groups[k].meta_group_rank() * 10000 + groups[k].meta_group_size() * 1000 +
                                  groups[k].size() * 10 + (groups[k].thread_rank() == 0));
}

static int wrong_parts(int *out) {
    int bad = 0;
    parts<<<1, 32>>>(out);
    if (cudaDeviceSynchronize() != cudaSuccess) return 1;
    for (int lane = 0, rank = 0; lane < 32; lane++) {
        if (lane % 3 == 0) continue;
        int odd_before = 0, odd = 0, same = 0, same_before = 0;
        for (int l = 0; l < 32; l++)
            if (l % 3) {
                odd += l % 2 == lane % 2, odd_before += l % 2 == lane % 2 && l < lane;
                same += l % 5 == lane % 5, same_before += l % 5 == lane % 5 && l < lane;
            }
        const int by_first[5] = {3, 0, 1, 4, 2}; /* labels by their first lanes: 1, 2, 4, 5, 8 */
        const int wanted[4] = {1000 + 210 + (rank == 0),
                               rank / 4 * 10000 + 6000 + (rank < 20 ? 40 : 10) + (rank % 4 == 0),
                               lane % 2 * 10000 + 2000 + odd * 10 + !odd_before,
                               by_first[lane % 5] * 10000 + 5000 + same * 10 + !same_before};
        for (int k = 0; k < 4; k++)
            if (out[4 * lane + k] != wanted[k] && bad++ < 8)
                printf("parts, lane %d, group %d: %d, not %d\n", lane, k, out[4 * lane + k], wanted[k]);
        rank++;
    }
    return bad;
}

template <unsigned int Size> static int wrong(int *out, int has_memory) {
    const int size = Size;
    int bad = 0;
    if (has_memory)
        with_memory<Size><<<1, THREADS>>>(out);
    else
        without_memory<Size><<<1, THREADS>>>(out);
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
    for (int has_memory = 0; has_memory < 2; has_memory++)
        if (wrong_turns(out, has_memory)) return 1;
    for (int has_memory = 0; has_memory < 2; has_memory++)
        if (wrong<64>(out, has_memory) + wrong<256>(out, has_memory) + wrong<1024>(out, has_memory)) return 1;
    return wrong_parts(out) != 0;
}
