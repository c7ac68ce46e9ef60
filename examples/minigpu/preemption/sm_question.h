/* sm_question: asks a victim policy which blocks of one SM leave, and by which technique. A scheduler asks when it
 * empties an SM, a group of kernels when a kernel has more blocks on an SM than its cap. Victims for a kernel with a
 * deadline are chosen over all SMs (parts/victims). */
#ifndef MINIGPU_SM_QUESTION_H
#define MINIGPU_SM_QUESTION_H

#include "preemption/block_prices.h"

typedef struct sm_question {
    block_prices prices; /* the SM's blocks; a block whose `may` is 0 stays */
    gpump_victim_request request;
    gpump_victim_sm sm;
    gpump_victim_question question;
} sm_question;

/* Completes a question about the blocks of q->prices.views (block_prices_look): their prices, a request without
 * positions, and room for the choices. since: cycle of the request. limit_cycles: deadline of the request, NEVER for
 * none. cost: how techniques are priced. */
void sm_question_make(machine *m, sm *s, const gpump_victim_policy *policy, const gpump_cost_options *cost,
                      uint64_t since, uint64_t limit_cycles, sm_question *q);
/* Asks the policy. Fills choices[BLOCK_ENTRIES_MAX] and *decision. A failure of gpump_victim_decide stops the machine.
 */
void sm_question_decide(machine *m, sm_question *q, uint32_t ask, gpump_block_choice *choices,
                        gpump_victim_decision *decision);

#endif
