/* heap.cu: what a kernel takes by malloc stays for later kernels, until one of them frees it. The heap has the size
 * that cudaDeviceSetLimit gives it before the first kernel that takes from it. */
#include <cstdio>

static int bad;
#define CHECK(condition) \
    if (!(condition)) bad = 1, printf("line %d: %s\n", __LINE__, #condition)
#define OK(call) CHECK((call) == cudaSuccess)

enum { THREADS = 64, LARGE = 16 << 20 };
__device__ int *lists[THREADS], *others[THREADS];
__device__ char *large;

__global__ void take() {
    int *mine = (int *)malloc(2 * sizeof(int));
    mine[0] = mine[1] = threadIdx.x;
    lists[threadIdx.x] = mine;
}
__global__ void add(int n) {
    int *mine = (int *)malloc(2 * sizeof(int)); /* does not overwrite the first */
    mine[0] = mine[1] = -1;
    lists[threadIdx.x][1] += n;
    free(others[threadIdx.x]);
    others[threadIdx.x] = mine;
}
__global__ void give(int *to) {
    to[threadIdx.x] = lists[threadIdx.x][0] + lists[threadIdx.x][1];
    free(lists[threadIdx.x]);
}
__global__ void take_large() { large = (char *)malloc(LARGE); }
__global__ void use_large(int *got) {
    *got = large != NULL;
    if (!large) return;
    large[LARGE - 1] = 1;
    free(large);
}

int main() {
    int *sums, out[THREADS];
    size_t value = 0;
    OK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 2 * LARGE));
    OK(cudaDeviceGetLimit(&value, cudaLimitMallocHeapSize));
    CHECK(value == 2 * LARGE);
    OK(cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 1 << 21));
    OK(cudaDeviceGetLimit(&value, cudaLimitPrintfFifoSize));
    CHECK(value == 1 << 21);
    OK(cudaMalloc(&sums, sizeof out));
    take<<<1, THREADS>>>();
    OK(cudaDeviceSynchronize()); /* the next kernel runs on a machine of its own */
    for (int i = 0; i < 3; i++) add<<<1, THREADS>>>(100);
    OK(cudaDeviceSynchronize());
    give<<<1, THREADS>>>(sums);
    OK(cudaMemcpy(out, sums, sizeof out, cudaMemcpyDefault));
    for (int i = 0; i < THREADS; i++) CHECK(out[i] == 2 * i + 300);
    for (int i = 0; i < 3; i++) { /* each is freed, or the third would find no room */
        take_large<<<1, 1>>>();
        use_large<<<1, 1>>>(sums);
        OK(cudaMemcpy(out, sums, sizeof *out, cudaMemcpyDefault));
        CHECK(out[0] == 1);
    }
    CHECK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 1 << 20) == cudaErrorInvalidValue); /* it is in use */
    puts(bad ? "wrong" : "the heap is right");
    return bad;
}
