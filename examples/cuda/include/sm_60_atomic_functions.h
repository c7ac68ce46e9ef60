/* sm_60_atomic_functions: all of it comes with cuda_runtime.h. */
#ifndef MINIGPU_SM_60_ATOMIC_FUNCTIONS_H
#define MINIGPU_SM_60_ATOMIC_FUNCTIONS_H
#include "cuda_runtime.h"
#endif
