/* cuda_runtime_api: the run-time calls of CUDA that the mini-GPU serves, for C and C++. Names, numbers and layouts are
 * those of CUDA 12, so that programs which nvcc has compiled find what they expect. docs/cuda.md lists what is there.
 */
#ifndef MINIGPU_CUDA_RUNTIME_API_H
#define MINIGPU_CUDA_RUNTIME_API_H

#include <stddef.h>

#include "cuda_attributes.h"
#include "cuda_errors.h"
#include "host_defines.h"
#include "vector_types.h"

/* Programs ask for these names to learn which headers stand before theirs. */
#define __DRIVER_TYPES_H__
#define __CUDA_RUNTIME_API_H__
#define __VECTOR_TYPES_H__

#define CUDART_VERSION 12000
#define __CUDART_API_VERSION CUDART_VERSION

#ifdef __cplusplus
extern "C" {
#endif

typedef enum cudaError {
#define MINIGPU_ERROR(name, number, text) name = number,
    MINIGPU_CUDA_ERRORS(MINIGPU_ERROR)
#undef MINIGPU_ERROR
} cudaError;
typedef cudaError cudaError_t;

/* ---- kinds and flags ---- */

typedef enum cudaMemcpyKind {
    cudaMemcpyHostToHost = 0,
    cudaMemcpyHostToDevice = 1,
    cudaMemcpyDeviceToHost = 2,
    cudaMemcpyDeviceToDevice = 3,
    cudaMemcpyDefault = 4
} cudaMemcpyKind;
typedef enum cudaMemoryType {
    cudaMemoryTypeUnregistered = 0,
    cudaMemoryTypeHost = 1,
    cudaMemoryTypeDevice = 2,
    cudaMemoryTypeManaged = 3
} cudaMemoryType;
typedef enum cudaFuncCache {
    cudaFuncCachePreferNone,
    cudaFuncCachePreferShared,
    cudaFuncCachePreferL1,
    cudaFuncCachePreferEqual
} cudaFuncCache;
typedef enum cudaSharedMemConfig {
    cudaSharedMemBankSizeDefault,
    cudaSharedMemBankSizeFourByte,
    cudaSharedMemBankSizeEightByte
} cudaSharedMemConfig;
typedef enum cudaLimit {
    cudaLimitStackSize = 0,
    cudaLimitPrintfFifoSize = 1,
    cudaLimitMallocHeapSize = 2,
    cudaLimitDevRuntimeSyncDepth = 3,
    cudaLimitDevRuntimePendingLaunchCount = 4,
    cudaLimitMaxL2FetchGranularity = 5,
    cudaLimitPersistingL2CacheSize = 6
} cudaLimit;
typedef enum cudaFuncAttribute {
    cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
    cudaFuncAttributePreferredSharedMemoryCarveout = 9,
    cudaFuncAttributeMax
} cudaFuncAttribute;
typedef enum cudaSharedCarveout {
    cudaSharedmemCarveoutDefault = -1,
    cudaSharedmemCarveoutMaxShared = 100,
    cudaSharedmemCarveoutMaxL1 = 0
} cudaSharedCarveout;
typedef enum cudaComputeMode {
    cudaComputeModeDefault,
    cudaComputeModeExclusive,
    cudaComputeModeProhibited,
    cudaComputeModeExclusiveProcess
} cudaComputeMode;
typedef enum cudaMemoryAdvise {
    cudaMemAdviseSetReadMostly = 1,
    cudaMemAdviseUnsetReadMostly = 2,
    cudaMemAdviseSetPreferredLocation = 3,
    cudaMemAdviseUnsetPreferredLocation = 4,
    cudaMemAdviseSetAccessedBy = 5,
    cudaMemAdviseUnsetAccessedBy = 6
} cudaMemoryAdvise;
typedef enum cudaChannelFormatKind {
    cudaChannelFormatKindSigned = 0,
    cudaChannelFormatKindUnsigned = 1,
    cudaChannelFormatKindFloat = 2,
    cudaChannelFormatKindNone = 3
} cudaChannelFormatKind;
typedef enum cudaResourceType {
    cudaResourceTypeArray = 0,
    cudaResourceTypeMipmappedArray = 1,
    cudaResourceTypeLinear = 2,
    cudaResourceTypePitch2D = 3
} cudaResourceType;
typedef enum cudaTextureAddressMode {
    cudaAddressModeWrap,
    cudaAddressModeClamp,
    cudaAddressModeMirror,
    cudaAddressModeBorder
} cudaTextureAddressMode;
typedef enum cudaTextureFilterMode { cudaFilterModePoint, cudaFilterModeLinear } cudaTextureFilterMode;
typedef enum cudaTextureReadMode { cudaReadModeElementType, cudaReadModeNormalizedFloat } cudaTextureReadMode;
typedef enum cudaSurfaceBoundaryMode {
    cudaBoundaryModeZero,
    cudaBoundaryModeClamp,
    cudaBoundaryModeTrap
} cudaSurfaceBoundaryMode;
typedef enum cudaStreamCaptureMode {
    cudaStreamCaptureModeGlobal,
    cudaStreamCaptureModeThreadLocal,
    cudaStreamCaptureModeRelaxed
} cudaStreamCaptureMode;
typedef enum cudaStreamCaptureStatus {
    cudaStreamCaptureStatusNone,
    cudaStreamCaptureStatusActive,
    cudaStreamCaptureStatusInvalidated
} cudaStreamCaptureStatus;

#define cudaHostAllocDefault 0x00
#define cudaHostAllocPortable 0x01
#define cudaHostAllocMapped 0x02
#define cudaHostAllocWriteCombined 0x04
#define cudaHostRegisterDefault 0x00
#define cudaHostRegisterPortable 0x01
#define cudaHostRegisterMapped 0x02
#define cudaMemAttachGlobal 0x01
#define cudaMemAttachHost 0x02
#define cudaMemAttachSingle 0x04
#define cudaEventDefault 0x00
#define cudaEventBlockingSync 0x01
#define cudaEventDisableTiming 0x02
#define cudaEventInterprocess 0x04
#define cudaEventRecordDefault 0x00
#define cudaEventWaitDefault 0x00
#define cudaStreamDefault 0x00
#define cudaStreamNonBlocking 0x01
#define cudaDeviceScheduleAuto 0x00
#define cudaDeviceScheduleSpin 0x01
#define cudaDeviceScheduleYield 0x02
#define cudaDeviceScheduleBlockingSync 0x04
#define cudaDeviceBlockingSync 0x04
#define cudaDeviceMapHost 0x08
#define cudaDeviceLmemResizeToMax 0x10
#define cudaOccupancyDefault 0x00
#define cudaOccupancyDisableCachingOverride 0x01
#define cudaCpuDeviceId ((int)-1)
#define cudaInvalidDeviceId ((int)-2)
#define cudaArrayDefault 0x00
#define cudaArrayLayered 0x01
#define cudaArraySurfaceLoadStore 0x02
#define cudaGraphInstantiateFlagAutoFreeOnLaunch 1
#define cudaTextureType1D 0x01
#define cudaTextureType2D 0x02
#define cudaTextureType3D 0x03
#define cudaTextureTypeCubemap 0x0C
#define cudaTextureType1DLayered 0xF1
#define cudaTextureType2DLayered 0xF2
#define cudaTextureTypeCubemapLayered 0xFC

/* ---- objects ---- */

typedef struct CUstream_st *cudaStream_t;
typedef struct CUevent_st *cudaEvent_t;
typedef struct cudaArray *cudaArray_t;
typedef const struct cudaArray *cudaArray_const_t;
typedef struct CUgraph_st *cudaGraph_t;
typedef struct CUgraphExec_st *cudaGraphExec_t;
typedef struct CUgraphNode_st *cudaGraphNode_t;
typedef struct CUmemPoolHandle_st *cudaMemPool_t;
typedef struct CUfunc_st *cudaFunction_t;
typedef struct CUkern_st *cudaKernel_t;
typedef unsigned long long cudaTextureObject_t;
typedef unsigned long long cudaSurfaceObject_t;
typedef void (*cudaHostFn_t)(void *user);
typedef void (*cudaStreamCallback_t)(cudaStream_t stream, cudaError_t status, void *user);
#define cudaStreamLegacy ((cudaStream_t)0x1)
#define cudaStreamPerThread ((cudaStream_t)0x2)

typedef struct cudaUUID_t {
    char bytes[16];
} cudaUUID_t;

/* The run-time library is compiled for programs of CUDA 12 and of CUDA 13, and the latter have fewer properties. */
#ifndef MINIGPU_CUDART
#define MINIGPU_CUDART 12
#endif
#if MINIGPU_CUDART < 13
#define MINIGPU_GONE_IN_13(field) field
#define cudaGetDeviceProperties cudaGetDeviceProperties_v2
#else
#define MINIGPU_GONE_IN_13(field)
#endif
typedef struct cudaDeviceProp {
    char name[256];
    cudaUUID_t uuid;
    char luid[8];
    unsigned int luidDeviceNodeMask;
    size_t totalGlobalMem;
    size_t sharedMemPerBlock;
    int regsPerBlock;
    int warpSize;
    size_t memPitch;
    int maxThreadsPerBlock;
    int maxThreadsDim[3];
    int maxGridSize[3];
    MINIGPU_GONE_IN_13(int clockRate;)
    size_t totalConstMem;
    int major;
    int minor;
    size_t textureAlignment;
    size_t texturePitchAlignment;
    MINIGPU_GONE_IN_13(int deviceOverlap;)
    int multiProcessorCount;
    MINIGPU_GONE_IN_13(int kernelExecTimeoutEnabled;)
    int integrated;
    int canMapHostMemory;
    MINIGPU_GONE_IN_13(int computeMode;)
    int maxTexture1D;
    int maxTexture1DMipmap;
    MINIGPU_GONE_IN_13(int maxTexture1DLinear;)
    int maxTexture2D[2];
    int maxTexture2DMipmap[2];
    int maxTexture2DLinear[3];
    int maxTexture2DGather[2];
    int maxTexture3D[3];
    int maxTexture3DAlt[3];
    int maxTextureCubemap;
    int maxTexture1DLayered[2];
    int maxTexture2DLayered[3];
    int maxTextureCubemapLayered[2];
    int maxSurface1D;
    int maxSurface2D[2];
    int maxSurface3D[3];
    int maxSurface1DLayered[2];
    int maxSurface2DLayered[3];
    int maxSurfaceCubemap;
    int maxSurfaceCubemapLayered[2];
    size_t surfaceAlignment;
    int concurrentKernels;
    int ECCEnabled;
    int pciBusID;
    int pciDeviceID;
    int pciDomainID;
    int tccDriver;
    int asyncEngineCount;
    int unifiedAddressing;
    MINIGPU_GONE_IN_13(int memoryClockRate;)
    int memoryBusWidth;
    int l2CacheSize;
    int persistingL2CacheMaxSize;
    int maxThreadsPerMultiProcessor;
    int streamPrioritiesSupported;
    int globalL1CacheSupported;
    int localL1CacheSupported;
    size_t sharedMemPerMultiprocessor;
    int regsPerMultiprocessor;
    int managedMemory;
    int isMultiGpuBoard;
    int multiGpuBoardGroupID;
    int hostNativeAtomicSupported;
    MINIGPU_GONE_IN_13(int singleToDoublePrecisionPerfRatio;)
    int pageableMemoryAccess;
    int concurrentManagedAccess;
    int computePreemptionSupported;
    int canUseHostPointerForRegisteredMem;
    int cooperativeLaunch;
    MINIGPU_GONE_IN_13(int cooperativeMultiDeviceLaunch;)
    size_t sharedMemPerBlockOptin;
    int pageableMemoryAccessUsesHostPageTables;
    int directManagedMemAccessFromHost;
    int maxBlocksPerMultiProcessor;
    int accessPolicyMaxWindowSize;
    size_t reservedSharedMemPerBlock;
    int hostRegisterSupported;
    int sparseCudaArraySupported;
    int hostRegisterReadOnlySupported;
    int timelineSemaphoreInteropSupported;
    int memoryPoolsSupported;
    int gpuDirectRDMASupported;
    unsigned int gpuDirectRDMAFlushWritesOptions;
    int gpuDirectRDMAWritesOrdering;
    unsigned int memoryPoolSupportedHandleTypes;
    int deferredMappingCudaArraySupported;
    int ipcEventSupported;
    int clusterLaunch;
    int unifiedFunctionPointers;
    int reserved2[2];
    int reserved1[1];
    int reserved[60];
} cudaDeviceProp;

typedef struct cudaFuncAttributes {
    size_t sharedSizeBytes;
    size_t constSizeBytes;
    size_t localSizeBytes;
    int maxThreadsPerBlock;
    int numRegs;
    int ptxVersion;
    int binaryVersion;
    int cacheModeCA;
    int maxDynamicSharedSizeBytes;
    int preferredShmemCarveout;
    int clusterDimMustBeSet;
    int requiredClusterWidth;
    int requiredClusterHeight;
    int requiredClusterDepth;
    int clusterSchedulingPolicyPreference;
    int nonPortableClusterSizeAllowed;
    int reserved[16];
} cudaFuncAttributes;

typedef struct cudaPointerAttributes {
    cudaMemoryType type;
    int device;
    void *devicePointer;
    void *hostPointer;
} cudaPointerAttributes;

typedef struct cudaPitchedPtr {
    void *ptr;
    size_t pitch, xsize, ysize;
} cudaPitchedPtr;
typedef struct cudaExtent {
    size_t width, height, depth;
} cudaExtent;
typedef struct cudaPos {
    size_t x, y, z;
} cudaPos;
typedef struct cudaMemcpy3DParms {
    cudaArray_t srcArray;
    cudaPos srcPos;
    cudaPitchedPtr srcPtr;
    cudaArray_t dstArray;
    cudaPos dstPos;
    cudaPitchedPtr dstPtr;
    cudaExtent extent;
    cudaMemcpyKind kind;
} cudaMemcpy3DParms;

typedef struct cudaChannelFormatDesc {
    int x, y, z, w;
    cudaChannelFormatKind f;
} cudaChannelFormatDesc;
typedef struct cudaResourceDesc {
    cudaResourceType resType;
    union {
        struct {
            cudaArray_t array;
        } array;
        struct {
            void *devPtr;
            cudaChannelFormatDesc desc;
            size_t sizeInBytes;
        } linear;
        struct {
            void *devPtr;
            cudaChannelFormatDesc desc;
            size_t width, height, pitchInBytes;
        } pitch2D;
        struct {
            int reserved[32];
        } reserved;
    } res;
    unsigned int flags;
} cudaResourceDesc;
typedef struct cudaTextureDesc {
    cudaTextureAddressMode addressMode[3];
    cudaTextureFilterMode filterMode;
    cudaTextureReadMode readMode;
    int sRGB;
    float borderColor[4];
    int normalizedCoords;
    unsigned int maxAnisotropy;
    cudaTextureFilterMode mipmapFilterMode;
    float mipmapLevelBias, minMipmapLevelClamp, maxMipmapLevelClamp;
    int disableTrilinearOptimization;
    int seamlessCubemap;
} cudaTextureDesc;
/* A texture reference, by which older programs name a texture. */
struct textureReference {
    int normalized;
    cudaTextureFilterMode filterMode;
    cudaTextureAddressMode addressMode[3];
    cudaChannelFormatDesc channelDesc;
    int sRGB;
    unsigned int maxAnisotropy;
    cudaTextureFilterMode mipmapFilterMode;
    float mipmapLevelBias, minMipmapLevelClamp, maxMipmapLevelClamp;
    int disableTrilinearOptimization;
};
typedef struct cudaResourceViewDesc {
    int format;
    size_t width, height, depth;
    unsigned int firstMipmapLevel, lastMipmapLevel, firstLayer, lastLayer;
} cudaResourceViewDesc;

/* ---- places of memory, memory pools ---- */

typedef enum cudaMemLocationType {
    cudaMemLocationTypeInvalid = 0,
    cudaMemLocationTypeDevice = 1,
    cudaMemLocationTypeHost = 2,
    cudaMemLocationTypeHostNuma = 3,
    cudaMemLocationTypeHostNumaCurrent = 4
} cudaMemLocationType;
typedef struct cudaMemLocation {
    cudaMemLocationType type;
    int id;
} cudaMemLocation;
typedef enum cudaMemAllocationType {
    cudaMemAllocationTypeInvalid = 0,
    cudaMemAllocationTypePinned = 1
} cudaMemAllocationType;
typedef enum cudaMemAllocationHandleType {
    cudaMemHandleTypeNone = 0,
    cudaMemHandleTypePosixFileDescriptor = 1
} cudaMemAllocationHandleType;
typedef enum cudaMemAccessFlags {
    cudaMemAccessFlagsProtNone = 0,
    cudaMemAccessFlagsProtRead = 1,
    cudaMemAccessFlagsProtReadWrite = 3
} cudaMemAccessFlags;
typedef enum cudaMemPoolAttr {
    cudaMemPoolReuseFollowEventDependencies = 1,
    cudaMemPoolReuseAllowOpportunistic = 2,
    cudaMemPoolReuseAllowInternalDependencies = 3,
    cudaMemPoolAttrReleaseThreshold = 4,
    cudaMemPoolAttrReservedMemCurrent = 5,
    cudaMemPoolAttrReservedMemHigh = 6,
    cudaMemPoolAttrUsedMemCurrent = 7,
    cudaMemPoolAttrUsedMemHigh = 8
} cudaMemPoolAttr;
typedef enum cudaGraphMemAttributeType {
    cudaGraphMemAttrUsedMemCurrent = 0,
    cudaGraphMemAttrUsedMemHigh = 1,
    cudaGraphMemAttrReservedMemCurrent = 2,
    cudaGraphMemAttrReservedMemHigh = 3
} cudaGraphMemAttributeType;
typedef struct cudaMemAccessDesc {
    cudaMemLocation location;
    cudaMemAccessFlags flags;
} cudaMemAccessDesc;
typedef struct cudaMemPoolProps {
    cudaMemAllocationType allocType;
    cudaMemAllocationHandleType handleTypes;
    cudaMemLocation location;
    void *win32SecurityAttributes;
    size_t maxSize;
    unsigned short usage;
    unsigned char reserved[54];
} cudaMemPoolProps;

/* ---- nodes of graphs ---- */

typedef enum cudaGraphNodeType {
    cudaGraphNodeTypeKernel = 0,
    cudaGraphNodeTypeMemcpy = 1,
    cudaGraphNodeTypeMemset = 2,
    cudaGraphNodeTypeHost = 3,
    cudaGraphNodeTypeGraph = 4,
    cudaGraphNodeTypeEmpty = 5,
    cudaGraphNodeTypeWaitEvent = 6,
    cudaGraphNodeTypeEventRecord = 7,
    cudaGraphNodeTypeMemAlloc = 10,
    cudaGraphNodeTypeMemFree = 11
} cudaGraphNodeType;
typedef enum cudaGraphExecUpdateResult {
    cudaGraphExecUpdateSuccess = 0,
    cudaGraphExecUpdateError = 1,
    cudaGraphExecUpdateErrorTopologyChanged = 2,
    cudaGraphExecUpdateErrorNodeTypeChanged = 3,
    cudaGraphExecUpdateErrorFunctionChanged = 4,
    cudaGraphExecUpdateErrorParametersChanged = 5,
    cudaGraphExecUpdateErrorNotSupported = 6
} cudaGraphExecUpdateResult;
typedef struct cudaGraphExecUpdateResultInfo {
    cudaGraphExecUpdateResult result;
    cudaGraphNode_t errorNode, errorFromNode;
} cudaGraphExecUpdateResultInfo;
typedef struct cudaKernelNodeParams {
    void *func;
    dim3 gridDim, blockDim;
    unsigned int sharedMemBytes;
    void **kernelParams, **extra;
} cudaKernelNodeParams;
typedef struct cudaMemsetParams {
    void *dst;
    size_t pitch;
    unsigned int value, elementSize;
    size_t width, height;
} cudaMemsetParams;
typedef struct cudaHostNodeParams {
    cudaHostFn_t fn;
    void *userData;
} cudaHostNodeParams;
typedef struct cudaMemAllocNodeParams {
    cudaMemPoolProps poolProps;
    const cudaMemAccessDesc *accessDescs;
    size_t accessDescCount, bytesize;
    void *dptr;
} cudaMemAllocNodeParams;
/* What a launch may ask for beyond its sizes. Only the names with a meaning here have fields in the value. */
typedef enum cudaLaunchAttributeID {
    cudaLaunchAttributeIgnore,
    cudaLaunchAttributeAccessPolicyWindow,
    cudaLaunchAttributeCooperative,
    cudaLaunchAttributeSynchronizationPolicy,
    cudaLaunchAttributeClusterDimension,
    cudaLaunchAttributeClusterSchedulingPolicyPreference,
    cudaLaunchAttributeProgrammaticStreamSerialization,
    cudaLaunchAttributeProgrammaticEvent,
    cudaLaunchAttributePriority,
    cudaLaunchAttributeMemSyncDomainMap,
    cudaLaunchAttributeMemSyncDomain,
    cudaLaunchAttributePreferredClusterDimension,
    cudaLaunchAttributeLaunchCompletionEvent,
    cudaLaunchAttributeDeviceUpdatableKernelNode,
    cudaLaunchAttributePreferredSharedMemoryCarveout
} cudaLaunchAttributeID;
typedef union cudaLaunchAttributeValue {
    char pad[64];
    int cooperative;
    struct {
        unsigned int x, y, z;
    } clusterDim; /* blocks of a cluster; only 1 1 1 is there */
    int programmaticStreamSerializationAllowed;
    int priority; /* as of a stream: the lower number goes first */
    unsigned int sharedMemCarveout;
} cudaLaunchAttributeValue;
typedef struct cudaLaunchAttribute_st {
    cudaLaunchAttributeID id;
    char pad[8 - sizeof(cudaLaunchAttributeID)];
    cudaLaunchAttributeValue val;
} cudaLaunchAttribute;
typedef struct cudaLaunchConfig_st {
    dim3 gridDim, blockDim;
    size_t dynamicSmemBytes;
    cudaStream_t stream;
    cudaLaunchAttribute *attrs;
    unsigned int numAttrs;
} cudaLaunchConfig_t;
typedef struct cudaGraphEdgeData { /* all zero: a node begins when the other one has ended */
    unsigned char from_port, to_port, type, reserved[5];
} cudaGraphEdgeData;

/* ---- devices ---- */

extern cudaError_t cudaGetDeviceCount(int *count);
extern cudaError_t cudaGetDevice(int *device);
extern cudaError_t cudaSetDevice(int device);
extern cudaError_t cudaInitDevice(int device, unsigned int device_flags, unsigned int flags);
extern cudaError_t cudaSetValidDevices(int *devices, int count);
extern cudaError_t cudaSetDeviceFlags(unsigned int flags);
extern cudaError_t cudaGetDeviceFlags(unsigned int *flags);
extern cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int device);
extern cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int device);
extern cudaError_t cudaChooseDevice(int *device, const cudaDeviceProp *properties);
extern cudaError_t cudaDeviceSynchronize(void);
extern cudaError_t cudaThreadSynchronize(void);
extern cudaError_t cudaThreadExit(void);
extern cudaError_t cudaDeviceReset(void);
extern cudaError_t cudaDeviceSetLimit(cudaLimit limit, size_t value);
extern cudaError_t cudaDeviceGetLimit(size_t *value, cudaLimit limit);
extern cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache config);
extern cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache *config);
extern cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig config);
extern cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig *config);
extern cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest);
extern cudaError_t cudaDeviceGetPCIBusId(char *text, int length, int device);
extern cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer);
extern cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned int flags);
extern cudaError_t cudaDeviceDisablePeerAccess(int peer);
extern cudaError_t cudaDriverGetVersion(int *version);
extern cudaError_t cudaRuntimeGetVersion(int *version);
extern cudaError_t cudaProfilerStart(void);
extern cudaError_t cudaProfilerStop(void);

