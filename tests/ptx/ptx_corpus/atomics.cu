// Atomics of every kind on global and shared memory.
extern "C" __global__ void atomics(int *i, unsigned *u, float *f, double *d, unsigned long long *l) {
    __shared__ int s;
    __shared__ unsigned bits;
    if (threadIdx.x == 0) s = 0, bits = 0;
    __syncthreads();
    atomicAdd(&s, threadIdx.x);
    atomicOr(&bits, 1u << (threadIdx.x & 31));
    atomicAdd(i, 1);
    atomicMin(i + 1, -(int)threadIdx.x);
    atomicMax(i + 2, threadIdx.x);
    atomicMin(u, threadIdx.x);
    atomicMax(u + 1, threadIdx.x);
    atomicInc(u + 2, 17);
    atomicDec(u + 3, 17);
    atomicAnd(u + 4, ~(1u << (threadIdx.x & 31)));
    atomicXor(u + 5, threadIdx.x);
    atomicAdd(f, 1.5f);
    atomicAdd(d, 0.25);
    atomicAdd(l, 3ull);
    atomicMax(l + 1, (unsigned long long)threadIdx.x);
    u[10 + threadIdx.x] = atomicExch(u + 6, threadIdx.x);
    unsigned seen = u[7], assumed;
    do assumed = seen, seen = atomicCAS(u + 7, assumed, assumed * 3 + 1);
    while (seen != assumed);
    __syncthreads();
    if (threadIdx.x == 0) i[3] = s, u[8] = bits;
}
