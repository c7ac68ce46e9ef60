/* labels: unit link: minigpu_cudart */
/* The run-time library, called as compilers' stubs call it: fat binaries of clang and nvcc, launches of both kinds, and
 * CUDA's errors for wrong use. */
#define _GNU_SOURCE
#include "test.h"
#include "cuda_runtime_api.h"

#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>

void **__cudaRegisterFatBinary(void *wrapper);
void __cudaRegisterFatBinaryEnd(void **handle);
void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name, int threads, void *tid,
                            void *bid, void *block, void *grid, int *warp);
void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int external, size_t bytes,
                       int constant, int global);
void __cudaRegisterManagedVar(void **handle, void **host, char *device, const char *name, int external, size_t bytes,
                              int constant, int global);
char __cudaInitModule(void **handle);
cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *function);
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **arguments, size_t shared_bytes,
                               cudaStream_t stream);

/* add: to[i] += *step for the thread's number i, all in one block. */
static const char text[] = ".version 7.0\n.target sm_80\n.address_size 64\n"
                           ".visible .global .align 4 .u32 step = 5;\n"
                           ".visible .entry add(.param .u64 to)\n{\n"
                           ".reg .b32 %r<5>;\n.reg .b64 %rd<5>;\n"
                           "ld.param.u64 %rd1, [to];\n"
                           "mov.u32 %r1, %tid.x;\nmul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd3, %rd1, %rd2;\n"
                           "ld.global.u32 %r2, [step];\nld.global.u32 %r3, [%rd3];\n"
                           "add.s32 %r4, %r3, %r2;\nst.global.u32 [%rd3], %r4;\nret;\n}\n";
cudaError_t cudaLaunchKernel_ptsz(const void *function, dim3 grid, dim3 block, void **arguments, size_t shared_bytes,
                                  cudaStream_t stream);
cudaError_t cudaMemsetAsync_ptsz(void *to, int value, size_t bytes, cudaStream_t stream);
cudaError_t cudaMemcpy_ptds(void *to, const void *from, size_t bytes, cudaMemcpyKind kind);
cudaError_t cudaStreamBeginCapture_ptsz(cudaStream_t stream, cudaStreamCaptureMode mode);
cudaError_t cudaStreamEndCapture_ptsz(cudaStream_t stream, cudaGraph_t *graph);

typedef struct wrapper {
    uint32_t magic, version;
    const void *data;
    void *unused;
} wrapper;

static int add_stub, missing_stub, step_variable, no_image_stub, lz4_stub; /* host functions and variables: addresses */

static void **managed_handle;
static uint32_t *managed_step; /* nvcc's stub for a managed variable: a pointer */

static void **register_image(const void *image, const void *stub, const char *name) {
    static wrapper wrappers[8];
    static int count;
    wrapper *w = &wrappers[count++];
    void **handle;
    w->magic = 0x466243b1;
    w->version = 1;
    w->data = image;
    handle = __cudaRegisterFatBinary(w);
    __cudaRegisterFunction(handle, (const char *)stub, NULL, name, -1, NULL, NULL, NULL, NULL, NULL);
    return handle;
}

/* nvcc's container with one entry: an ELF image, or PTX as LZ4 writes it without any match. */
static const void *container(uint16_t kind, int lz4) {
    static uint64_t room[2][512];
    uint8_t *at = (uint8_t *)room[lz4], *bytes = at + 16 + 64;
    const uint32_t length = (uint32_t)sizeof text;
    uint32_t payload = length, rest = length - 15;
    memset(room[lz4], 0, sizeof room[lz4]);
    if (lz4) {
        uint8_t *to = bytes;
        *to++ = 0xf0; /* literals alone: 15 and what follows */
        for (; rest >= 255; rest -= 255) *to++ = 255;
        *to++ = (uint8_t)rest;
        memcpy(to, text, length);
        payload = (uint32_t)(to + length - bytes);
    }
    memcpy(at, &(uint32_t){0xba55ed50}, 4);
    memcpy(at + 4, &(uint16_t){1}, 2);
    memcpy(at + 6, &(uint16_t){16}, 2);
    memcpy(at + 8, &(uint64_t){64 + payload}, 8);
    at += 16;
    memcpy(at, &kind, 2);
    memcpy(at + 4, &(uint32_t){64}, 4);
    memcpy(at + 8, &(uint64_t){payload}, 8);
    memcpy(at + 16, &payload, 4);
    memcpy(at + 28, &(uint32_t){80}, 4);
    memcpy(at + 40, &(uint64_t){lz4 ? 0x2000u : 0u}, 8);
    memcpy(at + 56, &(uint64_t){length}, 8);
    return room[lz4];
}

