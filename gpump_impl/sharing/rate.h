/* rate: what each kernel of a shared SM may issue and send (hardware; Lin 4.5.1, SMK, Dai et al.)
 *
 * Kernels that share an SM compete for issue slots and for memory bandwidth. This component limits each kernel at three
 * places: warp instructions per epoch (SMK), memory instructions in flight (Dai et al.), and L1 misses per unit of time
 * (Lin's issue-rate controller at the L1 miss queue). At each place the host calls one question (a load and a mask),
 * then reports the instruction or miss that passed. A kernel without limits passes every gate. */
#ifndef GPUMP_RATE_H
#define GPUMP_RATE_H

#include "base/component.h"

GPUMP_BEGIN

#define GPUMP_RATE_KERNELS 8                /* kernels that share an SM at most */
#define GPUMP_RATE_NO_LIMIT UINT32_MAX      /* in a field of gpump_rate_limits */
#define GPUMP_RATE_RENEWED (UINT32_MAX - 1) /* in gpump_rate_limits.in_flight: the controller sets the limit itself */
#define GPUMP_RATE_ACCESSES 1024            /* L1 accesses after which such a limit is renewed (Dai et al.) */
#define GPUMP_RATE_MISS UINT32_C(0x10000)   /* one L1 miss, Q16.16 */

/* The configuration of a rate controller. gpump_preset fills the struct; the host may then change every
 * field. */
typedef struct gpump_rate_config {
    uint32_t kernels;      /* kernels that share the SM; 2; 1 to GPUMP_RATE_KERNELS */
    uint32_t unit_cycles;  /* misses are counted per unit of so many SM cycles; 200 (Lin 4.5.1); at least 1 */
    uint32_t epoch_cycles; /* warp instructions are counted per epoch of so many SM cycles; 10000; at least 1 */
} gpump_rate_config;

/* The limits of one kernel on one SM. GPUMP_RATE_NO_LIMIT: none. 0: nothing passes. */
typedef struct gpump_rate_limits {
    uint32_t instructions; /* warp instructions per epoch (SMK) */
    /* Memory instructions in flight at once (Dai et al.). GPUMP_RATE_RENEWED: after every GPUMP_RATE_ACCESSES accesses
     * the most that were in flight since, divided by the failures per access; no limit before. */
    uint32_t in_flight;
    uint32_t misses_q16;   /* L1 misses per unit, Q16.16 (Lin 4.5.1) */
    uint32_t memory_quota; /* memory instructions per round, the order between kernels (Dai et al.); 0: no order */
} gpump_rate_limits;

/* clang-format off */
#define GPUMPI_RATE_STATISTICS(X)                                                \
    X(instructions, "warp instructions", "issued")                              \
    X(memory_instructions, "warp instructions", "of these, memory instructions") \
    X(misses, "lines", "L1 misses sent")                                        \
    X(epochs, "epochs", "begun while the kernel had a quota, early ones included") \
    X(units, "units", "begun while the kernel had a rate")
/* clang-format on */
/* What has passed the gates of one kernel since the first cycle. */
typedef struct gpump_rate_statistics {
#define GPUMPI_FIELD(name, unit, description) uint64_t name;
    GPUMPI_RATE_STATISTICS(GPUMPI_FIELD)
#undef GPUMPI_FIELD
} gpump_rate_statistics;

/* The gates of a kernel, as bits. */
typedef enum gpump_rate_gate {
    GPUMP_RATE_ISSUE = 1,  /* a warp instruction may issue: the quota of the epoch is not used up */
    GPUMP_RATE_MEMORY = 2, /* a memory instruction may issue: fewer than the limit are in flight */
    GPUMP_RATE_SEND = 4    /* an L1 miss may leave the miss queue: the kernel has a token */
} gpump_rate_gate;

/* One kernel. No limit is an allowance that nobody can use up: 2^62. */
typedef struct gpumpi_rate_kernel {
    int64_t instructions_left; /* of the epoch */
    int64_t tokens_q16;        /* misses that may be sent now, Q16.16; below 0 after a request of several lines */
    int64_t memory_credit;     /* memory instructions left of the round */
    gpump_rate_statistics statistics;
    gpump_rate_limits limits;
    uint32_t in_flight;       /* memory instructions */
    uint32_t closed;          /* gates that are closed: GPUMPI_RATE_... */
    uint32_t in_flight_limit; /* limits.in_flight, or what it was renewed to */
    uint32_t in_flight_peak;  /* memory instructions at once since the last renewal */
    uint32_t accesses;        /* of L1 since then */
    uint32_t failures;        /* and attempts among them that found no place */
} gpumpi_rate_kernel;
/* The head of a rate controller. Behind it: config.kernels times gpumpi_rate_kernel. */
typedef struct gpump_rate {
    gpumpi_head head;
    uint64_t now, unit_start, epoch_start;
    gpump_rate_config config;
    uint32_t unused;
} gpump_rate;
typedef char gpumpi_rate_has_no_padding[sizeof(gpump_rate) == sizeof(gpumpi_head) + 3 * 8 + 4 * 4 ? 1 : -1];
GPUMP_INLINE gpumpi_rate_kernel *gpumpi_rate_kernels(gpump_rate *rate) {
    return (gpumpi_rate_kernel *)(void *)(rate + 1);
}
GPUMP_INLINE const gpumpi_rate_kernel *gpumpi_rate_kernel_of(const gpump_rate *rate, uint32_t kernel) {
    return (const gpumpi_rate_kernel *)(const void *)(rate + 1) + kernel;
}

