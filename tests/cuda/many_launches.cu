/* many_launches.cu: a program that starts 40 kernels before it waits, as two such programs do on one machine. */
#include <cstdio>

__global__ void add(int *x) { *x += 1; }

int main() {
    int *x, value = 0;
    cudaMalloc(&x, sizeof *x);
    cudaMemset(x, 0, sizeof *x);
    for (int i = 0; i < 40; i++) add<<<1, 1>>>(x);
    const cudaError_t error = cudaMemcpy(&value, x, sizeof value, cudaMemcpyDefault);
    printf("%s, %d kernels have run\n", cudaGetErrorString(error), value);
    return error != cudaSuccess || value != 40;
}
