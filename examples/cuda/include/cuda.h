/* cuda: the version, and types of the driver interface. Its functions are not there: programs use the run-time calls.
 */
#ifndef MINIGPU_CUDA_H
#define MINIGPU_CUDA_H

#define CUDA_VERSION 12000
typedef enum cudaError_enum { CUDA_SUCCESS } CUresult;
typedef unsigned long long CUdeviceptr;
typedef int CUdevice;
typedef unsigned int cuuint32_t;
typedef unsigned long long cuuint64_t;
typedef struct CUstream_st *CUstream;
typedef struct CUevent_st *CUevent;

#endif
