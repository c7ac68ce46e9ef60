#include "memory/memory.h"

#include "memory/fixed.h"

memory_system *memory_make(arena *a, const minigpu_config *config, uint32_t sms) {
    memory_system *memory = (memory_system *)arena_take(a, sizeof *memory);
    uint32_t i;
    if (!memory || !(memory->sm_cycles = (uint64_t *)arena_take_array(a, sms, sizeof *memory->sm_cycles))) return NULL;
    memory->next_cycle = UINT64_MAX;
    for (i = 0; i < sms; i++) memory->sm_cycles[i] = UINT64_MAX;
    memory->fixed = fixed_make(a, config, sms);
    return memory->fixed ? memory : NULL;
}

int memory_may_enter(memory_system *memory, uint64_t now, uint32_t sm, const memory_packet *request) {
    return fixed_may_enter(memory->fixed, now, sm, request, &memory->sm_cycles[sm]);
}

void memory_enter(memory_system *memory, uint64_t now, uint32_t sm, const memory_packet *request) {
    memory->statistics.requests++;
    if (memory->next_cycle > now) memory->next_cycle = now;
    fixed_enter(memory->fixed, sm, request);
}

void memory_write_back(memory_system *memory, uint64_t now, uint32_t sm, uint32_t lines) {
    fixed_write_back(memory->fixed, now, sm, lines, &memory->statistics);
}

void memory_advance(memory_system *memory, uint64_t now) {
    if (memory->next_cycle > now) return;
    memory->next_cycle = fixed_advance(memory->fixed, now, memory->sm_cycles, &memory->statistics);
}

int memory_take(memory_system *memory, uint64_t now, uint32_t sm, memory_reply *reply) {
    return fixed_take(memory->fixed, now, sm, reply, &memory->sm_cycles[sm]);
}

uint32_t memory_under_way(const memory_system *memory, uint32_t sm) { return fixed_under_way(memory->fixed, sm); }

uint64_t memory_last_reply(const memory_system *memory, uint32_t sm) { return fixed_last_reply(memory->fixed, sm); }

uint64_t memory_hash(const memory_system *memory, uint64_t hash) { return fixed_hash(memory->fixed, hash); }