static int setup(void **unused) {
    void **handle = register_image(text, &add_stub, "add");
    (void)unused;
    __cudaRegisterFunction(handle, (const char *)&missing_stub, NULL, "missing", -1, NULL, NULL, NULL, NULL, NULL);
    __cudaRegisterVar(handle, (char *)&step_variable, NULL, "step", 0, 4, 0, 0);
    __cudaRegisterFatBinaryEnd(handle);
    register_image(container(2, 0), &no_image_stub, "add");
    managed_handle = register_image(container(1, 1), &lz4_stub, "add");
    __cudaRegisterManagedVar(managed_handle, (void **)(void *)&managed_step, NULL, "step", 0, 4, 0, 0);
    return 0;
}

static const dim3 one = {1, 1, 1}, eight = {8, 1, 1};

/* A kernel launched through each entry point computes with its arguments and symbols. */
static void launches_reach_the_kernel(void **unused) {
    uint32_t values[8], *device, i;
    int step = 7;
    void *arguments[] = {&device};
    cudaKernel_t kernel;
    (void)unused;
    assert_int_equal(cudaMalloc((void **)&device, sizeof values), cudaSuccess);
    assert_int_equal(cudaMemset(device, 0, sizeof values), cudaSuccess);
    assert_int_equal(cudaLaunchKernel(&add_stub, one, eight, arguments, 0, NULL), cudaSuccess);
    assert_int_equal(cudaMemcpyToSymbol(&step_variable, &step, 4, 0, cudaMemcpyHostToDevice), cudaSuccess);
    assert_int_equal(__cudaGetKernel(&kernel, &add_stub), cudaSuccess); /* as nvcc 12 and later */
    assert_int_equal(__cudaLaunchKernel(kernel, one, eight, arguments, 0, NULL), cudaSuccess);
    assert_int_equal(cudaLaunchKernel(&lz4_stub, one, eight, arguments, 0, NULL), cudaSuccess); /* its own step: 5 */
    assert_int_equal(cudaMemcpy(values, device, sizeof values, cudaMemcpyDeviceToHost), cudaSuccess);
    for (i = 0; i < 8; i++) assert_int_equal(values[i], 5 + 7 + 5);
    assert_int_equal(cudaFree(device), cudaSuccess);
}

/* Where nvcc's host code reads a managed variable, it asks for its pointer first. Host and kernels share the variable.
 */
static void a_managed_variable_has_its_pointer(void **unused) {
    uint32_t *device, value;
    void *arguments[] = {&device};
    (void)unused;
    assert_int_equal(__cudaInitModule(managed_handle), 1);
    assert_non_null(managed_step);
    assert_int_equal(*managed_step, 5);
    *managed_step = 9;
    assert_int_equal(cudaMalloc((void **)&device, 4), cudaSuccess);
    assert_int_equal(cudaMemset(device, 0, 4), cudaSuccess);
    assert_int_equal(cudaLaunchKernel(&lz4_stub, one, one, arguments, 0, NULL), cudaSuccess);
    assert_int_equal(cudaMemcpy(&value, device, 4, cudaMemcpyDeviceToHost), cudaSuccess);
    assert_int_equal(value, 9);
    *managed_step = 5;
    assert_int_equal(cudaFree(device), cudaSuccess);
}

