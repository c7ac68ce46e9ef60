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
#include "minigpu_host.h"
#ifndef __CUDA_ARCH__
/* Managed variables of the program (host_defines.h): the linker names where their section begins and ends. */
extern "C" {
extern char __start_minigpu_managed[] __attribute__((weak, visibility("hidden")));
extern char __stop_minigpu_managed[] __attribute__((weak, visibility("hidden")));
void minigpu_register_managed(const void *start, const void *stop);
__attribute__((constructor(101), used)) static void minigpu_has_managed_variables(void) {
    if (__start_minigpu_managed) minigpu_register_managed(__start_minigpu_managed, __stop_minigpu_managed);
}
}
#endif
#endif

#endif
