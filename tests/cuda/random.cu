/* skipahead of XORWOW gives the state that as many numbers lead to, also where these are too many to be drawn. */
#include <cstdio>
#include <cuda_runtime.h>
#include <curand_kernel.h>

__device__ int differ(const curandStateXORWOW_t &a, const curandStateXORWOW_t &b) {
    int n = a.d != b.d;
    for (int i = 0; i < 5; i++) n += a.v[i] != b.v[i];
    return n;
}

__global__ void skip(int *wrong) {
    const unsigned int counts[] = {0, 1, 2047, 2048, 2049, 12345};
    curandStateXORWOW_t drawn, skipped, begun;
    curand_init(7, 3, 0, &drawn);
    skipped = drawn;
    for (unsigned int i = 0; i < threadIdx.x; i++) curand(&drawn), curand(&skipped);
    for (unsigned int count : counts) {
        for (unsigned int i = 0; i < count; i++) curand(&drawn);
        skipahead(count, &skipped);
        *wrong += differ(drawn, skipped);
    }
    drawn = skipped;
    skipahead(1ull << 40, &skipped);
    *wrong += differ(drawn, skipped) < 5;
    for (int i = 0; i < 2; i++) skipahead(1ull << 39, &drawn);
    *wrong += differ(drawn, skipped);
    curand_init(7, 3, 1000000007, &begun);
    curand_init(7, 3, 0, &drawn);
    skipahead(1000000000, &drawn);
    skipahead(7, &drawn);
    *wrong += differ(drawn, begun);
}

int main() {
    int *wrong;
    if (cudaMallocManaged(&wrong, sizeof *wrong)) return 1;
    *wrong = 0;
    skip<<<1, 1>>>(wrong);
    if (cudaDeviceSynchronize() || *wrong) return printf("XORWOW: %d words or checks are wrong\n", *wrong), 1;
    return 0;
}
