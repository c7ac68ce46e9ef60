/* device_atomic_functions: all of it comes with cuda_runtime.h. */
#ifndef MINIGPU_DEVICE_ATOMIC_FUNCTIONS_H
#define MINIGPU_DEVICE_ATOMIC_FUNCTIONS_H
#include "cuda_runtime.h"
#endif
