/* cuda_device_runtime_api: see cuda_runtime_api.h. */
#ifndef MINIGPU_CUDA_DEVICE_RUNTIME_API_H
#define MINIGPU_CUDA_DEVICE_RUNTIME_API_H
#include "cuda_runtime_api.h"
#endif
