/* measure: what bench/data/silicon.csv has of devices, measured on the device at hand, as CSV on standard output:
 *
 *     measure PART [scale]          part,device,condition,statistic,value,unit
 *
 * PART: chase, slices, latency, residents, colocated, faults. scale divides sizes and samples (default 1; 64 or more on
 * the mini-GPU, see docs/silicon.md).
 * measure.sh runs all parts, each for at most 8 minutes, and goes on where it was stopped. */
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <cuda_runtime.h>

#include "kernels.cu"

static cudaDeviceProp device;
static unsigned scale = 1;

static void check(cudaError_t error, const char *what) {
    if (error == cudaSuccess) return;
    fprintf(stderr, "measure: %s: %s\n", what, cudaGetErrorString(error));
    exit(1);
}
#define CHECK(call) check(call, #call)

static void row(const char *part, const char *condition, const char *statistic, double value, const char *unit) {
    printf("%s,%s,%s,%s,%.6g,%s\n", part, device.name, condition, statistic, value, unit);
    fflush(stdout);
}
static double quantile(std::vector<double> values, double share) {
    std::sort(values.begin(), values.end());
    return values[(size_t)(share * (double)(values.size() - 1))];
}
static void quantiles(const char *part, const char *condition, const std::vector<double> &values, const char *unit) {
    if (values.empty()) return;
    row(part, condition, "p50", quantile(values, 0.5), unit);
    row(part, condition, "p95", quantile(values, 0.95), unit);
    row(part, condition, "p99", quantile(values, 0.99), unit);
}

template <typename T> static T *managed(size_t count) {
    T *memory;
    CHECK(cudaMallocManaged(&memory, count * sizeof(T)));
    memset(memory, 0, count * sizeof(T));
    return memory;
}

/* Cycles of a dependent load by buffer size, 4 KB to 1 GB. */
static void chase_part() {
    unsigned long long *cycles = managed<unsigned long long>(2);
    for (size_t bytes = 4096; bytes <= ((size_t)1 << 30) / scale; bytes *= 2) {
        const size_t lines = bytes / 128;
        const unsigned steps = (unsigned)std::min<size_t>(std::max<size_t>(lines, 2048), 65536);
        const unsigned warm = (unsigned)std::min<size_t>((lines + 31) / 32 * 32, 1u << 22);
        std::vector<size_t> order(lines);
        std::vector<char> image(bytes);
        char *buffer, name[32];
        unsigned seed = 9;
        CHECK(cudaMalloc(&buffer, bytes));
        for (size_t i = 0; i < lines; i++) order[i] = i;
        for (size_t i = lines - 1; i > 0; i--) {
            seed = seed * 1664525u + 1013904223u;
            std::swap(order[i], order[((size_t)seed * i) >> 32]);
        }
        for (size_t i = 0; i < lines; i++) {
            char *next = buffer + 128 * order[(i + 1) % lines];
            memcpy(&image[128 * order[i]], &next, sizeof next);
        }
        CHECK(cudaMemcpy(buffer, image.data(), bytes, cudaMemcpyHostToDevice));
        chase<<<1, 1>>>((void *const *)(buffer + 128 * order[0]), warm, steps, cycles);
        CHECK(cudaDeviceSynchronize());
        snprintf(name, sizeof name, "%zu bytes", bytes);
        row("chase", name, "mean", (double)cycles[0] / steps, "cycles");
        CHECK(cudaFree(buffer));
    }
    CHECK(cudaFree(cycles));
}

/* Gaps in a kernel's own clock: without another process these are stalls; beside one, time slices. */
static void slices_part() {
    const unsigned room = 4096, looks = 400000000u / scale / scale;
    long long *found = managed<long long>(2 * room);
    unsigned *count = managed<unsigned>(1);
    std::vector<double> gap, ran;
    gaps<<<1, 1>>>(20000, looks, room, found, count);
    CHECK(cudaDeviceSynchronize());
    for (unsigned i = 0; i < std::min(*count, room); i++) {
        gap.push_back((double)found[2 * i + 1]);
        if (i) ran.push_back((double)(found[2 * i] - found[2 * i - 2] - found[2 * i - 1]));
    }
    row("slices", "all", "gaps", *count, "");
    quantiles("slices", "away", gap, "cycles");
    quantiles("slices", "running", ran, "cycles");
    CHECK(cudaFree(found));
    CHECK(cudaFree(count));
}

/* Time from the launch of a small kernel of high priority until its end, while `batch` runs: samples in us. */
template <typename Batch> static std::vector<double> urgent_us(Batch batch, unsigned samples) {
    std::vector<double> us;
    cudaStream_t low, high;
    cudaEvent_t begin, end;
    int least, greatest;
    CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    CHECK(cudaStreamCreateWithPriority(&low, cudaStreamNonBlocking, least));
    CHECK(cudaStreamCreateWithPriority(&high, cudaStreamNonBlocking, greatest));
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
    for (unsigned i = 0; i < samples; i++) {
        float ms;
        batch(low);
        CHECK(cudaEventRecord(begin, high));
        spin<<<1, 64, 0, high>>>(1000);
        CHECK(cudaEventRecord(end, high));
        CHECK(cudaDeviceSynchronize());
        CHECK(cudaEventElapsedTime(&ms, begin, end));
        us.push_back(1000.0 * ms);
    }
    CHECK(cudaEventDestroy(begin));
    CHECK(cudaEventDestroy(end));
    CHECK(cudaStreamDestroy(low));
    CHECK(cudaStreamDestroy(high));
    return us;
}

