/* random_policy: any position and any technique. It chooses the sets that the recorder carries out, so that a change of
 * its decisions changes every corpus. */
#ifndef CHAMPIONSHIP_RANDOM_POLICY_H
#define CHAMPIONSHIP_RANDOM_POLICY_H

#include "gpump_once.h"

static uint64_t random_policy_state; /* the seed; the same seed gives the same decisions */

static uint32_t random_policy_technique(const gpump_victim_technique_args *args) {
    uint32_t n = gpump_random_below(&random_policy_state, gpump_bits_count64(args->allowed)), t = 0;
    for (;; t++)
        if (args->allowed >> t & 1 && !n--) return t;
}
static uint32_t random_policy_candidate(const gpump_victim_candidate_args *args) {
    return gpump_random_below(&random_policy_state, args->count);
}
static const gpump_victim_policy random_policy = {GPUMP_VICTIM_HAS_STATE,
                                                  1u << GPUMP_TECHNIQUE_SWITCH | 1u << GPUMP_TECHNIQUE_DRAIN |
                                                      1u << GPUMP_TECHNIQUE_FLUSH,
                                                  {GPUMP_COST_CPI_SMALLER_DEVIATION, 0, 0},
                                                  "random",
                                                  "Any position and any technique.",
                                                  NULL,
                                                  random_policy_technique,
                                                  random_policy_candidate,
                                                  NULL};

#endif
