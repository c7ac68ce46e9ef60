/* operations: what streams and graphs share. A stream is a queue of operations (streams.c), a graph has one for each of
 * its nodes (graphs.c). */
#ifndef MINIGPU_CUDART_OPERATIONS_H
#define MINIGPU_CUDART_OPERATIONS_H

#include "runtime.h"

typedef enum operation_kind {
    OPERATION_KERNEL,
    OPERATION_MOVE,
    OPERATION_HOST, /* calls a function of the program */
    OPERATION_RECORD,
    OPERATION_WAIT,
    OPERATION_NOTHING /* a node of a graph that only has an order: empty, or memory that is there already */
} operation_kind;

typedef struct operation {
    struct operation *next;
    operation_kind kind;
    uint64_t sequence;   /* of all operations */
    uint64_t host_cycle; /* when the host asked for it */
    memory_rows rows;
    uint8_t *bytes; /* of the operation: parameters of a kernel, or bytes read from pageable memory */
    uint32_t byte_count;
    device_launch launch;
    int has_priority, priority; /* of a launch that brings its own; else its stream's counts */
    cudaHostFn_t function;
    cudaStreamCallback_t callback;
    void *user;
    cudaEvent_t event;
    uint64_t ticket; /* which of the event's records */
} operation;

/* ---- streams.c ---- */

operation *operation_new(operation_kind kind);
operation *operation_copy(const operation *from);
void operation_free(operation *o);
/* Puts an operation into a stream, or into the graph that the stream captures. */
cudaError_t streams_put(struct CUstream_st *s, operation *o);
/* A stream that captures into a graph: each operation becomes a node. No program has its handle. */
struct CUstream_st *streams_builder(cudaGraph_t graph);
/* Streams that capture into a graph work again. */
void streams_end_capture(cudaGraph_t graph);
int streams_is_legacy(const struct CUstream_st *stream);

/* ---- graphs.c ---- */

/* A stream gave an operation to the graph that it captures: it becomes a node behind the last one. */
cudaError_t graphs_capture(cudaGraph_t graph, operation *o);

#endif
