/* memory: allocations, copies, memsets and symbols (runtime.h). Host memory that the device may access is device memory
 * too: both have the same addresses (device_is_at_host_addresses). */
#define _GNU_SOURCE
#include "runtime.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PITCH_BYTES 512u

/* ---- kinds of allocations ---- */

static const char *const kind_names[] = {"host memory", "cudaMallocHost", "cudaMalloc", "cudaMallocManaged"};

/* Kinds of allocations, by start; few programs have more than a hundred. */
static struct {
    uint64_t start;
    uint64_t bytes;
    cudaMemoryType type;
    uint32_t of_graph;  /* 1: it belongs to an allocation node */
    cudaMemPool_t pool; /* NULL: to none */
} * kinds;
static uint32_t kind_count, kind_capacity;

/* Host memory that the program has registered, so that kernels may access it. */
static struct { uint64_t start, bytes; } * registered;
static uint32_t registered_count;

static int is_registered(uint64_t address) {
    uint32_t i;
    for (i = 0; i < registered_count; i++)
        if (address - registered[i].start < registered[i].bytes) return 1;
    return 0;
}

static cudaMemoryType type_of(uint64_t address) {
    uint64_t start;
    uint32_t i;
    if (!device_find(cudart.device, address, &start, NULL))
        return is_registered(address) ? cudaMemoryTypeHost : cudaMemoryTypeUnregistered;
    for (i = 0; i < kind_count; i++)
        if (kinds[i].start == start) return kinds[i].type;
    return cudaMemoryTypeDevice; /* a variable */
}

/* ---- memory pools: they count what comes from them; freed memory returns to the device at once ---- */

struct CUmemPoolHandle_st {
    uint64_t threshold, used, most; /* bytes */
    int reuse[3];                   /* kept for the program's questions */
};
static struct CUmemPoolHandle_st default_pool = {0, 0, 0, {1, 1, 1}};
static cudaMemPool_t current_pool = &default_pool;

static void pool_frees(cudaMemPool_t pool, uint64_t bytes) { pool->used -= bytes; }

/* Device memory is given in multiples of a granule, whose end kernels may read and write. */
static size_t granules(size_t bytes, cudaMemoryType type) {
    const size_t granule = type == cudaMemoryTypeHost ? 1 : cudart.configuration.granule_bytes;
    return bytes > SIZE_MAX - granule ? bytes : (bytes + granule - 1) / granule * granule;
}

static cudaError_t allocate(void **pointer, size_t bytes, cudaMemoryType type, cudaMemPool_t pool) {
    uint64_t address;
    if (!pointer) return cudaErrorInvalidValue;
    *pointer = NULL;
    if (!bytes) return cudaSuccess;
    if (kind_count == kind_capacity) {
        void *grown = realloc(kinds, (kind_capacity * 2u + 64u) * sizeof *kinds);
        if (!grown) return cudaErrorMemoryAllocation;
        kinds = (__typeof__(kinds))grown;
        kind_capacity = kind_capacity * 2 + 64;
    }
    if (!(address = device_allocate(cudart.device, granules(bytes, type), kind_names[type])))
        return cudaErrorMemoryAllocation;
    memset(&kinds[kind_count], 0, sizeof *kinds);
    kinds[kind_count].start = address;
    kinds[kind_count].bytes = bytes;
    kinds[kind_count].type = type;
    kinds[kind_count++].pool = pool;
    *pointer = pointer_of(address);
    return cudaSuccess;
}

static cudaError_t release(void *pointer, int host) {
    const uint64_t address = address_of(pointer);
    cudaError_t error;
    uint32_t i;
    if (!pointer) return cudaSuccess;
    if ((error = streams_run())) return error; /* as CUDA does, and what waits may use it */
    for (i = 0; i < kind_count && kinds[i].start != address; i++) {}
    if (i < kind_count && kinds[i].of_graph && !host) return cudaSuccess;
    if (i == kind_count || (kinds[i].type == cudaMemoryTypeHost) != host || device_release(cudart.device, address))
        return cudaErrorInvalidValue;
    if (kinds[i].pool) pool_frees(kinds[i].pool, kinds[i].bytes);
    kinds[i] = kinds[--kind_count];
    return cudaSuccess;
}

