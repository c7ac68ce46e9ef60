/* sm75_registers: how many registers a thread would get from ptxas for sm_75 (Turing), by a model of what ptxas does.
 * The mini-GPU itself runs kernels with the registers of gpump_registers_allocate in the order of their PTX. */
#ifndef MINIGPU_SM75_REGISTERS_H
#define MINIGPU_SM75_REGISTERS_H
#include "ptx/instruction.h"

/* Sets *registers to the count as `ptxas -v` would print it for a kernel as it was read (its registers not allocated
 * yet). What the model knows, from where, and how often it is right: docs/registers.md. Returns 0, or -1: out of
 * memory, the kernel cannot be analysed, or it has more than 16,384 values. Cost: up to ten times selecting, scheduling
 * and colouring, which grows with the square of the number of values. */
int sm75_registers(const kernel_program *kernel, uint32_t *registers);
#endif
