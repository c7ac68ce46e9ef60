#include "memory/meter.h"

#include <string.h>

#define GPUMPI_METER_MAGIC UINT64_C(0x67706d706d747200) /* "gpmpmtr" */
typedef char gpumpi_traffic_has_no_padding
    [sizeof(gpump_traffic) == (26 + GPUMP_METER_HOPS * (1 + GPUMP_METER_BUCKETS)) * 8 ? 1 : -1];

static gpump_result gpumpi_meter_preset(void *filled, const char *preset) {
    gpump_meter_config *config = (gpump_meter_config *)filled;
    gpump_gpu gpu;
    gpump_result result = gpump_preset(&gpump_gpu_component, &gpu, preset, NULL);
    if (result) return result;
    memset(config, 0, sizeof *config);
    config->kernels = 8;
    config->sms = gpu.sms;
    config->schedulers = gpu.schedulers;
    config->clock_khz = gpu.clock_khz;
    config->network_khz = strncmp(preset, "maxwell_", 8) == 0 ? 1200000 : gpu.clock_khz;
    config->network_ports = gpu.sms;
    config->sustainable_permille = 600;
    config->l1_hit_cycles = 1;
    config->l2_banks = gpu.sms;
    config->l2_hit_cycles = 4;
    config->memory_mb_per_s = gpu.memory_mb_per_s;
    return GPUMP_OK;
}

static gpump_result gpumpi_meter_check_config(const void *checked, gpump_diag *diag) {
    static const gpumpi_limit limits[] = {
        GPUMPI_LIMIT(gpump_meter_config, kernels, 1u, 65535u),
        GPUMPI_LIMIT(gpump_meter_config, sms, 1u, 65536u),
        GPUMPI_LIMIT(gpump_meter_config, schedulers, 1u, 8u),
        GPUMPI_LIMIT(gpump_meter_config, clock_khz, 1u, UINT32_MAX),
        GPUMPI_LIMIT(gpump_meter_config, network_khz, 1u, UINT32_MAX),
        GPUMPI_LIMIT(gpump_meter_config, network_ports, 1u, 65536u),
        GPUMPI_LIMIT(gpump_meter_config, sustainable_permille, 1u, 1000u),
        GPUMPI_LIMIT(gpump_meter_config, l1_hit_cycles, 1u, 65536u),
        GPUMPI_LIMIT(gpump_meter_config, l2_banks, 1u, 65536u),
        GPUMPI_LIMIT(gpump_meter_config, l2_hit_cycles, 1u, 65536u),
        GPUMPI_LIMIT(gpump_meter_config, memory_mb_per_s, 1u, UINT32_MAX),
    };
    return GPUMPI_CHECK_LIMITS(checked, limits, diag);
}

/* Bytes that follow the head, per kernel. */
#define GPUMPI_METER_KERNEL (2 * sizeof(gpump_traffic) + GPUMP_METER_HOPS * sizeof(gpumpi_meter_flight))

static uint64_t gpumpi_meter_bytes(const void *of) {
    const gpump_meter_config *config = (const gpump_meter_config *)of;
    return sizeof(gpump_meter) + (config->kernels + 1u) * GPUMPI_METER_KERNEL;
}

static uint64_t gpumpi_meter_hash(const void *object) {
    const gpump_meter *meter = (const gpump_meter *)object;
    uint64_t hash = gpumpi_hash_u64s(GPUMP_HASH_SEED, &meter->now, 2);
    hash = gpumpi_hash_u32s(hash, &meter->config.kernels, sizeof meter->config / 4 + 1);
    return gpumpi_hash_u64s(hash, (const uint64_t *)(const void *)(meter + 1),
                            (meter->config.kernels + 1u) * GPUMPI_METER_KERNEL / 8);
}

static uint64_t gpumpi_meter_bits(const void *of) {
    const gpump_meter_config *config = (const gpump_meter_config *)of;
    return (config->kernels + 1u) * (uint64_t)GPUMPI_METER_KERNEL * 8;
}

/* ---- answers ---- */

static const gpump_traffic *gpumpi_meter_traffic_const(const gpump_meter *meter, uint32_t kernel) {
    return (const gpump_traffic *)(const void *)(meter + 1) + kernel;
}

GPUMP_API uint64_t gpumpi_meter_in_flight(const gpump_meter *meter, uint32_t kernel, uint32_t hop) {
    const gpumpi_meter_flight *flights =
        (const gpumpi_meter_flight *)(const void *)gpumpi_meter_traffic_const(meter, 2 * (meter->config.kernels + 1));
    return flights[(size_t)kernel * GPUMP_METER_HOPS + hop].count;
}

