#include "memory/memory.h"

#include <stdlib.h>

#include "memory/model.h"

#define HEADER_BYTES 8u /* of every packet on the network */
/* Saved blocks whose L1 lines an SM may write back in one window. */
#define SAVES_PER_WINDOW 128u

/* The models, by minigpu_config.memory_model. */
static const memory_model *const models[] = {
#define MEMORY_MODEL(name) &name##_model,
#include MEMORY_MODELS_LIST
#undef MEMORY_MODEL
};

void memory_set_slice(memory_system *memory, uint32_t kernel, uint32_t first, uint32_t eighths) {
    if (memory->model->set_slice) memory->model->set_slice(memory->behind, kernel, first, eighths);
}

/* Makes the meter of the memory in the arena. Returns NULL when the arena is full. */
static gpump_meter *make_meter(arena *a, const minigpu_config *config, uint32_t sms, uint32_t kernels) {
    gpump_meter_config meter;
    gpump_meter *made;
    size_t bytes;
    void *part;
    if (gpump_preset(&gpump_meter_component, &meter, config->preset, NULL) != GPUMP_OK) return NULL;
    meter.kernels = kernels;
    meter.sms = sms;
    meter.schedulers = config->gpu.schedulers;
    meter.clock_khz = config->gpu.clock_khz;
    meter.network_khz = minigpu_config_network_khz(config);
    meter.l2_banks = config->l2_banks;
    meter.network_ports = sms < config->l2_banks ? sms : config->l2_banks;
    meter.l2_hit_cycles = (SEGMENT_BYTES + config->l2_port_bytes - 1) / config->l2_port_bytes;
    meter.memory_mb_per_s = config->gpu.memory_mb_per_s;
    if (gpump_bytes(&gpump_meter_component, &meter, &bytes, NULL) != GPUMP_OK) return NULL;
    if (!(part = arena_take(a, bytes)) ||
        gpump_init(&gpump_meter_component, part, bytes, &meter, &made, NULL) != GPUMP_OK)
        return NULL;
    return made;
}

memory_system *memory_make(arena *a, const minigpu_config *config, uint32_t sms, uint32_t kernels) {
    memory_system *memory = (memory_system *)arena_take(a, sizeof *memory);
    uint32_t i;
    if (memory) memory->sms = sms;
    if (!memory || !(memory->sm_cycles = (uint64_t *)arena_take_array(a, sms, sizeof *memory->sm_cycles))) return NULL;
    if (!(memory->meter = make_meter(a, config, sms, kernels))) return NULL;
    memory->next_cycle = UINT64_MAX;
    for (i = 0; i < sms; i++) memory->sm_cycles[i] = UINT64_MAX;
    memory->model = models[config->memory_model];
    if (!(memory->behind = memory->model->make(a, config, sms, memory->meter))) return NULL;
    memory->refused = memory->model->refused ? memory->model->refused(memory->behind) : NULL;
    memory->full = memory->model->full ? memory->model->full(memory->behind) : NULL;
    memory->least_cycles = memory->full ? memory->model->least_cycles(memory->behind) : 0;
    return memory;
}

static void enter(memory_system *memory, uint64_t now, uint32_t sm, const memory_packet *request) {
    memory->statistics.requests++;
    if (memory->next_cycle > now) memory->next_cycle = now;
    memory->model->enter(memory->behind, sm, request);
}

static void advance(memory_system *memory, uint64_t now) {
    memory->next_cycle = memory->model->advance(memory->behind, now, memory->sm_cycles, &memory->statistics);
}

static void write_back(memory_system *memory, uint64_t now, uint32_t sm, uint32_t lines) {
    memory->model->write_back(memory->behind, now, sm, lines, &memory->statistics);
}

