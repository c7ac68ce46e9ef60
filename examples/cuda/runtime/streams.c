/* streams: the operations that the program has asked for and that are not done yet (runtime.h).
 *
 * Each stream is a queue of operations. streams_run works in rounds. A round first does the copies, memsets, host
 * functions and events that stand first in their streams, then starts the kernels that stand first, and runs them
 * together on one machine. So kernels of different streams meet on the GPU, and the operations behind them follow.
 *
 * Times are cycles of the device. An operation begins when the host has asked for it and the operation before it has
 * ended.
 */
#define _GNU_SOURCE
#include "operations.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct CUevent_st {
    uint32_t flags, references; /* operations that name it, and the program */
    uint64_t issued, done;      /* records */
    uint64_t cycle;             /* of the last one that is done */
    uint64_t capture;           /* capture_number of the stream that recorded it last; 0: that did not capture */
};

static struct CUstream_st builder = {.flags = cudaStreamNonBlocking}; /* which puts nodes into graphs */
static struct CUstream_st legacy, per_thread = {.number = 1};
static struct CUstream_st *streams = &legacy; /* all of them */
static uint32_t stream_count = 2;
static uint64_t operation_count;

static void init(void) {
    if (!legacy.next) legacy.next = &per_thread;
}

struct CUstream_st *streams_find(cudaStream_t handle) {
    struct CUstream_st *s;
    init();
    if (!handle || handle == cudaStreamLegacy) return &legacy;
    if (handle == cudaStreamPerThread) return &per_thread;
    if (handle == &builder) return &builder;
    for (s = streams; s && s != handle; s = s->next) {}
    return s;
}

struct CUstream_st *streams_builder(cudaGraph_t graph) {
    builder.capture = graph;
    return &builder;
}

void streams_end_capture(cudaGraph_t graph) {
    struct CUstream_st *s;
    for (s = streams; s; s = s->next)
        if (s->capture == graph) {
            s->capture = NULL;
            s->capture_number = 0;
        }
}

/* The stream that began a capture, or one that joined it; NULL: the capture has ended. */
static const struct CUstream_st *capturing(uint64_t capture_number) {
    const struct CUstream_st *s;
    for (s = streams; s && s->capture_number != capture_number; s = s->next) {}
    return s;
}

int streams_is_legacy(const struct CUstream_st *stream) { return stream == &legacy; }
int streams_is_empty(const struct CUstream_st *stream) { return !stream->first; }

/* ==== events ==== */

static void drop_event(cudaEvent_t e) {
    if (e && --e->references == 0) free(e);
}

API cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned int flags) {
    ENTER();
    if (!event || !(*event = (cudaEvent_t)calloc(1, sizeof **event))) return runtime_leave(cudaErrorInvalidValue);
    (*event)->flags = flags;
    (*event)->references = 1;
    return runtime_leave(cudaSuccess);
}
API cudaError_t cudaEventCreate(cudaEvent_t *event) { return cudaEventCreateWithFlags(event, cudaEventDefault); }
API cudaError_t cudaEventDestroy(cudaEvent_t event) {
    ENTER();
    if (!event) return runtime_leave(cudaErrorInvalidResourceHandle);
    drop_event(event);
    return runtime_leave(cudaSuccess);
}

/* ==== operations ==== */

void operation_free(operation *o) {
    if (!o) return;
    drop_event(o->event);
    free(o->bytes);
    free(o);
}

operation *operation_new(operation_kind kind) {
    operation *o = (operation *)calloc(1, sizeof *o);
    if (o) o->kind = kind;
    return o;
}

operation *operation_copy(const operation *from) {
    operation *o = (operation *)malloc(sizeof *o);
    if (!o) return NULL;
    *o = *from;
    o->next = NULL;
    if (!from->bytes) return o;
    if (!(o->bytes = (uint8_t *)malloc(from->byte_count + 8u))) {
        free(o);
        return NULL;
    }
    memcpy(o->bytes, from->bytes, from->byte_count);
    return o;
}

