/* kernels: the small kernels that measure a GPU. measure.cu runs them on a device; bench/reproduce runs the same PTX
 * (kernels.ptx) on the mini-GPU, so both columns of docs/silicon.md come from one source. */

/* Follows `steps` pointers from `at`. steps: a multiple of 32. */
static __device__ void *const *follow(void *const *at, unsigned steps) {
    for (unsigned i = 0; i < steps; i += 32)
#pragma unroll
        for (unsigned k = 0; k < 32; k++) at = (void *const *)*at;
    return at;
}

/* Pointer chase by one thread: `warm` loads, then `steps` loads that are timed. cycles[0]: of the timed loads;
 * cycles[1]: the pointer that was reached, so that the compiler keeps the loads. */
extern "C" __global__ void chase(void *const *start, unsigned warm, unsigned steps, unsigned long long *cycles) {
    void *const *at = follow(start, warm);
    const long long begin = clock64();
    at = follow(at, steps);
    cycles[1] = (unsigned long long)at;
    cycles[0] = (unsigned long long)(clock64() - begin);
}

/* Keeps every block busy for `cycles` cycles. shared memory: as launched. */
extern "C" __global__ void spin(long long cycles) {
    const long long begin = clock64();
    while (clock64() - begin < cycles) {}
}

/* The same with 128 registers in use: `values` are read before and written after the wait. */
extern "C" __global__ void spin_registers(long long cycles, float *values) {
    const unsigned at = blockIdx.x * blockDim.x + threadIdx.x;
    const long long begin = clock64();
    float held[96];
#pragma unroll
    for (int i = 0; i < 96; i++) held[i] = values[at] + (float)i;
    while (clock64() - begin < cycles) {
#pragma unroll
        for (int i = 0; i < 96; i++) held[i] = held[i] * 0.5f + 1.0f;
    }
    for (int i = 1; i < 96; i++) held[0] += held[i];
    values[at] = held[0];
}

/* Looks at the clock `looks` times and keeps the first `room` gaps above `least` cycles: where each began and how long
 * it was. count: gaps found. Beside another process the gaps are that process's time slices. */
extern "C" __global__ void gaps(long long least, unsigned looks, unsigned room, long long *found, unsigned *count) {
    long long last = clock64();
    unsigned n = 0;
    for (unsigned i = 0; i < looks; i++) {
        const long long now = clock64();
        if (now - last > least) {
            if (n < room) {
                found[2 * n] = last;
                found[2 * n + 1] = now - last;
            }
            n++;
        }
        last = now;
    }
    *count = n;
}

/* What one of two co-located kernels is bound by. */
enum { BOUND_BY_ISSUE, BOUND_BY_L1, BOUND_BY_L2, BOUND_BY_DRAM, BOUND_BY_SHARED, BOUND_BY_DOUBLE, BOUNDS };

/* Does `rounds` rounds of work of one kind on `lines`, `words` 32-bit words of which L1, L2 or neither holds all. */
extern "C" __global__ void bound_by(int kind, unsigned rounds, unsigned words, float *lines) {
    __shared__ float box[256];
    const unsigned self = threadIdx.x, at = blockIdx.x * blockDim.x + self;
    float x = (float)at;
    double d = x;
    box[self & 255] = x;
    __syncthreads();
    for (unsigned i = 0; i < rounds; i++) {
        switch (kind) {
        case BOUND_BY_ISSUE: x = x * 0.5f + 1.0f; break;
        case BOUND_BY_L1: x += lines[(self + 32 * i) % words]; break;
        case BOUND_BY_L2:
        case BOUND_BY_DRAM: x += __ldcg(&lines[(at + 8191 * i) % words]); break;
        case BOUND_BY_SHARED: x += box[(self + i) & 255]; break;
        default: d = d * 0.5 + 1.0; break;
        }
    }
    if (x + (float)d == -1.0f) lines[0] = x; /* never: the compiler keeps the work */
}

/* Reads one word of each page of managed memory: every block the pages that are its own. */
extern "C" __global__ void touch(const unsigned *pages, unsigned count, unsigned words_per_page, unsigned *sum) {
    for (unsigned page = blockIdx.x * blockDim.x + threadIdx.x; page < count; page += gridDim.x * blockDim.x)
        atomicAdd(sum, pages[(size_t)page * words_per_page]);
}

/* Reads one double per thread. Blocks on an SM: as the launch's shared memory allows. */
extern "C" __global__ void read_once(const double *from, double *to) {
    const size_t at = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    const double x = from[at];
    if (x == 123.0) to[at] = x; /* never: the compiler keeps the load */
}
