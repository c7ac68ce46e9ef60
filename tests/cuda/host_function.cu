/* host_function.cu: a program that waits for its host function and its callback without asking CUDA. */
#include <cstdio>
#include <cuda_runtime.h>

__global__ void fill(int *to, int value) { to[threadIdx.x] = value; }

static int *values;
static int seen, called;
static void look(void *) { seen = values[31]; }
static void CUDART_CB call(cudaStream_t, cudaError_t, void *count) { ++*static_cast<int *>(count); }

int main() {
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    cudaMallocManaged(&values, 32 * sizeof *values);
    fill<<<1, 32, 0, stream>>>(values, 7);
    cudaLaunchHostFunc(stream, look, nullptr);
    if (seen != 7) return printf("the host function has seen %d\n", seen), 1; /* a loop would never end */
    cudaStreamAddCallback(stream, call, &called, 0);
    if (called != 1) return printf("the callback was called %d times\n", called), 1;
    return 0;
}
