/* machine_build: the steps that take buffers and arguments from a launch, at the build of a machine and at
 * each later run (machine/again.h). */
#ifndef MINIGPU_MACHINE_BUILD_H
#define MINIGPU_MACHINE_BUILD_H

#include "state/state.h"

/* Copies the buffers into device memory and maps their pages. */
void machine_load_buffers(machine *m, const launch_file *launch);
/* Writes the arguments of k->launch into the kernel's parameters and textures. */
void machine_fill_parameters(const launch_file *launch, kernel *k);
/* Returns the most kernels that run at a time: one of each process (machine/dispatcher.c). Tables of preempted blocks
 * are made for so many: a list of traces has thousands of kernels. */
uint32_t machine_kernels_at_a_time(const machine *m);

#endif
