/* latency_schedule: reorders a kernel's instructions within basic blocks so that loads start early, as a compiler for a
 * real GPU does before it allocates registers. sm75_registers uses it. The mini-GPU runs kernels in the order of their
 * PTX, and in this order with `--config schedule_window=WINDOW`. */
#ifndef MINIGPU_LATENCY_SCHEDULE_H
#define MINIGPU_LATENCY_SCHEDULE_H
#include "ptx/instruction.h"

/* Reorders kernel->instructions in place without changing results. No instruction starts before one that is more than
 * `window` places ahead of it (1: nothing moves). Returns 0, or -1 when memory is out, without a change. Cost:
 * instructions times window. */
int latency_schedule(kernel_program *kernel, uint32_t window);
/* Returns 1 for an instruction that a compiler for a real GPU makes a call (an exact division or root). A basic block
 * ends there. */
int is_routine_call(const instruction *in);
#endif
