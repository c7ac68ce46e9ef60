/* cuda_pipeline: the functions of cuda_pipeline_primitives.h. The pipeline objects of nvcuda::experimental are left
 * out, so they fail by name. */
#ifndef MINIGPU_CUDA_PIPELINE_H
#define MINIGPU_CUDA_PIPELINE_H
#include "cuda_pipeline_primitives.h"
#endif
