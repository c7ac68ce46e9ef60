/* cooperative_groups: blocks, tiles of a warp, the threads that are together now, and the whole grid. */
#ifndef MINIGPU_COOPERATIVE_GROUPS_H
#define MINIGPU_COOPERATIVE_GROUPS_H

#include "cuda_runtime.h"

#define _CG_HAS_FP16_COLLECTIVE 0

#ifdef __CUDA__
namespace cooperative_groups {

#define MINIGPU_GROUP static inline __device__

namespace minigpu {
MINIGPU_GROUP unsigned int rank_in_block() {
    return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}
MINIGPU_GROUP unsigned int block_size() { return blockDim.x * blockDim.y * blockDim.z; }
MINIGPU_GROUP unsigned int lane() {
    unsigned int lane;
    __asm__("mov.u32 %0, %%laneid;" : "=r"(lane));
    return lane;
}
MINIGPU_GROUP unsigned int lanes_below() {
    unsigned int mask;
    __asm__("mov.u32 %0, %%lanemask_lt;" : "=r"(mask));
    return mask;
}
/* The n-th lane of a mask, from 0. */
MINIGPU_GROUP unsigned int nth_lane(unsigned int mask, unsigned int n) {
    for (; n; n--) mask &= mask - 1;
    return __ffs((int)mask) - 1;
}
struct either {
    __device__ unsigned int operator()(unsigned int a, unsigned int b) const { return a | b; }
};
/* Values of any size travel as words. */
template <class T, class Shuffle> MINIGPU_GROUP T by_words(T value, Shuffle shuffle) {
    if (sizeof(T) < 4) {
        int word = 0;
        memcpy(&word, &value, sizeof(T));
        word = shuffle(word);
        memcpy(&value, &word, sizeof(T));
    } else {
        int words[(sizeof(T) + 3) / 4];
        memcpy(words, &value, sizeof(T));
        for (unsigned int i = 0; i < (sizeof(T) + 3) / 4; i++) words[i] = shuffle(words[i]);
        memcpy(&value, words, sizeof(T));
    }
    return value;
}
} // namespace minigpu

/* A group of any kind: a block (mask 0), or lanes of one warp. */
class thread_group {
    unsigned int mask;

  public:
    __device__ explicit thread_group(unsigned int mask_) : mask(mask_) {}
    __device__ void sync() const {
        if (mask)
            __syncwarp(mask);
        else
            __syncthreads();
    }
    __device__ unsigned int size() const { return mask ? __popc(mask) : minigpu::block_size(); }
    __device__ unsigned int num_threads() const { return size(); }
    __device__ unsigned int thread_rank() const {
        return mask ? __popc(mask & minigpu::lanes_below()) : minigpu::rank_in_block();
    }
};

/* Memory for the barriers of tiles of several warps. Tile r of size S counts in arrived[1024 / S + r], so
 * tiles of all sizes have counts of their own. Warp w exchanges in words[w]. */
template <unsigned int MaxBlockSize = 1024> struct block_tile_memory { unsigned int arrived[32], words[32]; };

class thread_block {
  public:
    unsigned int *tiles; /* block_tile_memory's counts and then its words, or none */
    __device__ thread_block(unsigned int *tiles_ = nullptr) : tiles(tiles_) {}
    __device__ operator thread_group() const { return thread_group(0); }
    __device__ void sync() const { __syncthreads(); }
    __device__ unsigned int size() const { return minigpu::block_size(); }
    __device__ unsigned int num_threads() const { return minigpu::block_size(); }
    __device__ unsigned int thread_rank() const { return minigpu::rank_in_block(); }
    __device__ dim3 group_index() const { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
    __device__ dim3 thread_index() const { return dim3(threadIdx.x, threadIdx.y, threadIdx.z); }
    __device__ dim3 group_dim() const { return dim3(blockDim.x, blockDim.y, blockDim.z); }
    __device__ dim3 dim_threads() const { return group_dim(); }
};
MINIGPU_GROUP thread_block this_thread_block() { return thread_block(); }
template <unsigned int MaxBlockSize>
MINIGPU_GROUP thread_block this_thread_block(block_tile_memory<MaxBlockSize> &memory) {
    if (minigpu::rank_in_block() < 32) memory.arrived[minigpu::rank_in_block()] = 0;
    __syncthreads();
    return thread_block((unsigned int *)&memory);
}

/* Lanes of one warp; the base of tiles and of coalesced groups. */
class lanes_group {
  protected:
    unsigned int mask;
    __device__ explicit lanes_group(unsigned int mask_) : mask(mask_) {}
    __device__ unsigned int lane_of(unsigned int rank) const { return minigpu::nth_lane(mask, rank); }