/* ---- errors ---- */

extern cudaError_t cudaGetLastError(void);
extern cudaError_t cudaPeekAtLastError(void);
extern const char *cudaGetErrorName(cudaError_t error);
extern const char *cudaGetErrorString(cudaError_t error);

/* ---- memory ---- */

extern cudaError_t cudaMalloc(void **pointer, size_t bytes);
extern cudaError_t cudaMallocHost(void **pointer, size_t bytes);
extern cudaError_t cudaMallocManaged(void **pointer, size_t bytes, unsigned int flags __dv(cudaMemAttachGlobal));
extern cudaError_t cudaMallocPitch(void **pointer, size_t *pitch, size_t width, size_t height);
extern cudaError_t cudaMalloc3D(cudaPitchedPtr *pointer, cudaExtent extent);
extern cudaError_t cudaMallocAsync(void **pointer, size_t bytes, cudaStream_t stream);
extern cudaError_t cudaMallocFromPoolAsync(void **pointer, size_t bytes, cudaMemPool_t pool, cudaStream_t stream);
extern cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int device);
extern cudaError_t cudaDeviceGetMemPool(cudaMemPool_t *pool, int device);
extern cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool);
extern cudaError_t cudaMemPoolCreate(cudaMemPool_t *pool, const cudaMemPoolProps *properties);
extern cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool);
extern cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void *value);
extern cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void *value);
extern cudaError_t cudaMemPoolGetAccess(cudaMemAccessFlags *flags, cudaMemPool_t pool, cudaMemLocation *location);
extern cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc *access, size_t count);
extern cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t bytes);
extern cudaError_t cudaDeviceGetGraphMemAttribute(int device, cudaGraphMemAttributeType attribute, void *value);
extern cudaError_t cudaDeviceGraphMemTrim(int device);
extern cudaError_t cudaMallocArray(cudaArray_t *array, const cudaChannelFormatDesc *desc, size_t width,
                                   size_t height __dv(0), unsigned int flags __dv(0));
