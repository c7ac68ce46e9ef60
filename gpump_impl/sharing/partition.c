#include "sharing/sharing_parts.h"

#include <string.h>

#define GPUMPI_PARTITION_FULL (100 * GPUMP_PARTITION_PERCENT)

/* ---- configuration ---- */

static gpump_result gpumpi_partition_preset(void *filled, const char *preset) {
    gpump_partition_config *config = (gpump_partition_config *)filled;
    gpump_gpu gpu;
    gpump_meter_config meter;
    gpump_result result = gpump_preset(&gpump_gpu_component, &gpu, preset, NULL);
    if (!result) result = gpump_preset(&gpump_meter_component, &meter, preset, NULL);
    if (result) return result;
    memset(config, 0, sizeof *config);
    config->flit_bytes = 32;
    config->dram_sustainable_permille = 650;
    config->unit_cycles = 200;
    config->epoch_cycles = 10000;
    config->threshold_percent = 75;
    config->margin_percent = 5;
    config->gpu = gpu;
    config->meter = meter;
    return GPUMP_OK;
}

static gpump_result gpumpi_partition_check_config(const void *checked, gpump_diag *diag) {
    static const gpumpi_limit limits[] = {
        GPUMPI_LIMIT(gpump_partition_config, flit_bytes, 1u, 1024u),
        GPUMPI_LIMIT(gpump_partition_config, dram_sustainable_permille, 1u, 1000u),
        GPUMPI_LIMIT(gpump_partition_config, unit_cycles, 1u, UINT32_MAX),
        GPUMPI_LIMIT(gpump_partition_config, epoch_cycles, 1u, UINT32_MAX),
        GPUMPI_LIMIT(gpump_partition_config, threshold_percent, 1u, 100u),
    };
    const gpump_partition_config *config = (const gpump_partition_config *)checked;
    gpump_result result = GPUMPI_CHECK_LIMITS(config, limits, diag);
    if (!result) result = gpumpi_range(diag, "margin_percent", config->margin_percent, 0, config->threshold_percent);
    if (!result) result = gpump_check(&gpump_gpu_component, &config->gpu, diag);
    return result ? result : gpumpi_check_config(&gpump_meter_component, &config->meter, diag);
}

/* ---- what a kernel asks for ---- */

static uint32_t gpumpi_partition_u32(uint64_t value) { return value > UINT32_MAX ? UINT32_MAX : (uint32_t)value; }

/* Bytes that the network can sustain in one direction within `cycles` SM cycles. */
static uint64_t gpumpi_partition_network(const gpump_partition_config *config, uint64_t cycles) {
    const gpump_meter_config *meter = &config->meter;
    uint64_t peak = gpump_muldiv_down((uint64_t)meter->network_ports * config->flit_bytes, cycles * meter->network_khz,
                                      meter->clock_khz);
    return gpump_muldiv_down(peak, meter->sustainable_permille, 1000);
}
/* Bytes that DRAM can sustain within `cycles` SM cycles: MB/s / kHz = 1000 bytes per cycle. */
static uint64_t gpumpi_partition_dram(const gpump_partition_config *config, uint64_t cycles) {
    return gpump_muldiv_down(cycles * config->meter.memory_mb_per_s, config->dram_sustainable_permille,
                             config->meter.clock_khz);
}

GPUMP_API gpump_result gpump_partition_demand(const gpump_partition_config *config, const gpump_traffic *traffic,
                                              uint32_t sms, gpump_demand *demand, gpump_diag *diag) {
    gpump_result result = gpumpi_check_config(&gpump_partition_component, config, diag);
    uint64_t up, down, dram, misses, network;
    if (result) return result;
    if (!traffic || !demand) return gpumpi_null(diag, traffic ? "demand" : "traffic");
    if (!sms || sms > config->gpu.sms) return gpumpi_bad_argument(diag, "sms", 0, sms, 1, config->gpu.sms);
    memset(demand, 0, sizeof *demand);
    if (!traffic->cycles) return GPUMP_EMPTY;
    up = traffic->flits_up * config->flit_bytes;
    down = traffic->flits_down * config->flit_bytes;
    dram = traffic->dram_read_bytes + traffic->dram_written_bytes;
    misses = traffic->l1_load_misses + traffic->l1_store_misses + traffic->l1_atomics;
    network = gpump_muldiv_down(up > down ? up : down, config->gpu.sms, sms);
    demand->network_q16 = gpumpi_partition_u32(
        gpump_muldiv_down(network, GPUMPI_PARTITION_FULL, gpumpi_partition_network(config, traffic->cycles)));
    demand->dram_q16 =
        gpumpi_partition_u32(gpump_muldiv_down(gpump_muldiv_down(dram, config->gpu.sms, sms), GPUMPI_PARTITION_FULL,
                                               gpumpi_partition_dram(config, traffic->cycles)));
    demand->speed_q16 =
        gpumpi_partition_u32(gpump_muldiv_down(traffic->issued, UINT64_C(0x10000), traffic->cycles * sms));
    if (traffic->issued)
        demand->misses_per_1000_q4 = gpumpi_partition_u32(gpump_muldiv_down(misses, 16000, traffic->issued));
    if (!misses) return GPUMP_OK;
    demand->up_bytes_q16 = gpumpi_partition_u32(gpump_muldiv_down(up, UINT64_C(0x10000), misses));
    demand->down_bytes_q16 = gpumpi_partition_u32(gpump_muldiv_down(down, UINT64_C(0x10000), misses));
    demand->dram_bytes_q16 = gpumpi_partition_u32(gpump_muldiv_down(dram, UINT64_C(0x10000), misses));
    return GPUMP_OK;
}

