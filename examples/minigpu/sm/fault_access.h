/* fault_access: an access that has found no page, as gpump_fault describes it. */
#ifndef MINIGPU_FAULT_ACCESS_H
#define MINIGPU_FAULT_ACCESS_H

#include "sm/translation.h"
#include "state/state.h"

/* Returns the description of a record's access to the page at `address`. found: what its look-up has found. */
gpump_fault_access fault_access_of(const machine *m, const sm *s, const in_flight *r, uint64_t address,
                                   translation found);

#endif
