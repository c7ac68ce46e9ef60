/* minigpu_before_std: what must stand before the C++ library's mathematics, so that its functions have device forms. */
#ifndef MINIGPU_BEFORE_STD_H
#define MINIGPU_BEFORE_STD_H

#include "cuda.h"
#include "vector_types.h"
#include <__clang_cuda_builtin_vars.h>
#include <__clang_cuda_math_forward_declares.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#endif