/* Events are measured in the order of their streams, and streams wait for events. */
static void events_wait_for_their_stream(void **unused) {
    cudaStream_t a, b;
    cudaEvent_t begin, end;
    uint32_t *device, value = 0;
    void *arguments[] = {&device};
    float ms = -1;
    (void)unused;
    assert_int_equal(cudaMalloc((void **)&device, 4), cudaSuccess);
    assert_int_equal(cudaMemset(device, 0, 4), cudaSuccess);
    assert_int_equal(cudaStreamCreate(&a), cudaSuccess);
    assert_int_equal(cudaStreamCreateWithPriority(&b, cudaStreamNonBlocking, -3), cudaSuccess);
    assert_int_equal(cudaEventCreate(&begin), cudaSuccess);
    assert_int_equal(cudaEventCreate(&end), cudaSuccess);
    assert_int_equal(cudaEventElapsedTime(&ms, begin, end), cudaErrorInvalidResourceHandle); /* not recorded */
    assert_int_equal(cudaEventRecord(begin, a), cudaSuccess);
    assert_int_equal(cudaLaunchKernel(&add_stub, one, one, arguments, 0, a), cudaSuccess);
    assert_int_equal(cudaEventRecord(end, a), cudaSuccess);
    assert_int_equal(cudaStreamWaitEvent(b, end, 0), cudaSuccess); /* b adds behind a */
    assert_int_equal(cudaLaunchKernel(&add_stub, one, one, arguments, 0, b), cudaSuccess);
    assert_int_equal(cudaMemcpyAsync(&value, device, 4, cudaMemcpyDeviceToHost, b), cudaSuccess);
    assert_int_equal(cudaStreamSynchronize(b), cudaSuccess);
    assert_int_equal(value, 14);
    assert_int_equal(cudaEventElapsedTime(&ms, begin, end), cudaSuccess);
    assert_true(ms > 0 && ms < 1);
    assert_int_equal(cudaStreamDestroy(a), cudaSuccess);
    assert_int_equal(cudaStreamSynchronize(a), cudaErrorInvalidResourceHandle);
    assert_int_equal(cudaEventDestroy(begin), cudaSuccess);
    assert_int_equal(cudaEventDestroy(end), cudaSuccess);
    assert_int_equal(cudaFree(device), cudaSuccess);
}

/* With `--default-stream per-thread` nvcc's calls have other names, and NULL is the stream of the thread. The legacy
 * stream waits for that stream. */
static void the_stream_of_a_thread_is_its_own(void **unused) {
    uint32_t *device, *pinned, value = 0;
    void *arguments[] = {&device};
    cudaGraph_t graph;
    size_t nodes = 0;
    (void)unused;
    assert_int_equal(cudaMalloc((void **)&device, 4), cudaSuccess);
    assert_int_equal(cudaMallocHost((void **)&pinned, 4), cudaSuccess);
    assert_int_equal(cudaMemset(device, 0, 4), cudaSuccess);
    assert_int_equal(cudaLaunchKernel_ptsz(&add_stub, one, one, arguments, 0, NULL), cudaSuccess);
    assert_int_equal(cudaMemcpyAsync(pinned, device, 4, cudaMemcpyDeviceToHost, cudaStreamLegacy), cudaSuccess);
    assert_int_equal(cudaStreamSynchronize(cudaStreamLegacy), cudaSuccess);
    assert_int_equal(*pinned, 7);
    assert_int_equal(cudaMemsetAsync_ptsz(device, 1, 4, NULL), cudaSuccess);
    assert_int_equal(cudaMemcpy_ptds(&value, device, 4, cudaMemcpyDeviceToHost), cudaSuccess);
    assert_int_equal(value, 0x01010101);
    assert_int_equal(cudaStreamBeginCapture_ptsz(NULL, cudaStreamCaptureModeGlobal), cudaSuccess); /* legacy: no */
    assert_int_equal(cudaMemsetAsync_ptsz(device, 1, 4, NULL), cudaSuccess);
    assert_int_equal(cudaStreamEndCapture_ptsz(NULL, &graph), cudaSuccess);
    assert_int_equal(cudaGraphGetNodes(graph, NULL, &nodes), cudaSuccess);
    assert_int_equal(nodes, 1);
    assert_int_equal(cudaGraphDestroy(graph), cudaSuccess);
    assert_int_equal(cudaFreeHost(pinned), cudaSuccess);
    assert_int_equal(cudaFree(device), cudaSuccess);
}

