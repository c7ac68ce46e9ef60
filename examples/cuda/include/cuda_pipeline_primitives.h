/* cuda_pipeline_primitives: asynchronous copies from global to shared memory, by groups (cp.async). */
#ifndef MINIGPU_CUDA_PIPELINE_PRIMITIVES_H
#define MINIGPU_CUDA_PIPELINE_PRIMITIVES_H

#include "cuda_runtime.h"

#ifdef __CUDA__
/* Copies 4, 8 or 16 bytes, of which the last `zeros` are not read but zero. */
static inline __device__ __attribute__((always_inline)) void __pipeline_memcpy_async(void *shared, const void *global,
                                                                                     size_t bytes, size_t zeros = 0) {
    const unsigned int to = (unsigned int)__cvta_generic_to_shared(shared), read = (unsigned int)(bytes - zeros);
    const size_t from = __cvta_generic_to_global(global);
    if (bytes == 4)
        __asm__ __volatile__("cp.async.ca.shared.global [%0], [%1], 4, %2;"
                             :
                             : "r"(to), "l"(from), "r"(read)
                             : "memory");
    else if (bytes == 8)
        __asm__ __volatile__("cp.async.ca.shared.global [%0], [%1], 8, %2;"
                             :
                             : "r"(to), "l"(from), "r"(read)
                             : "memory");
    else if (bytes == 16)
        __asm__ __volatile__("cp.async.cg.shared.global [%0], [%1], 16, %2;"
                             :
                             : "r"(to), "l"(from), "r"(read)
                             : "memory");
    else
        __trap();
}
static inline __device__ __attribute__((always_inline)) void __pipeline_commit() {
    __asm__ __volatile__("cp.async.commit_group;" : : : "memory");
}
/* Waits until at most `newer` of the groups that were committed last are on their way. More than 7 wait as 7 do. */
static inline __device__ __attribute__((always_inline)) void __pipeline_wait_prior(size_t newer) {
    switch (newer) {
#define MINIGPU_WAIT(n) \
    case n: __asm__ __volatile__("cp.async.wait_group " #n ";" : : : "memory"); break;
        MINIGPU_WAIT(0)
        MINIGPU_WAIT(1)
        MINIGPU_WAIT(2)
        MINIGPU_WAIT(3)
        MINIGPU_WAIT(4)
        MINIGPU_WAIT(5)
        MINIGPU_WAIT(6)
#undef MINIGPU_WAIT
    default: __asm__ __volatile__("cp.async.wait_group 7;" : : : "memory");
    }
}
#endif

#endif
