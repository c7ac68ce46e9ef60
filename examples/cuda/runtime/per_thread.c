/* per_thread: the names under which nvcc calls the run-time library with `--default-stream per-thread` (runtime.h). A
 * stream that is NULL means the stream of the thread there. A program has one such stream for all of its threads. The
 * calls that wait (_ptds) use the legacy stream, which waits for that one. */
#define _GNU_SOURCE
#include "runtime.h"

#define OWN(stream) ((stream) ? (stream) : cudaStreamPerThread)
#define CALL(name, parameters, call) \
    API cudaError_t name parameters; \
    API cudaError_t name parameters { return call; }

/* ---- memory ---- */

CALL(cudaMallocAsync_ptsz, (void **pointer, size_t bytes, cudaStream_t s), cudaMallocAsync(pointer, bytes, OWN(s)))
CALL(cudaMallocFromPoolAsync_ptsz, (void **pointer, size_t bytes, cudaMemPool_t pool, cudaStream_t s),
     cudaMallocFromPoolAsync(pointer, bytes, pool, OWN(s)))
CALL(cudaFreeAsync_ptsz, (void *pointer, cudaStream_t s), cudaFreeAsync(pointer, OWN(s)))
CALL(cudaMemcpy_ptds, (void *to, const void *from, size_t bytes, cudaMemcpyKind kind),
     cudaMemcpy(to, from, bytes, kind))
CALL(cudaMemcpyAsync_ptsz, (void *to, const void *from, size_t bytes, cudaMemcpyKind kind, cudaStream_t s),
     cudaMemcpyAsync(to, from, bytes, kind, OWN(s)))
CALL(cudaMemcpy2D_ptds,
     (void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height, cudaMemcpyKind kind),
     cudaMemcpy2D(to, to_pitch, from, from_pitch, width, height, kind))
CALL(cudaMemcpy2DAsync_ptsz,
     (void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height, cudaMemcpyKind kind,
      cudaStream_t s),
     cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, width, height, kind, OWN(s)))
CALL(cudaMemcpy3D_ptds, (const cudaMemcpy3DParms *p), cudaMemcpy3D(p))
CALL(cudaMemcpy3DAsync_ptsz, (const cudaMemcpy3DParms *p, cudaStream_t s), cudaMemcpy3DAsync(p, OWN(s)))
CALL(cudaMemcpyToArray_ptds, (cudaArray_t to, size_t x, size_t y, const void *from, size_t bytes, cudaMemcpyKind kind),
     cudaMemcpyToArray(to, x, y, from, bytes, kind))
CALL(cudaMemcpyFromArray_ptds,
     (void *to, cudaArray_const_t from, size_t x, size_t y, size_t bytes, cudaMemcpyKind kind),
     cudaMemcpyFromArray(to, from, x, y, bytes, kind))
CALL(cudaMemcpy2DToArray_ptds,
     (cudaArray_t to, size_t x, size_t y, const void *from, size_t pitch, size_t width, size_t height,
      cudaMemcpyKind kind),
     cudaMemcpy2DToArray(to, x, y, from, pitch, width, height, kind))
CALL(cudaMemcpy2DToArrayAsync_ptsz,
     (cudaArray_t to, size_t x, size_t y, const void *from, size_t pitch, size_t width, size_t height,
      cudaMemcpyKind kind, cudaStream_t s),
     cudaMemcpy2DToArrayAsync(to, x, y, from, pitch, width, height, kind, OWN(s)))
CALL(cudaMemcpy2DFromArray_ptds,
     (void *to, size_t pitch, cudaArray_const_t from, size_t x, size_t y, size_t width, size_t height,
      cudaMemcpyKind kind),
     cudaMemcpy2DFromArray(to, pitch, from, x, y, width, height, kind))
CALL(cudaMemcpyToSymbol_ptds, (const void *symbol, const void *from, size_t bytes, size_t offset, cudaMemcpyKind kind),
     cudaMemcpyToSymbol(symbol, from, bytes, offset, kind))
CALL(cudaMemcpyToSymbolAsync_ptsz,
     (const void *symbol, const void *from, size_t bytes, size_t offset, cudaMemcpyKind kind, cudaStream_t s),
     cudaMemcpyToSymbolAsync(symbol, from, bytes, offset, kind, OWN(s)))
CALL(cudaMemcpyFromSymbol_ptds, (void *to, const void *symbol, size_t bytes, size_t offset, cudaMemcpyKind kind),
     cudaMemcpyFromSymbol(to, symbol, bytes, offset, kind))
CALL(cudaMemcpyFromSymbolAsync_ptsz,
     (void *to, const void *symbol, size_t bytes, size_t offset, cudaMemcpyKind kind, cudaStream_t s),
     cudaMemcpyFromSymbolAsync(to, symbol, bytes, offset, kind, OWN(s)))
CALL(cudaMemset_ptds, (void *to, int value, size_t bytes), cudaMemset(to, value, bytes))
CALL(cudaMemsetAsync_ptsz, (void *to, int value, size_t bytes, cudaStream_t s),
     cudaMemsetAsync(to, value, bytes, OWN(s)))
