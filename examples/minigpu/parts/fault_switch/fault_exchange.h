/* fault_exchange: carries out the decisions of an SM's gpump_block_switch (fault_switch.h): a block leaves (OUT), is
 * restored (IN), or a new one is placed (NEW). */
#ifndef MINIGPU_FAULT_EXCHANGE_H
#define MINIGPU_FAULT_EXCHANGE_H

#include "state/state.h"

/* Carries the decisions of all SMs out. Returns the next cycle in which an SM has one; NEVER. */
uint64_t fault_exchange_advance(machine *m);

#endif
