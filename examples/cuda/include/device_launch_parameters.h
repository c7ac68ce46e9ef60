/* device_launch_parameters: all of it comes with cuda_runtime.h. */
#ifndef MINIGPU_DEVICE_LAUNCH_PARAMETERS_H
#define MINIGPU_DEVICE_LAUNCH_PARAMETERS_H
#include "cuda_runtime.h"
#endif