static void append(operation **first, operation **last, operation *o) {
    o->next = NULL;
    if (*last)
        (*last)->next = o;
    else
        *first = o;
    *last = o;
}

static uint64_t cycles_of_ns(uint64_t ns) { return gpump_gpu_cycles_from_ns(&device_config(cudart.device)->gpu, ns); }

/* Puts an operation into a stream, or into the graph that the stream captures. */
cudaError_t streams_put(struct CUstream_st *s, operation *o) {
    if (s->capture) return graphs_capture(s->capture, o);
    if (o->kind == OPERATION_KERNEL) cudart.host_cycle += cycles_of_ns(cudart.configuration.launch_ns);
    o->host_cycle = cudart.host_cycle;
    o->sequence = operation_count++;
    append(&s->first, &s->last, o);
    return cudaSuccess;
}

/* Priorities are -5 to 0, and the lowest number goes first. */
static int valid_priority(int priority) { return priority < -5 ? -5 : priority > 0 ? 0 : priority; }

cudaError_t streams_launch(struct CUstream_st *s, const device_launch *launch, uint32_t parameter_bytes,
                           const int *priority) {
    operation *o = operation_new(OPERATION_KERNEL);
    if (!o || !(o->bytes = (uint8_t *)malloc(parameter_bytes + 8u))) {
        operation_free(o);
        return cudaErrorMemoryAllocation;
    }
    if (parameter_bytes) memcpy(o->bytes, launch->parameters, parameter_bytes);
    o->byte_count = parameter_bytes;
    o->launch = *launch;
    if (priority) {
        o->has_priority = 1;
        o->priority = valid_priority(*priority);
    }
    return streams_put(s, o);
}

/* Bytes of pageable memory are read now, into rows without gaps. */
static int take_bytes(operation *o) {
    memory_rows r = o->rows;
    if (!(o->bytes = (uint8_t *)malloc(r.width * r.height * r.depth))) return -1;
    r.to = o->bytes;
    r.to_pitch = r.width;
    r.to_slice = r.width * r.height;
    memory_move(&r);
    o->rows.from = o->bytes;
    o->rows.from_pitch = r.to_pitch;
    o->rows.from_slice = r.to_slice;
    return 0;
}

cudaError_t streams_move(struct CUstream_st *s, const memory_rows *rows) {
    operation *o = operation_new(OPERATION_MOVE);
    if (!o) return cudaErrorMemoryAllocation;
    o->rows = *rows;
    if (rows->from_pageable && !s->capture && take_bytes(o)) {
        operation_free(o);
        return cudaErrorMemoryAllocation;
    }
    streams_put(s, o);
    return rows->to_pageable && !s->capture ? streams_run() : cudaSuccess;
}

/* ==== execution ==== */

/* The cycle at which an operation may begin. The legacy stream waits for all blocking streams, and these wait for the
 * legacy stream. */
static uint64_t begins(const struct CUstream_st *s, const operation *o) {
    const struct CUstream_st *other;
    uint64_t cycle = s->cycle > o->host_cycle ? s->cycle : o->host_cycle;
    if (s->flags & cudaStreamNonBlocking) return cycle;
    for (other = streams; other; other = other->next)
        if (!(other->flags & cudaStreamNonBlocking) && (s == &legacy || other == &legacy) && other->cycle > cycle)
            cycle = other->cycle;
    return cycle;
}

static int is_ready(const struct CUstream_st *s, const operation *o) {
    const struct CUstream_st *other;
    if (o->kind == OPERATION_WAIT && o->event->done < o->ticket) return 0;
    if (s->flags & cudaStreamNonBlocking) return 1;
    for (other = streams; other; other = other->next)
        if (other != s && !(other->flags & cudaStreamNonBlocking) && (s == &legacy || other == &legacy) &&
            other->first && other->first->sequence < o->sequence)
            return 0;
    return 1;
}