API cudaError_t cudaMalloc(void **pointer, size_t bytes) {
    ENTER();
    return runtime_leave(allocate(pointer, bytes, cudaMemoryTypeDevice, NULL));
}
API cudaError_t cudaMallocHost(void **pointer, size_t bytes) {
    ENTER();
    return runtime_leave(allocate(pointer, bytes, cudaMemoryTypeHost, NULL));
}
API cudaError_t cudaHostAlloc(void **pointer, size_t bytes, unsigned int flags) {
    (void)flags;
    return cudaMallocHost(pointer, bytes);
}
API cudaError_t cudaMallocManaged(void **pointer, size_t bytes, unsigned int flags) {
    ENTER();
    (void)flags;
    if (!device_is_at_host_addresses(cudart.device)) {
        runtime_say("managed memory needs the device's addresses, which this system gives to something else");
        return runtime_leave(cudaErrorNotSupported);
    }
    return runtime_leave(allocate(pointer, bytes, cudaMemoryTypeManaged, NULL));
}

/* ---- memory pools ---- */

static void pool_allocates(cudaMemPool_t pool, uint64_t bytes) {
    pool->used += bytes;
    if (pool->used > pool->most) pool->most = pool->used;
}

API cudaError_t cudaMallocFromPoolAsync(void **pointer, size_t bytes, cudaMemPool_t pool, cudaStream_t stream) {
    const struct CUstream_st *s;
    cudaError_t error;
    ENTER();
    s = streams_find(stream);
    if (!s || !pool) return runtime_leave(s ? cudaErrorInvalidValue : cudaErrorInvalidResourceHandle);
    if (s->capture) return runtime_leave(memory_of_graph(pointer, bytes));
    error = allocate(pointer, bytes, cudaMemoryTypeDevice, pool);
    if (!error) pool_allocates(pool, bytes);
    return runtime_leave(error);
}
API cudaError_t cudaMallocAsync(void **pointer, size_t bytes, cudaStream_t stream) {
    return cudaMallocFromPoolAsync(pointer, bytes, current_pool, stream);
}
API cudaError_t cudaMemPoolCreate(cudaMemPool_t *pool, const cudaMemPoolProps *properties) {
    ENTER();
    if (!pool || !properties || properties->allocType != cudaMemAllocationTypePinned ||
        properties->location.type != cudaMemLocationTypeDevice || properties->location.id)
        return runtime_leave(cudaErrorInvalidValue);
    if (properties->handleTypes) return runtime_leave(cudaErrorNotSupported);
    if (!(*pool = (cudaMemPool_t)malloc(sizeof **pool))) return runtime_leave(cudaErrorMemoryAllocation);
    memset(*pool, 0, sizeof **pool);
    (*pool)->reuse[0] = (*pool)->reuse[1] = (*pool)->reuse[2] = 1;
    return runtime_leave(cudaSuccess);
}
API cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
    uint32_t i;
    ENTER();
    if (!pool || pool == &default_pool) return runtime_leave(cudaErrorInvalidValue);
    for (i = 0; i < kind_count; i++) /* what came from it stays until it is freed */
        if (kinds[i].pool == pool) kinds[i].pool = NULL;
    if (current_pool == pool) current_pool = &default_pool;
    free(pool);
    return runtime_leave(cudaSuccess);
}
API cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int device) {
    ENTER();
    if (!pool || device) return runtime_leave(pool ? cudaErrorInvalidDevice : cudaErrorInvalidValue);
    *pool = &default_pool;
    return runtime_leave(cudaSuccess);
}
API cudaError_t cudaDeviceGetMemPool(cudaMemPool_t *pool, int device) {
    const cudaError_t error = cudaDeviceGetDefaultMemPool(pool, device);
    if (!error) *pool = current_pool;
    return error;
}
API cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool) {
    ENTER();
    if (!pool || device) return runtime_leave(pool ? cudaErrorInvalidDevice : cudaErrorInvalidValue);
    current_pool = pool;
    return runtime_leave(cudaSuccess);
}
API cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void *value) {
    ENTER();
    if (!pool || !value) return runtime_leave(cudaErrorInvalidValue);
    switch (attribute) {
    case cudaMemPoolReuseFollowEventDependencies:
    case cudaMemPoolReuseAllowOpportunistic:
    case cudaMemPoolReuseAllowInternalDependencies: pool->reuse[attribute - 1] = *(int *)value; break;
    case cudaMemPoolAttrReleaseThreshold: pool->threshold = *(uint64_t *)value; break;
    case cudaMemPoolAttrReservedMemHigh:
    case cudaMemPoolAttrUsedMemHigh:
        if (*(uint64_t *)value) return runtime_leave(cudaErrorInvalidValue);
        pool->most = pool->used;
        break;
    default: return runtime_leave(cudaErrorInvalidValue);
    }
    return runtime_leave(cudaSuccess);
}
API cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void *value) {
    ENTER();
    if (!pool || !value) return runtime_leave(cudaErrorInvalidValue);
    switch (attribute) {
    case cudaMemPoolReuseFollowEventDependencies:
    case cudaMemPoolReuseAllowOpportunistic:
    case cudaMemPoolReuseAllowInternalDependencies: *(int *)value = pool->reuse[attribute - 1]; break;
    case cudaMemPoolAttrReleaseThreshold: *(uint64_t *)value = pool->threshold; break;
    case cudaMemPoolAttrReservedMemCurrent:
    case cudaMemPoolAttrUsedMemCurrent: *(uint64_t *)value = pool->used; break;
    case cudaMemPoolAttrReservedMemHigh:
    case cudaMemPoolAttrUsedMemHigh: *(uint64_t *)value = pool->most; break;
    default: return runtime_leave(cudaErrorInvalidValue);
    }
    return runtime_leave(cudaSuccess);
}
API cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t bytes) {
    (void)bytes; /* nothing is kept */
    return pool ? cudaSuccess : cudaErrorInvalidValue;
}
API cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc *access, size_t count) {
    size_t i;
    if (!pool || !access) return cudaErrorInvalidValue;
    for (i = 0; i < count; i++)
        if (access[i].location.type != cudaMemLocationTypeDevice || access[i].location.id)
            return cudaErrorInvalidDevice;
    return cudaSuccess;
}
API cudaError_t cudaMemPoolGetAccess(cudaMemAccessFlags *flags, cudaMemPool_t pool, cudaMemLocation *location) {
    if (!flags || !pool || !location) return cudaErrorInvalidValue;
    *flags = cudaMemAccessFlagsProtReadWrite;
    return cudaSuccess;
}