extern cudaError_t cudaMalloc3DArray(cudaArray_t *array, const cudaChannelFormatDesc *desc, cudaExtent extent,
                                     unsigned int flags __dv(0));
extern cudaError_t cudaHostAlloc(void **pointer, size_t bytes, unsigned int flags);
extern cudaError_t cudaHostRegister(void *pointer, size_t bytes, unsigned int flags);
extern cudaError_t cudaHostUnregister(void *pointer);
extern cudaError_t cudaHostGetDevicePointer(void **device, void *host, unsigned int flags);
extern cudaError_t cudaHostGetFlags(unsigned int *flags, void *host);
extern cudaError_t cudaFree(void *pointer);
extern cudaError_t cudaFreeHost(void *pointer);
extern cudaError_t cudaFreeAsync(void *pointer, cudaStream_t stream);
extern cudaError_t cudaFreeArray(cudaArray_t array);
extern cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total_bytes);
extern cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *attributes, const void *pointer);
extern cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind);
extern cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind,
                                   cudaStream_t stream __dv(0));
extern cudaError_t cudaMemcpyPeer(void *to, int to_device, const void *from, int from_device, size_t bytes);
extern cudaError_t cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device, size_t bytes,
                                       cudaStream_t stream __dv(0));
extern cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                                size_t height, cudaMemcpyKind kind);
extern cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                                     size_t height, cudaMemcpyKind kind, cudaStream_t stream __dv(0));
extern cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms *p);
extern cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms *p, cudaStream_t stream __dv(0));
extern cudaError_t cudaMemcpyToArray(cudaArray_t to, size_t x, size_t y, const void *from, size_t bytes,
                                     cudaMemcpyKind kind);
