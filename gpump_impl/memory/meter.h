/* meter: the use of issue slots, caches, network and DRAM by each kernel (hardware; Lin 3.4.1)
 *
 * The host reports events as they happen. The meter sums them per kernel, returns the sums since the last window, and
 * computes the six utilisations of Lin 3.4.1. Kernel 0 is the traffic of contexts. Kernels of the host count from 1. A
 * hop is a section of a request's path. The host reports when a request enters and leaves a hop. The meter keeps the
 * number of requests in flight, its integral over time and a histogram of latencies. Little's law can then be checked:
 * `in_flight_cycles` is the sum of the latencies once every request that entered has left. */
#ifndef GPUMP_METER_H
#define GPUMP_METER_H

#include "base/component.h"
#include "gpu/gpu.h"

GPUMP_BEGIN

#define GPUMP_METER_BUCKETS 24 /* bucket b counts latencies of 2^b to 2^(b+1) - 1 cycles; 0 is in bucket 0 */

/* The hops of a request. */
typedef enum gpump_meter_hop {
    GPUMP_METER_UP = 0, /* from the SM's miss queue to the L2 bank, its queue included */
    GPUMP_METER_L2,     /* from the bank's start to the reply queue, DRAM included */
    GPUMP_METER_DRAM,   /* in the memory channel: reads */
    GPUMP_METER_DOWN,   /* from the reply queue to the SM */
    GPUMP_METER_HOPS
} gpump_meter_hop;
/* What a request does. */
typedef enum gpump_meter_access {
    GPUMP_METER_LOAD = 0,
    GPUMP_METER_STORE,
    GPUMP_METER_ATOMIC,
    GPUMP_METER_ACCESSES
} gpump_meter_access;

/* clang-format off */
#define GPUMPI_TRAFFIC(X)                                                            \
    X(cycles, "cycles", "SM clock cycles that the counters cover")                  \
    X(issued, "warp instructions", "issued")                                        \
    X(resident_cycles, "cycles", "summed over SMs: with a block of the kernel")     \
    X(l1_load_hits, "lines", "loads that L1 served")                                \
    X(l1_load_misses, "lines", "loads that left L1")                                \
    X(l1_store_hits, "lines", "stores that L1 kept")                                \
    X(l1_store_misses, "lines", "stores that left L1")                              \
    X(l1_atomics, "lines", "atomics; they always leave L1")                         \
    X(flits_up, "flits", "from SMs to L2")                                          \
    X(flits_down, "flits", "from L2 to SMs")                                        \
    X(l2_load_hits, "lines", "loads whose line was in L2")                          \
    X(l2_load_misses, "lines", "loads whose line was not, or was on its way")       \
    X(l2_store_hits, "lines", "stores likewise")                                    \
    X(l2_store_misses, "lines", "stores likewise")                                  \
    X(l2_atomic_hits, "lines", "atomics likewise")                                  \
    X(l2_atomic_misses, "lines", "atomics likewise")                                \
    X(dram_read_bytes, "bytes", "read from DRAM")                                   \
    X(dram_written_bytes, "bytes", "written back by the kernel's misses")           \
    X(up_requests, "requests", "that have left the hop up")                         \
    X(up_latency_cycles, "network cycles", "their latencies, summed")               \
    X(l2_requests, "requests", "that have left the L2")                             \
    X(l2_latency_cycles, "network cycles", "their latencies, summed")               \
    X(dram_requests, "requests", "lines read that have left DRAM")                  \
    X(dram_latency_cycles, "network cycles", "their latencies, summed")             \
    X(down_requests, "requests", "that have left the hop down")                     \
    X(down_latency_cycles, "network cycles", "their latencies, summed")
/* clang-format on */
/* The traffic of one kernel. */
typedef struct gpump_traffic {
#define GPUMPI_FIELD(name, unit, description) uint64_t name;
    GPUMPI_TRAFFIC(GPUMPI_FIELD)
#undef GPUMPI_FIELD
    uint64_t in_flight_cycles[GPUMP_METER_HOPS]; /* integral of the requests in flight in each hop, network cycles */
    uint64_t latencies[GPUMP_METER_HOPS][GPUMP_METER_BUCKETS]; /* requests by the logarithm of their latency */
} gpump_traffic;

