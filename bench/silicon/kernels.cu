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
