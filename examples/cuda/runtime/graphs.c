/* graphs: nodes that a program adds one by one, or that a stream captures (runtime.h).
 *
 * A node is one operation and the nodes that it waits for. An executable graph is a queue of operations in an order
 * that fits all dependencies; a launch puts copies of them into a stream. The calls that add a copy, a memset, a kernel
 * or a host function are the stream's own calls, given to a stream that captures into the graph.
 *
 * Memory of an allocation node is there from the node's creation on, and its address is the same in each launch. */
#define _GNU_SOURCE
#include "operations.h"

#include <stdlib.h>
#include <string.h>

struct CUgraphNode_st {
    struct CUgraphNode_st *next;
    uint64_t number; /* of all nodes; that of the same node in copies of the graph */
    cudaGraph_t graph;
    cudaGraphNodeType type;
    operation *o;
    cudaGraphNode_t *waits_for;
    size_t waits_for_count;
    uint32_t mark; /* the node stands in the order already */
};
struct CUgraph_st {
    cudaGraphNode_t first, last;
    size_t count;
};
/* An operation of an executable graph. */
typedef struct step {
    operation *o;
    uint64_t number; /* of its node */
    cudaGraphNodeType type;
} step;
struct CUgraphExec_st {
    step *steps;
    size_t count;
};

static uint64_t node_count;

static cudaGraphNodeType type_of_operation(const operation *o) {
    if (o->kind == OPERATION_KERNEL) return cudaGraphNodeTypeKernel;
    if (o->kind == OPERATION_HOST) return cudaGraphNodeTypeHost;
    if (o->kind == OPERATION_MOVE) return o->rows.from ? cudaGraphNodeTypeMemcpy : cudaGraphNodeTypeMemset;
    return cudaGraphNodeTypeEmpty;
}

static int depends(cudaGraphNode_t node, const cudaGraphNode_t *on, size_t count) {
    cudaGraphNode_t *grown;
    if (!count) return 0;
    grown = (cudaGraphNode_t *)realloc(node->waits_for, (node->waits_for_count + count) * sizeof *grown);
    if (!grown) return -1;
    memcpy(grown + node->waits_for_count, on, count * sizeof *grown);
    node->waits_for = grown;
    node->waits_for_count += count;
    return 0;
}

static void free_node(cudaGraphNode_t node) {
    operation_free(node->o);
    free(node->waits_for);
    free(node);
}

/* A node, which takes the operation even if it fails; NULL: no memory. */
static cudaGraphNode_t add(cudaGraph_t graph, const cudaGraphNode_t *on, size_t count, operation *o,
                           cudaGraphNodeType type) {
    cudaGraphNode_t node = o ? (cudaGraphNode_t)calloc(1, sizeof *node) : NULL;
    if (!node) {
        operation_free(o);
        return NULL;
    }
    node->o = o;
    if (depends(node, on, count)) {
        free_node(node);
        return NULL;
    }
    node->number = node_count++;
    node->graph = graph;
    node->type = type;
    if (graph->last)
        graph->last->next = node;
    else
        graph->first = node;
    graph->last = node;
    graph->count++;
    return node;
}

static void empty(cudaGraph_t graph) {
    while (graph->first) {
        cudaGraphNode_t node = graph->first;
        graph->first = node->next;
        free_node(node);
    }
    graph->last = NULL;
    graph->count = 0;
}

/* ---- capture: a node behind the last one for each operation ---- */

cudaError_t graphs_capture(cudaGraph_t graph, operation *o) {
    const cudaGraphNode_t last = graph->last;
    return add(graph, &last, last ? 1 : 0, o, type_of_operation(o)) ? cudaSuccess : cudaErrorMemoryAllocation;
}

