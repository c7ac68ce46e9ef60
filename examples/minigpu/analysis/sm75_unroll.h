/* sm75_unroll: a kernel with the loops unrolled that ptxas unrolls. Only for counting registers: the rounds that are
 * left when the number of rounds is no multiple of four are left out, so the result cannot be run. */
#ifndef MINIGPU_SM75_UNROLL_H
#define MINIGPU_SM75_UNROLL_H
#include "ptx/instruction.h"

/* Sets *unrolled to a copy of *kernel (free unrolled->instructions). Which loops, and what that stands on, is in
 * docs/registers.md. Returns 0, or -1: out of memory. Cost: linear in instructions. */
int sm75_unroll(const kernel_program *kernel, kernel_program *unrolled);
#endif
