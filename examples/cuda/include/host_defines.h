/* host_defines: CUDA's words for where a function or a variable lives. */
#ifndef MINIGPU_HOST_DEFINES_H
#define MINIGPU_HOST_DEFINES_H

#if defined(__CUDACC__) || defined(__CUDA__)
#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#else
#define __host__
#define __device__
#define __global__
#define __shared__
#define __constant__
#define __launch_bounds__(...)
#endif
/* clang knows no managed variables. The host's variable and the device's are copied to each other where kernels begin
 * and end (cuda_runtime.h), and the section tells which these are. */
#if defined(__CUDA__) && !defined(__CUDA_ARCH__)
#define __managed__ __device__ __attribute__((section("minigpu_managed")))
#else
#define __managed__ __device__
#endif
#define __forceinline__ __inline__ __attribute__((always_inline))
#ifndef __noinline__
#define __noinline__ /* the standard library writes __attribute__((__noinline__)) */
#endif
#define __grid_constant__
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __builtin_align__(bytes) __align__(bytes)
#define __device_builtin__
#define __cudart_builtin__
#define CUDARTAPI
#define CUDAAPI
#define CUDART_CB
#ifdef __cplusplus
#define __dv(value) = value
#else
#define __dv(value)
#endif

#endif
