/* minigpu_device: the device's functions. clang's headers name them; minigpu_atomics.h and others here have the rest.
 */
#ifndef MINIGPU_DEVICE_FUNCTIONS_H
#define MINIGPU_DEVICE_FUNCTIONS_H

#include <__clang_cuda_libdevice_declares.h>
#include <__clang_cuda_device_functions.h>
#include <__clang_cuda_math.h>

extern "C" {
__device__ int vprintf(const char *, const char *);
__device__ void free(void *) __attribute((nothrow));
__device__ void *malloc(size_t) __attribute((nothrow)) __attribute__((malloc));
__device__ int printf(const char *, ...);
__device__ void __assertfail(const char *text, const char *file, unsigned line, const char *function, size_t bytes);
static inline __device__ void __assert_fail(const char *text, const char *file, unsigned line, const char *function) {
    __assertfail(text, file, line, function, sizeof(char));
}
}
namespace std {
static inline __device__ void free(void *p) { ::free(p); }
static inline __device__ void *malloc(size_t bytes) { return ::malloc(bytes); }
} // namespace std

inline __device__ __cuda_builtin_threadIdx_t::operator dim3() const { return dim3(x, y, z); }
inline __device__ __cuda_builtin_threadIdx_t::operator uint3() const { return {x, y, z}; }
inline __device__ __cuda_builtin_blockIdx_t::operator dim3() const { return dim3(x, y, z); }
inline __device__ __cuda_builtin_blockIdx_t::operator uint3() const { return {x, y, z}; }
inline __device__ __cuda_builtin_blockDim_t::operator dim3() const { return dim3(x, y, z); }
inline __device__ __cuda_builtin_blockDim_t::operator uint3() const { return {x, y, z}; }
inline __device__ __cuda_builtin_gridDim_t::operator dim3() const { return dim3(x, y, z); }
inline __device__ __cuda_builtin_gridDim_t::operator uint3() const { return {x, y, z}; }

#include <__clang_cuda_cmath.h>
#include "minigpu_overloads.h"
#include "minigpu_shuffles.h"
#include <__clang_cuda_complex_builtins.h>

/* clang 14 moves loads of static shared variables over its own barrier; not over this one, which clobbers memory. */
static inline __device__ __attribute__((always_inline, convergent)) void minigpu_syncthreads() {
    __asm__ __volatile__("bar.sync 0;" : : : "memory");
}
static inline __device__ __attribute__((always_inline, convergent)) void minigpu_syncwarp(unsigned int mask = ~0u) {
    __asm__ __volatile__("bar.warp.sync %0;" : : "r"(mask) : "memory");
}
#define __syncthreads() minigpu_syncthreads()
#define __syncwarp(...) minigpu_syncwarp(__VA_ARGS__)

#include "minigpu_atomics.h"
#include "minigpu_packed.h"
#include "minigpu_hints.h"
#include "minigpu_surfaces.h"
#include "minigpu_textures.h"

#endif