static uint64_t move_cycles(const memory_rows *r) {
    const uint64_t bytes = (uint64_t)r->width * r->height * r->depth;
    const uint64_t mb_per_s =
        r->crosses ? cudart.configuration.copy_mb_per_s : device_config(cudart.device)->gpu.memory_mb_per_s;
    return cycles_of_ns(bytes * 1000 / (mb_per_s ? mb_per_s : 1));
}

/* Executes an operation that is no kernel. */
static void perform(struct CUstream_st *s, operation *o) {
    s->cycle = begins(s, o);
    switch (o->kind) {
    case OPERATION_MOVE:
        memory_move(&o->rows);
        s->cycle += move_cycles(&o->rows);
        break;
    case OPERATION_HOST:
        if (o->function)
            o->function(o->user);
        else
            o->callback(s == &legacy ? NULL : s, cudaSuccess, o->user);
        break;
    case OPERATION_RECORD:
        o->event->cycle = s->cycle;
        o->event->done = o->ticket;
        break;
    case OPERATION_WAIT:
        if (o->event->cycle > s->cycle) s->cycle = o->event->cycle;
        break;
    case OPERATION_KERNEL:
    case OPERATION_NOTHING: break;
    }
}

static operation *take_first(struct CUstream_st *s) {
    operation *o = s->first;
    s->first = o->next;
    if (!s->first) s->last = NULL;
    return o;
}

/* Executes all operations before the next kernels. Returns 1 when there was one. */
static int perform_ready(void) {
    struct CUstream_st *s;
    int any = 0, some = 1;
    while (some) {
        some = 0;
        for (s = streams; s; s = s->next)
            while (s->first && s->first->kind != OPERATION_KERNEL && is_ready(s, s->first)) {
                operation *o = s->first;
                perform(s, o);
                operation_free(take_first(s));
                some = any = 1;
            }
    }
    return any;
}

/* Starts the kernels that stand first in their streams. Those of the legacy stream and those of blocking streams do not
 * run beside each other. */
static cudaError_t start_ready(char error[LAUNCH_ERROR_BYTES]) {
    struct CUstream_st *s;
    const uint32_t most =
        cudart.configuration.record ? 1 : device_started_most(cudart.device); /* a record has one kernel */
    int started[2] = {0, 0}; /* by blocking streams, by the legacy stream */
    for (s = streams; s; s = s->next) {
        const int is_legacy = s == &legacy, blocks = !(s->flags & cudaStreamNonBlocking);
        while (s->first && s->first->kind == OPERATION_KERNEL && is_ready(s, s->first) &&
               !(blocks && started[!is_legacy]) && device_started(cudart.device) < most) {
            operation *o = s->first;
            int failed;
            o->launch.parameters = o->bytes;
            o->launch.stream = s->number;
            o->launch.priority = (uint32_t) - (o->has_priority ? o->priority : s->priority);
            o->launch.ready_cycle = begins(s, o);
            o->launch.end_cycle = &s->cycle;
            failed = device_start(cudart.device, &o->launch, error);
            operation_free(take_first(s));
            if (failed) return cudaErrorLaunchFailure;
            if (blocks) started[is_legacy] = 1;
        }
    }
    return cudaSuccess;
}

static void drop_all(void) {
    struct CUstream_st *s;
    for (s = streams; s; s = s->next)
        while (s->first) operation_free(take_first(s));
}

/* The host has waited for everything. */
static void host_catches_up(void) {
    const struct CUstream_st *s;
    for (s = streams; s; s = s->next)
        if (s->cycle > cudart.host_cycle) cudart.host_cycle = s->cycle;
}

/* Runs the kernels that have started. Returns 0, or -1 with an error of CUDA or of the device. */
static int run_device(cudaError_t *failed, char error[LAUNCH_ERROR_BYTES]) {
    if (!device_started(cudart.device)) return 0;
    if ((*failed = modules_copy_managed(1))) return -1;
    if (device_run(cudart.device, error)) return -1;
    return (*failed = modules_copy_managed(0)) ? -1 : 0;
}