GPUMP_API uint32_t gpump_partition_classify(const gpump_partition_config *config, const gpump_demand *demand,
                                            uint32_t previous) {
    uint32_t larger = demand->network_q16 > demand->dram_q16 ? demand->network_q16 : demand->dram_q16;
    uint32_t threshold = config->threshold_percent;
    if (previous == GPUMP_PARTITION_LATENCY) threshold += config->margin_percent;
    if (previous == GPUMP_PARTITION_NETWORK || previous == GPUMP_PARTITION_DRAM) threshold -= config->margin_percent;
    if (larger < threshold * GPUMP_PARTITION_PERCENT) return GPUMP_PARTITION_LATENCY;
    return demand->network_q16 >= demand->dram_q16 ? GPUMP_PARTITION_NETWORK : GPUMP_PARTITION_DRAM;
}

/* Misses per unit and SM that move `share_q16` percent of `unit_bytes`, at `bytes_q16` each. */
static uint64_t gpumpi_partition_misses(const gpump_partition_config *config, uint64_t unit_bytes, uint32_t share_q16,
                                        uint32_t bytes_q16) {
    if (!bytes_q16) return GPUMP_RATE_NO_LIMIT;
    return gpump_muldiv_down(gpump_muldiv_down(unit_bytes << 16, share_q16, GPUMPI_PARTITION_FULL), UINT64_C(0x10000),
                             (uint64_t)bytes_q16 * config->gpu.sms);
}

GPUMP_API uint32_t gpump_partition_rate(const gpump_partition_config *config, const gpump_demand *demand,
                                        uint32_t network_q16, uint32_t dram_q16) {
    const uint64_t network = gpumpi_partition_network(config, config->unit_cycles);
    const uint64_t limits[3] = {gpumpi_partition_misses(config, network, network_q16, demand->up_bytes_q16),
                                gpumpi_partition_misses(config, network, network_q16, demand->down_bytes_q16),
                                gpumpi_partition_misses(config, gpumpi_partition_dram(config, config->unit_cycles),
                                                        dram_q16, demand->dram_bytes_q16)};
    uint64_t least = GPUMP_RATE_NO_LIMIT;
    uint32_t i;
    for (i = 0; i < 3; i++)
        if (limits[i] < least) least = limits[i];
    return (uint32_t)least;
}

/* ---- what fits ---- */

/* What an SM has that all kernels share: the largest shared memory it can be set to. */
static void gpumpi_partition_capacity(const gpump_gpu *gpu, uint64_t *capacity) {
    gpumpi_gpu_capacity(gpu, gpu->shared_bytes[gpu->shared_option_count - 1], capacity);
}

GPUMP_API int gpumpi_partition_fits(const gpump_partition_request *request, const uint32_t *blocks) {
    uint64_t sum[GPUMPI_GPU_RESOURCES] = {0, 0, 0, 0, 0}, capacity[GPUMPI_GPU_RESOURCES];
    uint32_t k, i;
    gpumpi_partition_capacity(&request->config->gpu, capacity);
    for (k = 0; k < request->count; k++) {
        uint64_t need[GPUMPI_GPU_RESOURCES];
        gpumpi_gpu_need(&request->config->gpu, &request->kernels[k].need, need);
        for (i = 0; i < GPUMPI_GPU_RESOURCES; i++) sum[i] += need[i] * blocks[k];
    }
    for (i = 0; i < GPUMPI_GPU_RESOURCES; i++)
        if (sum[i] > capacity[i]) return 0;
    return 1;
}

