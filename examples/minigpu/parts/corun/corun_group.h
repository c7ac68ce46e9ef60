/* corun_group: carries out what the group of kernels wants done (corun.h): what each kernel does is measured, caps and
 * limits are set, and blocks above their caps leave. */
#ifndef MINIGPU_CORUN_GROUP_H
#define MINIGPU_CORUN_GROUP_H

#include "parts/corun/corun.h"

/* Brings the group up to m->now, and carries out its actions. */
void corun_advance(machine *m);

#endif
