/* cuda_runtime_templates: the run-time calls with types, for C++. */
#ifndef MINIGPU_CUDA_RUNTIME_TEMPLATES_H
#define MINIGPU_CUDA_RUNTIME_TEMPLATES_H

#include "cuda_runtime_api.h"

#define MINIGPU_CALL static inline __host__ cudaError_t

template <class T> MINIGPU_CALL cudaMalloc(T **pointer, size_t bytes) {
    return ::cudaMalloc((void **)(void *)pointer, bytes);
}
template <class T> MINIGPU_CALL cudaMallocHost(T **pointer, size_t bytes, unsigned int flags = 0) {
    return ::cudaHostAlloc((void **)(void *)pointer, bytes, flags);
}
template <class T> MINIGPU_CALL cudaHostAlloc(T **pointer, size_t bytes, unsigned int flags) {
    return ::cudaHostAlloc((void **)(void *)pointer, bytes, flags);
}
template <class T> MINIGPU_CALL cudaHostGetDevicePointer(T **device, void *host, unsigned int flags) {
    return ::cudaHostGetDevicePointer((void **)(void *)device, host, flags);
}
template <class T> MINIGPU_CALL cudaMallocManaged(T **pointer, size_t bytes, unsigned int flags = cudaMemAttachGlobal) {
    return ::cudaMallocManaged((void **)(void *)pointer, bytes, flags);
}
template <class T> MINIGPU_CALL cudaMallocPitch(T **pointer, size_t *pitch, size_t width, size_t height) {
    return ::cudaMallocPitch((void **)(void *)pointer, pitch, width, height);
}
template <class T> MINIGPU_CALL cudaMallocAsync(T **pointer, size_t bytes, cudaStream_t stream) {
    return ::cudaMallocAsync((void **)(void *)pointer, bytes, stream);
}
template <class T>
MINIGPU_CALL cudaMallocFromPoolAsync(T **pointer, size_t bytes, cudaMemPool_t pool, cudaStream_t stream) {
    return ::cudaMallocFromPoolAsync((void **)(void *)pointer, bytes, pool, stream);
}
template <class T> MINIGPU_CALL cudaMallocAsync(T **pointer, size_t bytes, cudaMemPool_t pool, cudaStream_t stream) {
    return ::cudaMallocFromPoolAsync((void **)(void *)pointer, bytes, pool, stream);
}
template <class T>
MINIGPU_CALL cudaMemcpyToSymbol(const T &symbol, const void *from, size_t bytes, size_t offset = 0,
                                cudaMemcpyKind kind = cudaMemcpyHostToDevice) {
    return ::cudaMemcpyToSymbol((const void *)&symbol, from, bytes, offset, kind);
}
template <class T>
MINIGPU_CALL cudaMemcpyToSymbolAsync(const T &symbol, const void *from, size_t bytes, size_t offset = 0,
                                     cudaMemcpyKind kind = cudaMemcpyHostToDevice, cudaStream_t stream = 0) {
    return ::cudaMemcpyToSymbolAsync((const void *)&symbol, from, bytes, offset, kind, stream);
}
template <class T>
MINIGPU_CALL cudaMemcpyFromSymbol(void *to, const T &symbol, size_t bytes, size_t offset = 0,
                                  cudaMemcpyKind kind = cudaMemcpyDeviceToHost) {
    return ::cudaMemcpyFromSymbol(to, (const void *)&symbol, bytes, offset, kind);
}
template <class T>
MINIGPU_CALL cudaMemcpyFromSymbolAsync(void *to, const T &symbol, size_t bytes, size_t offset = 0,
                                       cudaMemcpyKind kind = cudaMemcpyDeviceToHost, cudaStream_t stream = 0) {
    return ::cudaMemcpyFromSymbolAsync(to, (const void *)&symbol, bytes, offset, kind, stream);
}
template <class T> MINIGPU_CALL cudaGetSymbolAddress(void **pointer, const T &symbol) {
    return ::cudaGetSymbolAddress(pointer, (const void *)&symbol);
}
template <class T> MINIGPU_CALL cudaGetSymbolSize(size_t *bytes, const T &symbol) {
    return ::cudaGetSymbolSize(bytes, (const void *)&symbol);
}
template <class T>
MINIGPU_CALL cudaLaunchKernel(T *function, dim3 grid, dim3 block, void **arguments, size_t shared_bytes = 0,
                              cudaStream_t stream = 0) {
    return ::cudaLaunchKernel((const void *)function, grid, block, arguments, shared_bytes, stream);
}
template <class T>
MINIGPU_CALL cudaLaunchCooperativeKernel(T *function, dim3 grid, dim3 block, void **arguments, size_t shared_bytes = 0,
                                         cudaStream_t stream = 0) {
    return ::cudaLaunchCooperativeKernel((const void *)function, grid, block, arguments, shared_bytes, stream);
}
#if __cplusplus >= 201103L
/* The arguments are converted to the types of the kernel's parameters before their addresses are taken. */
template <class... Parameters>
MINIGPU_CALL minigpu_launch_converted(const cudaLaunchConfig_t *config, const void *function, Parameters... values) {
    void *addresses[sizeof...(Parameters) + 1] = {(void *)&values...};
    return ::cudaLaunchKernelExC(config, function, addresses);
}
template <class... Parameters, class... Arguments>
MINIGPU_CALL cudaLaunchKernelEx(const cudaLaunchConfig_t *config, void (*function)(Parameters...),
                                Arguments &&...arguments) {
    return minigpu_launch_converted<Parameters...>(config, (const void *)function,
                                                   static_cast<Arguments &&>(arguments)...);
}
#endif
template <class T> MINIGPU_CALL cudaFuncGetAttributes(cudaFuncAttributes *attributes, T *function) {
    return ::cudaFuncGetAttributes(attributes, (const void *)function);
}
template <class T> MINIGPU_CALL cudaFuncSetAttribute(T *function, cudaFuncAttribute attribute, int value) {
    return ::cudaFuncSetAttribute((const void *)function, attribute, value);
}
template <class T> MINIGPU_CALL cudaFuncSetCacheConfig(T *function, cudaFuncCache config) {
    return ::cudaFuncSetCacheConfig((const void *)function, config);
}
template <class T>
MINIGPU_CALL cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, T function, int block_threads,
                                                           size_t shared_bytes) {
    return ::cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, (const void *)function, block_threads, shared_bytes);
}
template <class T>
MINIGPU_CALL cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, T function, int block_threads,
                                                                    size_t shared_bytes, unsigned int flags) {
    return ::cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, (const void *)function, block_threads,
                                                                    shared_bytes, flags);
}
/* The block size with the most threads on an SM, found by asking for each multiple of a warp. */
template <class Size, class T>
MINIGPU_CALL cudaOccupancyMaxPotentialBlockSizeVariableSMem(int *least_grid, int *block_size, T function,
                                                            Size shared_bytes, int limit = 0) {
    int best = 0, threads, device = 0, sms = 1, most = limit > 0 && limit < 1024 ? limit : 1024;
    cudaError_t error = cudaSuccess;
    cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
    for (threads = most / 32 * 32; threads >= 32; threads -= 32) {
        int blocks = 0;
        if (::cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, (const void *)function, threads,
                                                            shared_bytes(threads)) != cudaSuccess ||
            blocks * threads <= best)
            continue;
        best = blocks * threads;
        *block_size = threads;
        *least_grid = blocks * sms;
    }
    if (!best) error = cudaErrorInvalidValue;
    return error;
}
template <class T>
MINIGPU_CALL cudaOccupancyMaxPotentialBlockSize(int *least_grid, int *block_size, T function, size_t shared_bytes = 0,
                                                int limit = 0) {
    struct same {
        size_t bytes;
        size_t operator()(int) const { return bytes; }
    } sizes = {shared_bytes};
    return cudaOccupancyMaxPotentialBlockSizeVariableSMem(least_grid, block_size, function, sizes, limit);
}
MINIGPU_CALL cudaEventCreate(cudaEvent_t *event, unsigned int flags) {
    return ::cudaEventCreateWithFlags(event, flags);
}
MINIGPU_CALL cudaGraphInstantiate(cudaGraphExec_t *executable, cudaGraph_t graph, cudaGraphNode_t *, char *, size_t) {
    return ::cudaGraphInstantiate(executable, graph, 0ull);
}
/* Before CUDA 12 two results stood in the place of one struct. */
MINIGPU_CALL cudaGraphExecUpdate(cudaGraphExec_t executable, cudaGraph_t graph, cudaGraphNode_t *,
                                 cudaGraphExecUpdateResult *result) {
    cudaGraphExecUpdateResultInfo info;
    const cudaError_t error = ::cudaGraphExecUpdate(executable, graph, &info);
    if (result) *result = info.result;
    return error;
}
/* CUDA 13 names a place by its kind, and not by the number of a device or of the host. */
MINIGPU_CALL cudaMemPrefetchAsync(const void *pointer, size_t bytes, cudaMemLocation to, unsigned int,
                                  cudaStream_t stream = 0) {
    return ::cudaMemPrefetchAsync(pointer, bytes, to.type == cudaMemLocationTypeDevice ? to.id : cudaCpuDeviceId,
                                  stream);
}
MINIGPU_CALL cudaMemAdvise(const void *pointer, size_t bytes, cudaMemoryAdvise advice, cudaMemLocation at) {
    return ::cudaMemAdvise(pointer, bytes, advice, at.type == cudaMemLocationTypeDevice ? at.id : cudaCpuDeviceId);
}
MINIGPU_CALL cudaMallocHost(void **pointer, size_t bytes, unsigned int flags) {
    return ::cudaHostAlloc(pointer, bytes, flags);
}

