/* cuda_profiler_api: see cuda_runtime_api.h. */
#ifndef MINIGPU_CUDA_PROFILER_API_H
#define MINIGPU_CUDA_PROFILER_API_H
#include "cuda_runtime_api.h"
#endif
