/* channel_descriptor: all of it comes with cuda_runtime.h. */
#ifndef MINIGPU_CHANNEL_DESCRIPTOR_H
#define MINIGPU_CHANNEL_DESCRIPTOR_H
#include "cuda_runtime.h"
#endif
