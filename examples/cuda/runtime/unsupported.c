/* unsupported: calls of the run-time library that are not there. Each is a symbol, so that programs link; it says its
 * name once and returns cudaErrorNotSupported (runtime.h). */
#define _GNU_SOURCE
#include "runtime.h"

/* clang-format off */
#define UNSUPPORTED(X) \
    X(__cudaGetProcAddress) \
    X(cudaArrayGetInfo) \
    X(cudaArrayGetMemoryRequirements) \
    X(cudaArrayGetPlane) \
    X(cudaArrayGetSparseProperties) \
    X(cudaCtxResetPersistingL2Cache) \
    X(cudaDestroyExternalMemory) \
    X(cudaDestroyExternalSemaphore) \
    X(cudaDeviceFlushGPUDirectRDMAWrites) \
    X(cudaDeviceGetByPCIBusId) \
    X(cudaDeviceGetHostAtomicCapabilities) \
    X(cudaDeviceGetNvSciSyncAttributes) \
    X(cudaDeviceGetP2PAtomicCapabilities) \
    X(cudaDeviceGetP2PAttribute) \
    X(cudaDeviceGetTexture1DLinearMaxWidth) \
    X(cudaDeviceRegisterAsyncNotification) \
    X(cudaDeviceSetGraphMemAttribute) \
    X(cudaDeviceUnregisterAsyncNotification) \
    X(cudaEGLStreamConsumerAcquireFrame) \
    X(cudaEGLStreamConsumerConnect) \
    X(cudaEGLStreamConsumerConnectWithFlags) \
    X(cudaEGLStreamConsumerDisconnect) \
    X(cudaEGLStreamConsumerReleaseFrame) \
    X(cudaEGLStreamProducerConnect) \
    X(cudaEGLStreamProducerDisconnect) \
    X(cudaEGLStreamProducerPresentFrame) \
    X(cudaEGLStreamProducerReturnFrame) \
    X(cudaEventCreateFromEGLSync) \
    X(cudaExternalMemoryGetMappedBuffer) \
    X(cudaExternalMemoryGetMappedMipmappedArray) \
    X(cudaFreeMipmappedArray) \
    X(cudaFuncGetName) \
    X(cudaFuncGetParamInfo) \
    X(cudaGLGetDevices) \
    X(cudaGLMapBufferObject) \
    X(cudaGLMapBufferObjectAsync) \
    X(cudaGLRegisterBufferObject) \
    X(cudaGLSetBufferObjectMapFlags) \
    X(cudaGLSetGLDevice) \
    X(cudaGLUnmapBufferObject) \
    X(cudaGLUnmapBufferObjectAsync) \
    X(cudaGLUnregisterBufferObject) \
    X(cudaGetDriverEntryPoint) \
    X(cudaGetDriverEntryPointByVersion) \
    X(cudaGetDriverEntryPointByVersion_ptsz) \
    X(cudaGetDriverEntryPoint_ptsz) \
    X(cudaGetExportTable) \
    X(cudaGetMipmappedArrayLevel) \
    X(cudaGetSurfaceObjectResourceDesc) \
    X(cudaGetTextureObjectResourceDesc) \
    X(cudaGetTextureObjectResourceViewDesc) \
    X(cudaGetTextureObjectTextureDesc) \
    X(cudaGraphAddChildGraphNode) \
    X(cudaGraphAddEventRecordNode) \
    X(cudaGraphAddEventWaitNode) \
    X(cudaGraphAddExternalSemaphoresSignalNode) \
    X(cudaGraphAddExternalSemaphoresWaitNode) \
    X(cudaGraphAddMemcpyNodeFromSymbol) \
    X(cudaGraphAddMemcpyNodeToSymbol) \
    X(cudaGraphAddNode) \
    X(cudaGraphAddNode_v2) \
    X(cudaGraphChildGraphNodeGetGraph) \
    X(cudaGraphConditionalHandleCreate) \
    X(cudaGraphDebugDotPrint) \
    X(cudaGraphDestroyNode) \
    X(cudaGraphEventRecordNodeGetEvent) \
    X(cudaGraphEventRecordNodeSetEvent) \
    X(cudaGraphEventWaitNodeGetEvent) \
    X(cudaGraphEventWaitNodeSetEvent) \
    X(cudaGraphExecChildGraphNodeSetParams) \
    X(cudaGraphExecEventRecordNodeSetEvent) \
    X(cudaGraphExecEventWaitNodeSetEvent) \
    X(cudaGraphExecExternalSemaphoresSignalNodeSetParams) \
    X(cudaGraphExecExternalSemaphoresWaitNodeSetParams) \
    X(cudaGraphExecGetFlags) \
    X(cudaGraphExecMemcpyNodeSetParamsFromSymbol) \
    X(cudaGraphExecMemcpyNodeSetParamsToSymbol) \
    X(cudaGraphExecNodeSetParams) \
    X(cudaGraphExternalSemaphoresSignalNodeGetParams) \
    X(cudaGraphExternalSemaphoresSignalNodeSetParams) \
    X(cudaGraphExternalSemaphoresWaitNodeGetParams) \
    X(cudaGraphExternalSemaphoresWaitNodeSetParams) \
    X(cudaGraphGetEdges) \
    X(cudaGraphGetEdges_v2) \
    X(cudaGraphHostNodeGetParams) \
    X(cudaGraphInstantiateWithParams) \
    X(cudaGraphInstantiateWithParams_ptsz) \
    X(cudaGraphKernelNodeCopyAttributes) \
    X(cudaGraphKernelNodeGetAttribute) \
    X(cudaGraphKernelNodeGetParams) \
    X(cudaGraphKernelNodeSetAttribute) \
    X(cudaGraphMemAllocNodeGetParams) \
    X(cudaGraphMemFreeNodeGetParams) \
    X(cudaGraphMemcpyNodeGetParams) \
    X(cudaGraphMemcpyNodeSetParamsFromSymbol) \
    X(cudaGraphMemcpyNodeSetParamsToSymbol) \
    X(cudaGraphMemsetNodeGetParams) \
    X(cudaGraphNodeGetDependencies) \
    X(cudaGraphNodeGetDependencies_v2) \
    X(cudaGraphNodeGetDependentNodes) \
    X(cudaGraphNodeGetDependentNodes_v2) \
    X(cudaGraphNodeGetEnabled) \
    X(cudaGraphNodeSetEnabled) \
    X(cudaGraphNodeSetParams) \
    X(cudaGraphReleaseUserObject) \
    X(cudaGraphRemoveDependencies) \
    X(cudaGraphRemoveDependencies_v2) \
    X(cudaGraphRetainUserObject) \
    X(cudaGraphicsEGLRegisterImage) \
    X(cudaGraphicsGLRegisterBuffer) \
    X(cudaGraphicsGLRegisterImage) \
    X(cudaGraphicsMapResources) \
    X(cudaGraphicsResourceGetMappedEglFrame) \
    X(cudaGraphicsResourceGetMappedMipmappedArray) \
    X(cudaGraphicsResourceGetMappedPointer) \
    X(cudaGraphicsResourceSetMapFlags) \
    X(cudaGraphicsSubResourceGetMappedArray) \
    X(cudaGraphicsUnmapResources) \
    X(cudaGraphicsUnregisterResource) \
    X(cudaGraphicsVDPAURegisterOutputSurface) \
    X(cudaGraphicsVDPAURegisterVideoSurface) \
    X(cudaImportExternalMemory) \
    X(cudaImportExternalSemaphore) \
    X(cudaIpcCloseMemHandle) \
    X(cudaIpcGetEventHandle) \
    X(cudaIpcGetMemHandle) \
    X(cudaIpcOpenEventHandle) \
    X(cudaIpcOpenMemHandle) \
    X(cudaKernelSetAttributeForDevice) \
    X(cudaLaunchCooperativeKernelMultiDevice) \
    X(cudaLibraryEnumerateKernels) \
    X(cudaLibraryGetGlobal) \
    X(cudaLibraryGetKernel) \
    X(cudaLibraryGetKernelCount) \
    X(cudaLibraryGetManaged) \
    X(cudaLibraryGetUnifiedFunction) \
    X(cudaLibraryLoadData) \
    X(cudaLibraryLoadFromFile) \
    X(cudaLibraryUnload) \
    X(cudaLogsCurrent) \
    X(cudaLogsDumpToFile) \
    X(cudaLogsDumpToMemory) \
    X(cudaLogsRegisterCallback) \
    X(cudaLogsUnregisterCallback) \
    X(cudaMallocMipmappedArray) \
    X(cudaMemDiscardAndPrefetchBatchAsync) \
    X(cudaMemDiscardAndPrefetchBatchAsync_ptsz) \
    X(cudaMemDiscardBatchAsync) \
    X(cudaMemDiscardBatchAsync_ptsz) \
    X(cudaMemGetDefaultMemPool) \
    X(cudaMemGetMemPool) \
    X(cudaMemPoolExportPointer) \
    X(cudaMemPoolExportToShareableHandle) \
    X(cudaMemPoolImportFromShareableHandle) \
    X(cudaMemPoolImportPointer) \
    X(cudaMemPrefetchBatchAsync) \
    X(cudaMemPrefetchBatchAsync_ptsz) \
    X(cudaMemRangeGetAttribute) \
    X(cudaMemRangeGetAttributes) \
    X(cudaMemSetMemPool) \
    X(cudaMemcpy2DArrayToArray) \
    X(cudaMemcpy2DArrayToArray_ptds) \
    X(cudaMemcpy2DFromArrayAsync) \
    X(cudaMemcpy2DFromArrayAsync_ptsz) \
    X(cudaMemcpy3DBatchAsync) \
    X(cudaMemcpy3DBatchAsync_ptsz) \
    X(cudaMemcpy3DPeer) \
    X(cudaMemcpy3DPeerAsync) \
    X(cudaMemcpy3DPeerAsync_ptsz) \
    X(cudaMemcpy3DPeer_ptds) \
    X(cudaMemcpyArrayToArray) \
    X(cudaMemcpyArrayToArray_ptds) \
    X(cudaMemcpyBatchAsync) \
    X(cudaMemcpyBatchAsync_ptsz) \
    X(cudaMemcpyFromArrayAsync) \
    X(cudaMemcpyFromArrayAsync_ptsz) \
    X(cudaMemcpyToArrayAsync) \
    X(cudaMemcpyToArrayAsync_ptsz) \
    X(cudaMipmappedArrayGetMemoryRequirements) \
    X(cudaMipmappedArrayGetSparseProperties) \
    X(cudaOccupancyAvailableDynamicSMemPerBlock) \
    X(cudaOccupancyMaxActiveClusters) \
    X(cudaOccupancyMaxPotentialClusterSize) \
    X(cudaSetDoubleForDevice) \
    X(cudaSetDoubleForHost) \
    X(cudaSignalExternalSemaphoresAsync) \
    X(cudaSignalExternalSemaphoresAsync_ptsz) \
    X(cudaSignalExternalSemaphoresAsync_v2) \
    X(cudaSignalExternalSemaphoresAsync_v2_ptsz) \
    X(cudaStreamBeginCaptureToGraph) \
    X(cudaStreamBeginCaptureToGraph_ptsz) \
    X(cudaStreamCopyAttributes) \
    X(cudaStreamCopyAttributes_ptsz) \
    X(cudaStreamGetAttribute) \
    X(cudaStreamGetAttribute_ptsz) \
    X(cudaStreamGetCaptureInfo) \
    X(cudaStreamGetCaptureInfo_ptsz) \
    X(cudaStreamGetCaptureInfo_v2) \
    X(cudaStreamGetCaptureInfo_v2_ptsz) \
    X(cudaStreamGetCaptureInfo_v3) \
    X(cudaStreamGetCaptureInfo_v3_ptsz) \
    X(cudaStreamGetDevice) \
    X(cudaStreamGetDevice_ptsz) \
    X(cudaStreamGetId) \
    X(cudaStreamGetId_ptsz) \
    X(cudaStreamSetAttribute) \
    X(cudaStreamSetAttribute_ptsz) \
    X(cudaStreamUpdateCaptureDependencies) \
    X(cudaStreamUpdateCaptureDependencies_ptsz) \
    X(cudaStreamUpdateCaptureDependencies_v2) \
    X(cudaStreamUpdateCaptureDependencies_v2_ptsz) \
    X(cudaThreadExchangeStreamCaptureMode) \
    X(cudaThreadGetCacheConfig) \
    X(cudaThreadGetLimit) \
    X(cudaThreadSetCacheConfig) \
    X(cudaThreadSetLimit) \
    X(cudaUserObjectCreate) \
    X(cudaUserObjectRelease) \
    X(cudaUserObjectRetain) \
    X(cudaVDPAUGetDevice) \
    X(cudaVDPAUSetVDPAUDevice) \
    X(cudaWaitExternalSemaphoresAsync) \
    X(cudaWaitExternalSemaphoresAsync_ptsz) \
    X(cudaWaitExternalSemaphoresAsync_v2) \
    X(cudaWaitExternalSemaphoresAsync_v2_ptsz)
/* clang-format on */

/* Properties of devices as the other version of CUDA lays them out. */
#undef cudaGetDeviceProperties
#if MINIGPU_CUDART < 13
#define OF_OTHER_VERSION(X) X(cudaGetDeviceProperties)
#else
#define OF_OTHER_VERSION(X) X(cudaGetDeviceProperties_v2)
#endif

/* Callers pass their own parameters, which are not looked at. */
#define STUB(name)                                                                 \
    API cudaError_t name(void);                                                    \
    API cudaError_t name(void) {                                                   \
        static int said;                                                           \
        ENTER();                                                                   \
        if (!said) runtime_say(#name " is not there; docs/cuda.md lists what is"); \
        said = 1;                                                                  \
        return runtime_leave(cudaErrorNotSupported);                               \
    }
UNSUPPORTED(STUB)
OF_OTHER_VERSION(STUB)