cudaError_t streams_run(void) {
    char error[LAUNCH_ERROR_BYTES] = "";
    if (cudart.sticky) return cudart.sticky;
    init();
    for (;;) {
        const int any = perform_ready();
        cudaError_t failed = cudaSuccess;
        if (start_ready(error) || run_device(&failed, error)) {
            drop_all();
            return failed ? failed : runtime_device_failed(error);
        }
        if (!any) {
            const struct CUstream_st *s;
            for (s = streams; s && !s->first; s = s->next) {}
            if (!s) break;
        }
    }
    host_catches_up();
    return cudaSuccess;
}

/* ==== calls about streams ==== */

API cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned int flags, int priority) {
    struct CUstream_st *s;
    ENTER();
    init();
    if (!stream || !(s = (struct CUstream_st *)calloc(1, sizeof *s))) return runtime_leave(cudaErrorInvalidValue);
    s->number = stream_count++;
    s->flags = flags;
    s->priority = valid_priority(priority);
    s->next = legacy.next;
    legacy.next = s;
    *stream = s;
    return runtime_leave(cudaSuccess);
}
API cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned int flags) {
    return cudaStreamCreateWithPriority(stream, flags, 0);
}
API cudaError_t cudaStreamCreate(cudaStream_t *stream) { return cudaStreamCreateWithFlags(stream, cudaStreamDefault); }

API cudaError_t cudaStreamDestroy(cudaStream_t handle) {
    struct CUstream_st *s, **link;
    cudaError_t error;
    ENTER();
    s = streams_find(handle);
    if (!s || s == &legacy || s == &per_thread) return runtime_leave(cudaErrorInvalidResourceHandle);
    error = s->first ? streams_run() : cudaSuccess; /* its work is done all the same */
    for (link = &streams; *link != s; link = &(*link)->next) {}
    *link = s->next;
    free(s);
    return runtime_leave(error);
}

API cudaError_t cudaStreamGetPriority(cudaStream_t handle, int *priority) {
    const struct CUstream_st *s;
    ENTER();
    s = streams_find(handle);
    if (!s || !priority) return runtime_leave(cudaErrorInvalidResourceHandle);
    *priority = s->priority;
    return runtime_leave(cudaSuccess);
}
API cudaError_t cudaStreamGetFlags(cudaStream_t handle, unsigned int *flags) {
    const struct CUstream_st *s;
    ENTER();
    s = streams_find(handle);
    if (!s || !flags) return runtime_leave(cudaErrorInvalidResourceHandle);
    *flags = s->flags;
    return runtime_leave(cudaSuccess);
}
API cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest) {
    if (least) *least = 0;
    if (greatest) *greatest = -5;
    return cudaSuccess;
}

API cudaError_t cudaDeviceSynchronize(void) {
    ENTER();
    return runtime_leave(streams_run());
}
API cudaError_t cudaThreadSynchronize(void) { return cudaDeviceSynchronize(); }
API cudaError_t cudaStreamSynchronize(cudaStream_t handle) {
    struct CUstream_st *s;
    ENTER();
    s = streams_find(handle);
    if (!s) return runtime_leave(cudaErrorInvalidResourceHandle);
    if (s->capture) return runtime_leave(cudaErrorStreamCaptureUnsupported);
    return runtime_leave(s->first ? streams_run() : cudaSuccess);
}
/* A program that asks again and again finds its work done: simulated time goes on only while the host waits. */
API cudaError_t cudaStreamQuery(cudaStream_t handle) { return cudaStreamSynchronize(handle); }

/* The stream captures into the graph of the event. The graph's nodes are in one order, so none waits for the event. */
static cudaError_t join_capture(struct CUstream_st *s, const struct CUevent_st *event) {
    const struct CUstream_st *other = capturing(event->capture);
    if (!other) return cudaErrorCapturedEvent;
    if (s->capture && s->capture != other->capture) return cudaErrorStreamCaptureMerge;
    s->capture = other->capture;
    s->capture_number = event->capture;
    return cudaSuccess;
}

