/* dice_policy: any position and any technique, the row `random` of the championship. The dice come from the question
 * itself: the same question has the same answer, so that a decision plans each SM once. The dice of random_policy.h,
 * which the recorder throws, have a state instead. */
#ifndef CHAMPIONSHIP_DICE_POLICY_H
#define CHAMPIONSHIP_DICE_POLICY_H

#include "gpump_once.h"

/* Returns a number below `count`, drawn from the request and two words of the question. */
static uint32_t dice_draw(const gpump_victim_request *request, uint64_t one, uint64_t other, uint32_t count) {
    uint64_t state =
        gpump_hash_u64(gpump_hash_u64(request->limit_cycles ^ (uint64_t)request->positions << 40, one), other);
    return gpump_random_below(&state, count);
}

static uint32_t dice_technique(const gpump_victim_technique_args *args) {
    const gpump_block_view *block = args->block;
    uint32_t n = dice_draw(args->request, block->executed, block->cookie, gpump_bits_count64(args->allowed)), t = 0;
    for (;; t++)
        if (args->allowed >> t & 1 && !n--) return t;
}
static uint32_t dice_candidate(const gpump_victim_candidate_args *args) {
    const gpump_victim_candidate *first = args->candidates, *last = first + args->count - 1;
    return dice_draw(args->request, first->overhead ^ last->latency << 32, last->overhead ^ first->victims << 32,
                     args->count);
}
static const gpump_victim_policy dice_policy = {0,
                                                1u << GPUMP_TECHNIQUE_SWITCH | 1u << GPUMP_TECHNIQUE_DRAIN |
                                                    1u << GPUMP_TECHNIQUE_FLUSH,
                                                {GPUMP_COST_CPI_SMALLER_DEVIATION, 0, 0},
                                                "random",
                                                "Any position and any technique.",
                                                NULL,
                                                dice_technique,
                                                dice_candidate,
                                                NULL};

#endif
