/* graphs.cu: graphs built node by node compute what their dependencies say, keep their nodes when they are cloned or
 * changed, and refuse circles; memory pools count what comes from them; memsets of words; parameters of 32,764 bytes;
 * places by which CUDA 13 names memory. */
#include <cstdio>
#include <cstring>
#include <nvToolsExt.h>
#include <vector>

static int bad;
#define CHECK(condition) \
    if (!(condition)) bad = 1, printf("line %d: %s\n", __LINE__, #condition)
#define OK(call) CHECK((call) == cudaSuccess)

enum { N = 256 };
__global__ void add(int *to, const int *from, int more) { to[threadIdx.x] = from[threadIdx.x] + more; }
struct large {
    int words[(32764 - 8) / 4];
};
__global__ void last(int *to, large all) { *to = all.words[sizeof all.words / 4 - 1]; }

static int calls;
static void called(void *user) { calls += *(int *)user; }

static cudaKernelNodeParams kernel(void **arguments) {
    cudaKernelNodeParams p;
    memset(&p, 0, sizeof p);
    p.func = (void *)add;
    p.gridDim = dim3(1);
    p.blockDim = dim3(N);
    p.kernelParams = arguments;
    return p;
}

/* memset -> kernel -> copy -> host; the kernel is added first, so that the order comes from the edges. */
static void nodes() {
    static int out[N];
    int *a, *b, seven = 7, step = 5, wanted = 3;
    cudaGraph_t graph, clone;
    cudaGraphExec_t executable, cloned;
    cudaGraphNode_t kernel_node, memset_node, copy_node, host_node, found;
    cudaGraphNodeType type;
    cudaStream_t stream;
    size_t count = 0;
    OK(cudaStreamCreate(&stream));
    OK(cudaMalloc(&a, N * sizeof(int)));
    OK(cudaMalloc(&b, N * sizeof(int)));
    OK(cudaGraphCreate(&graph, 0));
    void *arguments[] = {&b, &a, &step};
    cudaKernelNodeParams k = kernel(arguments);
    OK(cudaGraphAddKernelNode(&kernel_node, graph, NULL, 0, &k));
    step = 0; /* the node has its own copy */
    cudaMemsetParams m = {a, 0, 1000, sizeof(int), N, 1};
    OK(cudaGraphAddMemsetNode(&memset_node, graph, NULL, 0, &m));
    OK(cudaGraphAddDependencies(graph, &memset_node, &kernel_node, 1));
    OK(cudaGraphAddMemcpyNode1D(&copy_node, graph, &kernel_node, 1, out, b, sizeof out, cudaMemcpyDeviceToHost));
    cudaHostNodeParams h = {called, &seven};
    OK(cudaGraphAddHostNode(&host_node, graph, &copy_node, 1, &h));
    OK(cudaGraphGetNodes(graph, NULL, &count));
    CHECK(count == 4);
    count = 1;
    OK(cudaGraphGetRootNodes(graph, &found, &count));
    CHECK(count == 1 && found == memset_node);
    OK(cudaGraphNodeGetType(copy_node, &type));
    CHECK(type == cudaGraphNodeTypeMemcpy);
    OK(cudaGraphInstantiate(&executable, graph, NULL, NULL, 0));
    OK(cudaGraphLaunch(executable, stream));
    OK(cudaStreamSynchronize(stream));
    CHECK(out[0] == 1005 && out[N - 1] == 1005 && calls == 7);
    OK(cudaGraphClone(&clone, graph));
    OK(cudaGraphNodeFindInClone(&found, kernel_node, clone));
    void *others[] = {&b, &a, &wanted};
    k = kernel(others);
    OK(cudaGraphKernelNodeSetParams(found, &k));
    OK(cudaGraphInstantiate(&cloned, clone, NULL, NULL, 0));
    OK(cudaGraphLaunch(cloned, stream));
    OK(cudaStreamSynchronize(stream));
    CHECK(out[9] == 1003);
    m.value = 1;
    OK(cudaGraphExecMemsetNodeSetParams(executable, memset_node, &m));
    OK(cudaGraphLaunch(executable, stream));
    OK(cudaStreamSynchronize(stream));
    CHECK(out[9] == 6 && calls == 21);
    cudaGraphExecUpdateResult result;
    OK(cudaGraphExecUpdate(executable, clone, NULL, &result));
    OK(cudaGraphLaunch(executable, stream));
    OK(cudaStreamSynchronize(stream));
    CHECK(out[9] == 1003);
    OK(cudaGraphAddEmptyNode(&found, clone, NULL, 0));
    CHECK(cudaGraphExecUpdate(executable, clone, NULL, &result) == cudaErrorGraphExecUpdateFailure);
    CHECK(result == cudaGraphExecUpdateErrorTopologyChanged);
    CHECK(cudaGraphAddEmptyNode(&found, graph, &found, 1) == cudaErrorInvalidValue); /* a node of the other graph */
    OK(cudaGraphAddDependencies(graph, &host_node, &memset_node, 1));
    cudaGraphExec_t circle;
    CHECK(cudaGraphInstantiate(&circle, graph, NULL, NULL, 0) == cudaErrorInvalidValue);
    OK(cudaGraphExecDestroy(executable));
    OK(cudaGraphExecDestroy(cloned));
    OK(cudaGraphDestroy(graph));
    OK(cudaGraphDestroy(clone));
    OK(cudaFree(a));
    OK(cudaFree(b));
    OK(cudaStreamDestroy(stream));
}

/* Two streams that capture one graph. What is recorded in a capture is no event for anything else. */
static void captures() {
    int *x, got = 0;
    size_t count = 0;
    cudaStream_t a, b;
    cudaEvent_t before, forked;
    cudaGraph_t graph;
    OK(cudaMalloc(&x, N * sizeof(int)));
    OK(cudaMemset(x, 0, N * sizeof(int)));
    OK(cudaStreamCreate(&a));
    OK(cudaStreamCreate(&b));
    OK(cudaEventCreate(&before));
    OK(cudaEventCreate(&forked));
    OK(cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal));
    OK(cudaStreamWaitEvent(a, before, 0)); /* never recorded: nothing to wait for */
    OK(cudaEventRecord(forked, a));
    OK(cudaStreamWaitEvent(b, forked, 0));
    add<<<1, N, 0, b>>>(x, x, 1);
    CHECK(cudaEventQuery(forked) == cudaErrorCapturedEvent);
    OK(cudaEventRecord(forked, b));
    OK(cudaStreamWaitEvent(a, forked, 0));
    add<<<1, N, 0, a>>>(x, x, 2);
    OK(cudaStreamEndCapture(a, &graph));
    OK(cudaGraphGetNodes(graph, NULL, &count));
    CHECK(count == 2);
    OK(cudaGraphDestroy(graph));
    CHECK(cudaStreamWaitEvent(b, forked, 0) == cudaErrorCapturedEvent);
    add<<<1, N, 0, b>>>(x, x, 4);
    OK(cudaStreamSynchronize(b));
    OK(cudaMemcpy(&got, x, sizeof got, cudaMemcpyDefault));
    CHECK(got == 4);
    OK(cudaEventRecord(forked, b)); /* now it is an event again */
    OK(cudaEventSynchronize(forked));
    OK(cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal));
    CHECK(cudaStreamWaitEvent(a, forked, 0) == cudaErrorStreamCaptureIsolation);
    cudaStreamEndCapture(a, &graph);
    OK(cudaFree(x));
}

