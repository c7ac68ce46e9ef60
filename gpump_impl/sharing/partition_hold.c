/* partition_hold: a policy that holds a tail latency (docs/sharing.md). What batch kernels keep while a request runs is
 * not a fixed share: a late request takes from it, one in time gives back, in the ratio at which as many requests are
 * late as may be. */
#include "sharing/partition.h"

#include <string.h>

#define GPUMPI_HOLD_ONE UINT32_C(0x10000)
#define GPUMPI_HOLD_STEP (GPUMPI_HOLD_ONE / 4) /* what a late request takes, and on average the others give back */
#define GPUMPI_HOLD_FLITS 5u                   /* of the reply to a load: a line and its header */

/* The kernels of the highest priority are the requests. The others keep their part of their blocks and of the misses
 * that the network can answer, and the requests get what fits beside that. */
static void gpumpi_hold_decide(const gpump_partition_args *args, gpump_partition_share *shares) {
    const gpump_partition_hold *hold = (const gpump_partition_hold *)args->policy->user;
    const gpump_partition_request *request = args->request;
    uint32_t urgent = 0, blocks[GPUMP_PARTITION_KERNELS], k;
    gpump_demand replies;
    memset(&replies, 0, sizeof replies);
    replies.down_bytes_q16 = request->config->flit_bytes * GPUMPI_HOLD_FLITS << 16;
    for (k = 0; k < request->count; k++)
        if (request->kernels[k].priority > urgent) urgent = request->kernels[k].priority;
    for (k = 0; k < request->count; k++) {
        blocks[k] = 0;
        if (request->kernels[k].priority == urgent) continue;
        blocks[k] = (uint32_t)((uint64_t)request->kernels[k].blocks * hold->share_q16 >> 16);
        shares[k].limits.misses_q16 = gpump_partition_rate(request->config, &replies, 100 * hold->share_q16, 0);
        shares[k].limits.misses_q16 += GPUMP_RATE_MISS / 16; /* nobody starves */
    }
    for (k = 0; k < request->count; k++) {
        if (request->kernels[k].priority != urgent) continue;
        while (blocks[k] < request->kernels[k].blocks) {
            blocks[k]++;
            if (gpumpi_partition_fits(request, blocks)) continue;
            blocks[k]--;
            break;
        }
    }
    for (k = 0; k < request->count; k++) shares[k].blocks = blocks[k];
}

GPUMP_API gpump_result gpump_partition_hold_init(gpump_partition_hold *hold, uint64_t limit_cycles,
                                                 uint32_t late_permille, gpump_diag *diag) {
    if (!hold) return gpumpi_null(diag, "hold");
    if (late_permille > 1000) return gpumpi_bad_argument(diag, "late_permille", 0, late_permille, 0, 1000);
    memset(hold, 0, sizeof *hold);
    hold->policy.name = "hold";
    hold->policy.description = "Batch kernels keep as much as leaves requests in time.";
    hold->policy.user = hold;
    hold->policy.decide = gpumpi_hold_decide;
    hold->limit_cycles = limit_cycles;
    hold->late_permille = late_permille;
    return GPUMP_OK;
}

GPUMP_API void gpump_partition_hold_report(gpump_partition_hold *hold, uint64_t latency_cycles) {
    const uint32_t down = GPUMPI_HOLD_STEP / 1000 * (1000 - hold->late_permille);
    const uint32_t up = GPUMPI_HOLD_STEP / 1000 * hold->late_permille;
    if (latency_cycles > hold->limit_cycles) {
        const uint32_t taken = hold->share_q16 < down ? hold->share_q16 : down;
        hold->share_q16 -= taken;
        hold->debt_q16 += down - taken;
    } else {
        const uint32_t paid = hold->debt_q16 < up ? (uint32_t)hold->debt_q16 : up;
        hold->debt_q16 -= paid;
        hold->share_q16 += up - paid;
        if (hold->share_q16 > GPUMPI_HOLD_ONE) hold->share_q16 = GPUMPI_HOLD_ONE;
    }
}
