/* functional: executes blocks without time (--functional): no stages, no caches, no network.
 *
 * The blocks of an SM take turns. In its turn a block's warps execute one after the other, each up to its next barrier
 * or its end, but at most FUNCTIONAL_TURN instructions: a warp that waits for a word in memory that another warp or
 * block will write must not keep them from running. Instructions, barriers, branches and memory are those of the timed
 * machine (pipeline.h, memory_access.h). A cycle of the machine is a turn of all blocks of all SMs, so it says nothing
 * about time; %clock64 counts the warp instructions of the SM. */
#ifndef MINIGPU_FUNCTIONAL_H
#define MINIGPU_FUNCTIONAL_H

#include "state/state.h"

#define FUNCTIONAL_TURN 1024u /* warp instructions */

/* Gives a turn to each block of an SM. Wakes the SM in the next cycle, unless none of its warps could execute. */
SM_PATH void functional_cycle(machine *m, sm *s, uint64_t now);

#endif
