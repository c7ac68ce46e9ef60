/* sm75_registers: a model of how many registers per thread ptxas allocates for sm_75 (Turing). The mini-GPU itself runs
 * kernels in the order of their PTX, with the registers of gpump_registers_allocate. */
#ifndef MINIGPU_SM75_REGISTERS_H
#define MINIGPU_SM75_REGISTERS_H
#include "ptx/instruction.h"

/* Sets *registers to the count that `ptxas -v` would print for a kernel as read, before register allocation.
 * docs/registers.md describes the model, its sources and how often it is right. Returns 0, or -1: memory is out, the
 * kernel cannot be analysed, or it has more than 16,384 values. Cost: up to ten times selection, scheduling and
 * colouring, which grows with the square of the number of values. */
int sm75_registers(const kernel_program *kernel, uint32_t *registers);
#endif
