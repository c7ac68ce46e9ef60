#include "memory/memory.h"

#include "memory/fixed.h"
#include "memory/queued.h"

gpump_meter *memory_make_meter(arena *a, const minigpu_config *config, uint32_t sms, uint32_t kernels) {
    gpump_meter_config meter;
    gpump_meter *made;
    size_t bytes;
    void *part;
    if (gpump_meter_config_preset(&meter, config->preset) != GPUMP_OK) return NULL;
    meter.kernels = kernels;
    meter.sms = sms;
    meter.schedulers = config->gpu.schedulers;
    meter.clock_khz = config->gpu.clock_khz;
    meter.network_khz = minigpu_config_network_khz(config);
    meter.l2_banks = config->l2_banks;
    meter.network_ports = sms < config->l2_banks ? sms : config->l2_banks;
    meter.l2_hit_cycles = (SEGMENT_BYTES + config->l2_port_bytes - 1) / config->l2_port_bytes;
    meter.memory_mb_per_s = config->gpu.memory_mb_per_s;
    if (gpump_meter_bytes(&meter, &bytes, NULL) != GPUMP_OK || !(part = arena_take(a, bytes)) ||
        gpump_meter_init(part, bytes, &meter, &made, NULL) != GPUMP_OK)
        return NULL;
    return made;
}

memory_system *memory_make(arena *a, const minigpu_config *config, uint32_t sms, uint32_t kernels) {
    memory_system *memory = (memory_system *)arena_take(a, sizeof *memory);
    uint32_t i;
    if (!memory || !(memory->sm_cycles = (uint64_t *)arena_take_array(a, sms, sizeof *memory->sm_cycles))) return NULL;
    if (!(memory->meter = memory_make_meter(a, config, sms, kernels))) return NULL;
    memory->next_cycle = UINT64_MAX;
    for (i = 0; i < sms; i++) memory->sm_cycles[i] = UINT64_MAX;
    if (config->memory_model)
        memory->queued = queued_make(a, config, sms, memory->meter);
    else
        memory->fixed = fixed_make(a, config, sms);
    return memory->fixed || memory->queued ? memory : NULL;
}

int memory_may_enter(memory_system *memory, uint64_t now, uint32_t sm, const memory_packet *request) {
    if (memory->queued) return queued_may_enter(memory->queued, sm, request);
    return fixed_may_enter(memory->fixed, now, sm, request, &memory->sm_cycles[sm]);
}

void memory_enter(memory_system *memory, uint64_t now, uint32_t sm, const memory_packet *request) {
    memory->statistics.requests++;
    if (memory->next_cycle > now) memory->next_cycle = now;
    if (memory->queued)
        queued_enter(memory->queued, sm, request);
    else
        fixed_enter(memory->fixed, sm, request);
}

void memory_write_back(memory_system *memory, uint64_t now, uint32_t sm, uint32_t lines) {
    if (memory->queued)
        queued_write_back(memory->queued, now, sm, lines, &memory->statistics);
    else
        fixed_write_back(memory->fixed, now, sm, lines, &memory->statistics);
}

void memory_advance(memory_system *memory, uint64_t now) {
    if (memory->next_cycle > now) return;
    memory->next_cycle = memory->queued ? queued_advance(memory->queued, now, memory->sm_cycles, &memory->statistics)
                                        : fixed_advance(memory->fixed, now, memory->sm_cycles, &memory->statistics);
}

int memory_take(memory_system *memory, uint64_t now, uint32_t sm, memory_reply *reply) {
    if (memory->queued) return queued_take(memory->queued, now, sm, reply, &memory->sm_cycles[sm]);
    return fixed_take(memory->fixed, now, sm, reply, &memory->sm_cycles[sm]);
}

uint32_t memory_under_way(const memory_system *memory, uint32_t sm) {
    return memory->queued ? queued_under_way(memory->queued, sm) : fixed_under_way(memory->fixed, sm);
}

uint64_t memory_last_reply(const memory_system *memory, uint32_t sm) {
    return memory->queued ? queued_last_reply(memory->queued, sm) : fixed_last_reply(memory->fixed, sm);
}

uint64_t memory_hash(const memory_system *memory, uint64_t hash) {
    return memory->queued ? queued_hash(memory->queued, hash) : fixed_hash(memory->fixed, hash);
}