/* The configuration of a meter. gpump_preset fills the struct; the host may then change every field. */
typedef struct gpump_meter_config {
    uint32_t kernels;              /* kernels beside kernel 0; 8; 1 to 65535 */
    uint32_t sms;                  /* SMs; 1 to 65536 */
    uint32_t schedulers;           /* warp schedulers of an SM; 1 to 8 */
    uint32_t clock_khz;            /* SM clock, kHz */
    uint32_t network_khz;          /* network and L2 clock, kHz */
    uint32_t network_ports;        /* ports of the network on its narrower side; 1 to 65536 */
    uint32_t sustainable_permille; /* of the network's peak; 600 (Lin 3.4.1); 1 to 1000 */
    uint32_t l1_hit_cycles;        /* SM cycles of L1's data port per hit; 1 (assumed) */
    uint32_t l2_banks;             /* 1 to 65536 */
    uint32_t l2_hit_cycles;        /* network cycles of a bank's data port per hit; 4 (assumed: 32 bytes wide) */
    uint32_t memory_mb_per_s;      /* peak DRAM bandwidth, 10^6 bytes per second */
} gpump_meter_config;

/* The six utilisations of Lin 3.4.1, Q16.16: 65536 is 1. */
typedef struct gpump_utilisation {
    uint32_t scheduler_q16; /* warp instructions issued over the issue slots of all schedulers */
    uint32_t l1_q16;        /* L1 data port: hits only */
    uint32_t up_q16;        /* network, SM to L2, over its sustainable throughput */
    uint32_t down_q16;      /* network, L2 to SM, likewise */
    uint32_t l2_q16;        /* L2 data port: hits only */
    uint32_t dram_q16;      /* DRAM over its peak */
} gpump_utilisation;

/* Requests of one kernel in one hop. */
typedef struct gpumpi_meter_flight {
    uint64_t count, since; /* now in flight; the cycle up to which the integral has been taken */
} gpumpi_meter_flight;
/* The head of a meter. Behind it: per kernel its sums, their values at the start of the window, and its flights. */
typedef struct gpump_meter {
    gpumpi_head head;
    uint64_t now, window_start;
    gpump_meter_config config;
    uint32_t unused;
} gpump_meter;
typedef char gpumpi_meter_has_no_padding[sizeof(gpump_meter) == sizeof(gpumpi_head) + 2 * 8 + 12 * 4 ? 1 : -1];
GPUMP_INLINE gpump_traffic *gpumpi_meter_traffic(gpump_meter *meter, uint32_t kernel) {
    return (gpump_traffic *)(void *)(meter + 1) + kernel;
}
GPUMP_INLINE gpumpi_meter_flight *gpumpi_meter_flights(gpump_meter *meter, uint32_t kernel) {
    return (gpumpi_meter_flight *)(void *)gpumpi_meter_traffic(meter, 2 * (meter->config.kernels + 1)) +
           (size_t)kernel * GPUMP_METER_HOPS;
}

/* ---- facts. Hot: an addition or two. `kernel` is 0 to config.kernels ---- */

/* The meter for the verbs of base/component.h: gpump_init makes a meter with all sums 0; its counters are those of a
 * gpump_traffic. Presets are those of gpump_gpu_component: its SMs, schedulers, clock and bandwidth, a network of as
 * many ports and banks as SMs at the SM clock (1200 MHz on the maxwell machines, Lin Tables 3.1 and 4.1), and 8
 * kernels. gpump_bits counts 64 per sum, for totals and window. */
GPUMP_API const gpumpi_methods *gpumpi_meter_methods(void);
GPUMPI_CONSTANT gpump_component gpump_meter_component = {gpumpi_meter_methods, GPUMP_LAYOUT_MEMORY, 0};

/* Reports that `count` warp instructions of a kernel were issued. */
GPUMP_INLINE void gpump_meter_report_issued(gpump_meter *meter, uint32_t kernel, uint64_t count) {
    gpumpi_meter_traffic(meter, kernel)->issued += count;
}
/* Reports that blocks of a kernel were on an SM for `cycles` SM cycles. */
GPUMP_INLINE void gpump_meter_report_resident(gpump_meter *meter, uint32_t kernel, uint64_t cycles) {
    gpumpi_meter_traffic(meter, kernel)->resident_cycles += cycles;
}
/* Reports that a kernel's `access` (gpump_meter_access) to one line reached the cache of `level` 1 (L1) or 2 (L2), and
 * whether it was a `hit`. */
