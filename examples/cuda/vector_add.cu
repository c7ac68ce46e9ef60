/* vector_add: the first program of every CUDA course. */
#include <cstdio>
#include <vector>

#include "check.h"

__global__ void add(const float *a, const float *b, float *sum, int count) {
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < count) sum[i] = a[i] + b[i];
}

int main() {
    const int count = 50000;
    const size_t bytes = count * sizeof(float);
    std::vector<float> a(count), b(count), sum(count);
    float *device_a, *device_b, *device_sum;
    for (int i = 0; i < count; i++) a[i] = 0.5f * (float)i, b[i] = 100.0f - (float)i;
    CHECK(cudaMalloc(&device_a, bytes));
    CHECK(cudaMalloc(&device_b, bytes));
    CHECK(cudaMalloc(&device_sum, bytes));
    CHECK(cudaMemcpy(device_a, a.data(), bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(device_b, b.data(), bytes, cudaMemcpyHostToDevice));
    add<<<(count + 255) / 256, 256>>>(device_a, device_b, device_sum, count);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(sum.data(), device_sum, bytes, cudaMemcpyDeviceToHost));
    for (int i = 0; i < count; i++) {
        if (sum[i] == a[i] + b[i]) continue;
        printf("element %d is %g, not %g\n", i, sum[i], a[i] + b[i]);
        return 1;
    }
    CHECK(cudaFree(device_a));
    CHECK(cudaFree(device_b));
    CHECK(cudaFree(device_sum));
    printf("%d sums are right\n", count);
    return 0;
}
