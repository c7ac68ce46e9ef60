/* launches: kernels, their attributes, and how many blocks an SM holds (runtime.h). */
#define _GNU_SOURCE
#include "runtime.h"

#include <stdio.h>
#include <string.h>

#define CONFIGURATIONS_MAX 64

/* ---- <<<...>>>: the configuration of a launch, until the kernel's stub takes it ---- */

typedef struct call_configuration {
    dim3 grid, block;
    size_t shared_bytes;
    cudaStream_t stream;
} call_configuration;

static __thread call_configuration configurations[CONFIGURATIONS_MAX];
static __thread unsigned configuration_count;

API unsigned int __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes, cudaStream_t stream) {
    call_configuration *c = &configurations[configuration_count];
    if (configuration_count == CONFIGURATIONS_MAX) return 1;
    c->grid = grid;
    c->block = block;
    c->shared_bytes = shared_bytes;
    c->stream = stream;
    configuration_count++;
    return 0;
}

API cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared_bytes, void *stream) {
    const call_configuration *c;
    if (!configuration_count) return cudaErrorMissingConfiguration;
    c = &configurations[--configuration_count];
    *grid = c->grid;
    *block = c->block;
    *shared_bytes = c->shared_bytes;
    *(cudaStream_t *)stream = c->stream;
    return cudaSuccess;
}

/* ---- launching ---- */

static uint32_t most_shared_bytes(void) {
    const gpump_gpu *gpu = &device_config(cudart.device)->gpu;
    return gpu->shared_bytes[gpu->shared_option_count - 1];
}

/* Returns the error with which CUDA refuses a launch. */
static cudaError_t check(const kernel_program *p, dim3 grid, dim3 block, size_t shared_bytes) {
    const uint64_t threads = (uint64_t)block.x * block.y * block.z;
    if (!grid.x || !grid.y || !grid.z || !threads || threads > 1024 || block.z > 64 || grid.y > 65535 ||
        grid.z > 65535 || grid.x > INT32_MAX)
        return cudaErrorInvalidConfiguration;
    if (p->max_threads[0] && threads > (uint64_t)p->max_threads[0] * (p->max_threads[1] ? p->max_threads[1] : 1) *
                                           (p->max_threads[2] ? p->max_threads[2] : 1))
        return cudaErrorLaunchOutOfResources;
    return p->shared_bytes + shared_bytes > most_shared_bytes() ? cudaErrorInvalidValue : cudaSuccess;
}

/* priority: of this launch; NULL: that of its stream. */
static cudaError_t launch(const void *function, dim3 grid, dim3 block, void **arguments, size_t shared_bytes,
                          cudaStream_t handle, const int *priority) {
    struct CUstream_st *stream = streams_find(handle);
    uint8_t parameters[DEVICE_PARAMETER_BYTES_MAX + 8];
    kernel_entry *kernel;
    device_launch l;
    cudaError_t error;
    uint32_t i;
    if (!stream) return cudaErrorInvalidResourceHandle;
    if ((error = modules_kernel(function, &kernel))) return error;
    if ((error = check(kernel->program, grid, block, shared_bytes))) return error;
    if (kernel->program->parameter_bytes > DEVICE_PARAMETER_BYTES_MAX) return cudaErrorInvalidValue;
    for (i = 0; i < kernel->program->parameter_count; i++) {
        const kernel_parameter *p = &kernel->program->parameters[i];
        if (!arguments || !arguments[i]) return cudaErrorInvalidValue;
        memcpy(parameters + p->offset, arguments[i], p->bytes);
    }
    memset(&l, 0, sizeof l);
    l.module = kernel->module;
    l.kernel = kernel->name;
    l.grid[0] = grid.x, l.grid[1] = grid.y, l.grid[2] = grid.z;
    l.block[0] = block.x, l.block[1] = block.y, l.block[2] = block.z;
    l.dynamic_shared_bytes = (uint32_t)shared_bytes;
    l.parameters = parameters;
    return streams_launch(stream, &l, kernel->program->parameter_bytes, priority);
}

