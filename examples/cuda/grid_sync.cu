/* grid_sync: prefix sums over a whole array in one cooperative kernel, whose blocks wait for each other between steps. */
#include <cooperative_groups.h>
#include <cstdio>
#include <vector>

#include "check.h"

namespace cg = cooperative_groups;

/* In step d every element adds the one 2^d before it; two buffers take turns. */
__global__ void prefix_sums(int *a, int *b, int count) {
    const cg::grid_group grid = cg::this_grid();
    for (int distance = 1; distance < count; distance *= 2) {
        for (int i = (int)grid.thread_rank(); i < count; i += (int)grid.size())
            b[i] = a[i] + (i >= distance ? a[i - distance] : 0);
        grid.sync();
        int *const t = a;
        a = b;
        b = t;
    }
}

/* The sum of each warp's values by a tile of 32, of each quarter's by tiles of 8. */
__global__ void tiles(const int *values, int *warps, int *quarters) {
    const cg::thread_block block = cg::this_thread_block();
    const auto warp = cg::tiled_partition<32>(block);
    const auto quarter = cg::tiled_partition<8>(block);
    const int value = values[blockIdx.x * blockDim.x + threadIdx.x];
    const int sum = cg::reduce(warp, value, cg::plus<int>()), part = cg::reduce(quarter, value, cg::plus<int>());
    const unsigned first = blockIdx.x * blockDim.x;
    if (warp.thread_rank() == 0) warps[first / 32 + warp.meta_group_rank()] = sum;
    if (quarter.thread_rank() == 0) quarters[first / 8 + quarter.meta_group_rank()] = part;
}

int main() {
    int count = 8192, threads = 256, blocks = 0, sms = 0, steps = 0;
    std::vector<int> values(count), sums(count), warps(count / 32), quarters(count / 8);
    int *a, *b, *device_warps, *device_quarters;
    for (int i = 0; i < count; i++) values[i] = i % 7 - 2;
    CHECK(cudaMalloc(&a, count * sizeof(int)));
    CHECK(cudaMalloc(&b, count * sizeof(int)));
    CHECK(cudaMalloc(&device_warps, warps.size() * sizeof(int)));
    CHECK(cudaMalloc(&device_quarters, quarters.size() * sizeof(int)));
    CHECK(cudaMemcpy(a, values.data(), count * sizeof(int), cudaMemcpyHostToDevice));
    tiles<<<count / threads, threads>>>(a, device_warps, device_quarters);
    CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, prefix_sums, threads, 0));
    if (blocks > 2) blocks = 2;
    void *arguments[] = {&a, &b, &count};
    CHECK(cudaLaunchCooperativeKernel((void *)prefix_sums, blocks * sms, threads, arguments));
    for (int distance = 1; distance < count; distance *= 2) steps++;
    CHECK(cudaMemcpy(sums.data(), steps % 2 ? b : a, count * sizeof(int), cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(warps.data(), device_warps, warps.size() * sizeof(int), cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(quarters.data(), device_quarters, quarters.size() * sizeof(int), cudaMemcpyDeviceToHost));
    for (int i = 0, right = 0, warp = 0, quarter = 0; i < count; i++) {
        right += values[i];
        warp = (i % 32 ? warp : 0) + values[i];
        quarter = (i % 8 ? quarter : 0) + values[i];
        if (sums[i] == right && (i % 32 < 31 || warps[i / 32] == warp) && (i % 8 < 7 || quarters[i / 8] == quarter))
            continue;
        printf("prefix sum %d is %d, not %d, or a tile's sum is wrong\n", i, sums[i], right);
        return 1;
    }
    printf("%d prefix sums on %d blocks are right\n", count, blocks * sms);
    return 0;
}