extern cudaError_t cudaMemcpyFromArray(void *to, cudaArray_const_t from, size_t x, size_t y, size_t bytes,
                                       cudaMemcpyKind kind);
extern cudaError_t cudaMemcpy2DToArray(cudaArray_t to, size_t x, size_t y, const void *from, size_t pitch, size_t width,
                                       size_t height, cudaMemcpyKind kind);
extern cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t to, size_t x, size_t y, const void *from, size_t pitch,
                                            size_t width, size_t height, cudaMemcpyKind kind,
                                            cudaStream_t stream __dv(0));
extern cudaError_t cudaMemcpy2DFromArray(void *to, size_t pitch, cudaArray_const_t from, size_t x, size_t y,
                                         size_t width, size_t height, cudaMemcpyKind kind);
extern cudaError_t cudaMemcpyToSymbol(const void *symbol, const void *from, size_t bytes, size_t offset __dv(0),
                                      cudaMemcpyKind kind __dv(cudaMemcpyHostToDevice));
extern cudaError_t cudaMemcpyToSymbolAsync(const void *symbol, const void *from, size_t bytes, size_t offset,
                                           cudaMemcpyKind kind, cudaStream_t stream __dv(0));
extern cudaError_t cudaMemcpyFromSymbol(void *to, const void *symbol, size_t bytes, size_t offset __dv(0),
                                        cudaMemcpyKind kind __dv(cudaMemcpyDeviceToHost));