/* ---- memory of graphs ---- */

cudaError_t memory_of_graph(void **pointer, size_t bytes) {
    cudaError_t error;
    ENTER();
    error = bytes ? allocate(pointer, bytes, cudaMemoryTypeDevice, NULL) : cudaErrorInvalidValue;
    if (!error) kinds[kind_count - 1].of_graph = 1;
    return runtime_leave(error);
}

/* All graph memory is in use and reserved at once. */
API cudaError_t cudaDeviceGetGraphMemAttribute(int device, cudaGraphMemAttributeType attribute, void *value) {
    uint64_t bytes = 0;
    uint32_t i;
    ENTER();
    if (device || !value || attribute > cudaGraphMemAttrReservedMemHigh)
        return runtime_leave(device ? cudaErrorInvalidDevice : cudaErrorInvalidValue);
    for (i = 0; i < kind_count; i++) bytes += kinds[i].of_graph ? kinds[i].bytes : 0;
    *(uint64_t *)value = bytes;
    return runtime_leave(cudaSuccess);
}
API cudaError_t cudaDeviceGraphMemTrim(int device) { return device ? cudaErrorInvalidDevice : cudaSuccess; }

int memory_is_of_graph(const void *pointer) {
    uint32_t i;
    for (i = 0; i < kind_count; i++)
        if (kinds[i].start == address_of(pointer)) return (int)kinds[i].of_graph;
    return 0;
}

static size_t pitch_of(size_t width) { return (width + PITCH_BYTES - 1) / PITCH_BYTES * PITCH_BYTES; }

