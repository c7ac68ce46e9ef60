/* minigpu_hints: loads and stores that say how they use caches, the spaces of addresses, and products of packed bytes.
 * The mini-GPU's caches take no hints, so these loads and stores are plain. */
#ifndef MINIGPU_HINTS_H
#define MINIGPU_HINTS_H

#define MINIGPU_LOAD(name) \
    template <class T> static inline __device__ T name(const T *address) { return *address; }
MINIGPU_LOAD(__ldg)
MINIGPU_LOAD(__ldca)
MINIGPU_LOAD(__ldcg)
MINIGPU_LOAD(__ldcs)
MINIGPU_LOAD(__ldlu)
#undef MINIGPU_LOAD
/* Loads anew each time: what another thread has stored is seen. */
template <class T> static inline __device__ T __ldcv(const T *address) {
    __asm__ __volatile__("" : : : "memory");
    return *address;
}
#define MINIGPU_STORE(name) \
    template <class T> static inline __device__ void name(T *address, T value) { *address = value; }
MINIGPU_STORE(__stwb)
MINIGPU_STORE(__stcg)
MINIGPU_STORE(__stcs)
MINIGPU_STORE(__stwt)
#undef MINIGPU_STORE

#define MINIGPU_SPACE(name, space)                                                                              \
    static inline __device__ unsigned int name(const void *pointer) {                                           \
        unsigned int is;                                                                                        \
        __asm__("{ .reg .pred p; isspacep." space " p, %1; selp.u32 %0, 1, 0, p; }" : "=r"(is) : "l"(pointer)); \
        return is;                                                                                              \
    }
MINIGPU_SPACE(__isGlobal, "global")
MINIGPU_SPACE(__isShared, "shared")
MINIGPU_SPACE(__isLocal, "local")
MINIGPU_SPACE(__isConstant, "const")
#undef MINIGPU_SPACE
#define MINIGPU_ADDRESS(name, instruction)                              \
    static inline __device__ size_t name(const void *pointer) {         \
        size_t address;                                                 \
        __asm__(instruction " %0, %1;" : "=l"(address) : "l"(pointer)); \
        return address;                                                 \
    }
MINIGPU_ADDRESS(__cvta_generic_to_global, "cvta.to.global.u64")
MINIGPU_ADDRESS(__cvta_generic_to_shared, "cvta.to.shared.u64")
MINIGPU_ADDRESS(__cvta_generic_to_local, "cvta.to.local.u64")
MINIGPU_ADDRESS(__cvta_generic_to_constant, "cvta.to.const.u64")
#undef MINIGPU_ADDRESS

/* Four products of bytes, or two of a word of a and bytes of b, added to c. */
#define MINIGPU_DOT(name, instruction, words, bytes, type)                                                        \
    static inline __device__ type name(words a, bytes b, type c) {                                                \
        type sum;                                                                                                 \
        __asm__(instruction " %0, %1, %2, %3;" : "=r"(sum) : "r"(minigpu_word(a)), "r"(minigpu_word(b)), "r"(c)); \
        return sum;                                                                                               \
    }
static inline __device__ int minigpu_word(int word) { return word; }
static inline __device__ unsigned int minigpu_word(unsigned int word) { return word; }
template <class T> static inline __device__ unsigned int minigpu_word(T packed) {
    return *(const unsigned int *)&packed;
}
MINIGPU_DOT(__dp4a, "dp4a.s32.s32", int, int, int)
MINIGPU_DOT(__dp4a, "dp4a.u32.u32", unsigned int, unsigned int, unsigned int)
MINIGPU_DOT(__dp4a, "dp4a.s32.s32", char4, char4, int)
MINIGPU_DOT(__dp4a, "dp4a.u32.u32", uchar4, uchar4, unsigned int)
MINIGPU_DOT(__dp2a_lo, "dp2a.lo.s32.s32", int, int, int)
MINIGPU_DOT(__dp2a_hi, "dp2a.hi.s32.s32", int, int, int)
MINIGPU_DOT(__dp2a_lo, "dp2a.lo.u32.u32", unsigned int, unsigned int, unsigned int)
MINIGPU_DOT(__dp2a_hi, "dp2a.hi.u32.u32", unsigned int, unsigned int, unsigned int)
#undef MINIGPU_DOT

#endif
