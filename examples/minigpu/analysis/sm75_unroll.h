/* sm75_unroll: a kernel with the loops unrolled that ptxas unrolls. The result serves to count registers and cannot be
 * run, because it leaves out the rounds that remain when the number of rounds is no multiple of four. */
#ifndef MINIGPU_SM75_UNROLL_H
#define MINIGPU_SM75_UNROLL_H
#include "ptx/instruction.h"

/* Sets *unrolled to a copy of *kernel; the caller frees unrolled->instructions. docs/registers.md says which loops are
 * unrolled, and on what evidence. Returns 0, or -1: memory is out. Cost: linear in instructions. */
int sm75_unroll(const kernel_program *kernel, kernel_program *unrolled);
#endif