API cudaError_t cudaMallocPitch(void **pointer, size_t *pitch, size_t width, size_t height) {
    if (!pitch) return cudaErrorInvalidValue;
    *pitch = pitch_of(width);
    return cudaMalloc(pointer, *pitch * height);
}
API cudaError_t cudaMalloc3D(cudaPitchedPtr *pointer, cudaExtent extent) {
    if (!pointer) return cudaErrorInvalidValue;
    pointer->pitch = pitch_of(extent.width);
    pointer->xsize = extent.width;
    pointer->ysize = extent.height;
    return cudaMalloc(&pointer->ptr, pointer->pitch * extent.height * (extent.depth ? extent.depth : 1));
}
API cudaError_t cudaFree(void *pointer) {
    ENTER();
    return runtime_leave(release(pointer, 0));
}
API cudaError_t cudaFreeAsync(void *pointer, cudaStream_t stream) {
    const struct CUstream_st *s;
    ENTER();
    s = streams_find(stream);
    if (!s) return runtime_leave(cudaErrorInvalidResourceHandle);
    return runtime_leave(s->capture ? cudaSuccess
                                    : release(pointer, 0)); /* a graph's memory stays for its next launch */
}
API cudaError_t cudaFreeHost(void *pointer) {
    ENTER();
    return runtime_leave(release(pointer, 1));
}
API cudaError_t cudaHostRegister(void *pointer, size_t bytes, unsigned int flags) {
    void *grown;
    (void)flags;
    ENTER();
    if (!pointer || !bytes) return runtime_leave(cudaErrorInvalidValue);
    if (is_registered(address_of(pointer))) return runtime_leave(cudaErrorHostMemoryAlreadyRegistered);
    if (device_open_host_memory(cudart.device)) {
        runtime_say("cudaHostRegister needs the device's addresses, which this system gives to something else");
        return runtime_leave(cudaErrorNotSupported);
    }
    grown = realloc(registered, (registered_count + 1u) * sizeof *registered);
    if (!grown) return runtime_leave(cudaErrorMemoryAllocation);
    registered = (__typeof__(registered))grown;
    registered[registered_count].start = address_of(pointer);
    registered[registered_count++].bytes = bytes;
    return runtime_leave(cudaSuccess);
}
API cudaError_t cudaHostUnregister(void *pointer) {
    cudaError_t error;
    uint32_t i;
    ENTER();
    error = streams_run();
    for (i = 0; i < registered_count && registered[i].start != address_of(pointer); i++) {}
    if (i == registered_count) return runtime_leave(error ? error : cudaErrorHostMemoryNotRegistered);
    registered[i] = registered[--registered_count];
    return runtime_leave(error);
}
API cudaError_t cudaHostGetDevicePointer(void **to, void *host, unsigned int flags) {
    ENTER();
    (void)flags;
    if (!to || type_of(address_of(host)) != cudaMemoryTypeHost) return runtime_leave(cudaErrorInvalidValue);
    *to = host;
    return runtime_leave(cudaSuccess);
}
API cudaError_t cudaHostGetFlags(unsigned int *flags, void *host) {
    ENTER();
    if (!flags || type_of(address_of(host)) != cudaMemoryTypeHost) return runtime_leave(cudaErrorInvalidValue);
    *flags = cudaHostAllocMapped;
    return runtime_leave(cudaSuccess);
}
API cudaError_t cudaMemGetInfo(size_t *unused, size_t *total) {
    uint64_t all, used;
    ENTER();
    device_memory_use(cudart.device, &all, &used);
    if (unused) *unused = all - used;
    if (total) *total = all;
    return runtime_leave(cudaSuccess);
}
API cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *attributes, const void *pointer) {
    ENTER();
    if (!attributes) return runtime_leave(cudaErrorInvalidValue);
    memset(attributes, 0, sizeof *attributes);
    attributes->type = type_of(address_of(pointer));
    if (attributes->type != cudaMemoryTypeUnregistered) attributes->devicePointer = pointer_of(address_of(pointer));
    if (attributes->type != cudaMemoryTypeDevice) attributes->hostPointer = pointer_of(address_of(pointer));
    return runtime_leave(cudaSuccess);
}
/* Pages do not move, so nothing looks at the place and the stream. CUDA 13 passes the place of _v2 to all of these. */
API cudaError_t cudaMemPrefetchAsync(const void *pointer, size_t bytes, int to, cudaStream_t stream) {
    ENTER();
    (void)to, (void)stream;
    return runtime_leave(device_bytes(cudart.device, address_of(pointer), bytes) ? cudaSuccess : cudaErrorInvalidValue);
}
API cudaError_t cudaMemAdvise(const void *pointer, size_t bytes, cudaMemoryAdvise advice, int to) {
    (void)advice;
    return cudaMemPrefetchAsync(pointer, bytes, to, 0);
}
API cudaError_t cudaMemPrefetchAsync_v2(const void *pointer, size_t bytes, cudaMemLocation to, unsigned int flags,
                                        cudaStream_t stream) {
    (void)flags;
    return cudaMemPrefetchAsync(pointer, bytes, to.id, stream);
}
API cudaError_t cudaMemAdvise_v2(const void *pointer, size_t bytes, cudaMemoryAdvise advice, cudaMemLocation at) {
    return cudaMemAdvise(pointer, bytes, advice, at.id);
}
API cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void *pointer, size_t bytes, unsigned int flags) {
    ENTER();
    (void)stream, (void)pointer, (void)bytes, (void)flags;
    return runtime_leave(cudaSuccess);
}