/* The largest share of any resource that `blocks` blocks take, as percent in Q16.16. */
static uint64_t gpumpi_partition_static_share(const gpump_partition_request *request, uint32_t k, uint32_t blocks) {
    uint64_t need[GPUMPI_GPU_RESOURCES], capacity[GPUMPI_GPU_RESOURCES], largest = 0;
    uint32_t i;
    gpumpi_partition_capacity(&request->config->gpu, capacity);
    gpumpi_gpu_need(&request->config->gpu, &request->kernels[k].need, need);
    for (i = 0; i < GPUMPI_GPU_RESOURCES; i++) {
        uint64_t share = need[i] ? need[i] * blocks * GPUMPI_PARTITION_FULL / capacity[i] : 0;
        if (share > largest) largest = share;
    }
    return largest;
}

/* Combinations count like a number whose last digit is the last kernel's blocks. Blocks take room, so where a digit
 * does not fit, no larger one does. */
static int gpumpi_partition_can_search(const gpump_partition_request *request, const uint32_t *blocks) {
    return request && request->config && request->kernels && request->count <= GPUMP_PARTITION_KERNELS && blocks;
}
GPUMP_API gpump_result gpump_partition_first(const gpump_partition_request *request, uint32_t *blocks) {
    uint32_t k;
    if (!gpumpi_partition_can_search(request, blocks)) return GPUMP_ERROR_ARGUMENT;
    for (k = 0; k < request->count; k++) blocks[k] = 1;
    return gpumpi_partition_fits(request, blocks) ? GPUMP_OK : GPUMP_EMPTY;
}
GPUMP_API gpump_result gpump_partition_next(const gpump_partition_request *request, uint32_t *blocks) {
    uint32_t next[GPUMP_PARTITION_KERNELS], k;
    if (!gpumpi_partition_can_search(request, blocks)) return GPUMP_ERROR_ARGUMENT;
    memcpy(next, blocks, request->count * sizeof *next);
    for (k = request->count; k-- > 0; next[k] = 1) {
        if (next[k]++ >= request->kernels[k].blocks || !gpumpi_partition_fits(request, next)) continue;
        memcpy(blocks, next, request->count * sizeof *next);
        return GPUMP_OK;
    }
    return GPUMP_EMPTY;
}

/* ---- curves, read as if they never decreased ---- */

typedef struct gpumpi_partition_curve {
    uint32_t network_q16[65], dram_q16[65], speed_q16[65]; /* by blocks; [0] is 0 */
} gpumpi_partition_curve;
static void gpumpi_partition_curve_make(const gpump_partition_kernel *kernel, gpumpi_partition_curve *curve) {
    uint32_t c;
    curve->network_q16[0] = curve->dram_q16[0] = curve->speed_q16[0] = 0;
#define GPUMPI_GROW(field) \
    curve->field[c] =      \
        kernel->curve[c - 1].field > curve->field[c - 1] ? kernel->curve[c - 1].field : curve->field[c - 1]
    for (c = 1; c <= kernel->blocks; c++) {
        GPUMPI_GROW(network_q16);
        GPUMPI_GROW(dram_q16);
        GPUMPI_GROW(speed_q16);
    }
#undef GPUMPI_GROW
}

static void gpumpi_partition_blocks(const gpump_partition_share *shares, uint32_t count, uint32_t *blocks) {
    uint32_t k;
    for (k = 0; k < count; k++) blocks[k] = shares[k].blocks;
}
static int gpumpi_partition_shares_fit(const gpump_partition_request *request, const gpump_partition_share *shares) {
    uint32_t blocks[GPUMP_PARTITION_KERNELS];
    gpumpi_partition_blocks(shares, request->count, blocks);
    return gpumpi_partition_fits(request, blocks);
}

/* ---- ccbp: Algorithm 1 of Lin 4.5.2, corrected (docs/papers.md) ---- */

/* A kernel while ccbp hands out its steps. */
typedef struct gpumpi_partition_claim {
    uint64_t need[GPUMPI_GPU_RESOURCES]; /* of a block */
    uint64_t dominant;          /* share of its dominant resource, as percent in Q16.16; UINT64_MAX: no step left */
    gpump_partition_point asks; /* what its blocks ask for, read from the curve */
} gpumpi_partition_claim;

/* All of them, and what they have together. */
typedef struct gpumpi_partition_claims {
    gpumpi_partition_claim kernels[GPUMP_PARTITION_KERNELS];
    uint64_t capacity[GPUMPI_GPU_RESOURCES], used[GPUMPI_GPU_RESOURCES];
    uint64_t network_q16, dram_q16;
} gpumpi_partition_claims;

