/* partition_slack: our own policy (docs/sharing.md). A closed queueing model says how fast kernels would be together:
 * as many requests circulate as the blocks keep in flight, so where they would ask for more than the network or DRAM
 * sustains, all requests there take longer by the same factor. A kernel that is limited keeps fewer in flight, and what
 * it leaves is slack for the others. The group tries out what the model finds best, and what its rivals answer. */
#include "sharing/sharing_parts.h"

#include <string.h>

#define GPUMPI_SLACK_FULL (100 * GPUMP_PARTITION_PERCENT)
#define GPUMPI_SLACK_STEP (5 * GPUMP_PARTITION_PERCENT) /* between limits that are looked at */

/* A division that the model is asked about. */
typedef struct gpumpi_slack_case {
    uint32_t blocks[GPUMP_PARTITION_KERNELS];
    uint32_t sms[GPUMP_PARTITION_KERNELS];
    uint64_t quota_q16[GPUMP_PARTITION_KERNELS]; /* of the resource that the kernel asks most of */
} gpumpi_slack_case;

/* What a kernel asks of the machine, as percent, and how fast it would be if nobody kept it waiting. */
typedef struct gpumpi_slack_offer {
    uint64_t network_q16, dram_q16, speed_q16;
} gpumpi_slack_offer;

static uint64_t gpumpi_slack_of(const gpump_partition_point *point, uint32_t field) {
    return field == 0 ? point->network_q16 : field == 1 ? point->dram_q16 : point->speed_q16;
}

/* A kernel that fills a resource by itself would ask for as much with each block as with the block that asks for most;
 * its curve is flat because its own requests keep each other waiting. A latency-sensitive kernel's curve is what it
 * is. */
static uint64_t gpumpi_slack_asks(const gpump_partition_kernel *kernel, uint32_t blocks, uint32_t field) {
    uint64_t most = 0;
    uint32_t c;
    if (kernel->kind == GPUMP_PARTITION_LATENCY) return gpumpi_slack_of(&kernel->curve[blocks - 1], field);
    for (c = 1; c <= kernel->blocks; c++) {
        const uint64_t each = gpumpi_slack_of(&kernel->curve[c - 1], field) * blocks / c;
        if (each > most) most = each;
    }
    return most;
}

static gpumpi_slack_offer gpumpi_slack_offers(const gpump_partition_kernel *kernel, uint32_t blocks, uint32_t sms,
                                              uint32_t all_sms, uint64_t quota_q16) {
    gpumpi_slack_offer offer;
    uint64_t dominant;
    offer.network_q16 = gpumpi_slack_asks(kernel, blocks, 0) * sms / all_sms;
    offer.dram_q16 = gpumpi_slack_asks(kernel, blocks, 1) * sms / all_sms;
    offer.speed_q16 = gpumpi_slack_asks(kernel, blocks, 2) * sms / all_sms;
    dominant = kernel->kind == GPUMP_PARTITION_DRAM ? offer.dram_q16 : offer.network_q16;
    if (quota_q16 < dominant) {
        offer.network_q16 = gpump_muldiv_down(offer.network_q16, quota_q16, dominant);
        offer.dram_q16 = gpump_muldiv_down(offer.dram_q16, quota_q16, dominant);
        offer.speed_q16 = gpump_muldiv_down(offer.speed_q16, quota_q16, dominant);
    }
    return offer;
}

/* The most that a kernel's curve shows up to `blocks` blocks. */
static uint64_t gpumpi_slack_fastest(const gpump_partition_kernel *kernel, uint32_t blocks) {
    uint64_t most = 0;
    uint32_t c;
    for (c = 0; c < blocks; c++)
        if (kernel->curve[c].speed_q16 > most) most = kernel->curve[c].speed_q16;
    return most;
}

/* The model: the sum of the kernels' slowdowns, Q16.16; the least is the largest HSpeedup. */
static uint64_t gpumpi_slack_predict(const gpump_partition_request *request, const gpumpi_slack_case *division) {
    const uint32_t sms = request->config->gpu.sms;
    gpumpi_slack_offer offers[GPUMP_PARTITION_KERNELS];
    uint64_t network = 0, dram = 0, sum = 0;
    uint32_t k;
    for (k = 0; k < request->count; k++) {
        offers[k] = gpumpi_slack_offers(&request->kernels[k], division->blocks[k], division->sms[k], sms,
                                        division->quota_q16[k]);
        network += offers[k].network_q16;
        dram += offers[k].dram_q16;
    }
    if (network < GPUMPI_SLACK_FULL) network = GPUMPI_SLACK_FULL;
    if (dram < GPUMPI_SLACK_FULL) dram = GPUMPI_SLACK_FULL;
    for (k = 0; k < request->count; k++) {
        const gpump_partition_kernel *kernel = &request->kernels[k];
        const uint64_t alone = gpumpi_slack_fastest(kernel, kernel->blocks);
        const uint64_t own = gpumpi_slack_fastest(kernel, division->blocks[k]) * division->sms[k] / sms;
        /* All of its misses pass the network; of DRAM a kernel waits for as much as it asks of it. */
        const uint64_t behind = kernel->demand && kernel->demand->dram_bytes_q16 < (UINT32_C(128) << 16)
                                    ? kernel->demand->dram_bytes_q16 / 128
                                    : UINT32_C(0x10000);
        uint64_t waits = gpump_muldiv_up(network, UINT64_C(0x10000), GPUMPI_SLACK_FULL), speed;
        waits += gpump_muldiv_up(dram - GPUMPI_SLACK_FULL, behind, GPUMPI_SLACK_FULL);
        speed = gpump_muldiv_down(offers[k].speed_q16, UINT64_C(0x10000), waits);
        if (speed > own) speed = own;
        sum = gpump_add_saturated(sum, gpump_muldiv_up(alone + 1, UINT64_C(0x10000), speed + 1));
    }
    return sum;
}