/* A graph that allocates: the address is there before the graph runs, and in every launch. */
static void memory_nodes() {
    int out[N], more = 4;
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    cudaGraphNode_t node, behind;
    cudaMemAllocNodeParams p;
    memset(&p, 0, sizeof p);
    p.poolProps.allocType = cudaMemAllocationTypePinned;
    p.poolProps.location.type = cudaMemLocationTypeDevice;
    p.bytesize = sizeof out;
    OK(cudaGraphCreate(&graph, 0));
    OK(cudaGraphAddMemAllocNode(&node, graph, NULL, 0, &p));
    cudaMemsetParams m = {p.dptr, 0, 0, 1, sizeof out, 1};
    OK(cudaGraphAddMemsetNode(&behind, graph, &node, 1, &m));
    void *arguments[] = {&p.dptr, &p.dptr, &more};
    cudaKernelNodeParams k = kernel(arguments);
    OK(cudaGraphAddKernelNode(&node, graph, &behind, 1, &k));
    OK(cudaGraphAddMemcpyNode1D(&behind, graph, &node, 1, out, p.dptr, sizeof out, cudaMemcpyDefault));
    OK(cudaGraphAddMemFreeNode(&node, graph, &behind, 1, p.dptr));
    CHECK(cudaGraphAddMemFreeNode(&node, graph, &behind, 1, &more) == cudaErrorInvalidValue);
    OK(cudaGraphInstantiate(&executable, graph, 0));
    for (int i = 0; i < 2; i++) {
        memset(out, 0, sizeof out);
        OK(cudaGraphLaunch(executable, 0));
        OK(cudaDeviceSynchronize());
        CHECK(out[17] == 4);
    }
    OK(cudaGraphExecDestroy(executable));
    OK(cudaGraphDestroy(graph));
}