/* The rate controller of one SM for the verbs of base/component.h: gpump_init makes it without limits. Preset: "lin"
 * (2 kernels, units of 200 cycles, epochs of 10,000). gpump_bits is the sum of gpump_table_bits.
 * gpump_get_statistics fills an entry per kernel. gpump_next_cycle is the next cycle at which a gate that is closed now
 * may open by itself; GPUMP_UNKNOWN when no gate is closed, or only by limits of 0 or by memory instructions in flight.
 */
GPUMP_API const gpumpi_methods *gpumpi_rate_methods(void);
GPUMPI_CONSTANT gpump_component gpump_rate_component = {gpumpi_rate_methods, GPUMP_LAYOUT_SHARING, 0};

/* What the gates cost in SRAM, bits per SM: rates and tokens with 10 bits before the point and 16 behind it, quotas of
 * 16 bits, limits, counters and peaks in flight of 10 bits, failures of 20 bits, orders of 8 bits (assumed; the thesis
 * prints none), and counters as wide as unit and epoch need. */
typedef struct gpump_rate_storage {
    uint64_t misses_bits;       /* the issue-rate controller: rate and tokens of each kernel, and the unit's counter */
    uint64_t instructions_bits; /* quota and what is left of it for each kernel, and the epoch's counter */
    uint64_t in_flight_bits;    /* limit, counter, peak, accesses and failures of each kernel */
    uint64_t order_bits;        /* quota and credit of each kernel */
} gpump_rate_storage;

/* ---- questions. Hot: a load and a mask. `kernel` is 0 to config.kernels - 1 ---- */

/* Returns 1 when `kernel` may pass all of `gates`, bits of gpump_rate_gate; else 0. */
GPUMP_INLINE int gpump_rate_may(const gpump_rate *rate, uint32_t kernel, uint32_t gates) {
    return !(gpumpi_rate_kernel_of(rate, kernel)->closed & gates);
}
/* Returns which kernel of `ready` (a mask of kernels with a memory instruction to issue, not 0) goes first: the one
 * with the largest credit of the round, the lowest of equals (Dai et al.). Cost: linear in kernels. */
GPUMP_API uint32_t gpump_rate_memory_first(const gpump_rate *rate, uint32_t ready);

/* ---- facts. Hot: an addition and a compare ---- */

/* Reports that a warp instruction of the kernel was issued. */
GPUMP_INLINE void gpump_rate_report_issued(gpump_rate *rate, uint32_t kernel) {
    gpumpi_rate_kernel *k = gpumpi_rate_kernels(rate) + kernel;
    k->statistics.instructions++;
    if (--k->instructions_left <= 0) k->closed |= GPUMP_RATE_ISSUE;
}
/* Reports that a memory instruction of the kernel was issued; report it to gpump_rate_report_issued as well. */
GPUMP_API void gpump_rate_report_memory_issued(gpump_rate *rate, uint32_t kernel);
/* Reports that a memory instruction of the kernel has its data, or that its stores are acknowledged. */
GPUMP_INLINE void gpump_rate_report_memory_done(gpump_rate *rate, uint32_t kernel) {
    gpumpi_rate_kernel *k = gpumpi_rate_kernels(rate) + kernel;
    if (--k->in_flight < k->in_flight_limit) k->closed &= ~(uint32_t)GPUMP_RATE_MEMORY;
}
/* Reports that L1 has taken a line's access of the kernel after `failures` attempts for which it had no place (line,
 * miss queue entry or MSHR). An attempt is a cycle. Renews the limit of GPUMP_RATE_RENEWED. */
GPUMP_API void gpump_rate_report_access(gpump_rate *rate, uint32_t kernel, uint64_t failures);
/* Reports that a request of the kernel has left the L1 miss queue. `lines` is the tokens that it takes: 1, or the lines
 * of an asynchronous copy; a large request passes with one token and leaves a debt. */
GPUMP_INLINE void gpump_rate_report_sent(gpump_rate *rate, uint32_t kernel, uint32_t lines) {
    gpumpi_rate_kernel *k = gpumpi_rate_kernels(rate) + kernel;
    k->statistics.misses += lines;
    k->tokens_q16 -= (int64_t)lines * GPUMP_RATE_MISS;
    if (k->tokens_q16 < GPUMP_RATE_MISS) k->closed |= GPUMP_RATE_SEND;
}
/* Reports that no kernel with quota left has a ready warp, while another kernel has one. The next epoch then begins at
 * once (SMK). GPUMP_ERROR_TIME. */
GPUMP_API gpump_result gpump_rate_report_starved(gpump_rate *rate, uint64_t now);

/* ---- limits and time ---- */

/* Sets the `limits` of `kernel` from cycle `now` on. Remaining allowances shrink to the new limits. A kernel that had
 * no limit starts with one full epoch and one full unit. Limits of 0 set the remaining allowances to 0, as for a
 * preempted kernel. GPUMP_ERROR_TIME. */
GPUMP_API gpump_result gpump_rate_set(gpump_rate *rate, uint64_t now, uint32_t kernel, const gpump_rate_limits *limits);
/* Returns the limits of a kernel that has none. */
GPUMP_API gpump_rate_limits gpump_rate_limits_none(void);
/* Advances units and epochs to cycle `now`. Each unit adds the rate to the tokens, up to rate + 1. Each epoch renews
 * the quotas. A host calls the function before the questions of a cycle, or at the cycles of gpump_next_cycle.
 * GPUMP_ERROR_TIME. Cost: linear in kernels when a unit or an epoch has begun, else a compare; any number of units at
 * once. */
GPUMP_API gpump_result gpump_rate_advance(gpump_rate *rate, uint64_t now);

GPUMP_END
#endif