API cudaError_t cudaStreamBeginCapture(cudaStream_t handle, cudaStreamCaptureMode mode) {
    static uint64_t capture_count;
    struct CUstream_st *s;
    (void)mode;
    ENTER();
    s = streams_find(handle);
    if (!s || streams_is_legacy(s)) return runtime_leave(cudaErrorStreamCaptureUnsupported);
    if (s->capture) return runtime_leave(cudaErrorIllegalState);
    s->capture = (cudaGraph_t)calloc(1, sizeof *s->capture);
    if (!s->capture) return runtime_leave(cudaErrorMemoryAllocation);
    s->capture_number = ++capture_count;
    return runtime_leave(cudaSuccess);
}
API cudaError_t cudaStreamEndCapture(cudaStream_t handle, cudaGraph_t *graph) {
    const struct CUstream_st *s;
    ENTER();
    s = streams_find(handle);
    if (!s || !s->capture || !graph) return runtime_leave(cudaErrorIllegalState);
    *graph = s->capture;
    streams_end_capture(*graph);
    return runtime_leave(cudaSuccess);
}
API cudaError_t cudaStreamIsCapturing(cudaStream_t handle, cudaStreamCaptureStatus *status) {
    const struct CUstream_st *s;
    ENTER();
    s = streams_find(handle);
    if (!s || !status) return runtime_leave(cudaErrorInvalidResourceHandle);
    *status = s->capture ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
    return runtime_leave(cudaSuccess);
}

/* ---- graphs ---- */

API cudaError_t cudaGraphCreate(cudaGraph_t *graph, unsigned int flags) {
    ENTER();
    if (!graph || flags) return runtime_leave(cudaErrorInvalidValue);
    *graph = (cudaGraph_t)calloc(1, sizeof **graph);
    return runtime_leave(*graph ? cudaSuccess : cudaErrorMemoryAllocation);
}
API cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
    ENTER();
    if (!graph) return runtime_leave(cudaErrorInvalidValue);
    empty(graph);
    free(graph);
    return runtime_leave(cudaSuccess);
}

/* The node of a copy of the graph; NULL. */
static cudaGraphNode_t with_number(cudaGraph_t graph, uint64_t number) {
    cudaGraphNode_t node = graph->first;
    while (node && node->number != number) node = node->next;
    return node;
}

API cudaError_t cudaGraphClone(cudaGraph_t *clone, cudaGraph_t graph) {
    cudaGraphNode_t node;
    cudaError_t error;
    size_t i;
    if (!graph) return cudaErrorInvalidValue;
    if ((error = cudaGraphCreate(clone, 0))) return error;
    ENTER();
    for (node = graph->first; node; node = node->next) {
        cudaGraphNode_t copy = add(*clone, NULL, 0, operation_copy(node->o), node->type);
        if (!copy) return runtime_leave(cudaErrorMemoryAllocation);
        copy->number = node->number;
    }
    for (node = graph->first; node; node = node->next)
        for (i = 0; i < node->waits_for_count; i++) {
            cudaGraphNode_t on = with_number(*clone, node->waits_for[i]->number);
            if (!on || depends(with_number(*clone, node->number), &on, 1))
                return runtime_leave(cudaErrorMemoryAllocation);
        }
    return runtime_leave(cudaSuccess);
}
API cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t *found, cudaGraphNode_t node, cudaGraph_t clone) {
    ENTER();
    if (!found || !node || !clone) return runtime_leave(cudaErrorInvalidValue);
    *found = with_number(clone, node->number);
    return runtime_leave(*found ? cudaSuccess : cudaErrorInvalidValue);
}
/* As many nodes as there is room for; with no array, how many there are. */
static cudaError_t list(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count, int roots) {
    const size_t room = count ? *count : 0;
    cudaGraphNode_t node;
    if (!graph || !count) return cudaErrorInvalidValue;
    *count = 0;
    for (node = graph->first; node; node = node->next) {
        if (roots && node->waits_for_count) continue;
        if (nodes && *count == room) break;
        if (nodes) nodes[*count] = node;
        ++*count;
    }
    return cudaSuccess;
}
API cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count) {
    ENTER();
    return runtime_leave(list(graph, nodes, count, 0));
}
API cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count) {
    ENTER();
    return runtime_leave(list(graph, nodes, count, 1));
}
API cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType *type) {
    ENTER();
    if (!node || !type) return runtime_leave(cudaErrorInvalidValue);
    *type = node->type;
    return runtime_leave(cudaSuccess);
}

/* ---- nodes ---- */

static int are_of(cudaGraph_t graph, const cudaGraphNode_t *nodes, size_t count) {
    size_t i;
    for (i = 0; i < count; i++)
        if (!nodes || !nodes[i] || nodes[i]->graph != graph) return 0;
    return 1;
}

