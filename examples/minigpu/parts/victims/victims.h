/* victims: a kernel with a deadline arrives, and a policy of gpump_victim decides which blocks make room, and by which
 * technique.
 *
 * The part is present only with machine.policy (`minigpu run --victims POLICY`). Every arrival of a kernel of higher
 * priority is one request, and every request has a record: the estimates for each block, and their outcome. */
#ifndef MINIGPU_VICTIMS_H
#define MINIGPU_VICTIMS_H

#include "state/state.h"
#include "parts/victims/victim_facts.h"

/* Asks the policy for kernel `index`, which has arrived, and carries out the decision. */
void victims_decide(machine *m, uint32_t index);
/* Asks the policy again at the cycle that it has named. */
void victims_reconsider(machine *m);

/* Writes each request with its estimates and its outcome. */
void victims_report(const machine *m, FILE *file);

#endif