#define MINIGPU_CHANNEL(type, x, y, z, w, kind)                              \
    template <> inline cudaChannelFormatDesc cudaCreateChannelDesc<type>() { \
        return ::cudaCreateChannelDesc(x, y, z, w, kind);                    \
    }
#define MINIGPU_CHANNELS(one, vector, bits, kind)      \
    MINIGPU_CHANNEL(one, bits, 0, 0, 0, kind)          \
    MINIGPU_CHANNEL(vector##1, bits, 0, 0, 0, kind)    \
    MINIGPU_CHANNEL(vector##2, bits, bits, 0, 0, kind) \
    MINIGPU_CHANNEL(vector##4, bits, bits, bits, bits, kind)
template <class T> inline cudaChannelFormatDesc cudaCreateChannelDesc() {
    return ::cudaCreateChannelDesc(0, 0, 0, 0, cudaChannelFormatKindNone);
}
MINIGPU_CHANNELS(signed char, char, 8, cudaChannelFormatKindSigned)
MINIGPU_CHANNEL(char, 8, 0, 0, 0, cudaChannelFormatKindSigned)
MINIGPU_CHANNELS(unsigned char, uchar, 8, cudaChannelFormatKindUnsigned)
MINIGPU_CHANNELS(short, short, 16, cudaChannelFormatKindSigned)
MINIGPU_CHANNELS(unsigned short, ushort, 16, cudaChannelFormatKindUnsigned)
MINIGPU_CHANNELS(int, int, 32, cudaChannelFormatKindSigned)
MINIGPU_CHANNELS(unsigned int, uint, 32, cudaChannelFormatKindUnsigned)
MINIGPU_CHANNELS(float, float, 32, cudaChannelFormatKindFloat)
#undef MINIGPU_CHANNELS
#undef MINIGPU_CHANNEL

/* ---- texture references; clang finds them by the attribute ---- */

#if defined(__CUDA__)
template <class T, int dimensions = cudaTextureType1D, cudaTextureReadMode mode = cudaReadModeElementType>
struct __attribute__((device_builtin_texture_type)) texture : public textureReference {
    __host__ texture(int is_normalized = 0, cudaTextureFilterMode filter = cudaFilterModePoint,
                     cudaTextureAddressMode address = cudaAddressModeClamp)
        : texture(is_normalized, filter, address, ::cudaCreateChannelDesc<T>()) {}
    __host__ texture(int is_normalized, cudaTextureFilterMode filter, cudaTextureAddressMode address,
                     cudaChannelFormatDesc desc)
        : textureReference() {
        normalized = is_normalized;
        filterMode = filter;
        addressMode[0] = addressMode[1] = addressMode[2] = address;
        channelDesc = desc;
    }
};
template <class T, int n, cudaTextureReadMode mode>
MINIGPU_CALL cudaBindTexture(size_t *offset, const texture<T, n, mode> &reference, const void *pointer,
                             const cudaChannelFormatDesc &desc, size_t bytes = ~0u) {
    return ::cudaBindTexture(offset, &reference, pointer, &desc, bytes);
}
template <class T, int n, cudaTextureReadMode mode>
MINIGPU_CALL cudaBindTexture(size_t *offset, const texture<T, n, mode> &reference, const void *pointer,
                             size_t bytes = ~0u) {
    return ::cudaBindTexture(offset, &reference, pointer, &reference.channelDesc, bytes);
}
template <class T, int n, cudaTextureReadMode mode>
MINIGPU_CALL cudaBindTexture2D(size_t *offset, const texture<T, n, mode> &reference, const void *pointer,
                               const cudaChannelFormatDesc &desc, size_t width, size_t height, size_t pitch) {
    return ::cudaBindTexture2D(offset, &reference, pointer, &desc, width, height, pitch);
}
template <class T, int n, cudaTextureReadMode mode>
MINIGPU_CALL cudaBindTexture2D(size_t *offset, const texture<T, n, mode> &reference, const void *pointer, size_t width,
                               size_t height, size_t pitch) {
    return ::cudaBindTexture2D(offset, &reference, pointer, &reference.channelDesc, width, height, pitch);
}
template <class T, int n, cudaTextureReadMode mode>
MINIGPU_CALL cudaBindTextureToArray(const texture<T, n, mode> &reference, cudaArray_const_t array,
                                    const cudaChannelFormatDesc &desc) {
    return ::cudaBindTextureToArray(&reference, array, &desc);
}
template <class T, int n, cudaTextureReadMode mode>
MINIGPU_CALL cudaBindTextureToArray(const texture<T, n, mode> &reference, cudaArray_const_t array) {
    return ::cudaBindTextureToArray(&reference, array, NULL);
}
template <class T, int n, cudaTextureReadMode mode>
MINIGPU_CALL cudaUnbindTexture(const texture<T, n, mode> &reference) {
    return ::cudaUnbindTexture(&reference);
}
template <class T, int n, cudaTextureReadMode mode>
MINIGPU_CALL cudaGetTextureAlignmentOffset(size_t *offset, const texture<T, n, mode> &reference) {
    return ::cudaGetTextureAlignmentOffset(offset, &reference);
}
#endif
#undef MINIGPU_CALL

/* min and max of the types that CUDA's headers have; clang brings those of two int for the device, and no others.
 * Floating point is compared as fmin and fmax do: of a number and NaN the number is the result. */
#define MINIGPU_LESS(a, b) ((a) < (b) ? (a) : (b))
#define MINIGPU_GREATER(a, b) ((a) > (b) ? (a) : (b))
#define MINIGPU_MIN_MAX(side, result, a_type, b_type, less, greater)                         \
    static inline side result min(a_type a, b_type b) { return less((result)a, (result)b); } \
    static inline side result max(a_type a, b_type b) { return greater((result)a, (result)b); }
#define MINIGPU_WHOLE(side, result, a_type, b_type) \
    MINIGPU_MIN_MAX(side, result, a_type, b_type, MINIGPU_LESS, MINIGPU_GREATER)
#define MINIGPU_SIGNED_OR_NOT(result, other)                   \
    MINIGPU_WHOLE(__host__ __device__, result, result, result) \
    MINIGPU_WHOLE(__host__ __device__, result, other, result)  \
    MINIGPU_WHOLE(__host__ __device__, result, result, other)
MINIGPU_WHOLE(__host__, int, int, int)
MINIGPU_WHOLE(__host__ __device__, long, long, long)
MINIGPU_WHOLE(__host__ __device__, long long, long long, long long)
MINIGPU_SIGNED_OR_NOT(unsigned int, int)
MINIGPU_SIGNED_OR_NOT(unsigned long, long)
MINIGPU_SIGNED_OR_NOT(unsigned long long, long long)
MINIGPU_MIN_MAX(__host__ __device__, float, float, float, __builtin_fminf, __builtin_fmaxf)
MINIGPU_MIN_MAX(__host__ __device__, double, double, double, __builtin_fmin, __builtin_fmax)
MINIGPU_MIN_MAX(__host__ __device__, double, float, double, __builtin_fmin, __builtin_fmax)
MINIGPU_MIN_MAX(__host__ __device__, double, double, float, __builtin_fmin, __builtin_fmax)
#undef MINIGPU_LESS
#undef MINIGPU_GREATER
#undef MINIGPU_WHOLE
#undef MINIGPU_SIGNED_OR_NOT
#undef MINIGPU_MIN_MAX

#endif