API cudaError_t cudaGraphAddDependencies_v2(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
                                            const cudaGraphEdgeData *edges, size_t count) {
    static const cudaGraphEdgeData plain;
    size_t i;
    ENTER();
    for (i = 0; edges && i < count; i++)
        if (memcmp(&edges[i], &plain, sizeof plain)) return runtime_leave(cudaErrorNotSupported);
    if (!graph || !are_of(graph, from, count) || !are_of(graph, to, count)) return runtime_leave(cudaErrorInvalidValue);
    for (i = 0; i < count; i++)
        if (depends(to[i], &from[i], 1)) return runtime_leave(cudaErrorMemoryAllocation);
    return runtime_leave(cudaSuccess);
}
#if MINIGPU_CUDART < 13
API cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
                                         size_t count) {
    return cudaGraphAddDependencies_v2(graph, from, to, NULL, count);
}
#else
API cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
                                         const cudaGraphEdgeData *edges, size_t count) {
    return cudaGraphAddDependencies_v2(graph, from, to, edges, count);
}
#endif

/* The parameters of a node. The stream's call of the same kind turns them into an operation. */
typedef struct request {
    cudaGraphNodeType type;
    const cudaKernelNodeParams *kernel;
    const cudaMemcpy3DParms *copy;
    const cudaMemsetParams *set;
    const cudaHostNodeParams *host;
    void *to; /* of a copy of bytes in a row */
    const void *from;
    size_t bytes;
    cudaMemcpyKind kind;
} request;

static cudaError_t memset_node(struct CUstream_st *s, const cudaMemsetParams *p) {
    return runtime_memset(p->dst, p->pitch, p->value, p->elementSize, p->width, p->height, s);
}

static cudaError_t ask(struct CUstream_st *s, const request *r) {
    switch (r->type) {
    case cudaGraphNodeTypeKernel:
        if (!r->kernel || r->kernel->extra) return r->kernel ? cudaErrorNotSupported : cudaErrorInvalidValue;
        return cudaLaunchKernel(r->kernel->func, r->kernel->gridDim, r->kernel->blockDim, r->kernel->kernelParams,
                                r->kernel->sharedMemBytes, s);
    case cudaGraphNodeTypeMemcpy:
        if (r->copy) return cudaMemcpy3DAsync(r->copy, s);
        return r->bytes ? cudaMemcpyAsync(r->to, r->from, r->bytes, r->kind, s) : cudaErrorInvalidValue;
    case cudaGraphNodeTypeMemset: return r->set ? memset_node(s, r->set) : cudaErrorInvalidValue;
    case cudaGraphNodeTypeHost:
        return r->host ? cudaLaunchHostFunc(s, r->host->fn, r->host->userData) : cudaErrorInvalidValue;
    default: return cudaErrorInvalidValue;
    }
}

/* The operation of a request, alone; NULL: an error. */
static operation *operation_of(const request *r, cudaError_t *error) {
    struct CUgraph_st alone = {NULL, NULL, 0};
    operation *o = NULL;
    *error = ask(streams_builder(&alone), r);
    if (!*error && alone.count == 1) {
        o = alone.first->o;
        alone.first->o = NULL;
    } else if (!*error)
        *error = cudaErrorInvalidValue;
    empty(&alone);
    streams_builder(NULL);
    return o;
}

static cudaError_t add_node(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *on, size_t count,
                            const request *r) {
    operation *o;
    cudaError_t error;
    ENTER();
    if (!node || !graph || !are_of(graph, on, count)) return runtime_leave(cudaErrorInvalidValue);
    if (!(o = operation_of(r, &error))) return runtime_leave(error);
    *node = add(graph, on, count, o, r->type);
    return runtime_leave(*node ? cudaSuccess : cudaErrorMemoryAllocation);
}
/* A node that only has a place in the order. */
static cudaError_t add_place(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *on, size_t count,
                             cudaGraphNodeType type) {
    ENTER();
    if (!node || !graph || !are_of(graph, on, count)) return runtime_leave(cudaErrorInvalidValue);
    *node = add(graph, on, count, operation_new(OPERATION_NOTHING), type);
    return runtime_leave(*node ? cudaSuccess : cudaErrorMemoryAllocation);
}

API cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *on,
                                       size_t count, const cudaKernelNodeParams *p) {
    const request r = {.type = cudaGraphNodeTypeKernel, .kernel = p};
    return add_node(node, graph, on, count, &r);
}
API cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *on,
                                       size_t count, const cudaMemcpy3DParms *p) {
    const request r = {.type = cudaGraphNodeTypeMemcpy, .copy = p};
    return add_node(node, graph, on, count, &r);
}
API cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *on,
                                         size_t count, void *to, const void *from, size_t bytes, cudaMemcpyKind kind) {
    const request r = {.type = cudaGraphNodeTypeMemcpy, .to = to, .from = from, .bytes = bytes, .kind = kind};
    return add_node(node, graph, on, count, &r);
}
API cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *on,
                                       size_t count, const cudaMemsetParams *p) {
    const request r = {.type = cudaGraphNodeTypeMemset, .set = p};
    return add_node(node, graph, on, count, &r);
}
API cudaError_t cudaGraphAddHostNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *on, size_t count,
                                     const cudaHostNodeParams *p) {
    const request r = {.type = cudaGraphNodeTypeHost, .host = p};
    return add_node(node, graph, on, count, &r);
}
API cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *on,
                                      size_t count) {
    return add_place(node, graph, on, count, cudaGraphNodeTypeEmpty);
}
API cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *on,
                                         size_t count, cudaMemAllocNodeParams *p) {
    cudaError_t error;
    if (!p) return cudaErrorInvalidValue;
    if ((error = memory_of_graph(&p->dptr, p->bytesize))) return error;
    return add_place(node, graph, on, count, cudaGraphNodeTypeMemAlloc);
}
API cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *on,
                                        size_t count, void *pointer) {
    if (!memory_is_of_graph(pointer)) return cudaErrorInvalidValue;
    return add_place(node, graph, on, count, cudaGraphNodeTypeMemFree);
}

/* ---- executable graphs ---- */

static void free_steps(cudaGraphExec_t executable) {
    while (executable->count) operation_free(executable->steps[--executable->count].o);
    free(executable->steps);
    executable->steps = NULL;
}

static int is_next(const struct CUgraphNode_st *node) {
    size_t i;
    if (node->mark) return 0;
    for (i = 0; i < node->waits_for_count && node->waits_for[i]->mark; i++) {}
    return i == node->waits_for_count;
}

/* Copies of all operations. Each stands behind the operations that it waits for; the others keep the nodes' order. */
static cudaError_t order(cudaGraphExec_t executable, cudaGraph_t graph) {
    cudaGraphNode_t node;
    size_t before = SIZE_MAX;
    if (!(executable->steps = (step *)calloc(graph->count + 1, sizeof(step)))) return cudaErrorMemoryAllocation;
    for (node = graph->first; node; node = node->next) node->mark = 0;
    while (executable->count < graph->count) {
        if (executable->count == before) return cudaErrorInvalidValue; /* a circle */
        before = executable->count;
        for (node = graph->first; node; node = node->next) {
            step *s = &executable->steps[executable->count];
            if (!is_next(node)) continue;
            if (!(s->o = operation_copy(node->o))) return cudaErrorMemoryAllocation;
            s->number = node->number;
            s->type = node->type;
            node->mark = 1;
            executable->count++;
        }
    }
    return cudaSuccess;
}

API cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *executable, cudaGraph_t graph,
                                              unsigned long long flags) {
    cudaError_t error;
    (void)flags;
    ENTER();
    if (!executable || !graph || !(*executable = (cudaGraphExec_t)calloc(1, sizeof **executable)))
        return runtime_leave(cudaErrorInvalidValue);
    if ((error = order(*executable, graph))) {
        free_steps(*executable);
        free(*executable);
        *executable = NULL;
    }
    return runtime_leave(error);
}
API cudaError_t cudaGraphInstantiate(cudaGraphExec_t *executable, cudaGraph_t graph, unsigned long long flags) {
    return cudaGraphInstantiateWithFlags(executable, graph, flags);
}
API cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t handle) {
    struct CUstream_st *s;
    size_t i;
    ENTER();
    s = streams_find(handle);
    if (!s || !executable) return runtime_leave(cudaErrorInvalidResourceHandle);
    for (i = 0; i < executable->count; i++) {
        operation *copy = operation_copy(executable->steps[i].o);
        if (!copy) return runtime_leave(cudaErrorMemoryAllocation);
        streams_put(s, copy);
    }
    return runtime_leave(cudaSuccess);
}
API cudaError_t cudaGraphUpload(cudaGraphExec_t executable, cudaStream_t stream) {
    (void)stream;
    return executable ? cudaSuccess : cudaErrorInvalidValue;
}
API cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
    ENTER();
    if (!executable) return runtime_leave(cudaErrorInvalidValue);
    free_steps(executable);
    free(executable);
    return runtime_leave(cudaSuccess);
}

