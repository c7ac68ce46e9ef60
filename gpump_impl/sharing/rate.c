#include "sharing/rate.h"

#include <string.h>

#define GPUMPI_RATE_MAGIC UINT64_C(0x67706d7072617400) /* "gpmprat" */
#define GPUMPI_RATE_UNLIMITED (INT64_C(1) << 62)
typedef char gpumpi_rate_kernel_has_no_padding[sizeof(gpumpi_rate_kernel) == 8 * 8 + 10 * 4 ? 1 : -1];

static gpump_result gpumpi_rate_preset(void *filled, const char *preset) {
    gpump_rate_config *config = (gpump_rate_config *)filled;
    if (strcmp(preset, "lin")) return GPUMP_ERROR_UNKNOWN_NAME;
    config->kernels = 2;
    config->unit_cycles = 200;
    config->epoch_cycles = 10000;
    return GPUMP_OK;
}

static gpump_result gpumpi_rate_check_config(const void *checked, gpump_diag *diag) {
    static const gpumpi_limit limits[] = {
        GPUMPI_LIMIT(gpump_rate_config, kernels, 1, GPUMP_RATE_KERNELS),
        GPUMPI_LIMIT(gpump_rate_config, unit_cycles, 1, UINT32_MAX),
        GPUMPI_LIMIT(gpump_rate_config, epoch_cycles, 1, UINT32_MAX),
    };
    return GPUMPI_CHECK_LIMITS(checked, limits, diag);
}

static uint64_t gpumpi_rate_bytes(const void *of) {
    const gpump_rate_config *config = (const gpump_rate_config *)of;
    return sizeof(gpump_rate) + config->kernels * sizeof(gpumpi_rate_kernel);
}

GPUMP_API gpump_rate_limits gpump_rate_limits_none(void) {
    gpump_rate_limits limits;
    limits.instructions = limits.in_flight = limits.misses_q16 = GPUMP_RATE_NO_LIMIT;
    limits.memory_quota = 0;
    return limits;
}

/* ---- what is left, and the gates that follow from it ---- */

