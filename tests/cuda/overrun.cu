/* overrun.cu: a kernel reads the element behind an allocation, which a GPU does not notice. */
#include <cstdio>
#include <cuda_runtime.h>

__global__ void last_differences(int *of) { of[threadIdx.x] -= of[threadIdx.x + 1]; }

int main() {
    int *values, first = 1;
    cudaMalloc(&values, 32 * sizeof *values);
    cudaMemset(values, 0, 32 * sizeof *values);
    last_differences<<<1, 32>>>(values);
    const cudaError_t error = cudaMemcpy(&first, values, sizeof first, cudaMemcpyDeviceToHost);
    if (error) printf("%s\n", cudaGetErrorName(error));
    return error || first;
}
