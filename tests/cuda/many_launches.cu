/* many_launches.cu [COUNT]: a program that starts COUNT (40) kernels before it waits, as two such programs do on one
 * machine. */
#include <cstdio>
#include <cstdlib>

__global__ void add(int *x) { *x += 1; }

int main(int words, char **word) {
    const int count = words > 1 ? atoi(word[1]) : 40;
    int *x, value = 0;
    cudaMalloc(&x, sizeof *x);
    cudaMemset(x, 0, sizeof *x);
    for (int i = 0; i < count; i++) add<<<1, 1>>>(x);
    const cudaError_t error = cudaMemcpy(&value, x, sizeof value, cudaMemcpyDefault);
    printf("%s, %d kernels have run\n", cudaGetErrorString(error), value);
    return error != cudaSuccess || value != count;
}
