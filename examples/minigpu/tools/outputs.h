/* outputs: what a run writes must be none of the files that it reads, and one file for each output. */
#ifndef MINIGPU_OUTPUTS_H
#define MINIGPU_OUTPUTS_H

#include "launch/launch.h"

/* Returns 0 when none of the outputs (NULL: none) is the launch file (NULL: there is none) or a file that the launch
 * file names, through links too, and no two outputs are one file; else -1 after a report on stderr. */
int outputs_spare(const launch_file *launch, const char *const *outputs, uint32_t count);

#endif