extern cudaError_t cudaMemcpyFromSymbolAsync(void *to, const void *symbol, size_t bytes, size_t offset,
                                             cudaMemcpyKind kind, cudaStream_t stream __dv(0));
extern cudaError_t cudaGetSymbolAddress(void **pointer, const void *symbol);
extern cudaError_t cudaGetSymbolSize(size_t *bytes, const void *symbol);
extern cudaError_t cudaMemset(void *to, int value, size_t bytes);
extern cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t stream __dv(0));
extern cudaError_t cudaMemset2D(void *to, size_t pitch, int value, size_t width, size_t height);
extern cudaError_t cudaMemset2DAsync(void *to, size_t pitch, int value, size_t width, size_t height,
                                     cudaStream_t stream __dv(0));
extern cudaError_t cudaMemset3D(cudaPitchedPtr to, int value, cudaExtent extent);
extern cudaError_t cudaMemset3DAsync(cudaPitchedPtr to, int value, cudaExtent extent, cudaStream_t stream __dv(0));
extern cudaError_t cudaMemPrefetchAsync(const void *pointer, size_t bytes, int device, cudaStream_t stream __dv(0));
extern cudaError_t cudaMemAdvise(const void *pointer, size_t bytes, cudaMemoryAdvise advice, int device);
extern cudaError_t cudaMemPrefetchAsync_v2(const void *pointer, size_t bytes, cudaMemLocation to, unsigned int flags,
                                           cudaStream_t stream);
