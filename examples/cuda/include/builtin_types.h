/* builtin_types: all of it comes with cuda_runtime.h. */
#ifndef MINIGPU_BUILTIN_TYPES_H
#define MINIGPU_BUILTIN_TYPES_H
#include "cuda_runtime.h"
#endif