GPUMP_INLINE void gpump_meter_report_cache(gpump_meter *meter, uint32_t kernel, uint32_t level, uint32_t access,
                                           int hit) {
    gpump_traffic *traffic = gpumpi_meter_traffic(meter, kernel);
    if (level == 1)
        (&traffic->l1_load_hits)[2 * access + (access < GPUMP_METER_ATOMIC && !hit)]++;
    else
        (&traffic->l2_load_hits)[2 * access + !hit]++;
}
/* Reports that a packet of `flits` flits has passed the network for a kernel, down (`down` 1) or up (0). */
GPUMP_INLINE void gpump_meter_report_flits(gpump_meter *meter, uint32_t kernel, int down, uint32_t flits) {
    (&gpumpi_meter_traffic(meter, kernel)->flits_up)[down != 0] += flits;
}
/* Reports that DRAM has moved `transferred` bytes for a kernel; `writes` 1: written. */
GPUMP_INLINE void gpump_meter_report_dram(gpump_meter *meter, uint32_t kernel, int writes, uint32_t transferred) {
    (&gpumpi_meter_traffic(meter, kernel)->dram_read_bytes)[writes != 0] += transferred;
}
GPUMP_INLINE void gpumpi_meter_integrate(gpump_meter *meter, uint64_t now, uint32_t kernel, uint32_t hop) {
    gpumpi_meter_flight *flight = gpumpi_meter_flights(meter, kernel) + hop;
    gpumpi_meter_traffic(meter, kernel)->in_flight_cycles[hop] += flight->count * (now - flight->since);
    flight->since = now;
}
/* Reports that a request of a kernel enters a hop (gpump_meter_hop) at cycle `now`, in network cycles. */
GPUMP_INLINE void gpump_meter_report_enter(gpump_meter *meter, uint64_t now, uint32_t kernel, uint32_t hop) {
    gpumpi_meter_integrate(meter, now, kernel, hop);
    gpumpi_meter_flights(meter, kernel)[hop].count++;
}
/* Reports that a request of a kernel leaves a hop (gpump_meter_hop) that it entered at cycle `entered`. */
GPUMP_INLINE void gpump_meter_report_leave(gpump_meter *meter, uint64_t now, uint32_t kernel, uint32_t hop,
                                           uint64_t entered) {
    gpump_traffic *traffic = gpumpi_meter_traffic(meter, kernel);
    const uint64_t latency = now - entered;
    const uint32_t logarithm = gpumpi_bits_highest64(latency | 1);
    gpumpi_meter_integrate(meter, now, kernel, hop);
    gpumpi_meter_flights(meter, kernel)[hop].count--;
    (&traffic->up_requests)[2 * hop]++;
    (&traffic->up_requests)[2 * hop + 1] += latency;
    traffic->latencies[hop][logarithm < GPUMP_METER_BUCKETS ? logarithm : GPUMP_METER_BUCKETS - 1]++;
}

/* ---- answers ---- */

/* Returns the requests of a kernel that are in a hop (gpump_meter_hop) now. */
GPUMP_API uint64_t gpumpi_meter_in_flight(const gpump_meter *meter, uint32_t kernel, uint32_t hop);
/* Sets *traffic to the traffic of `kernel` since the first cycle. `now` is in SM cycles. GPUMP_ERROR_TIME. */
GPUMP_API gpump_result gpump_meter_total(gpump_meter *meter, uint64_t now, uint32_t kernel, gpump_traffic *traffic);
/* Copies the traffic of each kernel since the last window to traffic[config.kernels + 1], by kernel number, and starts
 * the next window. `now` is in SM cycles. GPUMP_ERROR_TIME. GPUMP_ERROR_CAPACITY. Cost: linear in kernels. */
GPUMP_API gpump_result gpump_meter_window(gpump_meter *meter, uint64_t now, gpump_traffic *traffic, uint32_t capacity);
/* Adds the counters of *more to those of *sum, cycles excepted: the larger stays. */
GPUMP_API void gpump_traffic_add(gpump_traffic *sum, const gpump_traffic *more);
/* Computes the six utilisations of *traffic over traffic->cycles on the machine of *config into *utilisation
 * (Lin 3.4.1). GPUMP_ERROR_CONFIG; GPUMP_EMPTY, and all 0, when no cycle has passed. */
GPUMP_API gpump_result gpump_meter_utilisation(const gpump_meter_config *config, const gpump_traffic *traffic,
                                               gpump_utilisation *utilisation, gpump_diag *diag);

GPUMP_END
#endif