/* ---- copies ---- */

void memory_move(const memory_rows *r) {
    size_t y, z;
    for (z = 0; z < r->depth; z++)
        for (y = 0; y < r->height; y++) {
            uint8_t *to = r->to + z * r->to_slice + y * r->to_pitch;
            size_t x;
            if (r->from)
                memmove(to, r->from + z * r->from_slice + y * r->from_pitch, r->width);
            else if (r->value_bytes < 2)
                memset(to, (int)r->value, r->width);
            else
                for (x = 0; x + r->value_bytes <= r->width; x += r->value_bytes)
                    memcpy(to + x, &r->value, r->value_bytes); /* the low bytes */
        }
}

/* Checks one side of a copy: device memory must be one allocation, host memory is the program's business. Returns the
 * host's view of it, NULL when it is wrong. */
static uint8_t *side(const void *pointer, size_t pitch, size_t slice, const memory_rows *r, int device_wanted,
                     int host_wanted, int *is_device) {
    const size_t bytes = (r->depth - 1) * slice + (r->height - 1) * pitch + r->width;
    const cudaMemoryType type = type_of(address_of(pointer));
    *is_device = type == cudaMemoryTypeDevice || (type != cudaMemoryTypeUnregistered && device_wanted);
    if (type == cudaMemoryTypeUnregistered) return device_wanted ? NULL : (uint8_t *)(uintptr_t)pointer;
    if (type == cudaMemoryTypeDevice && host_wanted) return NULL;
    if (is_registered(address_of(pointer))) return (uint8_t *)(uintptr_t)pointer;
    return device_bytes(cudart.device, address_of(pointer), bytes);
}

static cudaError_t copy(memory_rows *r, const void *to, const void *from, cudaMemcpyKind kind, cudaStream_t handle,
                        int waits) {
    struct CUstream_st *stream = streams_find(handle);
    int to_device, from_device;
    cudaError_t error;
    if (!stream) return cudaErrorInvalidResourceHandle;
    if (!r->width || !r->height || !r->depth) return cudaSuccess;
    if (kind > cudaMemcpyDefault) return cudaErrorInvalidMemcpyDirection;
    if (!to || !from) return cudaErrorInvalidValue;
    if (r->height > 1 && (r->to_pitch < r->width || r->from_pitch < r->width)) return cudaErrorInvalidPitchValue;
    r->to = side(to, r->to_pitch, r->to_slice, r, kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice,
                 kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyHostToHost, &to_device);
    r->from =
        side(from, r->from_pitch, r->from_slice, r, kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice,
             kind == cudaMemcpyHostToDevice || kind == cudaMemcpyHostToHost, &from_device);
    if (!r->to || !r->from) return cudaErrorInvalidValue;
    r->crosses = (uint32_t)(to_device != from_device);
    r->to_pageable = type_of(address_of(to)) == cudaMemoryTypeUnregistered;
    r->from_pageable = type_of(address_of(from)) == cudaMemoryTypeUnregistered;
    error = streams_move(stream, r);
    return !error && waits ? streams_run() : error;
}

