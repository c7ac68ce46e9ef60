/* minigpu_shuffles: clang's intrinsics, and shuffles of every type. clang 14's shuffle of unsigned long long calls
 * itself without end, so clang's shuffles get names of their own here. */
#ifndef MINIGPU_SHUFFLES_H
#define MINIGPU_SHUFFLES_H

#define __shfl_sync minigpu_clang_shfl_sync
#define __shfl_up_sync minigpu_clang_shfl_up_sync
#define __shfl_down_sync minigpu_clang_shfl_down_sync
#define __shfl_xor_sync minigpu_clang_shfl_xor_sync
#include <__clang_cuda_intrinsics.h>
#undef __shfl_sync
#undef __shfl_up_sync
#undef __shfl_down_sync
#undef __shfl_xor_sync

#define MINIGPU_SHUFFLE(name, clang_name, offset)                                                               \
    template <class T>                                                                                          \
    static inline __device__ auto name(unsigned int mask, T value, offset lanes, int width = warpSize)          \
        ->decltype(clang_name(mask, value, lanes, width)) {                                                     \
        return clang_name(mask, value, lanes, width);                                                           \
    }                                                                                                           \
    static inline __device__ unsigned long long name(unsigned int mask, unsigned long long value, offset lanes, \
                                                     int width = warpSize) {                                    \
        return (unsigned long long)clang_name(mask, (long long)value, lanes, width);                            \
    }
MINIGPU_SHUFFLE(__shfl_sync, minigpu_clang_shfl_sync, int)
MINIGPU_SHUFFLE(__shfl_up_sync, minigpu_clang_shfl_up_sync, unsigned int)
MINIGPU_SHUFFLE(__shfl_down_sync, minigpu_clang_shfl_down_sync, unsigned int)
MINIGPU_SHUFFLE(__shfl_xor_sync, minigpu_clang_shfl_xor_sync, int)
#undef MINIGPU_SHUFFLE

#endif
