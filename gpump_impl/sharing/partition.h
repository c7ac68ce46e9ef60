/* partition: how many blocks and how much bandwidth each kernel of a shared SM gets (calculation; Lin chapter 4)
 *
 * Kernels that co-run have the same number of blocks on every SM that they share. A request describes each kernel by
 * its block's footprint, its class, and a curve: network load, DRAM load and speed with 1, 2, ... blocks on each SM. A
 * policy returns the blocks of each kernel, its shares of bandwidth, and the limits that gpump_rate enforces on each
 * SM. No state is kept between calls, and no memory is allocated. */
#ifndef GPUMP_PARTITION_H
#define GPUMP_PARTITION_H

#include "base/component.h"
#include "gpu/gpu.h"
#include "memory/meter.h"
#include "sharing/rate.h"

GPUMP_BEGIN

#define GPUMP_PARTITION_KERNELS GPUMP_RATE_KERNELS /* kernels of a request at most */
#define GPUMP_PARTITION_PERCENT UINT32_C(0x10000)  /* 1% of a sustainable bandwidth, Q16.16 */

/* What limits a kernel (Lin 4.3.2, Table 4.2). */
typedef enum gpump_partition_class {
    GPUMP_PARTITION_LATENCY = 0, /* latency sensitive: its dominant resource is what its blocks take on an SM */
    GPUMP_PARTITION_NETWORK = 1, /* network intensive: its dominant resource is the network */
    GPUMP_PARTITION_DRAM = 2,    /* DRAM intensive: its dominant resource is DRAM */
    GPUMP_PARTITION_CLASSES = 3
} gpump_partition_class;

/* The machine that kernels share. gpump_preset fills the struct; the host may then change every
 * field. */
typedef struct gpump_partition_config {
    uint32_t flit_bytes;                /* width of the network; 32 (Lin 4.3.1); 1 to 1024 */
    uint32_t dram_sustainable_permille; /* of the peak; 650 (Lin 4.3.2: 60 to 70%); 1 to 1000 */
    uint32_t unit_cycles;               /* of gpump_rate_config; 200 */
    uint32_t epoch_cycles;              /* of gpump_rate_config; 10000 */
    uint32_t threshold_percent; /* of a sustainable bandwidth: a kernel below it is latency sensitive; 75 (assumed) */
    uint32_t margin_percent;    /* around the threshold: a kernel keeps its class inside it; 5 (assumed) */
    gpump_gpu gpu;              /* what an SM holds */
    gpump_meter_config meter;   /* clocks, network ports and peak bandwidths */
} gpump_partition_config;

/* The bandwidth demand and speed of a running kernel, all SMs together (Lin 4.5.3). */
typedef struct gpump_demand {
    uint32_t network_q16;        /* percent of the network's sustainable bandwidth, the busier direction, Q16.16 */
    uint32_t dram_q16;           /* percent of DRAM's sustainable bandwidth, Q16.16 */
    uint32_t up_bytes_q16;       /* bytes that one L1 miss sends to L2, Q16.16 */
    uint32_t down_bytes_q16;     /* bytes that L2 returns for one L1 miss, Q16.16 */
    uint32_t dram_bytes_q16;     /* bytes that one L1 miss moves to and from DRAM, Q16.16 */
    uint32_t speed_q16;          /* warp instructions per cycle and SM, Q16.16 */
    uint32_t misses_per_1000_q4; /* L1 misses per 1000 warp instructions, in sixteenths */
    uint32_t unused;
} gpump_demand;

/* A kernel with a certain number of blocks on each SM. */
typedef struct gpump_partition_point {
    uint32_t network_q16; /* percent of the network's sustainable bandwidth, Q16.16 */
    uint32_t dram_q16;    /* percent of DRAM's, Q16.16 */
    uint32_t speed_q16;   /* warp instructions per cycle and SM, Q16.16 */
} gpump_partition_point;

/* One kernel of a request. */
typedef struct gpump_partition_kernel {
    gpump_footprint need; /* of one block */
    uint32_t kind;        /* gpump_partition_class */
    uint32_t blocks;      /* blocks on each SM at most: points of the curve; 1 to 64 */
    uint32_t priority;    /* of a latency-sensitive kernel: its static share counts 1 / priority; at least 1 */
    uint32_t part;        /* of a fixed division, from 1; 0: by the kernel's place in the request */
    const gpump_partition_point *curve; /* curve[c - 1]: with c blocks; read as if it never decreased */
    const gpump_demand *demand;         /* bytes per miss, for gpump_rate limits; NULL: no rates are set */
} gpump_partition_kernel;

/* Bits of gpump_partition_request.flags. */
#define GPUMP_PARTITION_EXEMPT_LATENCY 1u /* latency-sensitive kernels get no rate */

