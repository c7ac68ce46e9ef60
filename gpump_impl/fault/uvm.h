/* uvm: how the driver of NVIDIA's unified memory serves page faults (calculation; driver 595.45.04; Batch-Aware UM,
 * ASPLOS 2020)
 *
 * The driver fetches up to `batch` entries of the fault buffer at once and serves them VA block by VA block. For each
 * VA block the driver also brings granules near the faulted ones, by density. A granule that arrives again and again is
 * thrashing: its faults are delayed, and then the granule is pinned or mapped remotely.
 *
 * This component holds the driver's rules and its times. gpump_fault keeps the queue of faults and the frames, and
 * applies the rules where gpump_fault_config.uvm.batch is above 1. A host with a fault queue of its own calls the rules
 * directly: it keeps a gpump_uvm_granule for each granule. */
#ifndef GPUMP_UVM_H
#define GPUMP_UVM_H

#include "base/component.h"
#include "gpu/gpu.h"

GPUMP_BEGIN

/* When the driver wakes the blocks of a batch: it replays their accesses. */
typedef enum gpump_uvm_replay {
    GPUMP_UVM_REPLAY_BLOCK = 0,   /* after each VA block */
    GPUMP_UVM_REPLAY_BATCH,       /* after each batch */
    GPUMP_UVM_REPLAY_BATCH_FLUSH, /* after each batch; merged reports that wait in the fault buffer are dropped */
    GPUMP_UVM_REPLAY_ONCE,        /* after up to `batches` batches */
    GPUMP_UVM_REPLAYS
} gpump_uvm_replay;

/* The configuration of the driver. gpumpi_uvm_config_from_gpu fills the struct; the host may then change every field.
 */
typedef struct gpump_uvm_config {
    uint32_t batch;          /* entries of the fault buffer fetched at once; 1 to 65536; 1: no batches; uvm595 256 */
    uint32_t batches;        /* batches until a replay under ONCE; 1 to 256; uvm595 20 */
    uint32_t replay;         /* gpump_uvm_replay; uvm595 BATCH_FLUSH */
    uint32_t batch_cycles;   /* from the interrupt, or the last batch, to the fetch; uvm595 50 us */
    uint32_t entry_cycles;   /* per entry fetched; uvm595 0.2 us (assumed) */
    uint32_t block_cycles;   /* per VA block of a batch; uvm595 90 us */
    uint32_t block_granules; /* granules of a VA block; a power of two up to 64; uvm595 32 (2 MB) */
    /* A fault brings the largest aligned part of its VA block of which more than so many per cent are resident or
     * wanted; 1 to 100; uvm595 51. 100: nothing is prefetched. */
    uint32_t prefetch_percent;
    /* Arrivals of a granule, each at most thrash_cycles after the last, that count as thrashing; uvm595 3; 0: no
     * granule thrashes. */
    uint32_t thrash_events;
    uint32_t thrash_cycles; /* also the delay of a thrashing granule's fault; uvm595 500 us */
    uint32_t thrash_delays; /* delays before the granule is pinned; uvm595 10 */
    uint32_t pin_cycles;    /* how long a pinned granule is evicted last; uvm595 150 ms */
    uint32_t remote;        /* 0: no remote mapping; 1: for granules that thrash; 2: for all that the CPU has */
    uint32_t remote_cycles; /* mapping a granule remotely occupies the driver so long; uvm595 5 us (assumed) */
    uint32_t counter; /* remote accesses after which a granule migrates (access counters); at least 1; uvm595 256 */
} gpump_uvm_config;

/* What the driver remembers of a granule; all 0 for a granule that has never arrived. */
typedef struct gpump_uvm_granule {
    uint64_t arrived;      /* cycle at which the granule was mapped last */
    uint64_t pinned_until; /* the granule thrashed: it is evicted last until this cycle */
    uint32_t arrivals;     /* arrivals, each soon after the last */
    uint32_t delays;       /* delays since the granule was pinned last */
} gpump_uvm_granule;

/* What the driver does with a fault that it fetches. */
typedef enum gpump_uvm_verdict {
    GPUMP_UVM_SERVE = 0, /* serves the fault in this batch */
    GPUMP_UVM_DELAY,     /* leaves the fault in the queue for thrash_cycles, because its granule thrashes */
    GPUMP_UVM_PIN,       /* serves the fault, and pins its granule */
    GPUMP_UVM_REMOTE     /* serves the fault by a remote mapping */
} gpump_uvm_verdict;

/* Fills *config for `preset` at the clock of *gpu: "none" (no batches, no prefetching, no thrashing) or "uvm595"
 * (driver 595.45.04 over PCIe 3). Counts and periods of uvm595 are the driver's. A batch takes 223 to 553 us, of which
 * the runtime takes 50 to 430 us, 140 us in the median (Batch-Aware UM). batch_cycles is the minimum of 50 us, and
 * block_cycles is the rest of the median for one VA block. GPUMP_ERROR_ARGUMENT: *gpu is not valid.
 * GPUMP_ERROR_UNKNOWN_NAME. */
GPUMP_API gpump_result gpumpi_uvm_config_from_gpu(gpump_uvm_config *config, const char *preset, const gpump_gpu *gpu);
/* Checks every field of *config for gpump_fault. GPUMP_ERROR_CONFIG: diag->field names the field as a member of
 * gpump_fault_config, "uvm.batch". */
GPUMP_API gpump_result gpumpi_uvm_check_config(const gpump_uvm_config *config, gpump_diag *diag);
/* Returns which granules of a VA block of `granules` (a power of two up to 64) the driver brings when those in
 * `faulted` have faulted and those in `present` are resident (bits): for each faulted one, its largest aligned part of
 * which more than `percent` per cent are in either, but not what is resident. Cost: 7 steps per faulted granule. */
GPUMP_API uint64_t gpump_uvm_prefetch(uint64_t present, uint64_t faulted, uint32_t granules, uint32_t percent);
/* Records in *granule that the granule was mapped at `now`. Cost: constant. */
GPUMP_API void gpump_uvm_report_arrival(const gpump_uvm_config *config, gpump_uvm_granule *granule, uint64_t now);
/* Returns the verdict (gpump_uvm_verdict) on a fault of *granule that is fetched at `now`, and records it in *granule.
 * The host asks once for each fault: a fault that was delayed is served when it is fetched again. Cost: constant. */
GPUMP_API uint32_t gpump_uvm_decide(const gpump_uvm_config *config, gpump_uvm_granule *granule, uint64_t now);

GPUMP_END
#endif