/* Lowers one kernel's limit after the other as long as that helps; returns the prediction. */
static uint64_t gpumpi_slack_limit(const gpump_partition_request *request, gpumpi_slack_case *division) {
    uint64_t best = gpumpi_slack_predict(request, division);
    uint32_t k, round;
    for (round = 0; round < 2; round++)
        for (k = 0; k < request->count; k++) {
            uint64_t kept = division->quota_q16[k], q;
            if (request->kernels[k].kind == GPUMP_PARTITION_LATENCY || !request->kernels[k].demand) continue;
            for (q = GPUMPI_SLACK_STEP; q <= GPUMPI_SLACK_FULL; q += GPUMPI_SLACK_STEP) {
                uint64_t sum;
                division->quota_q16[k] = q;
                sum = gpumpi_slack_predict(request, division);
                if (sum < best) best = sum, kept = q;
            }
            division->quota_q16[k] = kept;
        }
    return best;
}

static void gpumpi_slack_unlimited(const gpump_partition_request *request, gpumpi_slack_case *division) {
    uint32_t k;
    for (k = 0; k < request->count; k++) {
        division->blocks[k] = request->kernels[k].blocks;
        division->sms[k] = request->config->gpu.sms;
        division->quota_q16[k] = UINT64_MAX;
    }
}

/* The best combination of blocks, with limits or without; 0: none fits. */
static int gpumpi_slack_together(const gpump_partition_request *request, int limited, gpumpi_slack_case *best) {
    gpumpi_slack_case division;
    uint64_t least = UINT64_MAX;
    gpump_result result;
    gpumpi_slack_unlimited(request, &division);
    for (result = gpump_partition_first(request, division.blocks); !result;
         result = gpump_partition_next(request, division.blocks)) {
        gpumpi_slack_case now = division;
        const uint64_t sum = limited ? gpumpi_slack_limit(request, &now) : gpumpi_slack_predict(request, &now);
        if (sum < least) least = sum, *best = now;
    }
    return least < UINT64_MAX;
}

/* SMs of their own: the best split of two kernels, equal parts of more. */
static void gpumpi_slack_split(const gpump_partition_request *request, gpumpi_slack_case *best) {
    const uint32_t sms = request->config->gpu.sms;
    gpumpi_slack_case division;
    uint64_t least = UINT64_MAX;
    uint32_t k, first;
    gpumpi_slack_unlimited(request, &division);
    for (k = 0; k < request->count; k++) division.sms[k] = sms / request->count + (k < sms % request->count);
    *best = division;
    for (first = 1; request->count == 2 && first < sms; first++) {
        uint64_t sum;
        division.sms[0] = first;
        division.sms[1] = sms - first;
        sum = gpumpi_slack_predict(request, &division);
        if (sum < least) least = sum, *best = division;
    }
}

GPUMP_API void gpumpi_partition_slack(const gpump_partition_args *args, gpump_partition_share *shares) {
    static void (*const rivals[])(const gpump_partition_args *, gpump_partition_share *) = {
        gpumpi_partition_ccbp, gpumpi_partition_ws_dai, gpumpi_partition_ws, gpumpi_partition_spatial};
    const gpump_partition_request *request = args->request;
    gpumpi_slack_case division;
    uint32_t k, first_sm = 0;
    if (request->candidate >= 3) {
        rivals[request->candidate - 3](args, shares);
        return;
    }
    if (request->candidate == 2 || !gpumpi_slack_together(request, request->candidate == 0, &division))
        gpumpi_slack_split(request, &division);
    for (k = 0; k < request->count; k++) {
        const gpump_partition_kernel *kernel = &request->kernels[k];
        const uint32_t is_dram = kernel->kind == GPUMP_PARTITION_DRAM;
        shares[k].blocks = division.blocks[k];
        shares[k].sms = division.sms[k];
        shares[k].first_sm = division.sms[k] < request->config->gpu.sms ? first_sm : 0;
        first_sm += division.sms[k];
        if (division.quota_q16[k] > GPUMPI_SLACK_FULL || !kernel->demand) continue;
        shares[k].network_q16 = is_dram ? GPUMPI_SLACK_FULL : (uint32_t)division.quota_q16[k];
        shares[k].dram_q16 = is_dram ? (uint32_t)division.quota_q16[k] : GPUMPI_SLACK_FULL;
        shares[k].limits.misses_q16 =
            gpump_partition_rate(request->config, kernel->demand, shares[k].network_q16, shares[k].dram_q16);
    }
}