static unsigned device_blocks(unsigned per_sm) { return per_sm * (unsigned)device.multiProcessorCount; }

/* Latency of the urgent kernel by length of the batch kernel's blocks, and by how many rounds of blocks it has. */
static void latency_part() {
    for (unsigned rounds = 1; rounds <= 8; rounds *= 8)
        for (long long cycles = 12800; cycles <= 3276800 / scale; cycles *= 4) {
            char name[64];
            const unsigned blocks = device_blocks(2048 / 256) * rounds;
            snprintf(name, sizeof name, "blocks of %lld cycles; %u rounds", cycles, rounds);
            quantiles("latency", name,
                      urgent_us([=](cudaStream_t low) { spin<<<blocks, 256, 0, low>>>(cycles); }, 300 / scale + 3),
                      "us");
        }
}

/* The same by what the batch kernel's blocks hold: nothing, shared memory, registers. */
static void residents_part() {
    const long long cycles = 819200 / scale;
    const unsigned samples = 300 / scale + 3, blocks = device_blocks(2);
    float *values = managed<float>((size_t)blocks * 256);
    for (unsigned kb = 0; kb <= 32; kb += 16) {
        char name[64];
        snprintf(name, sizeof name, "%u KB of shared memory", kb);
        quantiles("residents", name,
                  urgent_us([=](cudaStream_t low) { spin<<<blocks, 256, kb << 10, low>>>(cycles); }, samples), "us");
    }
    quantiles("residents", "128 registers",
              urgent_us([=](cudaStream_t low) { spin_registers<<<blocks, 256, 0, low>>>(cycles, values); }, samples),
              "us");
    CHECK(cudaFree(values));
}

/* Slowdown of each of six kernels beside each of six. */
static void colocated_part() {
    static const char *const names[] = {"issue", "L1", "L2", "DRAM", "shared", "double"};
    const unsigned rounds = 65536 / scale / scale + 64, blocks = device_blocks(1);
    const size_t large = std::max<size_t>(((size_t)256 << 20) / scale / scale / 4, 8192);
    float *lines = managed<float>(large);
    cudaStream_t streams[2];
    cudaEvent_t begin, end[2];
    CHECK(cudaEventCreate(&begin));
    for (int i = 0; i < 2; i++) {
        CHECK(cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking));
        CHECK(cudaEventCreate(&end[i]));
    }
    auto start = [&](int which, int kind) {
        const size_t words = kind == BOUND_BY_L1   ? 2048
                             : kind == BOUND_BY_L2 ? std::min<size_t>(large, 1 << 18)
                                                   : large;
        bound_by<<<blocks, 256, 0, streams[which]>>>(kind, rounds, (unsigned)words, lines);
        CHECK(cudaEventRecord(end[which], streams[which]));
    };
    auto taken_ms = [&](int kind, int beside) {
        float ms;
        CHECK(cudaEventRecord(begin, streams[0]));
        start(0, kind);
        if (beside >= 0) start(1, beside);
        CHECK(cudaDeviceSynchronize());
        CHECK(cudaEventElapsedTime(&ms, begin, end[0]));
        return (double)ms;
    };
    for (int kind = 0; kind < BOUNDS; kind++) {
        const double first = taken_ms(kind, -1), alone = std::min(first, taken_ms(kind, -1));
        for (int beside = 0; beside < BOUNDS; beside++) {
            char name[64];
            snprintf(name, sizeof name, "%s beside %s", names[kind], names[beside]);
            row("colocated", name, "slowdown", taken_ms(kind, beside) / alone, "times");
        }
    }
    CHECK(cudaFree(lines));
}

/* Time of a kernel that reads pages which the CPU has, less its time when the pages are there. */
static void faults_part() {
    const unsigned words = 4096 / 4;
    unsigned *sum = managed<unsigned>(1);
    cudaEvent_t begin, end;
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
    for (unsigned pages = 16; pages <= 65536 / scale; pages *= 4) {
        float ms[2];
        char name[32];
        unsigned *memory = managed<unsigned>((size_t)pages * words);
        for (int again = 0; again < 2; again++) {
            CHECK(cudaEventRecord(begin));
            touch<<<(pages + 63) / 64, 64>>>(memory, pages, words, sum);
            CHECK(cudaEventRecord(end));
            CHECK(cudaDeviceSynchronize());
            CHECK(cudaEventElapsedTime(&ms[again], begin, end));
        }
        snprintf(name, sizeof name, "%u pages", pages);
        row("faults", name, "first touch", 1000.0 * ms[0], "us");
        row("faults", name, "second touch", 1000.0 * ms[1], "us");
        CHECK(cudaFree(memory));
    }
    CHECK(cudaFree(sum));
}

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        void (*run)();
    } parts[] = {{"chase", chase_part},         {"slices", slices_part},       {"latency", latency_part},
                 {"residents", residents_part}, {"colocated", colocated_part}, {"faults", faults_part}};
    if (argc > 2) scale = (unsigned)atoi(argv[2]);
    CHECK(cudaGetDeviceProperties(&device, 0));
    for (auto &part : parts)
        if (argc > 1 && scale >= 1 && !strcmp(argv[1], part.name)) {
            part.run();
            return 0;
        }
    fprintf(stderr, "usage: measure PART [scale]; PART is one of");
    for (auto &part : parts) fprintf(stderr, " %s", part.name);
    fprintf(stderr, "; scale is at least 1\n");
    return 2;
}