extern cudaError_t cudaMemAdvise_v2(const void *pointer, size_t bytes, cudaMemoryAdvise advice, cudaMemLocation at);
extern cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void *pointer, size_t bytes __dv(0),
                                            unsigned int flags __dv(cudaMemAttachSingle));

/* ---- launches ---- */

extern cudaError_t cudaLaunchKernel(const void *function, dim3 grid, dim3 block, void **arguments, size_t shared_bytes,
                                    cudaStream_t stream);
extern cudaError_t cudaLaunchCooperativeKernel(const void *function, dim3 grid, dim3 block, void **arguments,
                                               size_t shared_bytes, cudaStream_t stream);
extern cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *function, void **arguments);
extern cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void *user);
extern cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes, const void *function);
extern cudaError_t cudaFuncSetAttribute(const void *function, cudaFuncAttribute attribute, int value);
extern cudaError_t cudaFuncSetCacheConfig(const void *function, cudaFuncCache config);
extern cudaError_t cudaFuncSetSharedMemConfig(const void *function, cudaSharedMemConfig config);
extern cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *function, int block_threads,
                                                                 size_t shared_bytes);
extern cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, const void *function,
                                                                          int block_threads, size_t shared_bytes,
                                                                          unsigned int flags);
extern unsigned int __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes __dv(0),
                                                cudaStream_t stream __dv(0));
