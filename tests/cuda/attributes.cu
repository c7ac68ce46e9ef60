/* attributes.cu: cudaLaunchKernelEx. Arguments are converted to the kernel's types, a cooperative launch has all of its
 * blocks on the SMs, a launch with a priority preempts one without, also from a graph, and clusters are refused. */
#include <cooperative_groups.h>
#include <cstdio>
#include <cstring>

static int bad;
#define CHECK(condition) \
    if (!(condition)) bad = 1, printf("line %d: %s\n", __LINE__, #condition)
#define OK(call) CHECK((call) == cudaSuccess)

__global__ void store(double *to, double value, long long more, char last) {
    to[blockIdx.x * blockDim.x + threadIdx.x] = value + (double)more + last;
}
__global__ void nothing() {}
__global__ void waits(int *sum, int *seen) {
    if (threadIdx.x == 0) atomicAdd(sum, 1);
    cooperative_groups::this_grid().sync();
    if (threadIdx.x == 0) seen[blockIdx.x] = *sum;
}
__global__ void batch(float *x, int rounds) {
    float value = 0.25f;
    for (int i = 0; i < rounds; i++) value = value * value - 0.75f;
    x[blockIdx.x * blockDim.x + threadIdx.x] = value;
}
__global__ void urgent(int *x) { x[blockIdx.x * blockDim.x + threadIdx.x] = 7; }

static cudaLaunchConfig_t sizes(int blocks, int threads, cudaLaunchAttribute *attributes, unsigned int count) {
    cudaLaunchConfig_t config;
    memset(&config, 0, sizeof config);
    config.gridDim = dim3(blocks);
    config.blockDim = dim3(threads);
    config.attrs = attributes;
    config.numAttrs = count;
    return config;
}

static void arguments_are_converted() {
    double *to;
    cudaLaunchAttribute hints[2] = {};
    hints[0].id = cudaLaunchAttributeIgnore;
    hints[1].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    hints[1].val.programmaticStreamSerializationAllowed = 1;
    const cudaLaunchConfig_t plain = sizes(2, 32, NULL, 0), hinted = sizes(2, 32, hints, 2);
    OK(cudaMallocManaged(&to, 64 * sizeof *to));
    const int one = 1;
    OK(cudaLaunchKernelEx(&plain, store, to, one, 2.9f, 'c' - 'a'));
    OK(cudaDeviceSynchronize());
    for (int i = 0; i < 64; i++) CHECK(to[i] == 1 + 2 + 2);
    OK(cudaLaunchKernelEx(&hinted, store, to, 0.5, 1, 0));
    OK(cudaLaunchKernelEx(&plain, nothing));
    OK(cudaDeviceSynchronize());
    for (int i = 0; i < 64; i++) CHECK(to[i] == 1.5);
    CHECK(cudaLaunchKernelEx(NULL, nothing) == cudaErrorInvalidValue);
    const cudaLaunchConfig_t absent = sizes(1, 32, NULL, 1), wide = sizes(1, 2048, NULL, 0);
    CHECK(cudaLaunchKernelEx(&absent, nothing) == cudaErrorInvalidValue);
    CHECK(cudaLaunchKernelEx(&wide, nothing) == cudaErrorInvalidConfiguration);
    CHECK(cudaGetLastError() == cudaErrorInvalidConfiguration && cudaGetLastError() == cudaSuccess);
    OK(cudaFree(to));
}

static void blocks_are_together() {
    int *sum, *seen, blocks = 0, sms = 0;
    cudaLaunchAttribute together = {};
    together.id = cudaLaunchAttributeCooperative;
    together.val.cooperative = 1;
    cudaLaunchConfig_t config = sizes(20, 64, &together, 1);
    OK(cudaMallocManaged(&sum, sizeof *sum));
    OK(cudaMallocManaged(&seen, 20 * sizeof *seen));
    *sum = 0;
    OK(cudaLaunchKernelEx(&config, waits, sum, seen));
    OK(cudaDeviceSynchronize());
    for (int i = 0; i < 20; i++) CHECK(seen[i] == 20);
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, nothing, 64, 0));
    OK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
    config.gridDim = dim3(blocks * sms + 1);
    CHECK(cudaLaunchKernelEx(&config, nothing) == cudaErrorCooperativeLaunchTooLarge);
    together.val.cooperative = 0; /* not asked for: more blocks than fit wait */
    OK(cudaLaunchKernelEx(&config, nothing));
    OK(cudaDeviceSynchronize());
}

/* Both streams have the same priority. The batch's blocks hold all SMs when the urgent launch arrives. */
static void one_launch_goes_first() {
    float *x;
    int *y, clamped = 0;
    cudaStream_t first, second;
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    cudaLaunchAttribute goes_first = {};
    goes_first.id = cudaLaunchAttributePriority;
    goes_first.val.priority = -5;
    const cudaLaunchConfig_t many = sizes(400, 256, NULL, 0);
    OK(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking));
    OK(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
    OK(cudaMalloc(&x, 400 * 256 * sizeof *x));
    OK(cudaMallocManaged(&y, 26 * 256 * sizeof *y));
    cudaLaunchConfig_t of_batch = many, of_urgent = sizes(26, 256, &goes_first, 1);
    of_batch.stream = first;
    of_urgent.stream = second;
    OK(cudaLaunchKernelEx(&of_batch, batch, x, 400));
    OK(cudaLaunchKernelEx(&of_urgent, urgent, y));
    OK(cudaDeviceSynchronize());
    for (int i = 0; i < 26 * 256; i++) CHECK(y[i] == 7);
    OK(cudaStreamGetPriority(second, &clamped));
    CHECK(clamped == 0); /* the launch had it, the stream has not */
    memset(y, 0, 26 * 256 * sizeof *y);
    OK(cudaStreamBeginCapture(second, cudaStreamCaptureModeGlobal));
    OK(cudaLaunchKernelEx(&of_urgent, urgent, y));
    OK(cudaStreamEndCapture(second, &graph));
    OK(cudaGraphInstantiate(&executable, graph, 0));
    OK(cudaLaunchKernelEx(&of_batch, batch, x, 400));
    OK(cudaGraphLaunch(executable, second));
    OK(cudaDeviceSynchronize());
    for (int i = 0; i < 26 * 256; i++) CHECK(y[i] == 7);
}

static void clusters_are_refused() {
    cudaLaunchAttribute cluster = {};
    cluster.id = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim.x = cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
    const cudaLaunchConfig_t config = sizes(4, 32, &cluster, 1);
    OK(cudaLaunchKernelEx(&config, nothing)); /* a block is a cluster of one */
    cluster.val.clusterDim.x = 2;
    CHECK(cudaLaunchKernelEx(&config, nothing) == cudaErrorNotSupported);
    cluster.id = cudaLaunchAttributeProgrammaticEvent;
    CHECK(cudaLaunchKernelEx(&config, nothing) == cudaErrorNotSupported);
    CHECK(cudaGetLastError() == cudaErrorNotSupported);
    OK(cudaDeviceSynchronize());
}

int main() {
    arguments_are_converted();
    blocks_are_together();
    one_launch_goes_first();
    clusters_are_refused();
    return bad;
}
