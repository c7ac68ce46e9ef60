/* main.cu, other.cu: kernels of two files share functions and variables (-rdc=true, -dc), and each file has a static
 * variable of the same name. */
#include <cstdio>

extern __device__ int counter;
extern __constant__ int factor;
__device__ int twice(int x);
static __device__ int mine = 100;

__global__ void here(int *out) {
    *out = twice(21) + counter * factor + mine;
    counter++;
}
int other(int *out);

static int read(const int *out) {
    int value = 0;
    cudaMemcpy(&value, out, sizeof value, cudaMemcpyDefault);
    return value;
}

int main() {
    int *out, value = 200, first, second, third, count = 0;
    if (cudaMalloc(&out, sizeof *out) || cudaMemcpyToSymbol(mine, &value, sizeof value)) return 1;
    here<<<1, 1>>>(out);
    first = read(out);
    second = other(out);
    if (cudaMemcpyFromSymbol(&count, counter, sizeof count)) return 1;
    here<<<1, 1>>>(out);
    third = read(out);
    printf("%d %d %d, counter %d\n", first, second, third, count);
    return first != 42 + 5 * 10 + 200 || second != 6 + 4 || third != 42 + 6 * 10 + 200 || count != 6;
}