  public:
    __device__ operator thread_group() const { return thread_group(mask); }
    __device__ void sync() const { __syncwarp(mask); }
    __device__ unsigned int size() const { return __popc(mask); }
    __device__ unsigned int num_threads() const { return __popc(mask); }
    __device__ unsigned int thread_rank() const { return __popc(mask & minigpu::lanes_below()); }
    __device__ int any(int value) const { return __ballot_sync(mask, value) != 0; }
    __device__ int all(int value) const { return __ballot_sync(mask, value) == mask; }
    __device__ unsigned int get_mask() const { return mask; }
};

class coalesced_group : public lanes_group {
    unsigned int meta_rank, meta_size; /* among the groups into which its parent was divided */

  public:
    __device__ explicit coalesced_group(unsigned int mask_, unsigned int rank = 0, unsigned int groups = 1)
        : lanes_group(mask_), meta_rank(rank), meta_size(groups) {}
    __device__ unsigned int meta_group_rank() const { return meta_rank; }
    __device__ unsigned int meta_group_size() const { return meta_size; }
    __device__ unsigned int ballot(int value) const {
        const unsigned int votes = __ballot_sync(mask, value);
        unsigned int packed = 0, i = 0;
        for (unsigned int rest = mask; rest; rest &= rest - 1, i++)
            packed |= (votes >> (__ffs((int)rest) - 1) & 1) << i;
        return packed;
    }
    template <class T> __device__ T shfl(T value, unsigned int rank) const {
        const unsigned int from = lane_of(rank), m = mask;
        return minigpu::by_words(value, [=](int word) { return __shfl_sync(m, word, from); });
    }
    template <class T> __device__ T shfl_down(T value, unsigned int delta) const {
        const unsigned int to = thread_rank() + delta;
        return shfl(value, to < size() ? to : thread_rank());
    }
    template <class T> __device__ T shfl_up(T value, unsigned int delta) const {
        const unsigned int rank = thread_rank();
        return shfl(value, rank >= delta ? rank - delta : rank);
    }
};
MINIGPU_GROUP coalesced_group coalesced_threads() { return coalesced_group(__activemask()); }

template <unsigned int Size, class Parent = void> class thread_block_tile : public lanes_group {
    static __device__ unsigned int lanes() {
        return Size == 32 ? ~0u : ((1u << (Size & 31)) - 1) << (minigpu::lane() / Size * Size);
    }

  public:
    unsigned int within; /* threads of the tile that was divided; 0: a block was */
    __device__ explicit thread_block_tile(unsigned int within_ = 0) : lanes_group(lanes()), within(within_) {}
    template <class Other>
    __device__ thread_block_tile(const thread_block_tile<Size, Other> &other)
        : lanes_group(lanes()), within(other.within) {}
    static __device__ constexpr unsigned int size() { return Size; }
    static __device__ constexpr unsigned int num_threads() { return Size; }
    __device__ unsigned int thread_rank() const { return minigpu::lane() % Size; }
    __device__ unsigned int meta_group_rank() const {
        return (within ? minigpu::rank_in_block() % within : minigpu::rank_in_block()) / Size;
    }
    __device__ unsigned int meta_group_size() const {
        return ((within ? within : minigpu::block_size()) + Size - 1) / Size;
    }
    __device__ unsigned int ballot(int value) const {
        return __ballot_sync(mask, value) >> (minigpu::lane() / Size * Size) &
               (Size == 32 ? ~0u : (1u << (Size & 31)) - 1);
    }
    template <class T> __device__ T shfl(T value, unsigned int rank) const {
        const unsigned int m = mask;
        return minigpu::by_words(value, [=](int word) { return __shfl_sync(m, word, rank, Size); });
    }
    template <class T> __device__ T shfl_down(T value, unsigned int delta) const {
        const unsigned int m = mask;
        return minigpu::by_words(value, [=](int word) { return __shfl_down_sync(m, word, delta, Size); });
    }
    template <class T> __device__ T shfl_up(T value, unsigned int delta) const {
        const unsigned int m = mask;
        return minigpu::by_words(value, [=](int word) { return __shfl_up_sync(m, word, delta, Size); });
    }
    template <class T> __device__ T shfl_xor(T value, unsigned int bits) const {
        const unsigned int m = mask;
        return minigpu::by_words(value, [=](int word) { return __shfl_xor_sync(m, word, bits, Size); });
    }
    template <class T> __device__ unsigned int match_any(T value) const {
        return __match_any_sync(mask, value) >> (minigpu::lane() / Size * Size);
    }
    template <class T, class Operation> __device__ T reduced(T value, Operation operation) const {
        for (unsigned int bits = Size / 2; bits; bits /= 2) value = operation(value, shfl_xor(value, bits));
        return value;
    }
};

/* A tile of several warps: they count each other and exchange words in the block's memory for tiles. */
template <unsigned int Size> class tile_of_warps {
    enum { WARPS = Size / 32 };
    template <unsigned int> friend class tile_of_warps;
    unsigned int *memory, *arrived;
    /* Memory for the tiles of this size and those within them, where the program gives none. All threads of the block
     * divide it together, and no tile of before may still count in it. */
    static __device__ unsigned int *own_memory() {
        static __shared__ unsigned int own[2 * 32];
        __syncthreads();
        if (minigpu::rank_in_block() < 32) own[minigpu::rank_in_block()] = 0;
        __syncthreads();
        return own;
    }
    __device__ tile_of_warps(unsigned int *tiles, unsigned int within_)
        : memory(tiles), arrived(tiles + 1024 / Size + minigpu::rank_in_block() / Size), within(within_) {}
    /* The value of each warp's lane 0. No warp leaves before all have read, since its next tile may be another one. */
    template <class T> __device__ void gather(T value, T (&of_warps)[WARPS]) const {
        volatile unsigned int *const words = memory + 32 + minigpu::rank_in_block() / Size * WARPS;
        unsigned int mine[(sizeof(T) + 3) / 4], all[WARPS][(sizeof(T) + 3) / 4];
        memcpy(mine, &value, sizeof(T));
        for (unsigned int i = 0; i < (sizeof(T) + 3) / 4; i++) {
            if (minigpu::lane() == 0) words[thread_rank() / 32] = mine[i];
            sync();
            for (unsigned int warp = 0; warp < WARPS; warp++) all[warp][i] = words[warp];
            sync();
        }
        for (unsigned int warp = 0; warp < WARPS; warp++) memcpy(&of_warps[warp], all[warp], sizeof(T));
    }

  public:
    unsigned int within; /* threads of the tile that was divided; 0: a block was */
    __device__ explicit tile_of_warps(const thread_block &block)
        : tile_of_warps(block.tiles ? block.tiles : own_memory(), 0) {}
    template <unsigned int Larger>
    __device__ explicit tile_of_warps(const tile_of_warps<Larger> &tile) : tile_of_warps(tile.memory, Larger) {}
    /* The last warp makes the count a multiple of the warps. */
    __device__ void sync() const {
        __syncwarp();
        if (minigpu::lane() == 0) {
            __threadfence_block();
            const unsigned int before = atomicAdd(arrived, 1u), all = (before / WARPS + 1) * WARPS;
            while ((int)(*(volatile unsigned int *)arrived - all) < 0) {}
            __threadfence_block();
        }
        __syncwarp();
    }
    static __device__ constexpr unsigned int size() { return Size; }
    static __device__ constexpr unsigned int num_threads() { return Size; }
    __device__ unsigned int thread_rank() const { return minigpu::rank_in_block() % Size; }
    __device__ unsigned int meta_group_rank() const {
        return (within ? minigpu::rank_in_block() % within : minigpu::rank_in_block()) / Size;
    }
    __device__ unsigned int meta_group_size() const {
        return ((within ? within : minigpu::block_size()) + Size - 1) / Size;
    }
    template <class T> __device__ T shfl(T value, unsigned int rank) const {
        T of_warps[WARPS];
        gather(minigpu::by_words(value, [=](int word) { return __shfl_sync(~0u, word, rank % 32); }), of_warps);
        return of_warps[rank / 32];
    }
    template <class T, class Operation> __device__ T reduced(T value, Operation operation) const {
        T of_warps[WARPS];
        gather(thread_block_tile<32>().reduced(value, operation), of_warps);
        for (unsigned int warp = 1; warp < WARPS; warp++) of_warps[0] = operation(of_warps[0], of_warps[warp]);
        return of_warps[0];
    }
    __device__ int any(int value) const { return reduced((unsigned int)(value != 0), minigpu::either()); }
    __device__ int all(int value) const { return !any(!value); }
};
#define MINIGPU_TILE_OF_WARPS(size)                                                                               \
    template <class Parent> class thread_block_tile<size, Parent> : public tile_of_warps<size> {                  \
      public:                                                                                                     \
        __device__ explicit thread_block_tile(const thread_block &block) : tile_of_warps<size>(block) {}          \
        template <unsigned int Larger>                                                                            \
        __device__ explicit thread_block_tile(const tile_of_warps<Larger> &tile) : tile_of_warps<size>(tile) {}   \
        template <class Other>                                                                                    \
        __device__ thread_block_tile(const thread_block_tile<size, Other> &other) : tile_of_warps<size>(other) {} \
    };
MINIGPU_TILE_OF_WARPS(64)
MINIGPU_TILE_OF_WARPS(128)
MINIGPU_TILE_OF_WARPS(256)
MINIGPU_TILE_OF_WARPS(512)
MINIGPU_TILE_OF_WARPS(1024)
#undef MINIGPU_TILE_OF_WARPS

namespace minigpu {
template <unsigned int Size, class Parent, bool Warps> struct division_of_tile {
    static __device__ thread_block_tile<Size, Parent> of(const Parent &parent) {
        return thread_block_tile<Size, Parent>(parent);
    }
};
template <unsigned int Size, class Parent> struct division_of_tile<Size, Parent, false> {
    static __device__ thread_block_tile<Size, Parent> of(const Parent &) {
        return thread_block_tile<Size, Parent>(Parent::size());
    }
};
template <unsigned int Size, class Parent> struct division : division_of_tile<Size, Parent, (Size > 32)> {};
template <unsigned int Size, bool Warps> struct division_of_block {
    static __device__ thread_block_tile<Size, thread_block> of(const thread_block &block) {
        return thread_block_tile<Size, thread_block>(block);
    }
};
template <unsigned int Size> struct division_of_block<Size, false> {
    static __device__ thread_block_tile<Size, thread_block> of(const thread_block &) {
        return thread_block_tile<Size, thread_block>();
    }
};
template <unsigned int Size> struct division<Size, thread_block> : division_of_block<Size, (Size > 32)> {};
} // namespace minigpu
template <unsigned int Size, class Parent>
MINIGPU_GROUP thread_block_tile<Size, Parent> tiled_partition(const Parent &parent) {
    return minigpu::division<Size, Parent>::of(parent);
}
MINIGPU_GROUP coalesced_group tiled_partition(const thread_block &, unsigned int size) {
    const unsigned int first = minigpu::lane() / size * size;
    return coalesced_group((size == 32 ? ~0u : (1u << size) - 1) << first, minigpu::rank_in_block() / size,
                           (minigpu::block_size() + size - 1) / size);
}
MINIGPU_GROUP coalesced_group tiled_partition(const coalesced_group &group, unsigned int size) {
    const unsigned int part = group.thread_rank() / size;
    unsigned int mask = 0, rank = 0;
    for (unsigned int rest = group.get_mask(); rest; rest &= rest - 1, rank++)
        if (rank / size == part) mask |= rest & (0 - rest);
    return coalesced_group(mask, part, (group.size() + size - 1) / size);
}
template <class Parent> MINIGPU_GROUP coalesced_group binary_partition(const Parent &group, bool value) {
    const unsigned int votes = __ballot_sync(group.get_mask(), value);
    return coalesced_group(value ? votes : group.get_mask() & ~votes, value, 2);
}
/* The groups are numbered by their first threads. */
template <class Parent, class T> MINIGPU_GROUP coalesced_group labeled_partition(const Parent &group, T label) {
    const unsigned int same = __match_any_sync(group.get_mask(), label), first = same & (0 - same),
                       firsts = __ballot_sync(group.get_mask(), first == 1u << minigpu::lane());
    return coalesced_group(same, __popc(firsts & (first - 1)), __popc(firsts));
}

/* The whole grid, of a cooperative launch. */
class grid_group {
    /* The word in which blocks count each other. The machine sets it to zero when the kernel starts. */
    static __device__ unsigned int *counter() {
        unsigned int high, low;
        __asm__("mov.u32 %0, %%envreg1;" : "=r"(high));
        __asm__("mov.u32 %0, %%envreg2;" : "=r"(low));
        return (unsigned int *)((unsigned long long)high << 32 | low);
    }

