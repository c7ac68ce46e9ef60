/* outputs: checks that no output of a run is one of its inputs, and that no two outputs are one file. */
#ifndef MINIGPU_OUTPUTS_H
#define MINIGPU_OUTPUTS_H

#include "launch/launch.h"

/* Checks the outputs (NULL: none) against the launch file (NULL: none), the files that it names, and each other,
 * through links too. Returns 0, or -1 after a report on stderr. */
int outputs_spare(const launch_file *launch, const char *const *outputs, uint32_t count);

#endif