/* ---- changes ---- */

/* The same nodes with other parameters. */
API cudaError_t cudaGraphExecUpdate(cudaGraphExec_t executable, cudaGraph_t graph,
                                    cudaGraphExecUpdateResultInfo *info) {
    struct CUgraphExec_st now = {NULL, 0};
    cudaGraphExecUpdateResult result = cudaGraphExecUpdateSuccess;
    cudaError_t error;
    size_t i;
    ENTER();
    if (!executable || !graph) return runtime_leave(cudaErrorInvalidValue);
    if ((error = order(&now, graph))) result = cudaGraphExecUpdateError;
    if (!error && now.count != executable->count) result = cudaGraphExecUpdateErrorTopologyChanged;
    for (i = 0; !error && !result && i < now.count; i++)
        if (now.steps[i].type != executable->steps[i].type) result = cudaGraphExecUpdateErrorNodeTypeChanged;
    if (info) {
        memset(info, 0, sizeof *info);
        info->result = result;
    }
    if (result) {
        free_steps(&now);
        return runtime_leave(error ? error : cudaErrorGraphExecUpdateFailure);
    }
    free_steps(executable);
    *executable = now;
    return runtime_leave(cudaSuccess);
}

/* Another operation in the place of a node's: in the graph, or in an executable graph. */
static cudaError_t replace(cudaGraphExec_t executable, cudaGraphNode_t node, const request *r) {
    operation **place = NULL, *o;
    cudaError_t error;
    size_t i;
    ENTER();
    if (!node || node->type != r->type) return runtime_leave(cudaErrorInvalidValue);
    if (!executable) place = &node->o;
    for (i = 0; executable && i < executable->count; i++)
        if (executable->steps[i].number == node->number) place = &executable->steps[i].o;
    if (!place) return runtime_leave(cudaErrorInvalidValue);
    if (!(o = operation_of(r, &error))) return runtime_leave(error);
    operation_free(*place);
    *place = o;
    return runtime_leave(cudaSuccess);
}

#define SET_PARAMETERS(kind, structure, member)                                                          \
    API cudaError_t cudaGraph##kind##NodeSetParams(cudaGraphNode_t node, const structure *p) {           \
        const request r = {.type = cudaGraphNodeType##kind, .member = p};                                \
        return replace(NULL, node, &r);                                                                  \
    }                                                                                                    \
    API cudaError_t cudaGraphExec##kind##NodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node, \
                                                       const structure *p) {                             \
        const request r = {.type = cudaGraphNodeType##kind, .member = p};                                \
        return executable ? replace(executable, node, &r) : cudaErrorInvalidValue;                       \
    }
SET_PARAMETERS(Kernel, cudaKernelNodeParams, kernel)
SET_PARAMETERS(Memcpy, cudaMemcpy3DParms, copy)
SET_PARAMETERS(Memset, cudaMemsetParams, set)
SET_PARAMETERS(Host, cudaHostNodeParams, host)

API cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void *to, const void *from, size_t bytes,
                                               cudaMemcpyKind kind) {
    const request r = {.type = cudaGraphNodeTypeMemcpy, .to = to, .from = from, .bytes = bytes, .kind = kind};
    return replace(NULL, node, &r);
}
API cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t executable, cudaGraphNode_t node, void *to,
                                                   const void *from, size_t bytes, cudaMemcpyKind kind) {
    const request r = {.type = cudaGraphNodeTypeMemcpy, .to = to, .from = from, .bytes = bytes, .kind = kind};
    return executable ? replace(executable, node, &r) : cudaErrorInvalidValue;
}
