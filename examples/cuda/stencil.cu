/* stencil: heat spreads in a rod until the host sees that nothing changes any more. Two buffers take turns, a counter
 * goes to the host after every step, and a constant comes from the host. */
#include <cstdio>
#include <utility>
#include <vector>

#include "check.h"

__constant__ float rate;
__device__ int changed;

__global__ void step(const float *from, float *to, int count, float threshold) {
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= count) return;
    const float left = i ? from[i - 1] : 1.0f, right = i + 1 < count ? from[i + 1] : 0.0f;
    const float value = from[i] + rate * (left - 2.0f * from[i] + right);
    to[i] = value;
    if (fabsf(value - from[i]) > threshold) atomicExch(&changed, 1);
}

/* The same on the host, with the operations in the compiler's order on the device: a fused sum of product and value. */
static int step_on_host(std::vector<float> &values, float host_rate, float threshold) {
    std::vector<float> next(values.size());
    int moved = 0;
    for (size_t i = 0; i < values.size(); i++) {
        const float left = i ? values[i - 1] : 1.0f, right = i + 1 < values.size() ? values[i + 1] : 0.0f;
        next[i] = __builtin_fmaf(host_rate, __builtin_fmaf(values[i], -2.0f, left) + right, values[i]);
        moved |= __builtin_fabsf(next[i] - values[i]) > threshold;
    }
    values.swap(next);
    return moved;
}

int main() {
    const int count = 64, most = 3000;
    const float host_rate = 0.45f, threshold = 4e-3f;
    std::vector<float> values(count, 0.0f), expected(count, 0.0f);
    float *from, *to;
    int steps = 0, host_steps = 0, moved = 1;
    CHECK(cudaMalloc(&from, count * sizeof(float)));
    CHECK(cudaMalloc(&to, count * sizeof(float)));
    CHECK(cudaMemset(from, 0, count * sizeof(float)));
    CHECK(cudaMemcpyToSymbol(rate, &host_rate, sizeof host_rate));
    for (; moved && steps < most; steps++) {
        moved = 0;
        CHECK(cudaMemcpyToSymbol(changed, &moved, sizeof moved));
        step<<<2, 32>>>(from, to, count, threshold);
        CHECK(cudaMemcpyFromSymbol(&moved, changed, sizeof moved));
        std::swap(from, to);
    }
    CHECK(cudaMemcpy(values.data(), from, count * sizeof(float), cudaMemcpyDeviceToHost));
    while (host_steps < most) {
        host_steps++;
        if (!step_on_host(expected, host_rate, threshold)) break;
    }
    for (int i = 0; i < count; i++) {
        if (__builtin_fabsf(values[i] - expected[i]) < 1e-5f) continue;
        printf("after %d steps element %d is %g, not %g\n", steps, i, values[i], expected[i]);
        return 1;
    }
    if (steps != host_steps) {
        printf("the device took %d steps, the host %d\n", steps, host_steps);
        return 1;
    }
    printf("%d steps, and every element is right\n", steps);
    return 0;
}