static cudaError_t copy_bytes(const void *to, const void *from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream,
                              int waits) {
    memory_rows r;
    memset(&r, 0, sizeof r);
    r.width = bytes;
    r.height = r.depth = 1;
    return copy(&r, to, from, kind, stream, waits);
}

static cudaError_t copy_rows(const void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                             size_t height, cudaMemcpyKind kind, cudaStream_t stream, int waits) {
    memory_rows r;
    memset(&r, 0, sizeof r);
    r.to_pitch = to_pitch;
    r.from_pitch = from_pitch;
    r.width = width;
    r.height = height;
    r.depth = 1;
    return copy(&r, to, from, kind, stream, waits);
}

API cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind) {
    ENTER();
    return runtime_leave(copy_bytes(to, from, bytes, kind, 0, 1));
}
API cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
    ENTER();
    return runtime_leave(copy_bytes(to, from, bytes, kind, stream, 0));
}
API cudaError_t cudaMemcpyPeer(void *to, int to_device, const void *from, int from_device, size_t bytes) {
    if (to_device || from_device) return cudaErrorInvalidDevice;
    return cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToDevice);
}
API cudaError_t cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device, size_t bytes,
                                    cudaStream_t stream) {
    if (to_device || from_device) return cudaErrorInvalidDevice;
    return cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream);
}
API cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                             size_t height, cudaMemcpyKind kind) {
    ENTER();
    return runtime_leave(copy_rows(to, to_pitch, from, from_pitch, width, height, kind, 0, 1));
}
API cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                                  size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
    ENTER();
    return runtime_leave(copy_rows(to, to_pitch, from, from_pitch, width, height, kind, stream, 0));
}

/* ---- arrays: rows without gaps ---- */

static size_t array_pitch(const struct cudaArray *a) { return a->width * a->texel_bytes; }
static size_t array_slice(const struct cudaArray *a) { return array_pitch(a) * (a->height ? a->height : 1); }
static uint8_t *array_at(const struct cudaArray *a, size_t x_bytes, size_t y, size_t z) {
    return (uint8_t *)pointer_of(a->address) + z * array_slice(a) + y * array_pitch(a) + x_bytes;
}

API cudaError_t cudaMalloc3DArray(cudaArray_t *array, const cudaChannelFormatDesc *desc, cudaExtent extent,
                                  unsigned int flags) {
    struct cudaArray *a;
    void *memory;
    cudaError_t error;
    (void)flags;
    ENTER();
    if (!array || !desc || !extent.width) return runtime_leave(cudaErrorInvalidValue);
    if (!(a = (struct cudaArray *)calloc(1, sizeof *a))) return runtime_leave(cudaErrorMemoryAllocation);
    a->desc = *desc;
    a->width = extent.width;
    a->height = extent.height;
    a->depth = extent.depth;
    a->texel_bytes = (uint32_t)(desc->x + desc->y + desc->z + desc->w) / 8;
    error = a->texel_bytes ? allocate(&memory, array_slice(a) * (a->depth ? a->depth : 1), cudaMemoryTypeDevice, NULL)
                           : cudaErrorInvalidChannelDescriptor;
    if (error) {
        free(a);
        return runtime_leave(error);
    }
    a->address = address_of(memory);
    *array = a;
    return runtime_leave(cudaSuccess);
}
API cudaError_t cudaMallocArray(cudaArray_t *array, const cudaChannelFormatDesc *desc, size_t width, size_t height,
                                unsigned int flags) {
    return cudaMalloc3DArray(array, desc, make_cudaExtent(width, height, 0), flags);
}
API cudaError_t cudaFreeArray(cudaArray_t array) {
    cudaError_t error;
    if (!array) return cudaSuccess;
    error = cudaFree(pointer_of(array->address));
    if (!error) free(array);
    return error;
}
API cudaError_t cudaMemcpyToArray(cudaArray_t to, size_t x, size_t y, const void *from, size_t bytes,
                                  cudaMemcpyKind kind) {
    return to ? cudaMemcpy(array_at(to, x, y, 0), from, bytes, kind) : cudaErrorInvalidResourceHandle;
}
API cudaError_t cudaMemcpyFromArray(void *to, cudaArray_const_t from, size_t x, size_t y, size_t bytes,
                                    cudaMemcpyKind kind) {
    return from ? cudaMemcpy(to, array_at(from, x, y, 0), bytes, kind) : cudaErrorInvalidResourceHandle;
}
API cudaError_t cudaMemcpy2DToArray(cudaArray_t to, size_t x, size_t y, const void *from, size_t pitch, size_t width,
                                    size_t height, cudaMemcpyKind kind) {
    if (!to) return cudaErrorInvalidResourceHandle;
    return cudaMemcpy2D(array_at(to, x, y, 0), array_pitch(to), from, pitch, width, height, kind);
}
API cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t to, size_t x, size_t y, const void *from, size_t pitch,
                                         size_t width, size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
    if (!to) return cudaErrorInvalidResourceHandle;
    return cudaMemcpy2DAsync(array_at(to, x, y, 0), array_pitch(to), from, pitch, width, height, kind, stream);
}
API cudaError_t cudaMemcpy2DFromArray(void *to, size_t pitch, cudaArray_const_t from, size_t x, size_t y, size_t width,
                                      size_t height, cudaMemcpyKind kind) {
    if (!from) return cudaErrorInvalidResourceHandle;
    return cudaMemcpy2D(to, pitch, array_at(from, x, y, 0), array_pitch(from), width, height, kind);
}

