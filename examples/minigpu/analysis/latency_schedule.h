/* latency_schedule: reorders a kernel's instructions within basic blocks so that loads start early, as a compiler for a
 * real GPU does before it allocates registers. The mini-GPU runs kernels in the order of their PTX; this is for
 * sm75_registers. */
#ifndef MINIGPU_LATENCY_SCHEDULE_H
#define MINIGPU_LATENCY_SCHEDULE_H
#include "ptx/instruction.h"

/* Reorders kernel->instructions in place; results do not change. No instruction is started before one that stands more
 * than `window` places ahead of it has been (1: nothing moves). Returns 0, or -1 when out of memory (nothing changed).
 * Cost: instructions times window. */
int latency_schedule(kernel_program *kernel, uint32_t window);
/* 1 when a compiler for a real GPU makes a call of it (an exact division or root): a block ends there. */
int is_routine_call(const instruction *in);
#endif