typedef struct gpump_partition_request {
    uint32_t count;     /* kernels; 1 to GPUMP_PARTITION_KERNELS */
    uint32_t flags;     /* GPUMP_PARTITION_... */
    uint32_t candidate; /* which of the policy's answers; below its `candidates`, 0 for others */
    const gpump_partition_config *config;
    const gpump_partition_kernel *kernels; /* count of them */
} gpump_partition_request;

/* The share of one kernel. */
typedef struct gpump_partition_share {
    uint32_t blocks;          /* on each of its SMs; 0: nothing fits */
    uint32_t first_sm;        /* its SMs: first_sm to first_sm + sms - 1 */
    uint32_t sms;             /* kernels that share SMs have the same ones */
    uint32_t network_q16;     /* percent of the network's sustainable bandwidth, Q16.16; 0 where the policy sets none */
    uint32_t dram_q16;        /* percent of DRAM's */
    uint32_t first_memory;    /* index of its first eighth of L2 and DRAM */
    uint32_t memory;          /* eighths of L2 and DRAM reserved for the kernel; 0: the kernel shares all eighths */
    gpump_rate_limits limits; /* of each SM */
} gpump_partition_share;

struct gpump_partition_policy;

/* Arguments of a decide hook. */
typedef struct gpump_partition_args {
    const struct gpump_partition_policy *policy;
    const gpump_partition_request *request;
    const gpump_occupancy *occupancy; /* of each kernel alone */
} gpump_partition_args;

/* A policy: a constant struct. gpump_partition_decide checks the result of the hook. */
typedef struct gpump_partition_policy {
    uint32_t candidates; /* answers that a group tries out, by request->candidate; 0 or 1: one, which is not tried */
    const char *name;
    const char *description; /* one sentence */
    void *user;
    /* Fills shares[count], which are preset to no blocks, all SMs and no limits. */
    void (*decide)(const gpump_partition_args *args, gpump_partition_share *shares);
} gpump_partition_policy;

/* Returns a built-in policy by name, NULL if there is none: ccbp, smk, ws, ws+dai, crisp, spatial, even, leftover,
 * slack. docs/papers.md says what each does. */
GPUMP_API const gpump_partition_policy *gpump_partition_find(const char *name);
/* Returns the index-th built-in policy, NULL past the last. */
GPUMP_API const gpump_partition_policy *gpump_partition_policy_at(uint32_t index);

/* A fixed division given as text, as in vendors' tools. The policy points to the struct, so the struct must not be
 * moved. */
typedef struct gpump_partition_fixed {
    gpump_partition_policy policy; /* its name is `text` */
    char text[48];
    uint32_t count;                      /* kernels that it names */
    uint32_t blocks[GPUMP_RATE_KERNELS]; /* on each SM at most; 0: as many as fit */
    uint32_t sms[GPUMP_RATE_KERNELS];    /* one kernel's behind the other's; 0: all SMs, shared */
    uint32_t memory[GPUMP_RATE_KERNELS]; /* eighths of L2 and DRAM, likewise; 0: all, shared */
} gpump_partition_fixed;
/* Reads the division `text` for the machine *gpu into *fixed: "green:A:B" (SMs of each kernel: green contexts),
 * "mps:P:Q" (percent of the SMs of each kernel, rounded down to one SM at least: MPS, here without overlap),
 * "mig:1g+3g" (sevenths of the SMs, rounded down, with 1, 2, 4, 4 and 8 eighths of L2 and DRAM for 1g, 2g, 3g, 4g and
 * 7g: MIG of an A100), or "blocks:A:B" (blocks of each kernel on every SM). One to GPUMP_PARTITION_KERNELS numbers.
 * GPUMP_ERROR_UNKNOWN_NAME for other words; GPUMP_ERROR_ARGUMENT for a number or a sum out of range: diag names it. */
GPUMP_API gpump_result gpump_partition_fixed_parse(const char *text, const gpump_gpu *gpu, gpump_partition_fixed *fixed,
                                                   gpump_diag *diag);

/* A policy that bounds a tail latency. Kernels of the highest priority are requests. While a request runs, kernels of
 * lower priority keep `share_q16` of their blocks and of the misses that the network can serve. The policy points to
 * the struct, so the struct must not be moved. The policy needs no samples (gpump_sharing_config.unsampled). */
typedef struct gpump_partition_hold {
    gpump_partition_policy policy;
    uint64_t limit_cycles;  /* a request that takes longer than this is late */
    uint32_t late_permille; /* requests that may be late; 10 holds a p99 */
    uint32_t share_q16;     /* share of lower priorities while a request runs, Q16.16: 0 to 65536; 0 at first */
    uint64_t debt_q16;      /* decreases that would have made share_q16 negative; increases pay this debt first */
} gpump_partition_hold;
/* Fills *hold for requests of which `late_permille` (0 to 1000) may take longer than `limit_cycles`.
 * GPUMP_ERROR_ARGUMENT. */
