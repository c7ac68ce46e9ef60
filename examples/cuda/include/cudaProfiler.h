/* cudaProfiler: see cuda_runtime_api.h. */
#ifndef MINIGPU_CUDAPROFILER_H
#define MINIGPU_CUDAPROFILER_H
#include "cuda_runtime_api.h"
#endif