extern cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared_bytes, void *stream);

/* ---- streams and events ---- */

extern cudaError_t cudaStreamCreate(cudaStream_t *stream);
extern cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned int flags);
extern cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned int flags, int priority);
extern cudaError_t cudaStreamDestroy(cudaStream_t stream);
extern cudaError_t cudaStreamGetPriority(cudaStream_t stream, int *priority);
extern cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned int *flags);
extern cudaError_t cudaStreamSynchronize(cudaStream_t stream);
extern cudaError_t cudaStreamQuery(cudaStream_t stream);
extern cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags __dv(0));
extern cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t function, void *user,
                                         unsigned int flags);
extern cudaError_t cudaEventCreate(cudaEvent_t *event);
extern cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned int flags);
extern cudaError_t cudaEventDestroy(cudaEvent_t event);
extern cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream __dv(0));
extern cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream __dv(0), unsigned int flags __dv(0));
extern cudaError_t cudaEventQuery(cudaEvent_t event);
extern cudaError_t cudaEventSynchronize(cudaEvent_t event);
extern cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t from, cudaEvent_t to);
extern cudaError_t cudaEventElapsedTime_v2(float *milliseconds, cudaEvent_t from, cudaEvent_t to);

/* ---- textures and surfaces ---- */