int memory_make_ports(memory_system *memory, arena *a, const minigpu_config *config, uint32_t window_cycles) {
    const uint32_t packet =
        (HEADER_BYTES + SEGMENT_BYTES + config->network_flit_bytes - 1) / config->network_flit_bytes;
    uint32_t i;
    memory->input_flits = config->network_input_flits;
    memory->context_flits = minigpu_config_credit_flits(config) + 2 * packet; /* one in transfer, and the next */
    if (memory->context_flits > memory->input_flits) memory->context_flits = memory->input_flits;
    if (!(memory->ports = (network_port *)arena_take_array(a, memory->sms, sizeof *memory->ports))) return -1;
    for (i = 0; i < memory->sms; i++) {
        network_port *p = &memory->ports[i];
        p->capacity = window_cycles + SAVES_PER_WINDOW;
        p->sm_cycle = UINT64_MAX;
        p->credits = (port_credit *)arena_take_array(a, PORT_CREDITS, sizeof *p->credits);
        p->entries = (port_entry *)arena_take_array(a, 2 * (size_t)p->capacity, sizeof *p->entries);
        if (!p->credits || !p->entries) return -1;
    }
    memory->pending = UINT64_MAX;
    memory->refused = NULL;
    memory->least_cycles = 0;
    return memory->model->set_ports(memory->behind, memory->ports, a);
}

/* ---- an SM's port ---- */

static uint32_t flits_of(const memory_system *memory, const memory_packet *request) {
    return memory->model->flits(memory->behind, request);
}

/* Sets a refused SM to look again when the next credit arrives. */
static void look_at_credit(network_port *p) {
    if (p->head != p->visible && p->credits[p->head % PORT_CREDITS].cycle < p->sm_cycle)
        p->sm_cycle = p->credits[p->head % PORT_CREDITS].cycle;
}

static int port_may_enter(memory_system *memory, uint64_t now, uint32_t sm, const memory_packet *request) {
    network_port *p = &memory->ports[sm];
    while (p->head != p->visible && p->credits[p->head % PORT_CREDITS].cycle <= now)
        p->flits -= p->credits[p->head++ % PORT_CREDITS].flits;
    p->refused = p->flits && p->flits + flits_of(memory, request) >
                                 (request_is_context(request->kind) ? memory->context_flits : memory->input_flits);
    if (p->refused) look_at_credit(p);
    return !p->refused;
}

static port_entry *port_enter(const memory_system *memory, uint64_t now, uint32_t sm) {
    network_port *p = &memory->ports[sm];
    port_entry *entry = &p->entries[memory->side * p->capacity + p->entered[memory->side]++];
    entry->cycle = now;
    entry->lines = 0;
    return entry;
}

/* Returns the next entry that the SM sent in the last window; NULL when the network has all of them. */
static const port_entry *next_entry(const memory_system *memory, uint32_t sm) {
    const network_port *p = &memory->ports[sm];
    const uint32_t side = !memory->side;
    return p->caught_up < p->entered[side] ? &p->entries[side * p->capacity + p->caught_up] : NULL;
}

static uint64_t next_entry_cycle(const memory_system *memory) {
    uint64_t next = UINT64_MAX;
    uint32_t i;
    for (i = 0; i < memory->sms; i++) {
        const port_entry *entry = next_entry(memory, i);
        if (entry && entry->cycle < next) next = entry->cycle;
    }
    return next;
}

/* Enters the requests that the SMs sent in cycle `now` of the last window, in the SMs' order. Returns the cycle of the
 * next entry. */
static uint64_t enter_all(memory_system *memory, uint64_t now) {
    const port_entry *entry;
    uint64_t next = UINT64_MAX;
    uint32_t i;
    for (i = 0; i < memory->sms; i++) {
        for (; (entry = next_entry(memory, i)) && entry->cycle == now; memory->ports[i].caught_up++) {
            if (entry->lines)
                write_back(memory, now, i, entry->lines);
            else
                enter(memory, now, i, &entry->packet);
        }
        if (entry && entry->cycle < next) next = entry->cycle;
    }
    return next;
}