  public:
    __device__ bool is_valid() const { return true; }
    __device__ unsigned long long num_blocks() const { return (unsigned long long)gridDim.x * gridDim.y * gridDim.z; }
    __device__ unsigned long long block_rank() const {
        return blockIdx.x + (unsigned long long)gridDim.x * (blockIdx.y + (unsigned long long)gridDim.y * blockIdx.z);
    }
    __device__ unsigned long long size() const { return num_blocks() * minigpu::block_size(); }
    __device__ unsigned long long num_threads() const { return size(); }
    __device__ unsigned long long thread_rank() const {
        return block_rank() * minigpu::block_size() + minigpu::rank_in_block();
    }
    __device__ dim3 group_dim() const { return dim3(gridDim.x, gridDim.y, gridDim.z); }
    __device__ dim3 dim_blocks() const { return group_dim(); }
    __device__ dim3 block_index() const { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
    /* Every block adds 1, but for the first, which adds what makes the sum 2^31: the top bit changes when all are
     * there, and once more at the next barrier. */
    __device__ void sync() const {
        __syncthreads();
        if (minigpu::rank_in_block() == 0) {
            unsigned int *const arrived = counter();
            const unsigned int mine = block_rank() == 0 ? 0x80000000u - ((unsigned int)num_blocks() - 1) : 1u;
            __threadfence();
            const unsigned int before = atomicAdd(arrived, mine);
            while (((before ^ *(volatile unsigned int *)arrived) & 0x80000000u) == 0) {}
            __threadfence();
        }
        __syncthreads();
    }
};
MINIGPU_GROUP grid_group this_grid() { return grid_group(); }

template <class Group> MINIGPU_GROUP void sync(const Group &group) { group.sync(); }
template <class Group> MINIGPU_GROUP auto thread_rank(const Group &group) -> decltype(group.thread_rank()) {
    return group.thread_rank();
}
template <class Group> MINIGPU_GROUP auto group_size(const Group &group) -> decltype(group.size()) {
    return group.size();
}

/* ---- operations, reductions, scans ---- */

template <class T> struct plus {
    __device__ T operator()(T a, T b) const { return a + b; }
};
template <class T> struct less {
    __device__ T operator()(T a, T b) const { return b < a ? b : a; }
};
template <class T> struct greater {
    __device__ T operator()(T a, T b) const { return a < b ? b : a; }
};
template <class T> struct bit_and {
    __device__ T operator()(T a, T b) const { return a & b; }
};
template <class T> struct bit_or {
    __device__ T operator()(T a, T b) const { return a | b; }
};
template <class T> struct bit_xor {
    __device__ T operator()(T a, T b) const { return a ^ b; }
};

template <unsigned int Size, class Parent, class T, class Operation>
MINIGPU_GROUP T reduce(const thread_block_tile<Size, Parent> &group, T value, Operation operation) {
    return group.reduced(value, operation);
}
template <class T, class Operation> MINIGPU_GROUP T reduce(const coalesced_group &group, T value, Operation operation) {
    const unsigned int rank = group.thread_rank(), count = group.size();
    for (unsigned int distance = 1; distance < count; distance *= 2) {
        const T other = group.shfl(value, rank + distance < count ? rank + distance : rank);
        if (rank + distance < count && rank % (2 * distance) == 0) value = operation(value, other);
    }
    return group.shfl(value, 0);
}
template <class Group, class T, class Operation>
MINIGPU_GROUP T inclusive_scan(const Group &group, T value, Operation operation) {
    const unsigned int rank = group.thread_rank();
    for (unsigned int distance = 1; distance < group.size(); distance *= 2) {
        const T other = group.shfl_up(value, distance);
        if (rank >= distance) value = operation(other, value);
    }
    return value;
}
template <class Group, class T> MINIGPU_GROUP T inclusive_scan(const Group &group, T value) {
    return inclusive_scan(group, value, plus<T>());
}
template <class Group, class T> MINIGPU_GROUP T exclusive_scan(const Group &group, T value) {
    const T sum = inclusive_scan(group, value, plus<T>()), before = group.shfl_up(sum, 1);
    return group.thread_rank() ? before : T();
}

/* ---- copies by a whole group ---- */

template <class Group> MINIGPU_GROUP void memcpy_async(const Group &group, void *to, const void *from, size_t bytes) {
    for (size_t i = group.thread_rank(); i < bytes; i += group.size()) ((char *)to)[i] = ((const char *)from)[i];
}
template <class Group> MINIGPU_GROUP void wait(const Group &group) { group.sync(); }

#undef MINIGPU_GROUP
} // namespace cooperative_groups
#endif

#endif
