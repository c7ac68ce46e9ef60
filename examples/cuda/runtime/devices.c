/* devices: properties and attributes of the device (runtime.h). There is one device, the machine of MINIGPU's gpu and
 * config. Kernels are compiled for sm_80 and every machine runs them, so its compute capability is 8.0. */
#define _GNU_SOURCE
#include "runtime.h"

#include <stdio.h>
#include <string.h>

#define MAJOR 8
#define MINOR 0
#define VERSION (MINIGPU_CUDART * 1000)

static const gpump_gpu *gpu(void) { return &device_config(cudart.device)->gpu; }
static size_t shared_of_sm(void) { return gpu()->shared_bytes[gpu()->shared_option_count - 1]; }
static size_t shared_of_block(void) { return shared_of_sm() < 49152 ? shared_of_sm() : 49152; }
static cudaError_t known(int device) { return device ? cudaErrorInvalidDevice : cudaSuccess; }

API cudaError_t cudaGetDeviceCount(int *count) {
    if (!count) return cudaErrorInvalidValue;
    *count = 1;
    return cudaSuccess;
}
API cudaError_t cudaGetDevice(int *device) {
    if (!device) return cudaErrorInvalidValue;
    *device = 0;
    return cudaSuccess;
}
API cudaError_t cudaSetDevice(int device) {
    ENTER();
    return runtime_leave(known(device));
}
API cudaError_t cudaInitDevice(int device, unsigned int device_flags, unsigned int flags) {
    (void)device_flags, (void)flags;
    return cudaSetDevice(device);
}
API cudaError_t cudaSetValidDevices(int *devices, int count) {
    (void)devices, (void)count;
    return cudaSuccess;
}
API cudaError_t cudaSetDeviceFlags(unsigned int flags) {
    (void)flags;
    return cudaSuccess;
}
API cudaError_t cudaGetDeviceFlags(unsigned int *flags) {
    if (!flags) return cudaErrorInvalidValue;
    *flags = cudaDeviceScheduleAuto | cudaDeviceMapHost;
    return cudaSuccess;
}

/* Limits of compute capability 8.0, from the CUDA C programming guide, and the sizes of the machine. */
API cudaError_t cudaGetDeviceProperties(cudaDeviceProp *p, int device) {
    uint64_t total, used;
    ENTER();
    if (!p || device) return runtime_leave(p ? cudaErrorInvalidDevice : cudaErrorInvalidValue);
    memset(p, 0, sizeof *p);
    device_memory_use(cudart.device, &total, &used);
    snprintf(p->name, sizeof p->name, "mini-GPU %s", device_config(cudart.device)->preset);
    p->totalGlobalMem = total;
    p->sharedMemPerBlock = shared_of_block();
    p->regsPerBlock = (int)(gpu()->registers < 65536 ? gpu()->registers : 65536);
    p->warpSize = LANES;
    p->memPitch = INT32_MAX;
    p->maxThreadsPerBlock = p->maxThreadsDim[0] = p->maxThreadsDim[1] = 1024;
    p->maxThreadsDim[2] = 64;
    p->maxGridSize[0] = INT32_MAX;
    p->maxGridSize[1] = p->maxGridSize[2] = 65535;
    p->totalConstMem = 65536;
    p->major = MAJOR;
    p->minor = MINOR;
    p->textureAlignment = p->texturePitchAlignment = 32;
    p->concurrentKernels = p->canMapHostMemory = p->unifiedAddressing = 1;
    p->asyncEngineCount = 2;
    p->multiProcessorCount = (int)gpu()->sms;
    p->maxTexture1D = p->maxTexture2D[0] = p->maxTexture2D[1] = 65536;
    p->maxTexture3D[0] = p->maxTexture3D[1] = p->maxTexture3D[2] = 16384;
    p->memoryBusWidth = (int)(gpu()->memory_mb_per_s / (gpu()->clock_khz / 1000 * 2 + 1) * 8); /* at that clock */
    p->l2CacheSize = (int)device_config(cudart.device)->l2_bytes;
    p->maxThreadsPerMultiProcessor = (int)gpu()->thread_slots;
    p->streamPrioritiesSupported = p->computePreemptionSupported = p->cooperativeLaunch = 1;
    p->memoryPoolsSupported = 1;
    p->sharedMemPerMultiprocessor = p->sharedMemPerBlockOptin = shared_of_sm();
    p->regsPerMultiprocessor = (int)gpu()->registers;
    p->managedMemory = p->concurrentManagedAccess = device_is_at_host_addresses(cudart.device);
    p->maxBlocksPerMultiProcessor = (int)gpu()->block_slots;
#if MINIGPU_CUDART < 13
    p->clockRate = p->memoryClockRate = (int)gpu()->clock_khz;
    p->deviceOverlap = 1;
    p->maxTexture1DLinear = 65536;
    p->singleToDoublePrecisionPerfRatio = 2;
#endif
    return runtime_leave(cudaSuccess);
}

API cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int device) {
    cudaDeviceProp p;
    const cudaError_t error = cudaGetDeviceProperties(&p, device);
    if (error || !value) return error ? error : cudaErrorInvalidValue;
    switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock: *value = p.maxThreadsPerBlock; break;
    case cudaDevAttrMaxBlockDimX: *value = p.maxThreadsDim[0]; break;
    case cudaDevAttrMaxBlockDimY: *value = p.maxThreadsDim[1]; break;
    case cudaDevAttrMaxBlockDimZ: *value = p.maxThreadsDim[2]; break;
    case cudaDevAttrMaxGridDimX: *value = p.maxGridSize[0]; break;
    case cudaDevAttrMaxGridDimY: *value = p.maxGridSize[1]; break;
    case cudaDevAttrMaxGridDimZ: *value = p.maxGridSize[2]; break;
    case cudaDevAttrMaxSharedMemoryPerBlock: *value = (int)p.sharedMemPerBlock; break;
    case cudaDevAttrTotalConstantMemory: *value = (int)p.totalConstMem; break;
    case cudaDevAttrWarpSize: *value = p.warpSize; break;
    case cudaDevAttrMaxPitch: *value = (int)p.memPitch; break;
    case cudaDevAttrMaxRegistersPerBlock: *value = p.regsPerBlock; break;
    case cudaDevAttrTextureAlignment: *value = (int)p.textureAlignment; break;
    case cudaDevAttrMultiProcessorCount: *value = p.multiProcessorCount; break;
    case cudaDevAttrClockRate:
    case cudaDevAttrMemoryClockRate: *value = (int)gpu()->clock_khz; break;
    case cudaDevAttrGlobalMemoryBusWidth: *value = p.memoryBusWidth; break;
    case cudaDevAttrL2CacheSize: *value = p.l2CacheSize; break;
    case cudaDevAttrMaxThreadsPerMultiProcessor: *value = p.maxThreadsPerMultiProcessor; break;
    case cudaDevAttrAsyncEngineCount: *value = p.asyncEngineCount; break;
    case cudaDevAttrComputeCapabilityMajor: *value = p.major; break;
    case cudaDevAttrComputeCapabilityMinor: *value = p.minor; break;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor: *value = (int)p.sharedMemPerMultiprocessor; break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin: *value = (int)p.sharedMemPerBlockOptin; break;
    case cudaDevAttrMaxRegistersPerMultiprocessor: *value = p.regsPerMultiprocessor; break;
    case cudaDevAttrManagedMemory:
    case cudaDevAttrConcurrentManagedAccess: *value = p.managedMemory; break;
    case cudaDevAttrMaxBlocksPerMultiprocessor: *value = p.maxBlocksPerMultiProcessor; break;
    case cudaDevAttrSingleToDoublePrecisionPerfRatio: *value = 2; break;
    case cudaDevAttrGpuOverlap:
    case cudaDevAttrConcurrentKernels:
    case cudaDevAttrCanMapHostMemory:
    case cudaDevAttrUnifiedAddressing:
    case cudaDevAttrStreamPrioritiesSupported:
    case cudaDevAttrComputePreemptionSupported:
    case cudaDevAttrMemoryPoolsSupported:
    case cudaDevAttrCooperativeLaunch: *value = 1; break;
    default: *value = 0; /* what the mini-GPU has not */
    }
    return cudaSuccess;
}

