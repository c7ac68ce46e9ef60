/* texture_fetch_functions: all of it comes with cuda_runtime.h. */
#ifndef MINIGPU_TEXTURE_FETCH_FUNCTIONS_H
#define MINIGPU_TEXTURE_FETCH_FUNCTIONS_H
#include "cuda_runtime.h"
#endif