/* Raises what a kernel's blocks ask for to what the point of its curve has. */
static void gpumpi_partition_raise(gpump_partition_point *asks, const gpump_partition_point *point) {
    if (point->network_q16 > asks->network_q16) asks->network_q16 = point->network_q16;
    if (point->dram_q16 > asks->dram_q16) asks->dram_q16 = point->dram_q16;
}

/* One step of a kernel: a block more for a latency-sensitive kernel, one percent more of its bandwidth for the others,
 * and a block when the blocks that it has do not ask for so much. Returns 0 when the kernel has no step left.
 */
static int gpumpi_partition_step(const gpump_partition_kernel *kernel, gpump_partition_point *asks,
                                 gpump_partition_share *share) {
    const int dram = kernel->kind == GPUMP_PARTITION_DRAM, latency = kernel->kind == GPUMP_PARTITION_LATENCY;
    const uint32_t more = (dram ? share->dram_q16 : share->network_q16) + GPUMP_PARTITION_PERCENT;
    uint32_t wanted = dram ? asks->dram_q16 : asks->network_q16, follows;
    if (latency || wanted < more) {
        if (share->blocks == kernel->blocks) return 0;
        gpumpi_partition_raise(asks, &kernel->curve[share->blocks++]);
        wanted = dram ? asks->dram_q16 : asks->network_q16;
    }
    if (latency) {
        share->network_q16 = asks->network_q16;
        share->dram_q16 = asks->dram_q16;
        return 1;
    }
    follows = wanted ? gpumpi_partition_u32((uint64_t)(dram ? asks->network_q16 : asks->dram_q16) * more / wanted) : 0;
    share->network_q16 = dram ? follows : more;
    share->dram_q16 = dram ? more : follows;
    return 1;
}

/* How much of its dominant resource a kernel has, as percent in Q16.16. */
static uint64_t gpumpi_partition_dominant(const gpump_partition_request *request, uint32_t k,
                                          const gpump_partition_share *share) {
    switch (request->kernels[k].kind) {
    case GPUMP_PARTITION_NETWORK: return share->network_q16;
    case GPUMP_PARTITION_DRAM: return share->dram_q16;
    default: return gpumpi_partition_static_share(request, k, share->blocks) / request->kernels[k].priority;
    }
}

/* Gives kernel k what `share` has more than `now`, when the machine has that. Returns 0 when it has not. */
static int gpumpi_partition_take(gpumpi_partition_claims *claims, uint32_t k, const gpump_partition_share *now,
                                 const gpump_partition_share *share) {
    const uint64_t network = claims->network_q16 + share->network_q16 - now->network_q16,
                   dram = claims->dram_q16 + share->dram_q16 - now->dram_q16;
    uint32_t i;
    if (network > GPUMPI_PARTITION_FULL || dram > GPUMPI_PARTITION_FULL) return 0;
    if (share->blocks != now->blocks) { /* one more */
        const uint64_t *need = claims->kernels[k].need;
        for (i = 0; i < GPUMPI_GPU_RESOURCES; i++)
            if (claims->used[i] + need[i] > claims->capacity[i]) return 0;
        for (i = 0; i < GPUMPI_GPU_RESOURCES; i++) claims->used[i] += need[i];
    }
    claims->network_q16 = network;
    claims->dram_q16 = dram;
    return 1;
}

static void gpumpi_partition_set_rates(const gpump_partition_request *request, gpump_partition_share *shares) {
    uint32_t k;
    for (k = 0; k < request->count; k++) {
        const gpump_partition_kernel *kernel = &request->kernels[k];
        uint32_t rate_q16;
        if (!kernel->demand) continue;
        if (kernel->kind == GPUMP_PARTITION_LATENCY && request->flags & GPUMP_PARTITION_EXEMPT_LATENCY) continue;
        rate_q16 = gpump_partition_rate(request->config, kernel->demand, shares[k].network_q16, shares[k].dram_q16);
        /* 0: its blocks asked for nothing where they were measured, as their warps waited. That is no limit. */
        if (rate_q16) shares[k].limits.misses_q16 = rate_q16;
    }
}