static int64_t gpumpi_rate_least(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t gpumpi_rate_quota(const gpumpi_rate_kernel *k) {
    return k->limits.instructions == GPUMP_RATE_NO_LIMIT ? GPUMPI_RATE_UNLIMITED : (int64_t)k->limits.instructions;
}
/* The most tokens that a kernel may hold: one unit's rate and a miss, so that a rate below one miss passes too. */
static int64_t gpumpi_rate_tokens(const gpumpi_rate_kernel *k) {
    if (k->limits.misses_q16 == GPUMP_RATE_NO_LIMIT) return GPUMPI_RATE_UNLIMITED;
    return k->limits.misses_q16 ? (int64_t)k->limits.misses_q16 + GPUMP_RATE_MISS : 0;
}
static uint32_t gpumpi_rate_gates(const gpumpi_rate_kernel *k) {
    return (k->instructions_left <= 0 ? (uint32_t)GPUMP_RATE_ISSUE : 0u) |
           (k->in_flight >= k->in_flight_limit ? (uint32_t)GPUMP_RATE_MEMORY : 0u) |
           (k->tokens_q16 < GPUMP_RATE_MISS ? (uint32_t)GPUMP_RATE_SEND : 0u);
}

/* Begins an epoch at `start`, the last of `epochs` that have begun since the last call. */
static void gpumpi_rate_begin_epoch(gpump_rate *rate, uint64_t start, uint64_t epochs) {
    uint32_t i;
    rate->epoch_start = start;
    for (i = 0; i < rate->config.kernels; i++) {
        gpumpi_rate_kernel *k = gpumpi_rate_kernels(rate) + i;
        k->instructions_left = gpumpi_rate_quota(k);
        if (k->limits.instructions != GPUMP_RATE_NO_LIMIT) k->statistics.epochs += epochs;
        k->closed = gpumpi_rate_gates(k);
    }
}

/* Adds `units` times the rate to the tokens of each kernel. Units that pass together add up to what they add one by
 * one, because nothing is sent between them. */
static void gpumpi_rate_begin_units(gpump_rate *rate, uint64_t units) {
    uint32_t i;
    for (i = 0; i < rate->config.kernels; i++) {
        gpumpi_rate_kernel *k = gpumpi_rate_kernels(rate) + i;
        int64_t most = gpumpi_rate_tokens(k), missing = most - k->tokens_q16;
        uint64_t rate_q16 = k->limits.misses_q16 == GPUMP_RATE_NO_LIMIT ? (uint64_t)most : k->limits.misses_q16;
        if (rate_q16 && units > (uint64_t)missing / rate_q16)
            k->tokens_q16 = most;
        else
            k->tokens_q16 += (int64_t)(units * rate_q16);
        if (k->limits.misses_q16 != GPUMP_RATE_NO_LIMIT) k->statistics.units += units;
        k->closed = gpumpi_rate_gates(k);
    }
}

static void gpumpi_rate_set_up(void *object) {
    gpump_rate *fresh = (gpump_rate *)object;
    const gpump_rate_config *config = &fresh->config;
    for (uint32_t i = 0; i < config->kernels; i++) {
        gpumpi_rate_kernel *k = gpumpi_rate_kernels(fresh) + i;
        k->limits = gpump_rate_limits_none();
        k->in_flight_limit = GPUMP_RATE_NO_LIMIT;
        k->instructions_left = k->tokens_q16 = GPUMPI_RATE_UNLIMITED;
    }
}

static gpump_result gpumpi_rate_check(const void *object, gpump_diag *diag) {
    const gpump_rate *rate = (const gpump_rate *)object;
    uint32_t i;
    if (rate->unused) return gpumpi_bad_bytes(diag, "unused", 0, rate->unused, 0, 0);
    if (rate->epoch_start > rate->now || rate->unit_start > rate->now || rate->now == GPUMP_UNKNOWN)
        return gpumpi_bad_bytes(diag, "now", 0, rate->now, rate->epoch_start, GPUMP_UNKNOWN - 1);
    for (i = 0; i < rate->config.kernels; i++) {
        const gpumpi_rate_kernel *k = gpumpi_rate_kernel_of(rate, i);
        const int64_t least = -GPUMPI_RATE_UNLIMITED;
        if (k->closed != gpumpi_rate_gates(k)) return gpumpi_bad_bytes(diag, "closed", i, k->closed, 0, 7);
        if (k->instructions_left > gpumpi_rate_quota(k) || k->instructions_left < least)
            return gpumpi_bad_bytes(diag, "instructions_left", i, (uint64_t)k->instructions_left, 0,
                                    (uint64_t)gpumpi_rate_quota(k));
        if (k->tokens_q16 > gpumpi_rate_tokens(k) || k->tokens_q16 < least)
            return gpumpi_bad_bytes(diag, "tokens_q16", i, (uint64_t)k->tokens_q16, 0, (uint64_t)gpumpi_rate_tokens(k));
        if (k->limits.in_flight != GPUMP_RATE_RENEWED && k->in_flight_limit != k->limits.in_flight)
            return gpumpi_bad_bytes(diag, "in_flight_limit", i, k->in_flight_limit, k->limits.in_flight,
                                    k->limits.in_flight);
        if (k->accesses >= GPUMP_RATE_ACCESSES)
            return gpumpi_bad_bytes(diag, "accesses", i, k->accesses, 0, GPUMP_RATE_ACCESSES - 1);
        if (k->memory_credit > GPUMPI_RATE_UNLIMITED || k->memory_credit < least)
            return gpumpi_bad_bytes(diag, "memory_credit", i, (uint64_t)k->memory_credit, 0,
                                    (uint64_t)GPUMPI_RATE_UNLIMITED);
    }
    return GPUMP_OK;
}

static uint64_t gpumpi_rate_hash(const void *object) {
    const gpump_rate *rate = (const gpump_rate *)object;
    uint64_t hash = gpumpi_hash_u64s(GPUMP_HASH_SEED, &rate->now, 3);
    uint32_t i;
    hash = gpumpi_hash_u32s(hash, &rate->config.kernels, sizeof rate->config / 4 + 1);
    for (i = 0; i < rate->config.kernels; i++) {
        const gpumpi_rate_kernel *k = gpumpi_rate_kernel_of(rate, i);
        hash = gpumpi_hash_u64s(hash, (const uint64_t *)(const void *)&k->instructions_left, 3);
        hash = gpumpi_hash_u64s(hash, &k->statistics.instructions, sizeof k->statistics / 8);
        hash = gpumpi_hash_u32s(hash, &k->limits.instructions, 10);
    }
    return hash;
}

static uint64_t gpumpi_rate_counter_bits(uint32_t values) {
    uint64_t bits = 0;
    while (values > 1) values = (values + 1) / 2, bits++;
    return bits;
}

static uint64_t gpumpi_rate_tables(const void *of, void *filled) {
    const gpump_rate_config *config = (const gpump_rate_config *)of;
    gpump_rate_storage *storage = (gpump_rate_storage *)filled;
    storage->misses_bits = (uint64_t)config->kernels * (2 * 26) + gpumpi_rate_counter_bits(config->unit_cycles);
    storage->instructions_bits = (uint64_t)config->kernels * (2 * 16) + gpumpi_rate_counter_bits(config->epoch_cycles);
    storage->in_flight_bits = (uint64_t)config->kernels * (4 * 10 + 20);
    storage->order_bits = (uint64_t)config->kernels * (2 * 8);
    return storage->misses_bits + storage->instructions_bits + storage->in_flight_bits + storage->order_bits;
}
/* ---- questions and facts ---- */

GPUMP_API uint32_t gpump_rate_memory_first(const gpump_rate *rate, uint32_t ready) {
    const gpumpi_rate_kernel *kernels = gpumpi_rate_kernel_of(rate, 0);
    uint32_t best = gpump_bits_lowest64(ready), i;
    for (i = best + 1; i < rate->config.kernels; i++)
        if (ready >> i & 1u && kernels[i].memory_credit > kernels[best].memory_credit) best = i;
    return best;
}

GPUMP_API void gpump_rate_report_memory_issued(gpump_rate *rate, uint32_t kernel) {
    gpumpi_rate_kernel *kernels = gpumpi_rate_kernels(rate), *k = kernels + kernel;
    uint32_t i;
    k->statistics.memory_instructions++;
    if (++k->in_flight >= k->in_flight_limit) k->closed |= GPUMP_RATE_MEMORY;
    if (k->in_flight > k->in_flight_peak) k->in_flight_peak = k->in_flight;
    /* A round ends when one kernel has used its quota up: every kernel gets its quota on top of what is left. */
    if (!k->limits.memory_quota || --k->memory_credit > 0) return;
    for (i = 0; i < rate->config.kernels; i++) kernels[i].memory_credit += kernels[i].limits.memory_quota;
}

GPUMP_API void gpump_rate_report_access(gpump_rate *rate, uint32_t kernel, uint64_t failures) {
    gpumpi_rate_kernel *k = gpumpi_rate_kernels(rate) + kernel;
    const uint32_t most = UINT32_MAX - k->failures;
    k->failures += failures > most ? most : (uint32_t)failures;
    if (++k->accesses < GPUMP_RATE_ACCESSES) return;
    if (k->limits.in_flight == GPUMP_RATE_RENEWED) {
        const uint64_t limit = k->failures ? (uint64_t)k->in_flight_peak * GPUMP_RATE_ACCESSES / k->failures
                                           : (uint64_t)GPUMP_RATE_NO_LIMIT;
        k->in_flight_limit = limit > GPUMP_RATE_NO_LIMIT ? GPUMP_RATE_NO_LIMIT : limit ? (uint32_t)limit : 1u;
        k->closed = gpumpi_rate_gates(k);
    }
    k->accesses = k->failures = 0;
    k->in_flight_peak = k->in_flight;
}

GPUMP_API gpump_result gpump_rate_report_starved(gpump_rate *rate, uint64_t now) {
    gpump_result result = rate ? gpump_rate_advance(rate, now) : GPUMP_ERROR_ARGUMENT;
    if (!result) gpumpi_rate_begin_epoch(rate, now, 1);
    return result;
}

/* ---- limits and time ---- */

GPUMP_API gpump_result gpump_rate_set(gpump_rate *rate, uint64_t now, uint32_t kernel,
                                      const gpump_rate_limits *limits) {
    gpumpi_rate_kernel *k;
    gpump_result result;
    if (!rate || !limits || kernel >= rate->config.kernels) return GPUMP_ERROR_ARGUMENT;
    result = gpump_rate_advance(rate, now);
    if (result) return result;
    k = gpumpi_rate_kernels(rate) + kernel;
    if (!limits->memory_quota || !k->limits.memory_quota) k->memory_credit = limits->memory_quota;
    if (limits->in_flight != GPUMP_RATE_RENEWED)
        k->in_flight_limit = limits->in_flight;
    else if (k->limits.in_flight != GPUMP_RATE_RENEWED)
        k->in_flight_limit = GPUMP_RATE_NO_LIMIT;
    k->limits = *limits;
    k->instructions_left = gpumpi_rate_quota(k) == GPUMPI_RATE_UNLIMITED
                               ? GPUMPI_RATE_UNLIMITED
                               : gpumpi_rate_least(k->instructions_left, gpumpi_rate_quota(k));
    k->tokens_q16 = gpumpi_rate_tokens(k) == GPUMPI_RATE_UNLIMITED
                        ? GPUMPI_RATE_UNLIMITED
                        : gpumpi_rate_least(k->tokens_q16, gpumpi_rate_tokens(k));
    k->closed = gpumpi_rate_gates(k);
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_rate_advance(gpump_rate *rate, uint64_t now) {
    if (!rate) return GPUMP_ERROR_ARGUMENT;
    if (now < rate->now || now == GPUMP_UNKNOWN) return GPUMP_ERROR_TIME;
    rate->now = now;
    if (now - rate->unit_start >= rate->config.unit_cycles) {
        uint64_t units = (now - rate->unit_start) / rate->config.unit_cycles;
        rate->unit_start += units * rate->config.unit_cycles;
        gpumpi_rate_begin_units(rate, units);
    }
    if (now - rate->epoch_start >= rate->config.epoch_cycles) {
        uint64_t epochs = (now - rate->epoch_start) / rate->config.epoch_cycles;
        gpumpi_rate_begin_epoch(rate, rate->epoch_start + epochs * rate->config.epoch_cycles, epochs);
    }
    return GPUMP_OK;
}

static uint64_t gpumpi_rate_next_cycle(const void *of) {
    const gpump_rate *rate = (const gpump_rate *)of;
    uint64_t next = GPUMP_UNKNOWN;
    uint32_t i;
    for (i = 0; i < rate->config.kernels; i++) {
        const gpumpi_rate_kernel *k = gpumpi_rate_kernel_of(rate, i);
        uint64_t at = GPUMP_UNKNOWN;
        if (k->closed & GPUMP_RATE_ISSUE && k->limits.instructions)
            at = gpump_add_saturated(rate->epoch_start, rate->config.epoch_cycles);
        if (at < next) next = at;
        if (k->closed & GPUMP_RATE_SEND && k->limits.misses_q16) {
            uint64_t missing = (uint64_t)(GPUMP_RATE_MISS - k->tokens_q16);
            uint64_t units = (missing + k->limits.misses_q16 - 1) / k->limits.misses_q16;
            at = gpump_add_saturated(rate->unit_start, units * rate->config.unit_cycles);
            if (at < next) next = at;
        }
    }
    return next;
}

static void gpumpi_rate_copy_statistics(const void *of, void *statistics) {
    const gpump_rate *rate = (const gpump_rate *)of;
    for (uint32_t i = 0; i < rate->config.kernels; i++)
        ((gpump_rate_statistics *)statistics)[i] = gpumpi_rate_kernel_of(rate, i)->statistics;
}

static const char *const gpumpi_rate_counters[][3] = {
#define GPUMPI_FIELD(name, unit, description) {#name, unit, description},
    GPUMPI_RATE_STATISTICS(GPUMPI_FIELD)
#undef GPUMPI_FIELD
};
/* clang-format off */
static const gpumpi_methods gpumpi_rate_hooks = {
    "rate", "sharing", GPUMPI_RATE_MAGIC,
    GPUMP_LAYOUT_SHARING, sizeof(gpump_rate_config), offsetof(gpump_rate, config), 0,
    sizeof gpumpi_rate_counters / sizeof *gpumpi_rate_counters, gpumpi_rate_counters, 0,
    /* preset, check_config, bytes, bits, tables */
    gpumpi_rate_preset, gpumpi_rate_check_config, gpumpi_rate_bytes, NULL, gpumpi_rate_tables,
    /* set_up, unfit, check, hash */
    gpumpi_rate_set_up, NULL, gpumpi_rate_check, gpumpi_rate_hash,
    /* preset_for, next_cycle, copy_statistics */
    NULL, gpumpi_rate_next_cycle, gpumpi_rate_copy_statistics,
};
/* clang-format on */
GPUMP_API const gpumpi_methods *gpumpi_rate_methods(void) { return &gpumpi_rate_hooks; }
