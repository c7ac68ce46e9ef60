// What kernels ask of CUDA's runtime library: printf, assert, malloc and free.
#include <cassert>
#include <cstdio>

extern "C" __global__ void greets(const float *in, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    printf("block %d thread %2u: %.3f %s|%5d|%-5d|%x %c %lld %%\n", blockIdx.x, threadIdx.x, in[i], i & 1 ? "odd" : "even", i, -i,
           i * 255, 'a' + i % 26, (long long)i << 33);
    if (i % 5 == 0) printf("%*d %e %g %08.2f\n", 6, i, (double)in[i], (double)in[i], (double)i / 7);
}

extern "C" __global__ void asserts(const int *in, int *out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    assert(in[i] < 1000);
    out[i] = in[i] + 1;
}

struct node {
    node *next;
    int value;
};
// Every thread builds a list of its own, adds it up, and gives it back.
extern "C" __global__ void lists(int *out, int length) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    node *first = nullptr;
    int sum = 0;
    for (int k = 0; k < length; k++) {
        node *fresh = (node *)malloc(sizeof(node));
        if (!fresh) break;
        fresh->next = first;
        fresh->value = i * 10 + k;
        first = fresh;
    }
    while (first) {
        node *rest = first->next;
        sum += first->value;
        free(first);
        first = rest;
    }
    int *large = (int *)malloc((size_t)1 << 40);
    out[i] = large ? -1 : sum;
}
