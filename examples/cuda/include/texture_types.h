/* texture_types: all of it comes with cuda_runtime.h. */
#ifndef MINIGPU_TEXTURE_TYPES_H
#define MINIGPU_TEXTURE_TYPES_H
#include "cuda_runtime.h"
#endif
