/* two_streams: a long kernel in a stream of low priority, and a short urgent one in a stream of high priority. With
 * MINIGPU=policy:dual,html:out.html the page shows how the urgent kernel preempts the other. */
#include <cstdio>
#include <vector>

#include "check.h"

/* x <- x * x + c, `rounds` times: an orbit of the logistic kind, which stays between -2 and 2. */
__global__ void iterate(float *x, int count, int rounds, float c) {
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= count) return;
    float value = x[i];
    for (int round = 0; round < rounds; round++) value = value * value + c;
    x[i] = value;
}

/* On the host the same rounding: the compiler makes one fused operation of the product and the sum on the device. */
static float expected(float value, int rounds, float c) {
    for (int round = 0; round < rounds; round++) value = __builtin_fmaf(value, value, c);
    return value;
}

static int wrong(const char *name, const std::vector<float> &values, float first, int rounds, float c) {
    const float right = expected(first, rounds, c);
    for (size_t i = 0; i < values.size(); i++) {
        if (values[i] == right) continue;
        printf("%s: element %zu is %g, not %g\n", name, i, values[i], right);
        return 1;
    }
    return 0;
}

int main() {
    const int threads = 256, long_count = threads * 400, urgent_count = threads * 26, long_rounds = 400,
              urgent_rounds = 50;
    const float c = -0.75f, first = 0.25f;
    std::vector<float> long_values(long_count, first), urgent_values(urgent_count, first);
    cudaStream_t batch, urgent;
    cudaEvent_t begin, end;
    float *long_x, *urgent_x, ms;
    int least, greatest;
    CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    CHECK(cudaStreamCreateWithPriority(&batch, cudaStreamNonBlocking, least));
    CHECK(cudaStreamCreateWithPriority(&urgent, cudaStreamNonBlocking, greatest));
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
    CHECK(cudaMalloc(&long_x, long_count * sizeof(float)));
    CHECK(cudaMalloc(&urgent_x, urgent_count * sizeof(float)));
    CHECK(cudaMemcpy(long_x, long_values.data(), long_count * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(urgent_x, urgent_values.data(), urgent_count * sizeof(float), cudaMemcpyHostToDevice));

    iterate<<<long_count / threads, threads, 0, batch>>>(long_x, long_count, long_rounds, c);
    CHECK(cudaEventRecord(begin, urgent));
    iterate<<<urgent_count / threads, threads, 0, urgent>>>(urgent_x, urgent_count, urgent_rounds, c);
    CHECK(cudaEventRecord(end, urgent));
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());

    CHECK(cudaEventElapsedTime(&ms, begin, end));
    CHECK(cudaMemcpy(long_values.data(), long_x, long_count * sizeof(float), cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(urgent_values.data(), urgent_x, urgent_count * sizeof(float), cudaMemcpyDeviceToHost));
    if (wrong("long", long_values, first, long_rounds, c) || wrong("urgent", urgent_values, first, urgent_rounds, c))
        return 1;
    CHECK(cudaFree(long_x));
    CHECK(cudaFree(urgent_x));
    printf("both kernels are right; the urgent one had its result after %.1f us\n", ms * 1000.0f);
    return 0;
}
