/* sm75_select: a kernel as ptxas would roughly put it into instructions of sm_75: which PTX instructions become one,
 * which operands need no vector register, which loads are started in an earlier block. Only for counting registers:
 * what operands read is left out where no vector register is concerned, so the result cannot be run. */
#ifndef MINIGPU_SM75_SELECT_H
#define MINIGPU_SM75_SELECT_H
#include "ptx/instruction.h"

/* Sets *selected to a copy of *kernel with other instructions (free selected->instructions). The rules and what they
 * stand on are in docs/registers.md. Returns 0, or -1: out of memory, or the kernel cannot be analysed. */
int sm75_select(const kernel_program *kernel, kernel_program *selected);
#endif
