/* sm_70_rt: __match_any_sync, __match_all_sync and __nanosleep. clang's __clang_cuda_intrinsics.h asks for this file. */
#ifndef MINIGPU_SM_70_RT_HPP
#define MINIGPU_SM_70_RT_HPP

#define MINIGPU_MATCH(type, bits, reg, ptx) \
    static inline __device__ unsigned int __match_any_sync(unsigned int mask, type value) { \
        unsigned int same; \
        __asm__ __volatile__("match.any.sync." ptx " %0, %1, %2;" : "=r"(same) : reg((bits)value), "r"(mask)); \
        return same; \
    } \
    static inline __device__ unsigned int __match_all_sync(unsigned int mask, type value, int *all) { \
        unsigned int same; \
        __asm__ __volatile__("{ .reg .pred p; match.all.sync." ptx " %0|p, %2, %3; selp.s32 %1, 1, 0, p; }" \
                             : "=r"(same), "=r"(*all) \
                             : reg((bits)value), "r"(mask)); \
        return same; \
    }
MINIGPU_MATCH(int, int, "r", "b32")
MINIGPU_MATCH(unsigned int, unsigned int, "r", "b32")
MINIGPU_MATCH(long, long, "l", "b64")
MINIGPU_MATCH(unsigned long, unsigned long, "l", "b64")
MINIGPU_MATCH(long long, long long, "l", "b64")
MINIGPU_MATCH(unsigned long long, unsigned long long, "l", "b64")
#undef MINIGPU_MATCH
static inline __device__ unsigned int __match_any_sync(unsigned int mask, float value) {
    return __match_any_sync(mask, __float_as_int(value));
}
static inline __device__ unsigned int __match_any_sync(unsigned int mask, double value) {
    return __match_any_sync(mask, __double_as_longlong(value));
}
static inline __device__ void __nanosleep(unsigned int ns) { __asm__ __volatile__("nanosleep.u32 %0;" : : "r"(ns)); }

/* A reduction over the lanes of a mask is one instruction since sm_80. */
#define MINIGPU_REDUCE(name, operation, type, ptx) \
    static inline __device__ type name(unsigned int mask, type value) { \
        type result; \
        __asm__ __volatile__("redux.sync." operation "." ptx " %0, %1, %2;" : "=r"(result) : "r"(value), "r"(mask)); \
        return result; \
    }
MINIGPU_REDUCE(__reduce_add_sync, "add", int, "s32")
MINIGPU_REDUCE(__reduce_add_sync, "add", unsigned int, "u32")
MINIGPU_REDUCE(__reduce_min_sync, "min", int, "s32")
MINIGPU_REDUCE(__reduce_min_sync, "min", unsigned int, "u32")
MINIGPU_REDUCE(__reduce_max_sync, "max", int, "s32")
MINIGPU_REDUCE(__reduce_max_sync, "max", unsigned int, "u32")
MINIGPU_REDUCE(__reduce_and_sync, "and", unsigned int, "b32")
MINIGPU_REDUCE(__reduce_or_sync, "or", unsigned int, "b32")
MINIGPU_REDUCE(__reduce_xor_sync, "xor", unsigned int, "b32")
#undef MINIGPU_REDUCE

#endif