API cudaError_t cudaLaunchKernel(const void *function, dim3 grid, dim3 block, void **arguments, size_t shared_bytes,
                                 cudaStream_t stream) {
    ENTER();
    return runtime_leave(launch(function, grid, block, arguments, shared_bytes, stream, NULL));
}

/* ---- occupancy ---- */

/* Registers of a thread, as the launch will allocate them: no more than the machine gives a thread. */
static uint32_t thread_registers(const kernel_program *p) {
    const uint32_t most = device_config(cudart.device)->thread_registers;
    return most && p->registers > most ? most : p->registers;
}

static cudaError_t occupancy(const void *function, int threads, size_t shared_bytes, int *blocks) {
    const gpump_gpu *gpu = &device_config(cudart.device)->gpu;
    gpump_footprint need = {0, 0, 0};
    gpump_occupancy found;
    kernel_entry *kernel;
    const cudaError_t error = modules_kernel(function, &kernel);
    if (error) return error;
    if (!blocks || threads < 1) return cudaErrorInvalidValue;
    *blocks = 0;
    need.threads = (uint32_t)threads;
    need.registers = thread_registers(kernel->program) * ((need.threads + LANES - 1) / LANES * LANES);
    need.shared_bytes = kernel->program->shared_bytes + (uint32_t)shared_bytes;
    if (threads <= 1024 && gpump_gpu_occupancy(gpu, &need, &found, NULL) == GPUMP_OK) *blocks = (int)found.blocks;
    return cudaSuccess;
}

API cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *function, int threads,
                                                              size_t shared_bytes) {
    ENTER();
    return runtime_leave(occupancy(function, threads, shared_bytes, blocks));
}
API cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, const void *function, int threads,
                                                                       size_t shared_bytes, unsigned int flags) {
    (void)flags;
    return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, threads, shared_bytes);
}

/* ---- launches whose blocks are on the SMs together, and launches with attributes ---- */

static cudaError_t launch_together(const void *function, dim3 grid, dim3 block, void **arguments, size_t shared_bytes,
                                   cudaStream_t stream, const int *priority) {
    int blocks = 0;
    const cudaError_t error = occupancy(function, (int)(block.x * block.y * block.z), shared_bytes, &blocks);
    if (error) return error;
    if ((uint64_t)grid.x * grid.y * grid.z > (uint64_t)blocks * device_config(cudart.device)->gpu.sms)
        return cudaErrorCooperativeLaunchTooLarge;
    return launch(function, grid, block, arguments, shared_bytes, stream, priority);
}

API cudaError_t cudaLaunchCooperativeKernel(const void *function, dim3 grid, dim3 block, void **arguments,
                                            size_t shared_bytes, cudaStream_t stream) {
    ENTER();
    return runtime_leave(launch_together(function, grid, block, arguments, shared_bytes, stream, NULL));
}

/* Takes what a launch asks for. Hints about caches, fences and overlap change no result and are ignored. */
static cudaError_t take_attributes(const cudaLaunchConfig_t *config, int *cooperative, const int **priority) {
    unsigned int i;
    if (config->numAttrs && !config->attrs) return cudaErrorInvalidValue;
    for (i = 0; i < config->numAttrs; i++) {
        const cudaLaunchAttribute *a = &config->attrs[i];
        switch (a->id) {
        case cudaLaunchAttributeCooperative: *cooperative = a->val.cooperative; break;
        case cudaLaunchAttributePriority: *priority = &a->val.priority; break;
        case cudaLaunchAttributeClusterDimension:
        case cudaLaunchAttributePreferredClusterDimension:
            if (a->val.clusterDim.x == 1 && a->val.clusterDim.y == 1 && a->val.clusterDim.z == 1) break;
            runtime_say("a launch asks for clusters of %u x %u x %u blocks, and clusters are not there",
                        a->val.clusterDim.x, a->val.clusterDim.y, a->val.clusterDim.z);
            return cudaErrorNotSupported;
        case cudaLaunchAttributeIgnore:
        case cudaLaunchAttributeAccessPolicyWindow:
        case cudaLaunchAttributeSynchronizationPolicy:
        case cudaLaunchAttributeClusterSchedulingPolicyPreference:
        case cudaLaunchAttributeProgrammaticStreamSerialization:
        case cudaLaunchAttributeMemSyncDomainMap:
        case cudaLaunchAttributeMemSyncDomain:
        case cudaLaunchAttributePreferredSharedMemoryCarveout: break;
        default:
            runtime_say("a launch has attribute %d, which is not there; docs/cuda.md lists what is", (int)a->id);
            return cudaErrorNotSupported;
        }
    }
    return cudaSuccess;
}

API cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *function, void **arguments) {
    const int *priority = NULL;
    int cooperative = 0;
    cudaError_t error;
    ENTER();
    if (!config) return runtime_leave(cudaErrorInvalidValue);
    if (!(error = take_attributes(config, &cooperative, &priority)))
        error = (cooperative ? launch_together : launch)(function, config->gridDim, config->blockDim, arguments,
                                                         config->dynamicSmemBytes, config->stream, priority);
    return runtime_leave(error);
}

/* ---- attributes ---- */

API cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes, const void *function) {
    kernel_entry *kernel;
    cudaError_t error;
    ENTER();
    if (!attributes) return runtime_leave(cudaErrorInvalidValue);
    if ((error = modules_kernel(function, &kernel))) return runtime_leave(error);
    memset(attributes, 0, sizeof *attributes);
    attributes->sharedSizeBytes = kernel->program->shared_bytes;
    attributes->localSizeBytes = kernel->program->local_bytes;
    attributes->maxThreadsPerBlock = kernel->program->max_threads[0] ? (int)kernel->program->max_threads[0] : 1024;
    attributes->numRegs = (int)thread_registers(kernel->program);
    attributes->ptxVersion = attributes->binaryVersion = 80;
    attributes->maxDynamicSharedSizeBytes = (int)(most_shared_bytes() - kernel->program->shared_bytes);
    return runtime_leave(cudaSuccess);
}
API cudaError_t cudaFuncSetAttribute(const void *function, cudaFuncAttribute attribute, int value) {
    kernel_entry *kernel;
    cudaError_t error;
    ENTER();
    if ((error = modules_kernel(function, &kernel))) return runtime_leave(error);
    if (attribute == cudaFuncAttributeMaxDynamicSharedMemorySize &&
        (value < 0 || (uint64_t)value + kernel->program->shared_bytes > most_shared_bytes()))
        error = cudaErrorInvalidValue;
    return runtime_leave(error);
}
API cudaError_t cudaFuncSetCacheConfig(const void *function, cudaFuncCache config) {
    kernel_entry *kernel;
    (void)config;
    ENTER();
    return runtime_leave(modules_kernel(function, &kernel));
}
API cudaError_t cudaFuncSetSharedMemConfig(const void *function, cudaSharedMemConfig config) {
    (void)config;
    return cudaFuncSetCacheConfig(function, cudaFuncCachePreferNone);
}

/* ---- kernels by handle, as nvcc 12 and later launch them: the handle is the host function ---- */

API cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *function);
API cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *function) {
    *kernel = (cudaKernel_t)(uintptr_t)function;
    return cudaSuccess;
}
API cudaError_t cudaGetKernel(cudaKernel_t *kernel, const void *function);
API cudaError_t cudaGetKernel(cudaKernel_t *kernel, const void *function) { return __cudaGetKernel(kernel, function); }
API cudaError_t cudaGetFuncBySymbol(cudaFunction_t *kernel, const void *function);
API cudaError_t cudaGetFuncBySymbol(cudaFunction_t *kernel, const void *function) {
    *kernel = (cudaFunction_t)(uintptr_t)function;
    return cudaSuccess;
}
API cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **arguments, size_t shared_bytes,
                                   cudaStream_t stream);
API cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **arguments, size_t shared_bytes,
                                   cudaStream_t stream) {
    return cudaLaunchKernel((const void *)kernel, grid, block, arguments, shared_bytes, stream);
}
