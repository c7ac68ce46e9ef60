/* sm75_select: a kernel as ptxas would roughly select instructions of sm_75 for it. It decides which PTX instructions
 * become one, which operands need no vector register, and which loads start in an earlier block. The result serves to
 * count registers and cannot be run, because it leaves out operands that are not in vector registers. */
#ifndef MINIGPU_SM75_SELECT_H
#define MINIGPU_SM75_SELECT_H
#include "ptx/instruction.h"

/* Sets *selected to a copy of *kernel with other instructions; the caller frees selected->instructions.
 * docs/registers.md has the rules and their evidence. Returns 0, or -1: memory is out, or the kernel cannot be
 * analysed. */
int sm75_select(const kernel_program *kernel, kernel_program *selected);
#endif
