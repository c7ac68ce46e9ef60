/* helper_cuda: the checks that CUDA's samples and many programs include. A program that brings its own helper_cuda.h
 * gets that one, because the folders of -I come first. */
#ifndef MINIGPU_HELPER_CUDA_H
#define MINIGPU_HELPER_CUDA_H

#include <cstdio>
#include <cstdlib>
#include "cuda_runtime.h"
#include "helper_string.h"

static inline const char *_cudaGetErrorEnum(cudaError_t error) { return cudaGetErrorName(error); }

/* Ends the program when a call of the run-time interface has failed. */
static inline void minigpu_check(cudaError_t error, const char *call, const char *file, int line) {
    if (error == cudaSuccess) return;
    fprintf(stderr, "%s:%d: %s: %s (%d): %s\n", file, line, call, cudaGetErrorName(error), (int)error,
            cudaGetErrorString(error));
    exit(EXIT_FAILURE);
}
#define checkCudaErrors(call) minigpu_check((call), #call, __FILE__, __LINE__)
#define getLastCudaError(message) minigpu_check(cudaGetLastError(), message, __FILE__, __LINE__)
#define printLastCudaError(message)                                                                            \
    do {                                                                                                       \
        const cudaError_t minigpu_last = cudaGetLastError();                                                   \
        if (minigpu_last)                                                                                      \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, message, cudaGetErrorString(minigpu_last)); \
    } while (0)

/* Lanes of 32-bit arithmetic on an SM, by compute capability (CUDA C++ programming guide, table of throughputs). */
static inline int _ConvertSMVer2Cores(int major, int minor) {
    switch (16 * major + minor) {
    case 0x20: return 32;
    case 0x21: return 48;
    case 0x30:
    case 0x32:
    case 0x35:
    case 0x37: return 192;
    case 0x60:
    case 0x70:
    case 0x72:
    case 0x75:
    case 0x80: return 64;
    default: return 128;
    }
}

/* There is one device. */
static inline int gpuGetMaxGflopsDeviceId() { return 0; }
static inline int gpuDeviceInit(int device) {
    checkCudaErrors(cudaSetDevice(device));
    return device;
}
/* Chooses the device that the command line names (-device=N). */
static inline int findCudaDevice(int argc, const char **argv) {
    return gpuDeviceInit(checkCmdLineFlag(argc, argv, "device") ? getCmdLineArgumentInt(argc, argv, "device") : 0);
}
static inline int findIntegratedGPU() { return -1; }
static inline bool checkCudaCapabilities(int major, int minor) {
    int has_major = 0, has_minor = 0;
    checkCudaErrors(cudaDeviceGetAttribute(&has_major, cudaDevAttrComputeCapabilityMajor, 0));
    checkCudaErrors(cudaDeviceGetAttribute(&has_minor, cudaDevAttrComputeCapabilityMinor, 0));
    return has_major > major || (has_major == major && has_minor >= minor);
}

#endif
