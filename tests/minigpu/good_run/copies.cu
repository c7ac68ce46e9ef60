/* Kernels that copy asynchronously to shared memory, and kernels of 16-bit floating-point numbers. Compiled by:
 * nvcc -ptx -arch=compute_80 -o copies.ptx copies.cu */
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>

/* Each block stages its elements in shared memory and reads those of its neighbouring threads. */
extern "C" __global__ void stage(float *out, const float *in) {
    __shared__ float tile[64];
    const int first = blockIdx.x * 64;
    __pipeline_memcpy_async(&tile[threadIdx.x], &in[first + threadIdx.x], 4);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    out[first + threadIdx.x] = 2.0f * tile[63 - threadIdx.x];
}

/* The same in place: a block that has stored has overwritten what it has read. */
extern "C" __global__ void stage_in_place(float *data) {
    __shared__ float tile[64];
    const int first = blockIdx.x * 64;
    __pipeline_memcpy_async(&tile[threadIdx.x], &data[first + threadIdx.x], 4);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    data[first + threadIdx.x] = 2.0f * tile[63 - threadIdx.x];
}

__global__ void add_halves(__half *out, const __half *in, __half2 *pairs, float *single) {
    out[threadIdx.x] = __hadd(out[threadIdx.x], in[threadIdx.x]);
    pairs[threadIdx.x] = __hadd2(pairs[threadIdx.x], pairs[threadIdx.x]);
    single[threadIdx.x] = __half2float(in[threadIdx.x]);
}

__global__ void add_brain(__nv_bfloat16 *out, const __nv_bfloat16 *in, int count) {
    if (threadIdx.x < count) out[threadIdx.x] = __float2bfloat16(2.0f * __bfloat162float(in[threadIdx.x]));
}