extern cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, cudaChannelFormatKind f);
extern cudaError_t cudaGetChannelDesc(cudaChannelFormatDesc *desc, cudaArray_const_t array);
extern cudaError_t cudaCreateTextureObject(cudaTextureObject_t *object, const cudaResourceDesc *resource,
                                           const cudaTextureDesc *texture, const cudaResourceViewDesc *view);
extern cudaError_t cudaDestroyTextureObject(cudaTextureObject_t object);
extern cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t *object, const cudaResourceDesc *resource);
extern cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t object);
extern cudaError_t cudaBindTexture(size_t *offset, const struct textureReference *texture, const void *pointer,
                                   const cudaChannelFormatDesc *desc, size_t bytes);
extern cudaError_t cudaBindTexture2D(size_t *offset, const struct textureReference *texture, const void *pointer,
                                     const cudaChannelFormatDesc *desc, size_t width, size_t height, size_t pitch);
extern cudaError_t cudaBindTextureToArray(const struct textureReference *texture, cudaArray_const_t array,
                                          const cudaChannelFormatDesc *desc);
extern cudaError_t cudaUnbindTexture(const struct textureReference *texture);
extern cudaError_t cudaGetTextureAlignmentOffset(size_t *offset, const struct textureReference *texture);

/* ---- graphs ---- */

extern cudaError_t cudaGraphCreate(cudaGraph_t *graph, unsigned int flags);
extern cudaError_t cudaGraphClone(cudaGraph_t *clone, cudaGraph_t graph);
extern cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *on,
                                          size_t count, const cudaKernelNodeParams *p);
extern cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const cudaKernelNodeParams *p);
extern cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                                    const cudaKernelNodeParams *p);
extern cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *on,
                                          size_t count, const cudaMemcpy3DParms *p);
extern cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node, const cudaMemcpy3DParms *p);
extern cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                                    const cudaMemcpy3DParms *p);
extern cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *on,
                                          size_t count, const cudaMemsetParams *p);
extern cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t node, const cudaMemsetParams *p);
extern cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                                    const cudaMemsetParams *p);
extern cudaError_t cudaGraphAddHostNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *on,
                                        size_t count, const cudaHostNodeParams *p);
extern cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t node, const cudaHostNodeParams *p);
extern cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                                  const cudaHostNodeParams *p);
extern cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *on,
                                            size_t count, void *to, const void *from, size_t bytes,
                                            cudaMemcpyKind kind);
extern cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void *to, const void *from, size_t bytes,
                                                  cudaMemcpyKind kind);
extern cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t executable, cudaGraphNode_t node, void *to,
                                                      const void *from, size_t bytes, cudaMemcpyKind kind);
extern cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *on,
                                         size_t count);
extern cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *on,
                                            size_t count, cudaMemAllocNodeParams *p);
extern cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *on,
                                           size_t count, void *pointer);
extern cudaError_t cudaGraphAddDependencies_v2(cudaGraph_t graph, const cudaGraphNode_t *from,
                                               const cudaGraphNode_t *to, const cudaGraphEdgeData *edges, size_t count);
#if MINIGPU_CUDART < 13
extern cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
                                            size_t count);
#else
extern cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
                                            const cudaGraphEdgeData *edges, size_t count);
#endif
extern cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType *type);
extern cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t *found, cudaGraphNode_t node, cudaGraph_t clone);
extern cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count);
extern cudaError_t cudaGraphExecUpdate(cudaGraphExec_t executable, cudaGraph_t graph,
                                       cudaGraphExecUpdateResultInfo *info);
extern cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode);
extern cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph);
extern cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus *status);
extern cudaError_t cudaGraphInstantiate(cudaGraphExec_t *executable, cudaGraph_t graph,
                                        unsigned long long flags __dv(0));
extern cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *executable, cudaGraph_t graph,
                                                 unsigned long long flags __dv(0));
extern cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream);
extern cudaError_t cudaGraphUpload(cudaGraphExec_t executable, cudaStream_t stream);
extern cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count);
extern cudaError_t cudaGraphDestroy(cudaGraph_t graph);
extern cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable);

#ifdef __cplusplus
}
#endif

static inline cudaPitchedPtr make_cudaPitchedPtr(void *pointer, size_t pitch, size_t width, size_t height) {
    cudaPitchedPtr p;
    p.ptr = pointer, p.pitch = pitch, p.xsize = width, p.ysize = height;
    return p;
}
static inline cudaExtent make_cudaExtent(size_t width, size_t height, size_t depth) {
    cudaExtent e;
    e.width = width, e.height = height, e.depth = depth;
    return e;
}
static inline cudaPos make_cudaPos(size_t x, size_t y, size_t z) {
    cudaPos p;
    p.x = x, p.y = y, p.z = z;
    return p;
}

#endif