GPUMP_API void gpumpi_partition_ccbp(const gpump_partition_args *args, gpump_partition_share *shares) {
    const gpump_partition_request *request = args->request;
    gpumpi_partition_claims claims;
    uint32_t k;
    memset(&claims, 0, sizeof claims);
    gpumpi_partition_capacity(&request->config->gpu, claims.capacity);
    for (k = 0; k < request->count; k++)
        gpumpi_gpu_need(&request->config->gpu, &request->kernels[k].need, claims.kernels[k].need);
    for (;;) {
        gpumpi_partition_claim *claim = &claims.kernels[0];
        gpump_partition_share next;
        uint32_t chosen;
        for (k = 1; k < request->count; k++)
            if (claims.kernels[k].dominant < claim->dominant) claim = &claims.kernels[k];
        if (claim->dominant == UINT64_MAX) break;
        chosen = (uint32_t)(claim - claims.kernels);
        next = shares[chosen];
        if (gpumpi_partition_step(&request->kernels[chosen], &claim->asks, &next) &&
            gpumpi_partition_take(&claims, chosen, &shares[chosen], &next)) {
            shares[chosen] = next;
            claim->dominant = gpumpi_partition_dominant(request, chosen, &next);
        } else {
            claim->dominant = UINT64_MAX;
        }
    }
    gpumpi_partition_set_rates(request, shares);
}

/* ---- its rivals ---- */

/* SMK: one block at a time to the kernel whose dominant static share is smallest. Each kernel may issue the warp
 * instructions of an epoch that it would have issued alone, divided by the number of kernels. */
GPUMP_API void gpumpi_partition_smk(const gpump_partition_args *args, gpump_partition_share *shares) {
    const gpump_partition_request *request = args->request;
    uint32_t open = ((uint32_t)1 << request->count) - 1, k;
    while (open) {
        uint64_t least = UINT64_MAX;
        uint32_t chosen = 0;
        for (k = 0; k < request->count; k++) {
            uint64_t share = gpumpi_partition_static_share(request, k, shares[k].blocks);
            if (open >> k & 1u && share < least) least = share, chosen = k;
        }
        shares[chosen].blocks++;
        if (shares[chosen].blocks <= request->kernels[chosen].blocks && gpumpi_partition_shares_fit(request, shares))
            continue;
        shares[chosen].blocks--;
        open &= ~((uint32_t)1 << chosen);
    }
    for (k = 0; k < request->count; k++) {
        uint64_t alone = request->kernels[k].curve[request->kernels[k].blocks - 1].speed_q16;
        if (!alone) continue; /* no warp was ready while it was measured */
        shares[k].limits.instructions =
            gpumpi_partition_u32(gpump_muldiv_up(alone, request->config->epoch_cycles, (uint64_t)request->count << 16));
    }
}

/* Spatial: the SMs are divided among the kernels, earlier ones get what does not divide. */
GPUMP_API void gpumpi_partition_spatial(const gpump_partition_args *args, gpump_partition_share *shares) {
    const gpump_partition_request *request = args->request;
    uint32_t sms = request->config->gpu.sms, first = 0, k;
    for (k = 0; k < request->count; k++) {
        shares[k].blocks = request->kernels[k].blocks;
        shares[k].first_sm = first;
        shares[k].sms = sms / request->count + (k < sms % request->count);
        first += shares[k].sms;
    }
}

/* Warped-Slicer: always raises the kernel whose speed, relative to its speed with all blocks, is lowest, to the next
 * number of blocks at which it is faster. Spatial, when the slowest kernel would have less than its part of the SMs. */
GPUMP_API void gpumpi_partition_ws(const gpump_partition_args *args, gpump_partition_share *shares) {
    const gpump_partition_request *request = args->request;
    uint32_t open = ((uint32_t)1 << request->count) - 1, k;
    uint64_t slowest;
    do {
        gpumpi_partition_curve curve;
        uint32_t chosen = 0, before, c;
        slowest = UINT64_MAX;
        for (k = 0; k < request->count; k++) {
            uint64_t relative, best;
            gpumpi_partition_curve_make(&request->kernels[k], &curve);
            best = curve.speed_q16[request->kernels[k].blocks];
            relative = best ? gpump_muldiv_up(curve.speed_q16[shares[k].blocks], UINT64_C(0x10000), best)
                            : (uint64_t)shares[k].blocks << 16;
            if ((open ? open >> k & 1u : 1u) && relative < slowest) slowest = relative, chosen = k;
        }
        if (!open) break;
        gpumpi_partition_curve_make(&request->kernels[chosen], &curve);
        before = shares[chosen].blocks;
        for (c = before + 1; c < request->kernels[chosen].blocks; c++)
            if (curve.speed_q16[c] > curve.speed_q16[before]) break;
        shares[chosen].blocks = c;
        if (c <= request->kernels[chosen].blocks && (before == 0 || curve.speed_q16[c] > curve.speed_q16[before]) &&
            gpumpi_partition_shares_fit(request, shares))
            continue;
        shares[chosen].blocks = before;
        open &= ~((uint32_t)1 << chosen);
    } while (1);
    if (slowest * request->count < UINT64_C(0x10000)) gpumpi_partition_spatial(args, shares);
}

