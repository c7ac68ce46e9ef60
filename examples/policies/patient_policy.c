/* patient_policy: an entry of the championship of victim policies (docs/championship.md):
 *
 *     cc -O2 -shared -fPIC -DGPUMP_IMPLEMENTATION -DGPUMP_STATIC -I. examples/policies/patient_policy.c -o patient.so
 *     build/bench/championship --policy ./patient.so --policy dual --policy chimera --policy best
 *
 * Four things set it apart from the dual-kernel scheme, whose positions it takes over (Algorithm 1):
 *
 * - No block of the function has ended yet: the scheme has no estimate of a drain then, and never drains. This policy
 *   expects the block to run on for 10,000 cycles and twice as long as it has run. It drains where that is in time.
 * - A block whose drain has an estimate drains only where five eighths of the time are enough, because the estimate is
 *   uncertain and the guest slows the drain down.
 * - A block that may be flushed is switched only where that wastes less and all saves of its SM together are in time:
 *   they share one port, so that each of them alone seems to be in time when all together are late.
 * - A block that no technique gets out in time drains, which loses nothing more, instead of being saved late. */
#include "gpump.h"

/* Whether a drain is expected to end within `left` cycles. */
static uint32_t patient_ends(const gpump_victim_technique_args *args) {
    const uint64_t drain = args->estimate->latency[GPUMP_TECHNIQUE_DRAIN];
    if (drain == GPUMP_UNKNOWN) return 10000 + 2 * args->block->cycles <= args->left;
    return drain <= args->left / 2 + args->left / 8;
}

static uint32_t patient_technique(const gpump_victim_technique_args *args) {
    const uint64_t *latency = args->estimate->latency, *overhead = args->estimate->overhead;
    const uint32_t can_drain = args->allowed >> GPUMP_TECHNIQUE_DRAIN & 1u;
    const uint32_t can_switch = args->allowed >> GPUMP_TECHNIQUE_SWITCH & 1u;
    if (can_drain && patient_ends(args)) return GPUMP_TECHNIQUE_DRAIN;
    if (args->allowed >> GPUMP_TECHNIQUE_FLUSH & 1u)
        return can_switch && args->saves <= args->left &&
                       overhead[GPUMP_TECHNIQUE_SWITCH] < overhead[GPUMP_TECHNIQUE_FLUSH]
                   ? GPUMP_TECHNIQUE_SWITCH
                   : GPUMP_TECHNIQUE_FLUSH;
    if (!can_switch) return GPUMP_TECHNIQUE_DRAIN;
    if (!can_drain || (latency[GPUMP_TECHNIQUE_SWITCH] <= args->left &&
                       latency[GPUMP_TECHNIQUE_SWITCH] < latency[GPUMP_TECHNIQUE_DRAIN]))
        return GPUMP_TECHNIQUE_SWITCH;
    return GPUMP_TECHNIQUE_DRAIN;
}

extern const uint32_t championship_layout[2]; /* another version of gpump.h is refused */
const uint32_t championship_layout[2] = {GPUMP_LAYOUT_GPU, GPUMP_LAYOUT_VICTIM};

extern const gpump_victim_policy championship_policy;
const gpump_victim_policy championship_policy = {
    GPUMP_VICTIM_EVICTED,
    1u << GPUMP_TECHNIQUE_FLUSH | 1u << GPUMP_TECHNIQUE_SWITCH | 1u << GPUMP_TECHNIQUE_DRAIN,
    {GPUMP_COST_CPI_FINISHED, 0, 0}, /* how drains are estimated */
    "patient",
    "Drains where there is time to spare, flushes else, and saves only what would be in time.",
    NULL,
    patient_technique,
    NULL, /* candidates as Algorithm 1 ranks them */
    NULL,
};
