/* driver_types: see cuda_runtime_api.h. */
#ifndef MINIGPU_DRIVER_TYPES_H
#define MINIGPU_DRIVER_TYPES_H
#include "cuda_runtime_api.h"
#endif