/* One side of a three-dimensional copy: an array, whose x counts texels, or pitched memory, whose x counts bytes. */
static const void *side_3d(const struct cudaArray *array, const cudaPos *at, const cudaPitchedPtr *p, size_t *pitch,
                           size_t *slice, uint32_t *texel_bytes) {
    if (array) {
        *pitch = array_pitch(array);
        *slice = array_slice(array);
        *texel_bytes = array->texel_bytes;
        return array_at(array, at->x * array->texel_bytes, at->y, at->z);
    }
    *pitch = p->pitch;
    *slice = p->pitch * p->ysize;
    return p->ptr ? (const uint8_t *)p->ptr + at->z * *slice + at->y * *pitch + at->x : NULL;
}

static cudaError_t copy_3d(const cudaMemcpy3DParms *p, cudaStream_t stream, int waits) {
    memory_rows r;
    const void *to, *from;
    uint32_t texel_bytes = 1;
    memset(&r, 0, sizeof r);
    to = side_3d(p->dstArray, &p->dstPos, &p->dstPtr, &r.to_pitch, &r.to_slice, &texel_bytes);
    from = side_3d(p->srcArray, &p->srcPos, &p->srcPtr, &r.from_pitch, &r.from_slice, &texel_bytes);
    r.width = p->extent.width * texel_bytes; /* an extent counts texels as soon as an array takes part */
    r.height = p->extent.height ? p->extent.height : 1;
    r.depth = p->extent.depth ? p->extent.depth : 1;
    return copy(&r, to, from, p->kind, stream, waits);
}

API cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms *p) {
    ENTER();
    return runtime_leave(p ? copy_3d(p, 0, 1) : cudaErrorInvalidValue);
}
API cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms *p, cudaStream_t stream) {
    ENTER();
    return runtime_leave(p ? copy_3d(p, stream, 0) : cudaErrorInvalidValue);
}

/* ---- memset ---- */

static cudaError_t set(void *to, size_t pitch, size_t slice, uint32_t value, uint32_t value_bytes, size_t width,
                       size_t height, size_t depth, cudaStream_t handle) {
    struct CUstream_st *stream = streams_find(handle);
    memory_rows r;
    if (!stream) return cudaErrorInvalidResourceHandle;
    if (!width || !height || !depth) return cudaSuccess;
    memset(&r, 0, sizeof r);
    r.to_pitch = pitch;
    r.to_slice = slice;
    r.width = width;
    r.height = height;
    r.depth = depth;
    r.value = value;
    r.value_bytes = value_bytes;
    r.to = device_bytes(cudart.device, address_of(to), (depth - 1) * slice + (height - 1) * pitch + width);
    return r.to ? streams_move(stream, &r) : cudaErrorInvalidValue;
}

API cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t stream) {
    ENTER();
    return runtime_leave(set(to, 0, 0, (uint32_t)value, 1, bytes, 1, 1, stream));
}
API cudaError_t cudaMemset(void *to, int value, size_t bytes) { return cudaMemsetAsync(to, value, bytes, 0); }
API cudaError_t cudaMemset2DAsync(void *to, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream) {
    ENTER();
    return runtime_leave(set(to, pitch, 0, (uint32_t)value, 1, width, height, 1, stream));
}
API cudaError_t cudaMemset2D(void *to, size_t pitch, int value, size_t width, size_t height) {
    return cudaMemset2DAsync(to, pitch, value, width, height, 0);
}
API cudaError_t cudaMemset3DAsync(cudaPitchedPtr to, int value, cudaExtent extent, cudaStream_t stream) {
    ENTER();
    return runtime_leave(set(to.ptr, to.pitch, to.pitch * to.ysize, (uint32_t)value, 1, extent.width, extent.height,
                             extent.depth ? extent.depth : 1, stream));
}
API cudaError_t cudaMemset3D(cudaPitchedPtr to, int value, cudaExtent extent) {
    return cudaMemset3DAsync(to, value, extent, 0);
}

cudaError_t runtime_memset(void *to, size_t pitch, uint32_t value, uint32_t element_bytes, size_t elements, size_t rows,
                           cudaStream_t stream) {
    if (element_bytes != 1 && element_bytes != 2 && element_bytes != 4) return cudaErrorInvalidValue;
    return set(to, pitch, 0, value, element_bytes, elements * element_bytes, rows, 1, stream);
}

/* ---- symbols ---- */

API cudaError_t cudaGetSymbolAddress(void **pointer, const void *symbol) {
    uint64_t address = 0, bytes;
    cudaError_t error;
    ENTER();
    error = modules_variable(symbol, &address, &bytes);
    if (!error && pointer) *pointer = pointer_of(address);
    return runtime_leave(error);
}
API cudaError_t cudaGetSymbolSize(size_t *size, const void *symbol) {
    uint64_t address, bytes = 0;
    cudaError_t error;
    ENTER();
    error = modules_variable(symbol, &address, &bytes);
    if (!error && size) *size = bytes;
    return runtime_leave(error);
}

/* to or from NULL: that side is the symbol. */
static cudaError_t copy_symbol(const void *symbol, void *to, const void *from, size_t bytes, size_t offset,
                               cudaMemcpyKind kind, cudaStream_t stream, int waits) {
    uint64_t address, size;
    const cudaError_t error = modules_variable(symbol, &address, &size);
    if (error) return error;
    if (offset > size || bytes > size - offset) return cudaErrorInvalidValue;
    return copy_bytes(to ? to : pointer_of(address + offset), from ? from : pointer_of(address + offset), bytes, kind,
                      stream, waits);
}

API cudaError_t cudaMemcpyToSymbol(const void *symbol, const void *from, size_t bytes, size_t offset,
                                   cudaMemcpyKind kind) {
    ENTER();
    return runtime_leave(copy_symbol(symbol, NULL, from, bytes, offset, kind, 0, 1));
}
API cudaError_t cudaMemcpyToSymbolAsync(const void *symbol, const void *from, size_t bytes, size_t offset,
                                        cudaMemcpyKind kind, cudaStream_t stream) {
    ENTER();
    return runtime_leave(copy_symbol(symbol, NULL, from, bytes, offset, kind, stream, 0));
}
API cudaError_t cudaMemcpyFromSymbol(void *to, const void *symbol, size_t bytes, size_t offset, cudaMemcpyKind kind) {
    ENTER();
    return runtime_leave(copy_symbol(symbol, to, NULL, bytes, offset, kind, 0, 1));
}
API cudaError_t cudaMemcpyFromSymbolAsync(void *to, const void *symbol, size_t bytes, size_t offset,
                                          cudaMemcpyKind kind, cudaStream_t stream) {
    ENTER();
    return runtime_leave(copy_symbol(symbol, to, NULL, bytes, offset, kind, stream, 0));
}