GPUMP_API gpump_result gpump_partition_hold_init(gpump_partition_hold *hold, uint64_t limit_cycles,
                                                 uint32_t late_permille, gpump_diag *diag);
/* Reports a request that has taken `latency_cycles`, and adjusts share_q16. With p = late_permille / 1000, and shares
 * as parts of 65536:
 *   late     share_q16 falls by (1 - p) / 4
 *   in time  share_q16 rises by p / 4
 * The share is stable where a part p of the requests is late. The share starts at 0, and debt_q16 keeps the decreases
 * below 0. So at most p x n + 1 of n requests are late, unless requests are late even at a share of 0. Cost:
 * constant. */
GPUMP_API void gpump_partition_hold_report(gpump_partition_hold *hold, uint64_t latency_cycles);

/* ---- what a kernel asks for ---- */

/* The configuration for gpump_preset, whose presets are those of gpump_gpu_component, and for gpump_check. */
GPUMP_API const gpumpi_methods *gpumpi_partition_methods(void);
GPUMPI_CONSTANT gpump_component gpump_partition_component = {gpumpi_partition_methods, GPUMP_LAYOUT_SHARING, 0};

/* Computes *demand of a kernel from its *traffic on `sms` SMs in traffic->cycles, projected to all SMs of the machine
 * (Lin 4.5.3; derived, because the thesis's text ends before the formula). `sms` is smaller than the machine's SM count
 * when the kernel was sampled on some SMs. GPUMP_ERROR_CONFIG. GPUMP_EMPTY, with a demand of 0: traffic->cycles is
 * 0. */
GPUMP_API gpump_result gpump_partition_demand(const gpump_partition_config *config, const gpump_traffic *traffic,
                                              uint32_t sms, gpump_demand *demand, gpump_diag *diag);
/* Returns the gpump_partition_class of a kernel with `demand` (derived). Below the threshold on both network and DRAM
 * the class is LATENCY; otherwise it is the busier of the two. `previous` is the kernel's present class, or
 * GPUMP_PARTITION_CLASSES for none. A kernel leaves or enters LATENCY only outside the margin around the threshold. */
GPUMP_API uint32_t gpump_partition_classify(const gpump_partition_config *config, const gpump_demand *demand,
                                            uint32_t previous);
/* Returns the L1 misses per unit and SM, Q16.16, with which a kernel of `demand` uses at most `network_q16` and
 * `dram_q16` percent of the sustainable bandwidths (Lin 4.5.3; derived). GPUMP_RATE_NO_LIMIT: the kernel's misses move
 * no bytes. */
GPUMP_API uint32_t gpump_partition_rate(const gpump_partition_config *config, const gpump_demand *demand,
                                        uint32_t network_q16, uint32_t dram_q16);

/* ---- the decision ---- */

/* Returns 1 when blocks[request->count] blocks of each kernel fit one SM together, else 0: slots, warps, threads,
 * registers, shared memory. Cost: linear in kernels. */
GPUMP_API int gpumpi_partition_fits(const gpump_partition_request *request, const uint32_t *blocks);
/* Decides the blocks and limits of each kernel by a policy and writes them to shares[request->count]. Algorithm 1 of
 * Lin 4.5.2 is policy "ccbp". When the policy gives no block to any kernel, as crisp and even do where an SM does not
 * hold one block of each, the shares are those of leftover: kernels without blocks would never end.
 * GPUMP_ERROR_ARGUMENT, also for a kernel whose block fits no SM; GPUMP_ERROR_CONFIG; GPUMP_ERROR_REFUSED: the result
 * of a host's own policy does not fit. Cost: ccbp takes 100 steps per kernel and number of blocks; crisp tries every
 * combination. */
GPUMP_API gpump_result gpump_partition_decide(const gpump_partition_policy *policy,
                                              const gpump_partition_request *request, gpump_partition_share *shares,
                                              gpump_diag *diag);
/* Sets blocks[request->count] to the first combination that fits, 1 block of each kernel (Lin 4.4.1: an exhaustive
 * search starts here). GPUMP_EMPTY when it does not fit. */
GPUMP_API gpump_result gpump_partition_first(const gpump_partition_request *request, uint32_t *blocks);
/* Sets blocks[request->count] to the next combination that fits, in lexicographic order, each kernel with 1 block at
 * least. GPUMP_EMPTY, and blocks unchanged, after the last. */
GPUMP_API gpump_result gpump_partition_next(const gpump_partition_request *request, uint32_t *blocks);

GPUMP_END
#endif