/* Calls captured into a graph run when the graph is launched, not before. */
static void a_captured_graph_does_what_its_calls_would(void **unused) {
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    size_t nodes = 0;
    uint32_t *device, value;
    void *arguments[] = {&device};
    int i;
    (void)unused;
    assert_int_equal(cudaMalloc((void **)&device, 4), cudaSuccess);
    assert_int_equal(cudaStreamCreate(&stream), cudaSuccess);
    assert_int_equal(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
    assert_int_equal(cudaMemsetAsync(device, 0, 4, stream), cudaSuccess);
    for (i = 0; i < 3; i++) assert_int_equal(cudaLaunchKernel(&add_stub, one, one, arguments, 0, stream), cudaSuccess);
    assert_int_equal(cudaStreamSynchronize(stream), cudaErrorStreamCaptureUnsupported);
    assert_int_equal(cudaStreamEndCapture(stream, &graph), cudaSuccess);
    assert_int_equal(cudaGraphGetNodes(graph, NULL, &nodes), cudaSuccess);
    assert_int_equal(nodes, 4);
    assert_int_equal(cudaGraphInstantiate(&executable, graph, 0), cudaSuccess);
    assert_int_equal(cudaGraphDestroy(graph), cudaSuccess);
    for (i = 0; i < 2; i++) { /* its memset makes both launches alike */
        assert_int_equal(cudaGraphLaunch(executable, stream), cudaSuccess);
        assert_int_equal(cudaStreamSynchronize(stream), cudaSuccess);
        assert_int_equal(cudaMemcpy(&value, device, 4, cudaMemcpyDeviceToHost), cudaSuccess);
        assert_int_equal(value, 21);
    }
    assert_int_equal(cudaGraphExecDestroy(executable), cudaSuccess);
    assert_int_equal(cudaStreamDestroy(stream), cudaSuccess);
    assert_int_equal(cudaFree(device), cudaSuccess);
}

/* Each wrong call returns the error that the CUDA runtime names for it, and clears it when asked. */
static void wrong_calls_of_the_runtime_return_its_errors(void **unused) {
    uint32_t host[4] = {0}, *device, *pinned;
    void *arguments[] = {&device};
    const dim3 many = {1025, 1, 1}, none = {0, 1, 1};
    int count;
    (void)unused;
    assert_int_equal(cudaMalloc((void **)&device, 16), cudaSuccess);
    assert_int_equal(cudaMalloc((void **)&pinned, (size_t)1 << 60), cudaErrorMemoryAllocation);
    assert_int_equal(cudaGetLastError(), cudaErrorMemoryAllocation);
    assert_int_equal(cudaGetLastError(), cudaSuccess);
    assert_int_equal(cudaLaunchKernel(&add_stub, one, many, arguments, 0, NULL), cudaErrorInvalidConfiguration);
    assert_int_equal(cudaLaunchKernel(&add_stub, none, one, arguments, 0, NULL), cudaErrorInvalidConfiguration);
    assert_int_equal(cudaLaunchKernel(&add_stub, one, one, arguments, (size_t)1 << 30, NULL), cudaErrorInvalidValue);
    assert_int_equal(cudaLaunchKernel(&missing_stub, one, one, arguments, 0, NULL), cudaErrorInvalidDeviceFunction);
    assert_int_equal(cudaLaunchKernel(&count, one, one, arguments, 0, NULL), cudaErrorInvalidDeviceFunction);
    assert_int_equal(cudaLaunchKernel(&no_image_stub, one, one, arguments, 0, NULL), cudaErrorNoKernelImageForDevice);
    assert_int_equal(cudaMemcpy(device, host, 17, cudaMemcpyHostToDevice), cudaErrorInvalidValue); /* beyond its end */
    assert_int_equal(cudaMemcpy(host, host, 16, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    assert_int_equal(cudaMemcpy(host, device, 16, (cudaMemcpyKind)9), cudaErrorInvalidMemcpyDirection);
    assert_int_equal(cudaMemset(device, 0, 17), cudaErrorInvalidValue);
    assert_int_equal(cudaFree(device + 1), cudaErrorInvalidValue);
    assert_int_equal(cudaFree(host), cudaErrorInvalidValue);
    assert_int_equal(cudaMallocHost((void **)&pinned, 16), cudaSuccess);
    assert_int_equal(cudaFree(pinned), cudaErrorInvalidValue);
    assert_int_equal(cudaFreeHost(pinned), cudaSuccess);
    assert_int_equal(cudaFree(device), cudaSuccess);
    assert_int_equal(cudaFree(device), cudaErrorInvalidValue); /* twice */
    assert_int_equal(cudaFree(NULL), cudaSuccess);
    assert_int_equal(cudaSetDevice(1), cudaErrorInvalidDevice);
    assert_int_equal(cudaMemcpyToSymbol(host, host, 4, 0, cudaMemcpyHostToDevice), cudaErrorInvalidSymbol);
    assert_int_equal(cudaMemcpyToSymbol(&step_variable, host, 8, 0, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    assert_string_equal(cudaGetErrorName(cudaErrorInvalidValue), "cudaErrorInvalidValue");
    assert_string_equal(cudaGetErrorString((cudaError_t)12345), "unrecognized error code");
}

/* Every function that is not there says its name, once, and returns the error for that. */
static void a_missing_function_says_its_name_once(void **unused) {
    FILE *list = fopen(GPUMP_SOURCE_DIR "/examples/cuda/runtime/unsupported.c", "r"), *said = tmpfile();
    const int before = dup(2);
    char line[1024], name[128];
    unsigned names = 0, wrong = 0, lines = 0;
    (void)unused;
    assert_non_null(list);
    assert_non_null(said);
    dup2(fileno(said), 2);
    while (fgets(line, sizeof line, list))
        if (sscanf(line, " X(%127[^)])", name) == 1) {
            cudaError_t (*function)(void) = NULL;
            *(void **)&function = dlsym(RTLD_DEFAULT, name);
            wrong += !function || function() != cudaErrorNotSupported || function() != cudaErrorNotSupported;
            names++;
        }
    fclose(list);
    dup2(before, 2);
    close(before);
    for (rewind(said); fgets(line, sizeof line, said); lines++) {}
    fclose(said);
    assert_true(names > 200);
    assert_int_equal(wrong, 0);
    assert_int_equal(lines, names);
    cudaGetLastError();
}

/* The last test: an access beyond an allocation spoils the device for good, as in CUDA. */
static void an_invalid_access_sticks(void **unused) {
    uint32_t *device;
    void *arguments[] = {&device}, *more;
    (void)unused;
    assert_int_equal(cudaMalloc((void **)&device, 16), cudaSuccess); /* room for four of eight threads */
    assert_int_equal(cudaLaunchKernel(&add_stub, one, eight, arguments, 0, NULL), cudaSuccess);
    assert_int_equal(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
    assert_int_equal(cudaMalloc(&more, 16), cudaErrorIllegalAddress);
    assert_int_equal(cudaGetLastError(), cudaErrorIllegalAddress);
    assert_int_equal(cudaGetLastError(), cudaErrorIllegalAddress);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(launches_reach_the_kernel),
                                       cmocka_unit_test(a_managed_variable_has_its_pointer),
                                       cmocka_unit_test(events_wait_for_their_stream),
                                       cmocka_unit_test(the_stream_of_a_thread_is_its_own),
                                       cmocka_unit_test(a_captured_graph_does_what_its_calls_would),
                                       cmocka_unit_test(wrong_calls_of_the_runtime_return_its_errors),
                                       cmocka_unit_test(a_missing_function_says_its_name_once),
                                       cmocka_unit_test(an_invalid_access_sticks)};
    return cmocka_run_group_tests(tests, setup, NULL);
}