/* Warped-Slicer with the memory throttling of Dai et al.: memory instructions in inverse proportion to the misses of
 * each, and as many in flight as the L1 takes without reservation failures. */
GPUMP_API void gpumpi_partition_ws_dai(const gpump_partition_args *args, gpump_partition_share *shares) {
    const gpump_partition_request *request = args->request;
    uint32_t most = 1, k;
    gpumpi_partition_ws(args, shares);
    if (shares[0].sms < request->config->gpu.sms) return; /* the SMs are divided: nobody shares an L1 */
    for (k = 0; k < request->count; k++)
        if (request->kernels[k].demand && request->kernels[k].demand->misses_per_1000_q4 > most)
            most = request->kernels[k].demand->misses_per_1000_q4;
    for (k = 0; k < request->count; k++) {
        const gpump_partition_kernel *kernel = &request->kernels[k];
        uint32_t misses = kernel->demand ? kernel->demand->misses_per_1000_q4 : 0;
        if (kernel->demand) {
            uint64_t quota = gpump_muldiv_down(most, 4, misses ? misses : 1);
            shares[k].limits.memory_quota = quota > 255 ? 255u : (uint32_t)quota;
        }
        shares[k].limits.in_flight = GPUMP_RATE_RENEWED;
    }
}

/* CRISP's simplification: of all combinations that fit, the one with the largest sum of the kernels' speeds. */
GPUMP_API void gpumpi_partition_crisp(const gpump_partition_args *args, gpump_partition_share *shares) {
    const gpump_partition_request *request = args->request;
    uint32_t blocks[GPUMP_PARTITION_KERNELS], k;
    uint64_t best = 0;
    gpump_result result;
    for (result = gpump_partition_first(request, blocks); !result; result = gpump_partition_next(request, blocks)) {
        uint64_t sum = 1;
        for (k = 0; k < request->count; k++) sum += request->kernels[k].curve[blocks[k] - 1].speed_q16;
        if (sum <= best) continue;
        best = sum;
        for (k = 0; k < request->count; k++) shares[k].blocks = blocks[k];
    }
}

/* Even: each kernel gets the same part of every static resource. */
GPUMP_API void gpumpi_partition_even(const gpump_partition_args *args, gpump_partition_share *shares) {
    const gpump_partition_request *request = args->request;
    uint64_t need[GPUMPI_GPU_RESOURCES], capacity[GPUMPI_GPU_RESOURCES];
    uint32_t k, i;
    gpumpi_partition_capacity(&request->config->gpu, capacity);
    for (k = 0; k < request->count; k++) {
        uint64_t blocks = request->kernels[k].blocks;
        gpumpi_gpu_need(&request->config->gpu, &request->kernels[k].need, need);
        for (i = 0; i < GPUMPI_GPU_RESOURCES; i++)
            if (need[i] && capacity[i] / request->count / need[i] < blocks)
                blocks = capacity[i] / request->count / need[i];
        shares[k].blocks = (uint32_t)blocks;
    }
}

/* Leftover: the first kernel gets all blocks that fit, the next what is left, and so on, as hardware queues do. */
GPUMP_API void gpumpi_partition_leftover(const gpump_partition_args *args, gpump_partition_share *shares) {
    const gpump_partition_request *request = args->request;
    uint32_t k;
    for (k = 0; k < request->count; k++) {
        shares[k].blocks = request->kernels[k].blocks;
        while (shares[k].blocks && !gpumpi_partition_shares_fit(request, shares)) shares[k].blocks--;
    }
}

/* ---- divisions that a user names ---- */

static void gpumpi_partition_fixed(const gpump_partition_args *args, gpump_partition_share *shares) {
    const gpump_partition_fixed *fixed = (const gpump_partition_fixed *)args->policy->user;
    uint32_t k;
    for (k = 0; k < args->request->count; k++) {
        const gpump_partition_kernel *kernel = &args->request->kernels[k];
        const uint32_t part = kernel->part ? kernel->part - 1 : k;
        uint32_t before;
        if (part >= fixed->count) continue;
        shares[k].blocks =
            fixed->blocks[part] && fixed->blocks[part] < kernel->blocks ? fixed->blocks[part] : kernel->blocks;
        if (fixed->sms[part]) shares[k].sms = fixed->sms[part];
        if (fixed->memory[part]) shares[k].memory = fixed->memory[part];
        for (before = 0; before < part; before++) {
            shares[k].first_sm += fixed->sms[before];
            shares[k].first_memory += fixed->memory[before];
        }
    }
}

