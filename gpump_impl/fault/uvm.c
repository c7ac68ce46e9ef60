#include "fault/uvm.h"

#include <string.h>

static uint32_t gpumpi_uvm_cycles(const gpump_gpu *gpu, uint64_t ns) {
    const uint64_t cycles = gpump_gpu_cycles_from_ns(gpu, ns);
    return cycles < UINT32_MAX ? (uint32_t)cycles : UINT32_MAX;
}

GPUMP_API gpump_result gpumpi_uvm_config_from_gpu(gpump_uvm_config *config, const char *preset, const gpump_gpu *gpu) {
    const int is_none = preset && strcmp(preset, "none") == 0;
    if (!config || !preset || gpump_check(&gpump_gpu_component, gpu, NULL)) return GPUMP_ERROR_ARGUMENT;
    if (!is_none && strcmp(preset, "uvm595") != 0) return GPUMP_ERROR_UNKNOWN_NAME;
    memset(config, 0, sizeof *config);
    config->batch = config->batches = config->block_granules = config->counter = 1;
    config->prefetch_percent = 100;
    if (is_none) return GPUMP_OK;
    config->batch = 256;
    config->batches = 20;
    config->replay = GPUMP_UVM_REPLAY_BATCH_FLUSH;
    config->batch_cycles = gpumpi_uvm_cycles(gpu, 50000);
    config->entry_cycles = gpumpi_uvm_cycles(gpu, 200);
    config->block_cycles = gpumpi_uvm_cycles(gpu, 90000);
    config->block_granules = 32;
    config->prefetch_percent = 51;
    config->thrash_events = 3;
    config->thrash_cycles = gpumpi_uvm_cycles(gpu, 500000);
    config->thrash_delays = 10;
    config->pin_cycles = gpumpi_uvm_cycles(gpu, 150000000);
    config->remote_cycles = gpumpi_uvm_cycles(gpu, 5000);
    config->counter = 256;
    return GPUMP_OK;
}

GPUMP_API gpump_result gpumpi_uvm_check_config(const gpump_uvm_config *config, gpump_diag *diag) {
    static const gpumpi_limit limits[] = {
        {"uvm.batch", (uint32_t)offsetof(gpump_uvm_config, batch), 1u, 65536u},
        {"uvm.batches", (uint32_t)offsetof(gpump_uvm_config, batches), 1u, 256u},
        {"uvm.replay", (uint32_t)offsetof(gpump_uvm_config, replay), 0u, GPUMP_UVM_REPLAYS - 1u},
        {"uvm.block_granules", (uint32_t)offsetof(gpump_uvm_config, block_granules), 1u, 64u},
        {"uvm.prefetch_percent", (uint32_t)offsetof(gpump_uvm_config, prefetch_percent), 1u, 100u},
        {"uvm.remote", (uint32_t)offsetof(gpump_uvm_config, remote), 0u, 2u},
        {"uvm.counter", (uint32_t)offsetof(gpump_uvm_config, counter), 1u, UINT32_MAX},
    };
    gpump_result result;
    if (!config) return gpumpi_null(diag, "uvm");
    result = GPUMPI_CHECK_LIMITS(config, limits, diag);
    if (result) return result;
    if (config->block_granules & (config->block_granules - 1))
        return gpumpi_bad_config(diag, "uvm.block_granules (a power of two)", 0, config->block_granules, 1, 64);
    return GPUMP_OK;
}

GPUMP_API uint64_t gpump_uvm_prefetch(uint64_t present, uint64_t faulted, uint32_t granules, uint32_t percent) {
    const uint64_t occupied = present | faulted;
    uint64_t wanted = faulted;
    for (uint64_t rest = faulted; rest; rest &= rest - 1) {
        const uint32_t at = gpump_bits_lowest64(rest);
        for (uint32_t size = 2; size <= granules; size *= 2) {
            const uint64_t part = (UINT64_MAX >> (64u - size)) << (at & ~(size - 1u));
            if (gpumpi_bits_count64(occupied & part) * 100u > size * percent) wanted |= part;
        }
    }
    return wanted & ~present;
}

GPUMP_API void gpump_uvm_report_arrival(const gpump_uvm_config *config, gpump_uvm_granule *granule, uint64_t now) {
    granule->arrivals = now - granule->arrived <= config->thrash_cycles ? granule->arrivals + 1 : 1;
    granule->arrived = now;
}

GPUMP_API uint32_t gpump_uvm_decide(const gpump_uvm_config *config, gpump_uvm_granule *granule, uint64_t now) {
    if (!config->thrash_events || granule->arrivals < config->thrash_events) return GPUMP_UVM_SERVE;
    if (granule->delays < config->thrash_delays) {
        granule->delays++;
        return GPUMP_UVM_DELAY;
    }
    granule->delays = granule->arrivals = 0;
    if (config->remote) return GPUMP_UVM_REMOTE;
    granule->pinned_until = gpump_add_saturated(now, config->pin_cycles);
    return GPUMP_UVM_PIN;
}
