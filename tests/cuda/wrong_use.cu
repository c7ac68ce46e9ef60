/* wrong_use.cu: what programs do wrong, and CUDA's error for it. The last one sticks. */
#include <cstdio>
#include <cstdlib>
#include <cstring>

__global__ void store(int *p) { p[threadIdx.x] = 1; }
__global__ void __launch_bounds__(64) small(int *p) { *p = 1; }

static int wrong;
static void expect(const char *what, cudaError_t got, cudaError_t wanted) {
    if (got == wanted) return;
    printf("%s: %s, not %s\n", what, cudaGetErrorName(got), cudaGetErrorName(wanted));
    wrong++;
}
template <class... Arguments>
static cudaError_t launched(void (*kernel)(int *), int blocks, int threads, int shared, int *p) {
    kernel<<<blocks, threads, shared>>>(p);
    return cudaGetLastError();
}

int main(int count, char **arguments) {
    int *p, *host = (int *)malloc(256), value = 0;
    void *arguments_of_kernel[] = {&p};
    cudaStream_t stream;
    cudaEvent_t event;
    expect("malloc", cudaMalloc(&p, 256), cudaSuccess);
    if (count > 1 && !strcmp(arguments[1], "first")) return 0; /* for settings of MINIGPU */
    expect("threads", launched(store, 1, 2048, 0, p), cudaErrorInvalidConfiguration);
    expect("no blocks", launched(store, 0, 32, 0, p), cudaErrorInvalidConfiguration);
    expect("launch bounds", launched(small, 1, 128, 0, p), cudaErrorLaunchOutOfResources);
    expect("shared memory", launched(store, 1, 32, 1 << 20, p), cudaErrorInvalidValue);
    expect("no kernel", cudaLaunchKernel((void *)main, dim3(1), dim3(1), arguments_of_kernel, 0, 0),
           cudaErrorInvalidDeviceFunction);
    expect("last error", cudaGetLastError(), cudaErrorInvalidDeviceFunction);
    expect("free of the host's memory", cudaFree(host), cudaErrorInvalidValue);
    expect("free in the middle", cudaFree(p + 1), cudaErrorInvalidValue);
    expect("free of nothing", cudaFree(NULL), cudaSuccess);
    expect("malloc to nowhere", cudaMalloc((void **)NULL, 4), cudaErrorInvalidValue);
    expect("malloc of too much", cudaMalloc(&p + 0, (size_t)1 << 50), cudaErrorMemoryAllocation);
    expect("malloc", cudaMalloc(&p, 256), cudaSuccess);
    expect("copy beyond the end", cudaMemcpy(p, host, 257, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    expect("copy from nowhere", cudaMemcpy(p, NULL, 4, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    expect("memset beyond the end", cudaMemset(p, 0, 257), cudaErrorInvalidValue);
    expect("no symbol", cudaMemcpyToSymbol(host, &value, 4), cudaErrorInvalidSymbol);
    expect("no device", cudaSetDevice(5), cudaErrorInvalidDevice);
    expect("stream", cudaStreamCreate(&stream), cudaSuccess);
    expect("destroy", cudaStreamDestroy(stream), cudaSuccess);
    expect("destroyed stream", cudaStreamSynchronize(stream), cudaErrorInvalidResourceHandle);
    expect("event", cudaEventCreate(&event), cudaSuccess);
    float ms;
    expect("event without a record", cudaEventElapsedTime(&ms, event, event), cudaErrorInvalidResourceHandle);
    expect("free", cudaFree(p), cudaSuccess);
    expect("double free", cudaFree(p), cudaErrorInvalidValue);
    cudaGetLastError();
    store<<<1, 32>>>(p + 13); /* what was given back; the error names the address, not its segment */
    expect("store", cudaDeviceSynchronize(), cudaErrorIllegalAddress);
    expect("sticks", cudaMalloc(&p, 4), cudaErrorIllegalAddress);
    expect("sticks still", cudaGetLastError(), cudaErrorIllegalAddress);
    puts(wrong ? "wrong" : "every error is right");
    free(host);
    return wrong != 0;
}
