/* by_value.cu: a function that is not inlined, with a struct by value whose elements are chosen at run time. */
#include <cuda_runtime.h>
struct weights { int w[4]; };
__attribute__((noinline)) __device__ int pick(weights of, int i, int times) {
    int sum = 0;
    for (int n = 0; n < times; n++) sum += of.w[(i + n) & 3];
    return sum;
}
__global__ void picks(int *to, int times) {
    weights own = {{(int)threadIdx.x, 10, 200, 3000}};
    to[threadIdx.x] = pick(own, threadIdx.x, times);
}
int main() {
    int *to, bad = 0;
    cudaMallocManaged(&to, 32 * sizeof *to);
    picks<<<1, 32>>>(to, 1);
    if (cudaDeviceSynchronize()) return 1;
    for (int i = 0; i < 32; i++) bad += to[i] != (i % 4 == 0 ? i : i % 4 == 1 ? 10 : i % 4 == 2 ? 200 : 3000);
    return bad != 0;
}