/* The number at *text, digits and then `unit`, and the text behind it and behind one separator; 0: there is none. */
static uint32_t gpumpi_partition_number(const char **text, const char *unit, char separator) {
    const char *at = *text;
    uint32_t number = 0, digits = 0;
    while (*at >= '0' && *at <= '9' && digits++ < 6) number = number * 10 + (uint32_t)(*at++ - '0');
    if (strncmp(at, unit, strlen(unit))) return 0;
    at += strlen(unit);
    if (*at && *at != separator) return 0;
    if (*at && !at[1]) return 0;
    *text = *at ? at + 1 : at;
    return number;
}

GPUMP_API gpump_result gpump_partition_fixed_parse(const char *text, const gpump_gpu *gpu, gpump_partition_fixed *fixed,
                                                   gpump_diag *diag) {
    static const struct {
        const char *word, *unit;
        char separator;
    } forms[] = {{"green:", "", ':'}, {"mps:", "", ':'}, {"mig:", "g", '+'}, {"blocks:", "", ':'}};
    static const uint32_t eighths[8] = {0, 1, 2, 4, 4, 0, 0, 8};
    gpump_partition_fixed fresh;
    uint32_t form = 0, sum = 0, memory = 0, most;
    const char *at;
    if (!text || !gpu || !fixed) return gpumpi_null(diag, text ? "gpu or fixed" : "text");
    while (form < 4 && strncmp(text, forms[form].word, strlen(forms[form].word))) form++;
    if (form == 4) return gpumpi_fail_at(diag, GPUMP_ERROR_UNKNOWN_NAME, "text", 0);
    if (strlen(text) >= sizeof fresh.text)
        return gpumpi_bad_argument(diag, "text", 0, strlen(text), 1, sizeof fresh.text - 1);
    memset(&fresh, 0, sizeof fresh);
    memcpy(fresh.text, text, strlen(text));
    most = form == 0 ? gpu->sms : form == 1 ? 100u : form == 2 ? 7u : 64u;
    for (at = text + strlen(forms[form].word); *at || !fresh.count;) {
        const uint32_t k = fresh.count++,
                       number = k < GPUMP_PARTITION_KERNELS
                                    ? gpumpi_partition_number(&at, forms[form].unit, forms[form].separator)
                                    : 0;
        if (!number || number > most || (form == 2 && !eighths[number]))
            return gpumpi_bad_argument(diag, "number", k, number, 1, most);
        sum += number;
        if (form == 3) {
            fresh.blocks[k] = number;
            continue;
        }
        fresh.sms[k] = form == 0 ? number : (uint32_t)((uint64_t)gpu->sms * number / most);
        if (!fresh.sms[k]) fresh.sms[k] = 1;
        if (form == 2) memory += fresh.memory[k] = eighths[number];
    }
    if (form < 3 && sum > most) return gpumpi_bad_argument(diag, "sum", 0, sum, 1, most);
    if (memory > 8) return gpumpi_bad_argument(diag, "memory", 0, memory, 1, 8);
    *fixed = fresh;
    fixed->policy.name = fixed->text;
    fixed->policy.description = "A division that the user has named.";
    fixed->policy.user = fixed;
    fixed->policy.decide = gpumpi_partition_fixed;
    return GPUMP_OK;
}

/* ---- the decision ---- */

static gpump_result gpumpi_partition_check_kernel(const gpump_partition_request *request, uint32_t k,
                                                  gpump_occupancy *alone, gpump_diag *diag) {
    const gpump_partition_kernel *kernel = &request->kernels[k];
    gpump_result result = gpump_gpu_occupancy(&request->config->gpu, &kernel->need, alone, diag);
    if (result) return result;
    if (!alone->blocks) return gpumpi_refuse(diag, GPUMP_REASON_NEVER_FITS, "need", k);
    if (kernel->kind >= GPUMP_PARTITION_CLASSES)
        return gpumpi_bad_argument(diag, "kind", k, kernel->kind, 0, GPUMP_PARTITION_CLASSES - 1);
    if (!kernel->blocks || kernel->blocks > alone->blocks)
        return gpumpi_bad_argument(diag, "blocks", k, kernel->blocks, 1, alone->blocks);
    if (!kernel->priority) return gpumpi_bad_argument(diag, "priority", k, 0, 1, UINT32_MAX);
    if (!kernel->curve) return gpumpi_bad_argument(diag, "curve", k, 0, 1, UINT64_MAX);
    return GPUMP_OK;
}

