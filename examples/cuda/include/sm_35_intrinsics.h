/* sm_35_intrinsics: all of it comes with cuda_runtime.h. */
#ifndef MINIGPU_SM_35_INTRINSICS_H
#define MINIGPU_SM_35_INTRINSICS_H
#include "cuda_runtime.h"
#endif