API cudaError_t cudaStreamWaitEvent(cudaStream_t handle, cudaEvent_t event, unsigned int flags) {
    struct CUstream_st *s;
    operation *o;
    (void)flags;
    ENTER();
    s = streams_find(handle);
    if (!s || !event) return runtime_leave(cudaErrorInvalidResourceHandle);
    if (event->capture) return runtime_leave(join_capture(s, event));
    if (s->capture) /* an event of no capture; one that was never recorded is nothing to wait for */
        return runtime_leave(event->issued ? cudaErrorStreamCaptureIsolation : cudaSuccess);
    if (!(o = operation_new(OPERATION_WAIT))) return runtime_leave(cudaErrorMemoryAllocation);
    o->event = event;
    o->ticket = event->issued;
    event->references++;
    return runtime_leave(streams_put(s, o));
}

API cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t handle) {
    struct CUstream_st *s;
    operation *o;
    ENTER();
    s = streams_find(handle);
    if (!s || !event) return runtime_leave(cudaErrorInvalidResourceHandle);
    event->capture = s->capture_number;
    if (s->capture) return runtime_leave(cudaSuccess);
    if (!(o = operation_new(OPERATION_RECORD))) return runtime_leave(cudaErrorMemoryAllocation);
    o->event = event;
    o->ticket = ++event->issued;
    event->references++;
    return runtime_leave(streams_put(s, o));
}
API cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned int flags) {
    (void)flags;
    return cudaEventRecord(event, stream);
}
API cudaError_t cudaEventSynchronize(cudaEvent_t event) {
    ENTER();
    if (!event) return runtime_leave(cudaErrorInvalidResourceHandle);
    if (event->capture) return runtime_leave(cudaErrorCapturedEvent);
    return runtime_leave(event->done < event->issued ? streams_run() : cudaSuccess);
}
API cudaError_t cudaEventQuery(cudaEvent_t event) { return cudaEventSynchronize(event); }
API cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t from, cudaEvent_t to) {
    double cycles;
    ENTER();
    if (!milliseconds || !from || !to || !from->issued || !to->issued ||
        (from->flags | to->flags) & cudaEventDisableTiming)
        return runtime_leave(cudaErrorInvalidResourceHandle);
    if (from->done < from->issued || to->done < to->issued) return runtime_leave(cudaErrorNotReady);
    cycles = to->cycle >= from->cycle ? (double)(to->cycle - from->cycle) : -(double)(from->cycle - to->cycle);
    *milliseconds = (float)(cycles / (double)device_config(cudart.device)->gpu.clock_khz);
    return runtime_leave(cudaSuccess);
}
API cudaError_t cudaEventElapsedTime_v2(float *milliseconds, cudaEvent_t from, cudaEvent_t to) {
    return cudaEventElapsedTime(milliseconds, from, to);
}

static cudaError_t call_host(cudaStream_t handle, cudaHostFn_t function, cudaStreamCallback_t callback, void *user) {
    struct CUstream_st *s = streams_find(handle);
    operation *o;
    if (!s) return cudaErrorInvalidResourceHandle;
    if (!function && !callback) return cudaErrorInvalidValue;
    if (!(o = operation_new(OPERATION_HOST))) return cudaErrorMemoryAllocation;
    o->function = function;
    o->callback = callback;
    o->user = user;
    streams_put(s, o);
    /* The program may wait for what the function does without asking CUDA, so it is called now. */
    return s->capture ? cudaSuccess : streams_run();
}
API cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void *user) {
    ENTER();
    return runtime_leave(call_host(stream, function, NULL, user));
}
API cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void *user,
                                      unsigned int flags) {
    (void)flags;
    ENTER();
    return runtime_leave(call_host(stream, NULL, callback, user));
}