GPUMP_API gpump_result gpump_meter_total(gpump_meter *meter, uint64_t now, uint32_t kernel, gpump_traffic *traffic) {
    if (!meter || !traffic || kernel > meter->config.kernels) return GPUMP_ERROR_ARGUMENT;
    if (now < meter->now) return GPUMP_ERROR_TIME;
    meter->now = now;
    *traffic = *gpumpi_meter_traffic(meter, kernel);
    traffic->cycles = now;
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_meter_window(gpump_meter *meter, uint64_t now, gpump_traffic *traffic, uint32_t capacity) {
    uint32_t kernels, i;
    if (!meter || !traffic) return GPUMP_ERROR_ARGUMENT;
    if (now < meter->now) return GPUMP_ERROR_TIME;
    kernels = meter->config.kernels + 1u;
    if (capacity < kernels) return GPUMP_ERROR_CAPACITY;
    for (i = 0; i < kernels; i++) {
        gpump_traffic *total = gpumpi_meter_traffic(meter, i), *start = gpumpi_meter_traffic(meter, kernels + i);
        total->cycles = now;
        gpump_statistics_diff(&gpump_meter_component, start, total, &traffic[i]);
        *start = *total;
    }
    meter->now = meter->window_start = now;
    return GPUMP_OK;
}

GPUMP_API void gpump_traffic_add(gpump_traffic *sum, const gpump_traffic *more) {
    uint64_t *to = &sum->cycles, cycles = sum->cycles > more->cycles ? sum->cycles : more->cycles;
    const uint64_t *from = &more->cycles;
    size_t i;
    for (i = 0; i < sizeof *sum / sizeof *to; i++) to[i] += from[i];
    sum->cycles = cycles;
}

/* part / (cycles x units), Q16.16, with units in millionths of a unit. */
static uint32_t gpumpi_meter_share(uint64_t part, uint64_t cycles, uint64_t micro_units) {
    uint64_t share = gpump_muldiv_down(gpump_muldiv_down(part, UINT64_C(65536) * 1000, cycles), 1000, micro_units);
    return share > UINT32_MAX ? UINT32_MAX : (uint32_t)share;
}

GPUMP_API gpump_result gpump_meter_utilisation(const gpump_meter_config *config, const gpump_traffic *traffic,
                                               gpump_utilisation *utilisation, gpump_diag *diag) {
    gpump_result result = gpumpi_check_config(&gpump_meter_component, config, diag);
    uint64_t clock, l1_hits, l2_hits;
    if (result) return result;
    if (!traffic || !utilisation) return gpumpi_null(diag, traffic ? "utilisation" : "traffic");
    memset(utilisation, 0, sizeof *utilisation);
    if (!traffic->cycles) return GPUMP_EMPTY;
    clock = gpump_muldiv_down(config->network_khz, 1000000, config->clock_khz); /* network cycles per 10^6 SM cycles */
    l1_hits = traffic->l1_load_hits + traffic->l1_store_hits;
    l2_hits = traffic->l2_load_hits + traffic->l2_store_hits + traffic->l2_atomic_hits;
    utilisation->scheduler_q16 =
        gpumpi_meter_share(traffic->issued, traffic->cycles, UINT64_C(1000000) * config->sms * config->schedulers);
    utilisation->l1_q16 =
        gpumpi_meter_share(l1_hits * config->l1_hit_cycles, traffic->cycles, UINT64_C(1000000) * config->sms);
    utilisation->up_q16 = gpumpi_meter_share(traffic->flits_up, traffic->cycles,
                                             clock * config->network_ports * config->sustainable_permille / 1000);
    utilisation->down_q16 = gpumpi_meter_share(traffic->flits_down, traffic->cycles,
                                               clock * config->network_ports * config->sustainable_permille / 1000);
    utilisation->l2_q16 =
        gpumpi_meter_share(l2_hits * config->l2_hit_cycles, traffic->cycles, clock * config->l2_banks);
    utilisation->dram_q16 =
        gpumpi_meter_share(traffic->dram_read_bytes + traffic->dram_written_bytes, traffic->cycles,
                           gpump_muldiv_down(config->memory_mb_per_s, UINT64_C(1000000000), config->clock_khz));
    return GPUMP_OK;
}

static gpump_result gpumpi_meter_check(const void *object, gpump_diag *diag) {
    const gpump_meter *meter = (const gpump_meter *)object;
    if (meter->now == GPUMP_UNKNOWN || meter->window_start > meter->now)
        return gpumpi_bad_bytes(diag, "now", 0, meter->now, meter->window_start, GPUMP_UNKNOWN - 1);
    return meter->unused ? gpumpi_bad_bytes(diag, "unused", 0, meter->unused, 0, 0) : GPUMP_OK;
}

/* The arrays at the end of a gpump_traffic have no names. */
static const char *const gpumpi_meter_counters[sizeof(gpump_traffic) / sizeof(uint64_t)][3] = {
#define GPUMPI_FIELD(name, unit, description) {#name, unit, description},
    GPUMPI_TRAFFIC(GPUMPI_FIELD)
#undef GPUMPI_FIELD
};
/* clang-format off */
static const gpumpi_methods gpumpi_meter_hooks = {
    "meter", "memory", GPUMPI_METER_MAGIC,
    GPUMP_LAYOUT_MEMORY, sizeof(gpump_meter_config), offsetof(gpump_meter, config), 0,
    sizeof gpumpi_meter_counters / sizeof *gpumpi_meter_counters, gpumpi_meter_counters, 0,
    /* preset, check_config, bytes, bits, tables */
    gpumpi_meter_preset, gpumpi_meter_check_config, gpumpi_meter_bytes, gpumpi_meter_bits, NULL,
    /* set_up, unfit, check, hash */
    NULL, NULL, gpumpi_meter_check, gpumpi_meter_hash,
    /* preset_for, next_cycle, copy_statistics */
    NULL, NULL, NULL,
};
/* clang-format on */
GPUMP_API const gpumpi_methods *gpumpi_meter_methods(void) { return &gpumpi_meter_hooks; }