API cudaError_t cudaChooseDevice(int *device, const cudaDeviceProp *properties) {
    (void)properties;
    return cudaGetDevice(device);
}
API cudaError_t cudaDeviceReset(void) {
    cudaError_t error;
    ENTER();
    error = streams_run();
    modules_reset();
    return runtime_leave(error);
}
API cudaError_t cudaThreadExit(void) { return cudaDeviceReset(); }

/* The number of the machine's configuration that is a limit; NULL: the machine has no such limit. */
static const char *number_of(cudaLimit limit) {
    return limit == cudaLimitMallocHeapSize ? "heap_bytes" : limit == cudaLimitPrintfFifoSize ? "print_bytes" : NULL;
}

API cudaError_t cudaDeviceSetLimit(cudaLimit limit, size_t value) {
    uint32_t least, most;
    ENTER();
    if (!number_of(limit)) return runtime_leave(cudaSuccess);
    minigpu_config_range(number_of(limit), &least, &most);
    if (value > most) return runtime_leave(cudaErrorMemoryAllocation);
    if (device_set_number(cudart.device, number_of(limit), value < least ? least : (uint32_t)value))
        return runtime_leave(cudaErrorInvalidValue); /* kernels use the heap */
    return runtime_leave(cudaSuccess);
}
API cudaError_t cudaDeviceGetLimit(size_t *value, cudaLimit limit) {
    ENTER();
    if (!value) return runtime_leave(cudaErrorInvalidValue);
    *value = limit == cudaLimitStackSize        ? 1024
             : limit == cudaLimitPrintfFifoSize ? device_config(cudart.device)->print_bytes
             : limit == cudaLimitMallocHeapSize ? device_config(cudart.device)->heap_bytes
                                                : 0;
    return runtime_leave(cudaSuccess);
}
API cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache config) {
    (void)config;
    return cudaSuccess;
}
API cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache *config) {
    if (!config) return cudaErrorInvalidValue;
    *config = cudaFuncCachePreferNone;
    return cudaSuccess;
}
API cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig config) {
    (void)config;
    return cudaSuccess;
}
API cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig *config) {
    if (!config) return cudaErrorInvalidValue;
    *config = cudaSharedMemBankSizeFourByte;
    return cudaSuccess;
}
API cudaError_t cudaDeviceGetPCIBusId(char *text, int length, int device) {
    if (!text || length < 13 || device) return cudaErrorInvalidValue;
    snprintf(text, (size_t)length, "0000:00:00.0");
    return cudaSuccess;
}
API cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer) {
    (void)device, (void)peer;
    if (!can) return cudaErrorInvalidValue;
    *can = 0;
    return cudaSuccess;
}
API cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned int flags) {
    (void)peer, (void)flags;
    return cudaErrorInvalidDevice;
}
API cudaError_t cudaDeviceDisablePeerAccess(int peer) {
    (void)peer;
    return cudaErrorInvalidDevice;
}
API cudaError_t cudaDriverGetVersion(int *version) {
    if (!version) return cudaErrorInvalidValue;
    *version = VERSION;
    return cudaSuccess;
}
API cudaError_t cudaRuntimeGetVersion(int *version) { return cudaDriverGetVersion(version); }
API cudaError_t cudaProfilerStart(void) { return cudaSuccess; }
API cudaError_t cudaProfilerStop(void) { return cudaSuccess; }
