/* patient_policy: an entry of the championship of victim policies (docs/championship.md):
 *
 *     cc -O2 -shared -fPIC -DGPUMP_IMPLEMENTATION -DGPUMP_STATIC -I. examples/policies/patient_policy.c -o patient.so
 *     build/bench/championship --policy ./patient.so --policy dual --policy chimera --policy best
 *
 * Four things set it apart from the dual-kernel scheme, whose positions it takes over (Algorithm 1):
 *
 * - No block of the function has ended yet: the scheme has no estimate of a drain then, and never drains. This policy
 *   expects the block to run on for 10,000 cycles and twice as long as it has run. It drains where that is in time.
 * - A block whose drain has an estimate drains only where one and five eighths of that time are left, because the
 *   estimate is uncertain and the guest slows the drain down.
 * - A block that may be flushed is switched only where that wastes less and all saves of its SM together are in time:
 *   they share one port, so that each of them alone seems to be in time when all together are late.
 * - A block that no technique gets out in time drains, which loses nothing more, instead of being saved late. */
#include "gpump.h"

enum {
    FLUSH = 1u << GPUMP_TECHNIQUE_FLUSH,
    SWITCH = 1u << GPUMP_TECHNIQUE_SWITCH,
    DRAIN = 1u << GPUMP_TECHNIQUE_DRAIN
};

static uint32_t patient_technique(const gpump_victim_technique_args *args) {
    const uint64_t *latency = args->estimate->latency, *overhead = args->estimate->overhead, left = args->left;
    const uint64_t drain = latency[GPUMP_TECHNIQUE_DRAIN], save = latency[GPUMP_TECHNIQUE_SWITCH];
    const uint64_t patience = drain == GPUMP_UNKNOWN ? 10000 + 2 * args->block->cycles : drain + drain / 2 + drain / 8;
    const uint32_t allowed = args->allowed;
    if (patience <= left && allowed & DRAIN) return GPUMP_TECHNIQUE_DRAIN;
    if (allowed & FLUSH) {
        if (args->saves > left || !(allowed & SWITCH)) return GPUMP_TECHNIQUE_FLUSH;
        return overhead[GPUMP_TECHNIQUE_SWITCH] < overhead[GPUMP_TECHNIQUE_FLUSH] ? GPUMP_TECHNIQUE_SWITCH
                                                                                  : GPUMP_TECHNIQUE_FLUSH;
    }
    if (!(allowed & SWITCH)) return GPUMP_TECHNIQUE_DRAIN;
    return allowed & DRAIN && (save > left || save >= drain) ? GPUMP_TECHNIQUE_DRAIN : GPUMP_TECHNIQUE_SWITCH;
}

extern const uint32_t championship_layout[2]; /* another version of gpump.h is refused */
const uint32_t championship_layout[2] = {GPUMP_LAYOUT_GPU, GPUMP_LAYOUT_VICTIM};

extern const gpump_victim_policy championship_policy;
const gpump_victim_policy championship_policy = {
    GPUMP_VICTIM_EVICTED,
    FLUSH | SWITCH | DRAIN,
    {GPUMP_COST_CPI_FINISHED, 0, 0}, /* how drains are estimated */
    "patient",
    "Drains where there is time to spare, flushes else, and saves only what would be in time.",
    NULL,
    patient_technique,
    NULL, /* candidates as Algorithm 1 ranks them */
    NULL,
};