CALL(cudaMemset2D_ptds, (void *to, size_t pitch, int value, size_t width, size_t height),
     cudaMemset2D(to, pitch, value, width, height))
CALL(cudaMemset2DAsync_ptsz, (void *to, size_t pitch, int value, size_t width, size_t height, cudaStream_t s),
     cudaMemset2DAsync(to, pitch, value, width, height, OWN(s)))
CALL(cudaMemset3D_ptds, (cudaPitchedPtr to, int value, cudaExtent extent), cudaMemset3D(to, value, extent))
CALL(cudaMemset3DAsync_ptsz, (cudaPitchedPtr to, int value, cudaExtent extent, cudaStream_t s),
     cudaMemset3DAsync(to, value, extent, OWN(s)))
CALL(cudaMemPrefetchAsync_ptsz, (const void *pointer, size_t bytes, int to, cudaStream_t s),
     cudaMemPrefetchAsync(pointer, bytes, to, s))
CALL(cudaMemPrefetchAsync_v2_ptsz,
     (const void *pointer, size_t bytes, cudaMemLocation to, unsigned int flags, cudaStream_t s),
     cudaMemPrefetchAsync_v2(pointer, bytes, to, flags, s))
CALL(cudaStreamAttachMemAsync_ptsz, (cudaStream_t s, void *pointer, size_t bytes, unsigned int flags),
     cudaStreamAttachMemAsync(OWN(s), pointer, bytes, flags))

/* ---- launches ---- */

CALL(cudaLaunchKernel_ptsz,
     (const void *function, dim3 grid, dim3 block, void **arguments, size_t shared_bytes, cudaStream_t s),
     cudaLaunchKernel(function, grid, block, arguments, shared_bytes, OWN(s)))
CALL(__cudaLaunchKernel_ptsz,
     (cudaKernel_t kernel, dim3 grid, dim3 block, void **arguments, size_t shared_bytes, cudaStream_t s),
     cudaLaunchKernel((const void *)kernel, grid, block, arguments, shared_bytes, OWN(s)))
CALL(cudaLaunchCooperativeKernel_ptsz,
     (const void *function, dim3 grid, dim3 block, void **arguments, size_t shared_bytes, cudaStream_t s),
     cudaLaunchCooperativeKernel(function, grid, block, arguments, shared_bytes, OWN(s)))
API cudaError_t cudaLaunchKernelExC_ptsz(const cudaLaunchConfig_t *config, const void *function, void **arguments);
API cudaError_t cudaLaunchKernelExC_ptsz(const cudaLaunchConfig_t *config, const void *function, void **arguments) {
    cudaLaunchConfig_t own;
    if (!config) return cudaLaunchKernelExC(NULL, function, arguments);
    own = *config;
    own.stream = OWN(own.stream);
    return cudaLaunchKernelExC(&own, function, arguments);
}
CALL(cudaLaunchHostFunc_ptsz, (cudaStream_t s, cudaHostFn_t function, void *user),
     cudaLaunchHostFunc(OWN(s), function, user))
CALL(cudaGraphLaunch_ptsz, (cudaGraphExec_t executable, cudaStream_t s), cudaGraphLaunch(executable, OWN(s)))
CALL(cudaGraphUpload_ptsz, (cudaGraphExec_t executable, cudaStream_t s), cudaGraphUpload(executable, OWN(s)))

/* ---- streams and events ---- */

CALL(cudaStreamAddCallback_ptsz, (cudaStream_t s, cudaStreamCallback_t function, void *user, unsigned int flags),
     cudaStreamAddCallback(OWN(s), function, user, flags))
CALL(cudaStreamBeginCapture_ptsz, (cudaStream_t s, cudaStreamCaptureMode mode), cudaStreamBeginCapture(OWN(s), mode))
CALL(cudaStreamEndCapture_ptsz, (cudaStream_t s, cudaGraph_t *graph), cudaStreamEndCapture(OWN(s), graph))
CALL(cudaStreamIsCapturing_ptsz, (cudaStream_t s, cudaStreamCaptureStatus *status),
     cudaStreamIsCapturing(OWN(s), status))
CALL(cudaStreamGetFlags_ptsz, (cudaStream_t s, unsigned int *flags), cudaStreamGetFlags(OWN(s), flags))
CALL(cudaStreamGetPriority_ptsz, (cudaStream_t s, int *priority), cudaStreamGetPriority(OWN(s), priority))
CALL(cudaStreamQuery_ptsz, (cudaStream_t s), cudaStreamQuery(OWN(s)))
CALL(cudaStreamSynchronize_ptsz, (cudaStream_t s), cudaStreamSynchronize(OWN(s)))
CALL(cudaStreamWaitEvent_ptsz, (cudaStream_t s, cudaEvent_t event, unsigned int flags),
     cudaStreamWaitEvent(OWN(s), event, flags))
CALL(cudaEventRecord_ptsz, (cudaEvent_t event, cudaStream_t s), cudaEventRecord(event, OWN(s)))
CALL(cudaEventRecordWithFlags_ptsz, (cudaEvent_t event, cudaStream_t s, unsigned int flags),
     cudaEventRecordWithFlags(event, OWN(s), flags))
