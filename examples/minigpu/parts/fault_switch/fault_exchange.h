/* fault_exchange: carries out what the gpump_block_switch of an SM decides (fault_switch.h): a block leaves (OUT),
 * comes back (IN), or a new one is placed (NEW). */
#ifndef MINIGPU_FAULT_EXCHANGE_H
#define MINIGPU_FAULT_EXCHANGE_H

#include "state/state.h"

/* Does so on all SMs. Returns the next cycle in which an SM wants something; NEVER. */
uint64_t fault_exchange_advance(machine *m);

#endif
