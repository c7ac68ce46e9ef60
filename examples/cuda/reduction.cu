/* reduction: a sum by blocks in shared memory and atomics, and a histogram, beside what the host computes. */
#include <cstdio>
#include <vector>

#include "check.h"

__global__ void sum(const int *values, int count, int *total) {
    __shared__ int partial[256];
    int mine = 0;
    for (int i = (int)(blockIdx.x * blockDim.x + threadIdx.x); i < count; i += (int)(gridDim.x * blockDim.x))
        mine += values[i];
    partial[threadIdx.x] = mine;
    __syncthreads();
    for (unsigned half = blockDim.x / 2; half; half /= 2) {
        if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) atomicAdd(total, partial[0]);
}

__global__ void histogram(const int *values, int count, unsigned *bins, unsigned bin_count) {
    extern __shared__ unsigned mine[];
    for (unsigned bin = threadIdx.x; bin < bin_count; bin += blockDim.x) mine[bin] = 0;
    __syncthreads();
    for (int i = (int)(blockIdx.x * blockDim.x + threadIdx.x); i < count; i += (int)(gridDim.x * blockDim.x))
        atomicAdd(&mine[(unsigned)values[i] % bin_count], 1u);
    __syncthreads();
    for (unsigned bin = threadIdx.x; bin < bin_count; bin += blockDim.x) atomicAdd(&bins[bin], mine[bin]);
}

/* One thread of each block reads what all add: no load may move over the barrier. */
__global__ void add_base(int *values, const int *bases, int count) {
    __shared__ int base;
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i > count) return; /* never: whole blocks are launched */
    if (threadIdx.x == 0) base = bases[blockIdx.x];
    __syncthreads();
    values[i] += base;
}

static int bases_are_added() {
    const int blocks = 20, threads = 128;
    int *values, *bases, right = 1;
    CHECK(cudaMallocManaged(&values, blocks * threads * sizeof(int)));
    CHECK(cudaMallocManaged(&bases, blocks * sizeof(int)));
    for (int i = 0; i < blocks * threads; i++) values[i] = i;
    for (int i = 0; i < blocks; i++) bases[i] = 1000 * i + 7;
    add_base<<<blocks, threads>>>(values, bases, blocks * threads);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < blocks * threads; i++) right &= values[i] == i + bases[i / threads];
    return right;
}

int main() {
    const int count = 100000;
    const unsigned bin_count = 64;
    std::vector<int> values(count);
    std::vector<unsigned> bins(bin_count), expected(bin_count);
    int *device_values, *device_total, total = 0, right = 0;
    unsigned *device_bins;
    for (int i = 0; i < count; i++) {
        values[i] = i * 37 % 1009;
        right += values[i];
        expected[(unsigned)values[i] % bin_count]++;
    }
    CHECK(cudaMalloc(&device_values, count * sizeof(int)));
    CHECK(cudaMalloc(&device_total, sizeof(int)));
    CHECK(cudaMalloc(&device_bins, bin_count * sizeof(unsigned)));
    CHECK(cudaMemcpy(device_values, values.data(), count * sizeof(int), cudaMemcpyHostToDevice));
    CHECK(cudaMemset(device_total, 0, sizeof(int)));
    CHECK(cudaMemset(device_bins, 0, bin_count * sizeof(unsigned)));
    sum<<<26, 256>>>(device_values, count, device_total);
    histogram<<<26, 256, bin_count * sizeof(unsigned)>>>(device_values, count, device_bins, bin_count);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(&total, device_total, sizeof(int), cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(bins.data(), device_bins, bin_count * sizeof(unsigned), cudaMemcpyDeviceToHost));
    if (!bases_are_added()) {
        printf("a base is not added\n");
        return 1;
    }
    if (total != right || bins != expected) {
        printf("the sum is %d, not %d, or a bin is wrong\n", total, right);
        return 1;
    }
    printf("sum and histogram of %d numbers are right\n", count);
    return 0;
}