void memory_catch_up(memory_system *memory, uint64_t end) {
    uint64_t entering = next_entry_cycle(memory);
    for (;;) {
        const uint64_t now = entering < memory->next_cycle ? entering : memory->next_cycle;
        if (now >= end) break;
        if (now == entering) entering = enter_all(memory, now);
        advance(memory, now);
    }
}

void memory_turn(memory_system *memory, uint64_t now) {
    uint32_t i;
    memory->side = !memory->side;
    for (i = 0; i < memory->sms; i++) {
        network_port *p = &memory->ports[i];
        p->entered[memory->side] = p->caught_up = 0;
        p->visible = p->put;
        memory->model->publish(memory->behind, i, &p->sm_cycle);
        if (p->refused) look_at_credit(p);
    }
    memory->turned = now;
    memory->pending = next_entry_cycle(memory);
    if (memory->next_cycle < memory->pending) memory->pending = memory->next_cycle;
}

/* ---- interface ---- */

int memory_may_enter(memory_system *memory, uint64_t now, uint32_t sm, const memory_packet *request) {
    if (memory->ports) return port_may_enter(memory, now, sm, request);
    return memory->model->may_enter(memory->behind, now, sm, request, &memory->sm_cycles[sm]);
}

void memory_enter(memory_system *memory, uint64_t now, uint32_t sm, const memory_packet *request) {
    if (memory->least_cycles) { /* now may be a later cycle than the memory's */
        (void)memory_enter_next(memory, now - 1, sm, request);
        return;
    }
    if (!memory->ports) {
        enter(memory, now, sm, request);
        return;
    }
    port_enter(memory, now, sm)->packet = *request;
    memory->ports[sm].flits += flits_of(memory, request);
}

int memory_enter_next(memory_system *memory, uint64_t now, uint32_t sm, const memory_packet *request) {
    if (memory->ports || !memory->model->enter_next || !memory->model->enter_next(memory->behind, now, sm, request))
        return 0;
    memory->statistics.requests++;
    if (memory->next_cycle > now + 1) memory->next_cycle = now + 1;
    return 1;
}

void memory_write_back(memory_system *memory, uint64_t now, uint32_t sm, uint32_t lines) {
    if (!memory->ports)
        write_back(memory, now, sm, lines);
    else if (lines)
        port_enter(memory, now, sm)->lines = lines;
}

void memory_advance(memory_system *memory, uint64_t now) {
    if (memory->next_cycle <= now) advance(memory, now);
}

void memory_advance_alone(memory_system *memory, uint64_t end) {
    uint32_t i;
    if (memory->next_cycle < end && memory->model->advance_alone)
        memory->next_cycle = memory->model->advance_alone(memory->behind, memory->next_cycle, end, memory->sm_cycles,
                                                          &memory->statistics);
    while (memory->next_cycle < end && !memory->model->advance_alone) {
        advance(memory, memory->next_cycle);
        for (i = 0; i < memory->sms; i++) end = memory->sm_cycles[i] < end ? memory->sm_cycles[i] : end;
    }
}

int memory_take(memory_system *memory, uint64_t now, uint32_t sm, memory_reply *reply) {
    uint64_t *sm_cycle = memory->ports ? &memory->ports[sm].sm_cycle : &memory->sm_cycles[sm];
    return memory->model->take(memory->behind, now, sm, reply, sm_cycle);
}

uint32_t memory_under_way(const memory_system *memory, uint32_t sm) {
    return memory->model->under_way(memory->behind, sm);
}

uint64_t memory_last_reply(const memory_system *memory, uint32_t sm) {
    return memory->model->last_reply(memory->behind, sm);
}

int memory_can_be_emptied(const memory_system *memory) { return memory->model->empty != NULL; }
void memory_empty(memory_system *memory) { memory->model->empty(memory->behind); }

uint64_t memory_hash(const memory_system *memory, uint64_t hash) {
    uint32_t i;
    for (i = 0; memory->ports && i < memory->sms; i++) hash = gpump_hash_u64(hash, memory->ports[i].flits);
    return memory->model->hash(memory->behind, hash);
}
