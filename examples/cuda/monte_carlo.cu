/* monte_carlo: pi from random points, with both generators of curand_kernel.h; mean and variance of normal numbers. */
#include <cmath>
#include <cstdio>
#include <curand_kernel.h>
#include <vector>

#include "check.h"

struct found {
    unsigned inside; /* points in the quarter circle */
    float sum, squares;
};

template <class State>
__global__ void throw_points(unsigned long long seed, int points, found *results) {
    const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
    State state;
    found f = {0, 0.0f, 0.0f};
    curand_init(seed, thread, 0, &state);
    for (int i = 0; i < points; i++) {
        const float x = curand_uniform(&state), y = curand_uniform(&state), z = curand_normal(&state);
        f.inside += x * x + y * y <= 1.0f;
        f.sum += z;
        f.squares += z * z;
    }
    results[thread] = f;
}

template <class State>
static int wrong(const char *name) {
    const int threads = 128, blocks = 8, points = 40;
    const double count = (double)threads * blocks * points;
    std::vector<found> results(threads * blocks);
    found *device_results;
    double inside = 0, sum = 0, squares = 0;
    CHECK(cudaMalloc(&device_results, results.size() * sizeof(found)));
    throw_points<State><<<blocks, threads>>>(1234, points, device_results);
    CHECK(cudaMemcpy(results.data(), device_results, results.size() * sizeof(found), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(device_results));
    for (const found &f : results) inside += f.inside, sum += (double)f.sum, squares += (double)f.squares;
    const double pi = 4 * inside / count, mean = sum / count, variance = squares / count - mean * mean;
    /* five standard deviations of each estimate */
    if (fabs(pi - 3.14159265) < 5 * 1.642 / sqrt(count) && fabs(mean) < 5 / sqrt(count) &&
        fabs(variance - 1) < 5 * sqrt(2 / count))
        return 0;
    printf("%s: pi %g, mean %g, variance %g\n", name, pi, mean, variance);
    return 1;
}

/* Philox of the key (0, 0) and the counter 0, as Salmon and others print it (Random123, kat_vectors). */
__global__ void first_numbers(unsigned *numbers) {
    curandStatePhilox4_32_10_t state;
    curand_init(0, 0, 0, &state);
    for (int i = 0; i < 4; i++) numbers[i] = curand(&state);
}

int main() {
    const unsigned known[4] = {0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u};
    unsigned *device_numbers, numbers[4];
    if (wrong<curandStateXORWOW_t>("XORWOW") || wrong<curandStatePhilox4_32_10_t>("Philox")) return 1;
    CHECK(cudaMalloc(&device_numbers, sizeof numbers));
    first_numbers<<<1, 1>>>(device_numbers);
    CHECK(cudaMemcpy(numbers, device_numbers, sizeof numbers, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 4; i++) {
        if (numbers[i] == known[i]) continue;
        printf("Philox number %d is %#x, not %#x\n", i, numbers[i], known[i]);
        return 1;
    }
    printf("both generators are right within five standard deviations\n");
    return 0;
}
