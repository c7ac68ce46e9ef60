/* traffic: what a kernel has done, from issue to DRAM. An SM counts what it does up to its L1, so that SMs may run on
 * threads of their own; the memory's meter counts the rest. */
#ifndef MINIGPU_TRAFFIC_H
#define MINIGPU_TRAFFIC_H

#include "state/state.h"

/* Sets *traffic to what an SM has counted of a kernel. */
void traffic_on_sm(const machine *m, const sm *s, uint32_t kernel_index, gpump_traffic *traffic);
/* Sets *traffic to what a kernel has done on all SMs and behind them. */
void traffic_of_kernel(const machine *m, uint32_t kernel_index, gpump_traffic *traffic);

#endif
