/* cuda_runtime: everything that a .cu file sees without naming it: run-time calls, their C++ forms, and the device's
 * functions. minigpu-cc includes it first. Device functions come with clang; those of libdevice are in device/. */
#ifndef MINIGPU_CUDA_RUNTIME_H
#define MINIGPU_CUDA_RUNTIME_H

#define __CUDA_RUNTIME_H__
#include "host_defines.h"

#if defined(__CUDA__) && defined(__cplusplus)
#include "minigpu_before_std.h"
#endif
#include "cuda.h"
#include "cuda_runtime_api.h"
#include "vector_functions.h"
#if defined(__cplusplus)
#include "cuda_runtime_templates.h"
#endif
#if defined(__CUDA__) && defined(__cplusplus)
#include "minigpu_device.h"
#endif

#endif
