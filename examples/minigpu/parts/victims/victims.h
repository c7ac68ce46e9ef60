/* victims: a kernel with a latency limit arrives, and a policy of gpump_victim says which blocks make room, and how.
 *
 * Only with machine.policy set (`minigpu run --victims POLICY`). Every arrival of a kernel of higher priority
 * is one request, and every request keeps a record: what was estimated for each block, and what came of it. */
#ifndef MINIGPU_VICTIMS_H
#define MINIGPU_VICTIMS_H

#include "state/state.h"
#include "parts/victims/victim_facts.h"

/* Kernel `index` has arrived: asks the policy and carries out what it says. */
void victims_decide(machine *m, uint32_t index);
/* The cycle that the policy named has come. */
void victims_reconsider(machine *m);

#endif
