/* machine_build: what of a launch a machine takes when it is built, and again when it runs again (machine/again.h). */
#ifndef MINIGPU_MACHINE_BUILD_H
#define MINIGPU_MACHINE_BUILD_H

#include "state/state.h"

/* Loads the buffers, and maps their pages. */
void machine_load_buffers(machine *m, const launch_file *launch);
/* Writes the arguments of k->launch into the kernel's parameters and textures. */
void machine_fill_parameters(const launch_file *launch, kernel *k);

#endif
