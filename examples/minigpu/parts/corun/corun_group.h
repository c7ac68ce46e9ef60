/* corun_group: carries out what the group of kernels decides (corun.h): measures each kernel, sets caps and limits, and
 * makes blocks above their caps leave. */
#ifndef MINIGPU_CORUN_GROUP_H
#define MINIGPU_CORUN_GROUP_H

#include "parts/corun/corun.h"

/* Advances the group to m->now, and carries out its actions. */
void corun_advance(machine *m);

#endif