/* Checks what a hook answered: SMs that exist, and on each SM blocks that fit together. */
static gpump_result gpumpi_partition_check_shares(const gpump_partition_request *request,
                                                  const gpump_partition_share *shares, gpump_diag *diag) {
    const uint32_t sms = request->config->gpu.sms;
    uint32_t k, other;
    for (k = 0; k < request->count; k++) {
        uint32_t blocks[GPUMP_PARTITION_KERNELS];
        if (shares[k].first_sm > sms || shares[k].sms > sms - shares[k].first_sm)
            return gpumpi_refuse(diag, GPUMP_REASON_NEVER_FITS, "sms", k);
        if (shares[k].first_memory > 8 || shares[k].memory > 8 - shares[k].first_memory)
            return gpumpi_refuse(diag, GPUMP_REASON_NEVER_FITS, "memory", k);
        if (shares[k].blocks > request->kernels[k].blocks)
            return gpumpi_refuse(diag, GPUMP_REASON_NEVER_FITS, "blocks", k);
        /* The SM where kernel k begins has the most kernels of all SMs from there to the next kernel's first SM. */
        for (other = 0; other < request->count; other++)
            blocks[other] = shares[k].sms && shares[other].first_sm <= shares[k].first_sm &&
                                    shares[k].first_sm - shares[other].first_sm < shares[other].sms
                                ? shares[other].blocks
                                : 0;
        if (!gpumpi_partition_fits(request, blocks)) return gpumpi_refuse(diag, GPUMP_REASON_NEVER_FITS, "blocks", k);
    }
    return GPUMP_OK;
}

/* No blocks, all SMs, no limits. */
static void gpumpi_partition_preset_shares(const gpump_partition_request *request, gpump_partition_share *shares) {
    uint32_t k;
    memset(shares, 0, request->count * sizeof *shares);
    for (k = 0; k < request->count; k++) {
        shares[k].sms = request->config->gpu.sms;
        shares[k].limits = gpump_rate_limits_none();
    }
}
static int gpumpi_partition_any_block(const gpump_partition_request *request, const gpump_partition_share *shares) {
    uint32_t k;
    for (k = 0; k < request->count; k++)
        if (shares[k].blocks) return 1;
    return 0;
}

GPUMP_API gpump_result gpump_partition_decide(const gpump_partition_policy *policy,
                                              const gpump_partition_request *request, gpump_partition_share *shares,
                                              gpump_diag *diag) {
    gpump_partition_share answer[GPUMP_PARTITION_KERNELS];
    gpump_occupancy alone[GPUMP_PARTITION_KERNELS];
    gpump_partition_args args;
    gpump_result result;
    uint32_t k;
    if (!policy)
        return gpumpi_fail_at(diag, GPUMP_ERROR_ARGUMENT, "policy is NULL: gpump_partition_find did not know that name",
                              0);
    if (!policy->decide) return gpumpi_null(diag, "policy.decide");
    if (!request) return gpumpi_null(diag, "request");
    if (!request->kernels) return gpumpi_null(diag, "request.kernels");
    if (!shares) return gpumpi_null(diag, "shares");
    if (request->candidate && request->candidate >= policy->candidates)
        return gpumpi_bad_argument(diag, "candidate", 0, request->candidate, 0,
                                   policy->candidates ? policy->candidates - 1 : 0);
    if (!request->count || request->count > GPUMP_PARTITION_KERNELS)
        return gpumpi_bad_argument(diag, "count", 0, request->count, 1, GPUMP_PARTITION_KERNELS);
    result = gpumpi_check_config(&gpump_partition_component, request->config, diag);
    for (k = 0; k < request->count && !result; k++) result = gpumpi_partition_check_kernel(request, k, &alone[k], diag);
    if (result) return result;
    gpumpi_partition_preset_shares(request, answer);
    args.policy = policy;
    args.request = request;
    args.occupancy = alone;
    policy->decide(&args, answer);
    if (!gpumpi_partition_any_block(request, answer)) {
        gpumpi_partition_preset_shares(request, answer);
        gpumpi_partition_leftover(&args, answer);
    }
    result = gpumpi_partition_check_shares(request, answer, diag);
    if (!result) memcpy(shares, answer, request->count * sizeof *shares);
    return result;
}

/* clang-format off */
static const gpumpi_methods gpumpi_partition_hooks = {
    "partition", "sharing", 0,
    GPUMP_LAYOUT_SHARING, sizeof(gpump_partition_config), 0, 0,
    0, NULL, 0,
    /* preset, check_config, bytes, bits, tables */
    gpumpi_partition_preset, gpumpi_partition_check_config, NULL, NULL, NULL,
    /* set_up, unfit, check, hash */
    NULL, NULL, NULL, NULL,
    /* preset_for, next_cycle, copy_statistics */
    NULL, NULL, NULL,
};
/* clang-format on */
GPUMP_API const gpumpi_methods *gpumpi_partition_methods(void) { return &gpumpi_partition_hooks; }