static unsigned long long value_of(cudaMemPool_t pool, cudaMemPoolAttr attribute) {
    unsigned long long value = ~0ull;
    OK(cudaMemPoolGetAttribute(pool, attribute, &value));
    return value;
}
static void pools() {
    int *a, *b, is_there = 0;
    unsigned long long threshold = ~0ull;
    cudaMemPool_t pool, other;
    cudaMemPoolProps properties;
    OK(cudaDeviceGetAttribute(&is_there, cudaDevAttrMemoryPoolsSupported, 0));
    CHECK(is_there);
    OK(cudaDeviceGetDefaultMemPool(&pool, 0));
    OK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
    CHECK(value_of(pool, cudaMemPoolAttrReleaseThreshold) == threshold);
    OK(cudaMallocAsync(&a, 1024, 0));
    CHECK(value_of(pool, cudaMemPoolAttrUsedMemCurrent) == 1024);
    memset(&properties, 0, sizeof properties);
    CHECK(cudaMemPoolCreate(&other, &properties) == cudaErrorInvalidValue);
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location.type = cudaMemLocationTypeDevice;
    OK(cudaMemPoolCreate(&other, &properties));
    OK(cudaMallocFromPoolAsync(&b, 512, other, 0));
    CHECK(value_of(other, cudaMemPoolAttrUsedMemCurrent) == 512);
    OK(cudaFreeAsync(a, 0));
    CHECK(value_of(pool, cudaMemPoolAttrUsedMemCurrent) == 0 && value_of(pool, cudaMemPoolAttrUsedMemHigh) == 1024);
    OK(cudaMemPoolDestroy(other)); /* what came from it is still there */
    OK(cudaMemset(b, 0, 512));
    OK(cudaFreeAsync(b, 0));
    CHECK(cudaMemPoolDestroy(pool) == cudaErrorInvalidValue);
}

int main() {
    static large all;
    int *out, got = 0;
    cudaMemLocation device = {cudaMemLocationTypeDevice, 0}, host = {cudaMemLocationTypeHost, 0};
    nvtxRangePush("everything");
    nodes();
    captures();
    memory_nodes();
    pools();
    OK(cudaMallocManaged(&out, 4));
    OK(cudaMemPrefetchAsync(out, 4, device, 0, 0));
    OK(cudaMemAdvise(out, 4, cudaMemAdviseSetPreferredLocation, host));
    all.words[sizeof all.words / 4 - 1] = 99;
    last<<<1, 1>>>(out, all);
    OK(cudaMemcpy(&got, out, 4, cudaMemcpyDefault));
    CHECK(got == 99);
    nvtxRangePop();
    return bad;
}
