#include "sm/sm.h"

#include <string.h>

/* Parts that another component may place. */
#define GPUMPI_SM_PLACES ((uint32_t)(GPUMP_PARTS_IN_PLACE | GPUMP_PART_SLOTS))

#define GPUMPI_SM_MAGIC UINT64_C(0x67706d70736d3031) /* "gpmpsm01" */

/* Blocks are copied byte by byte and hashed field by field: nothing may hide in padding. */
typedef char gpumpi_sm_slot_has_no_padding[sizeof(gpumpi_sm_slot) == 13 * 8 + 24 * 4 ? 1 : -1];
typedef char gpumpi_sm_config_has_no_padding[sizeof(gpump_sm_config) == 20 * 4 + 3 * 8 ? 1 : -1];
typedef char gpumpi_sm_has_no_padding[sizeof(gpump_sm) == sizeof(gpumpi_head) + 6 * 8 + sizeof(gpump_sm_config) +
                                                              sizeof(gpump_sm_statistics) + 6 * 4
                                          ? 1
                                          : -1];

static gpumpi_sm_kernel *gpumpi_sm_kernels(gpump_sm *sm) {
    return (gpumpi_sm_kernel *)(void *)(gpumpi_sm_slots(sm) + sm->config.entries);
}
static const gpumpi_sm_kernel *gpumpi_sm_kernels_const(const gpump_sm *sm) {
    return (const gpumpi_sm_kernel *)(const void *)(gpumpi_sm_slots_const(sm) + sm->config.entries);
}
/* The table entry of a kernel with blocks here; GPUMP_NONE without one. kernel 0 finds a free entry. */
static uint32_t gpumpi_sm_find_kernel(const gpump_sm *sm, uint32_t kernel) {
    const gpumpi_sm_kernel *kernels = gpumpi_sm_kernels_const(sm);
    for (uint32_t i = 0; i < sm->config.kernels; i++)
        if (kernels[i].kernel == kernel) return i;
    return GPUMP_NONE;
}

/* 1 when two ranges share an element. */
static int gpumpi_sm_overlap(uint32_t a, uint32_t a_length, uint32_t b, uint32_t b_length) {
    return a_length && b_length && a < b + b_length && b < a + a_length;
}

/* The earliest end of a transfer that is under way; GPUMP_UNKNOWN: none. */
static uint64_t gpumpi_sm_first_end(const gpump_sm *sm) {
    uint64_t cycle = GPUMP_UNKNOWN;
    for (uint32_t i = 0; i < sm->config.entries; i++) {
        const gpumpi_sm_slot *slot = &gpumpi_sm_slots_const(sm)[i];
        if ((slot->state == GPUMP_BLOCK_SAVING || slot->state == GPUMP_BLOCK_RESTORING) && slot->port_end < cycle)
            cycle = slot->port_end;
    }
    return cycle;
}

/* ---- configuration, birth, copies ---- */

/* The techniques of the list that rewind, as bits. */
static uint32_t gpumpi_sm_rewinding(void) {
    uint32_t bits = 0;
    for (uint32_t i = 0; gpump_technique_at(i); i++)
        if (gpump_technique_begins(i) == GPUMP_TECHNIQUE_BEGIN_REWIND) bits |= 1u << i;
    return bits;
}

GPUMP_API gpump_result gpump_sm_config_from_gpu(gpump_sm_config *config, const gpump_gpu *gpu, uint32_t shared_bytes) {
    uint32_t option = 0;
    if (!config || gpump_check(&gpump_gpu_component, gpu, NULL)) return GPUMP_ERROR_ARGUMENT;
    while (option < gpu->shared_option_count && gpu->shared_bytes[option] != shared_bytes) option++;
    if (option == gpu->shared_option_count) return GPUMP_ERROR_ARGUMENT;
    memset(config, 0, sizeof *config);
    config->lanes = gpu->lanes;
    config->block_slots = gpu->block_slots;
    config->entries = gpu->block_slots > 32 ? 64 : gpu->block_slots * 2;
    config->warp_slots = gpu->warp_slots;
    config->thread_slots = gpu->thread_slots;
    config->registers = gpu->registers;
    config->register_granule = gpu->register_granule;
    config->shared_bytes = shared_bytes;
    config->shared_granule_bytes = gpu->shared_granule_bytes;
    config->kernels = config->entries; /* a block of another kernel is never refused for its kernel */
    config->placement = GPUMP_SM_FIRST_FIT;
    config->techniques = gpumpi_techniques() & ~gpumpi_sm_rewinding();
    config->waits = GPUMP_SM_WAIT_ALL;
    config->timing = GPUMP_SM_TIMING_HOST;
    config->port = gpump_gpu_port(gpu);
    return GPUMP_OK;
}

static gpump_result gpumpi_sm_preset(void *filled, const char *preset) {
    gpump_sm_config *config = (gpump_sm_config *)filled;
    gpump_gpu gpu;
    gpump_result result = gpump_preset(&gpump_gpu_component, &gpu, preset, NULL);
    return result ? result : gpump_sm_config_from_gpu(config, &gpu, gpu.shared_bytes[gpu.shared_option_count - 1]);
}

/* The room of another component is a part of the SM, in whole granules. */
static gpump_result gpumpi_sm_check_placed(const gpump_sm_config *config, gpump_diag *diag) {
    const gpump_room *room = &config->placed;
    const struct {
        const char *name;
        uint32_t value, maximum, granule;
    } fields[] = {
        {"placed.registers", room->registers, config->registers, config->register_granule},
        {"placed.shared_bytes", room->shared_bytes, config->shared_bytes, config->shared_granule_bytes},
        {"placed.block_slots", room->block_slots, config->block_slots, 1},
        {"placed.warp_slots", room->warp_slots, config->warp_slots, 1},
        {"placed.thread_slots", room->thread_slots, config->thread_slots, 1},
        {"placed.unused", room->unused, 0, 1},
    };
    for (uint32_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (fields[i].value > fields[i].maximum || fields[i].value % fields[i].granule)
            return gpumpi_bad_config(diag, fields[i].name, 0, fields[i].value, 0, fields[i].maximum);
    return GPUMP_OK;
}

static gpump_result gpumpi_sm_check_config(const void *checked, gpump_diag *diag) {
    static const gpumpi_limit limits[] = {
        GPUMPI_LIMIT(gpump_sm_config, lanes, 1u, 64u),
        GPUMPI_LIMIT(gpump_sm_config, block_slots, 1u, 64u),
        GPUMPI_LIMIT(gpump_sm_config, warp_slots, 1u, 256u),
        GPUMPI_LIMIT(gpump_sm_config, thread_slots, 1u, UINT32_MAX),
        GPUMPI_LIMIT(gpump_sm_config, register_granule, 1u, 1u << 20),
        GPUMPI_LIMIT(gpump_sm_config, registers, 1u, 1u << 30),
        GPUMPI_LIMIT(gpump_sm_config, shared_granule_bytes, 1u, 1u << 20),
        GPUMPI_LIMIT(gpump_sm_config, shared_bytes, 0u, 1u << 30),
        GPUMPI_LIMIT(gpump_sm_config, kernels, 1u, 64u),
        GPUMPI_LIMIT(gpump_sm_config, placement, 0u, GPUMP_SM_ALIGNED),
        GPUMPI_LIMIT(gpump_sm_config, waits, 0u, GPUMP_SM_WAIT_ALL),
        GPUMPI_LIMIT(gpump_sm_config, timing, 0u, GPUMP_SM_TIMING_PORT),
    };
    const gpump_sm_config *config = (const gpump_sm_config *)checked;
    gpump_result r = GPUMPI_CHECK_LIMITS(config, limits, diag);
    if (!r) r = gpumpi_range(diag, "entries", config->entries, config->block_slots, 64u);
    if (!r && config->techniques & ~gpumpi_techniques())
        r = gpumpi_bad_config(diag, "techniques", 0, config->techniques, 0, gpumpi_techniques());
    if (!r) r = gpumpi_range(diag, "port.cycles", config->port.cycles, 1u, UINT64_MAX);
    if (!r) r = gpumpi_range(diag, "port.bytes", config->port.bytes, 1u, UINT64_MAX);
    return r ? r : gpumpi_sm_check_placed(config, diag);
}

static uint64_t gpumpi_sm_hash_config(uint64_t hash, const gpump_sm_config *config) {
    hash = gpumpi_hash_u32s(hash, &config->lanes, 20); /* placed included */
    return gpumpi_hash_u64s(hash, &config->port.cycles, 3);
}

static uint64_t gpumpi_sm_bytes(const void *of) {
    const gpump_sm_config *config = (const gpump_sm_config *)of;
    return sizeof(gpump_sm) + config->entries * sizeof(gpumpi_sm_slot) + config->kernels * sizeof(gpumpi_sm_kernel);
}

static void gpumpi_sm_set_up(void *object) {
    gpump_sm *fresh = (gpump_sm *)object;
    const gpump_sm_config *config = &fresh->config;
    fresh->port = config->port;
    fresh->shared_bytes = config->shared_bytes;
    fresh->wake_cycle = GPUMP_UNKNOWN;
    for (uint32_t i = 0; i < config->entries; i++) gpumpi_sm_slots(fresh)[i].generation = 1;
}

/* The actions that may be pending in each state, as bits of gpump_sm_action_kind. */
static uint32_t gpumpi_sm_pending_in(uint32_t state) {
    switch (state) {
    case GPUMP_BLOCK_RUNNING:
    case GPUMP_BLOCK_BLOCKED: return 1u << GPUMP_SM_ACTION_RESUME;
    case GPUMP_BLOCK_STOPPING: return 1u << GPUMP_SM_ACTION_STOP | 1u << GPUMP_SM_ACTION_REWIND;
    case GPUMP_BLOCK_SAVING:
        return 1u << GPUMP_SM_ACTION_STOP | 1u << GPUMP_SM_ACTION_REWIND | 1u << GPUMP_SM_ACTION_SAVE;
    case GPUMP_BLOCK_RESTORING: return 1u << GPUMP_SM_ACTION_RESTORE;
    case GPUMP_BLOCK_PARKED: return 1u << GPUMP_SM_ACTION_PARKED;
    case GPUMP_BLOCK_FLUSHED:
    case GPUMP_BLOCK_KILLED: return 1u << GPUMP_SM_ACTION_DROP | 1u << GPUMP_SM_ACTION_FREED;
    case GPUMP_BLOCK_SAVED:
    case GPUMP_BLOCK_DONE: return 1u << GPUMP_SM_ACTION_FREED;
    default: return 0;
    }
}

static int gpumpi_sm_range_is_wrong(uint32_t base, uint32_t length, uint32_t granule, uint32_t capacity) {
    return length > capacity || base > capacity - length || length % granule != 0;
}

/* Returns what is wrong with slot `index` by itself; NULL: nothing. */
static const char *gpumpi_sm_check_slot(const gpump_sm *sm, uint32_t index) {
    const gpumpi_sm_slot *slot = &gpumpi_sm_slots_const(sm)[index];
    const uint32_t outside = 1u << GPUMP_BLOCK_PARKED | 1u << GPUMP_BLOCK_SAVING | 1u << GPUMP_BLOCK_SAVED |
                             1u << GPUMP_BLOCK_FLUSHED |
                             1u << GPUMP_BLOCK_KILLED; /* states in which a block may have left its warp slots */
    uint32_t in_place = GPUMP_PARTS_IN_PLACE;
    if (slot->state == GPUMP_BLOCK_FREE) {
        gpumpi_sm_slot empty;
        memset(&empty, 0, sizeof empty);
        empty.generation = slot->generation;
        return memcmp(slot, &empty, sizeof empty) ? "a free slot that holds something" : NULL;
    }
    if (slot->state >= GPUMP_BLOCK_STATES) return "a state that does not exist";
    if (slot->pending & ~gpumpi_sm_pending_in(slot->state)) return "an action that the state does not allow";
    if (!slot->pending && (slot->state == GPUMP_BLOCK_SAVED || slot->state == GPUMP_BLOCK_DONE))
        return "a block that has ended and is never freed";
    if (slot->active > 1 || slot->clobbered > 1 || slot->to_point > 1) return "a flag that is neither 0 nor 1";
    if (slot->technique != GPUMP_NONE && !gpump_technique_at(slot->technique)) return "an unknown technique";
    if (slot->state == GPUMP_BLOCK_KILLED && slot->technique != GPUMP_NONE) return "a killed block with a technique";
    if (!slot->faults && slot->ready_cycle) return "a block that waits for no page until a cycle";
    if (slot->waits & ~sm->config.waits) return "a wait that the host does not report";
    if ((slot->placed & ~GPUMPI_SM_PLACES) || slot->unused) return "a part that nobody places";
    if ((slot->placed & GPUMP_PART_REGISTERS && slot->registers) ||
        (slot->placed & GPUMP_PART_SHARED_MEMORY && slot->shared_bytes))
        return "a range that another component places";
    if (!slot->threads || (!(slot->placed & GPUMP_PART_SLOTS) && slot->threads > sm->config.thread_slots) ||
        slot->warps != (slot->threads - 1u) / sm->config.lanes + 1u)
        return "threads and warps differ";
    if (!slot->active && !gpumpi_block_state_in(slot->state, outside)) return "a block without warp slots";
    if (slot->active && slot->state == GPUMP_BLOCK_PARKED && !slot->pending) return "a parked block with warp slots";
    if ((slot->held | slot->keep | slot->parts) & ~in_place) return "a part that does not exist";
    if (slot->keep & slot->placed) return "a block that keeps what another component places";
    if (slot->active && slot->held != in_place) return "an active block without its ranges";
    if ((gpumpi_block_is_saved_now(slot->state) || slot->state == GPUMP_BLOCK_PARKED) && (slot->keep & ~slot->held))
        return "a block that keeps what it does not hold";
    if (slot->state == GPUMP_BLOCK_PARKED &&
        (!slot->keep || (!slot->active && !slot->pending && slot->held != slot->keep)))
        return "a parked block that keeps something else";
    if (slot->state == GPUMP_BLOCK_SAVING && slot->parts != (slot->held & ~slot->keep))
        return "a transfer of other parts";
    if (gpumpi_sm_range_is_wrong(slot->held & GPUMP_PART_REGISTERS ? slot->register_base : 0, slot->registers,
                                 sm->config.register_granule, sm->config.registers))
        return "registers beyond the register file";
    if ((slot->held & GPUMP_PART_REGISTERS && slot->registers && slot->register_base < sm->config.placed.registers) ||
        (slot->held & GPUMP_PART_SHARED_MEMORY && slot->shared_bytes &&
         slot->shared_base < sm->config.placed.shared_bytes))
        return "a range in the room of another component";
    if (gpumpi_sm_range_is_wrong(slot->held & GPUMP_PART_SHARED_MEMORY ? slot->shared_base : 0, slot->shared_bytes,
                                 sm->config.shared_granule_bytes,
                                 slot->held & GPUMP_PART_SHARED_MEMORY && slot->shared_bytes ? sm->shared_bytes
                                                                                             : sm->config.shared_bytes))
        return "shared memory beyond the SM's";
    if (!slot->function) return "a block of no function";
    return gpumpi_sm_find_kernel(sm, slot->kernel) == GPUMP_NONE || !slot->kernel ? "a block of no kernel" : NULL;
}

/* Returns what is wrong between the slots: ranges that overlap; NULL: nothing. */
static const char *gpumpi_sm_check_pair(const gpumpi_sm_slot *a, const gpumpi_sm_slot *b) {
    uint32_t both = a->held & b->held;
    if ((both & GPUMP_PART_REGISTERS) &&
        gpumpi_sm_overlap(a->register_base, a->registers, b->register_base, b->registers))
        return "registers of two blocks overlap";
    if ((both & GPUMP_PART_SHARED_MEMORY) &&
        gpumpi_sm_overlap(a->shared_base, a->shared_bytes, b->shared_base, b->shared_bytes))
        return "shared memory of two blocks overlaps";
    return NULL;
}

static gpump_result gpumpi_sm_check(const void *object, gpump_diag *diag) {
    const gpump_sm *sm = (const gpump_sm *)object;
    uint64_t pending = 0, warps = 0, threads = 0, blocks = 0;
    uint32_t of_kernel[64], at = 0;
    const char *wrong = NULL;
    const gpumpi_sm_kernel *kernels;
    if (sm->now == GPUMP_UNKNOWN || sm->shared_bytes > sm->config.shared_bytes ||
        sm->shared_bytes < sm->config.placed.shared_bytes || sm->unused)
        return gpumpi_fail_at(diag, GPUMP_ERROR_FORMAT, "now, shared_bytes or unused", 0);
    memset(of_kernel, 0, sizeof of_kernel);
    kernels = gpumpi_sm_kernels_const(sm);
    for (uint32_t i = 0; !wrong && i < sm->config.entries; i++) {
        const gpumpi_sm_slot *slot = &gpumpi_sm_slots_const(sm)[i];
        at = i;
        wrong = gpumpi_sm_check_slot(sm, i);
        if (wrong || slot->state == GPUMP_BLOCK_FREE) continue;
        for (uint32_t j = 0; !wrong && j < i; j++) wrong = gpumpi_sm_check_pair(slot, &gpumpi_sm_slots_const(sm)[j]);
        of_kernel[gpumpi_sm_find_kernel(sm, slot->kernel)]++;
        if (slot->pending) pending |= (uint64_t)1 << i;
        if (!slot->active || slot->placed & GPUMP_PART_SLOTS) continue;
        blocks++;
        warps += slot->warps;
        threads += slot->threads;
    }
    for (uint32_t i = 0; !wrong && i < sm->config.kernels; i++) {
        at = i;
        if (kernels[i].blocks != of_kernel[i] || !kernels[i].kernel != !kernels[i].blocks ||
            (kernels[i].kernel && gpumpi_sm_find_kernel(sm, kernels[i].kernel) != i))
            wrong = "a kernel's blocks are counted wrongly";
    }
    if (!wrong && (sm->port.cycles != sm->config.port.cycles || sm->port.bytes != sm->config.port.bytes))
        wrong = "another port";
    if (!wrong && pending != sm->pending) wrong = "pending actions differ";
    if (!wrong && sm->config.timing == GPUMP_SM_TIMING_PORT && sm->wake_cycle > gpumpi_sm_first_end(sm))
        wrong = "a transfer ends before wake_cycle";
    if (!wrong && sm->config.timing == GPUMP_SM_TIMING_HOST && sm->wake_cycle != GPUMP_UNKNOWN)
        wrong = "wake_cycle under timing HOST";
    if (!wrong && (blocks != sm->blocks || warps != sm->warps || threads != sm->threads ||
                   blocks > sm->config.block_slots - sm->config.placed.block_slots ||
                   warps > sm->config.warp_slots - sm->config.placed.warp_slots ||
                   threads > sm->config.thread_slots - sm->config.placed.thread_slots))
        wrong = "counts of blocks, warps or threads differ";
    return wrong ? gpumpi_fail_at(diag, GPUMP_ERROR_FORMAT, wrong, at) : GPUMP_OK;
}

static uint64_t gpumpi_sm_hash(const void *object) {
    const gpump_sm *sm = (const gpump_sm *)object;
    uint64_t hash = gpumpi_sm_hash_config(GPUMP_HASH_SEED, &sm->config);
    hash = gpumpi_hash_u64s(hash, &sm->now, 6);
    hash = gpumpi_hash_u64s(hash, &sm->statistics.placed, sizeof sm->statistics / 8);
    hash = gpumpi_hash_u32s(hash, &sm->blocks, 6);
    for (uint32_t i = 0; i < sm->config.entries; i++) {
        const gpumpi_sm_slot *slot = &gpumpi_sm_slots_const(sm)[i];
        hash = gpumpi_hash_u64s(hash, &slot->cookie, 13);
        hash = gpumpi_hash_u32s(hash, &slot->generation, 24);
    }
    for (uint32_t i = 0; i < sm->config.kernels; i++) {
        const gpumpi_sm_kernel *kernel = &gpumpi_sm_kernels_const(sm)[i];
        hash = gpumpi_hash_u32s(hash, &kernel->kernel, 2);
    }
    return hash;
}

static uint64_t gpumpi_sm_tables(const void *of, void *filled) {
    const gpump_sm_config *config = (const gpump_sm_config *)of;
    gpump_sm_storage *storage = (gpump_sm_storage *)filled;
    uint64_t owner, registers, shared;
    owner = gpumpi_bits_for(config->block_slots) + 5; /* 32 kernels at once (Shieh 3.4.5) */
    registers = gpumpi_bits_for((uint64_t)config->registers + 1u);
    shared = gpumpi_bits_for((uint64_t)config->shared_bytes + 1u);
    storage->allocation_bits = config->entries * (2 * registers + 2 * shared + 2 * owner);
    storage->status_bits = config->block_slots * (uint64_t)(32 + 32 + 1);
    storage->life_bits =
        config->entries * (gpumpi_bits_for(GPUMP_BLOCK_STATES) + 2 + 2 + 6 + gpumpi_bits_for(config->warp_slots + 1u) +
                           gpumpi_bits_for((uint64_t)config->thread_slots + 1u));
    storage->total_bits = storage->allocation_bits + storage->status_bits + storage->life_bits;
    return storage->total_bits;
}
/* ---- time and the memory port ---- */

static void gpumpi_sm_post(gpump_sm *sm, uint32_t index, uint32_t kind) {
    gpumpi_sm_slots(sm)[index].pending |= 1u << kind;
    sm->pending |= (uint64_t)1 << index;
}

/* Reserves the port for `bytes` from cycle `from` on. A transfer of 0 bytes does not reserve the port. */
static void gpumpi_sm_transfer(gpump_sm *sm, gpumpi_sm_slot *slot, uint64_t from, uint64_t bytes) {
    slot->moved = bytes;
    slot->port_end = gpump_port_take(&sm->port, from, bytes, &slot->port_start);
    if (sm->config.timing == GPUMP_SM_TIMING_PORT && slot->port_end < sm->wake_cycle) sm->wake_cycle = slot->port_end;
    sm->statistics.port_cycles += gpump_port_cycles(&sm->port, bytes);
}

static uint64_t gpumpi_sm_part_bytes(const gpump_context_sizes *context, uint32_t parts) {
    return gpump_add_saturated(parts & GPUMP_PART_REGISTERS ? context->register_bytes : 0,
                               parts & GPUMP_PART_SHARED_MEMORY ? context->shared_bytes : 0);
}
/* What a transfer of these parts moves when the state beside them goes along. */
static uint64_t gpumpi_sm_whole_bytes(const gpump_context_sizes *context, uint32_t parts) {
    return gpump_add_saturated(gpumpi_sm_part_bytes(context, parts), context->state_bytes);
}

/* The state of a stopped or parked block is complete: starts to save the parts that the block does not keep. */
static void gpumpi_sm_start_saving(gpump_sm *sm, uint32_t index, uint64_t now) {
    gpumpi_sm_slot *slot = &gpumpi_sm_slots(sm)[index];
    uint64_t bytes;
    slot->parts = slot->held & ~slot->keep;
    bytes = gpumpi_sm_part_bytes(&slot->context, slot->parts); /* a parked block has written its state already */
    if (slot->state == GPUMP_BLOCK_STOPPING) {
        bytes = gpumpi_sm_whole_bytes(&slot->context, slot->parts);
        sm->statistics.stop_cycles += now - slot->since;
        slot->cycles += now - slot->start_cycle;
    }
    slot->state = GPUMP_BLOCK_SAVING;
    slot->since = now;
    gpumpi_sm_transfer(sm, slot, now, bytes);
    gpumpi_sm_post(sm, index, GPUMP_SM_ACTION_SAVE);
}

static void gpumpi_sm_end_saving(gpump_sm *sm, uint32_t index, uint64_t now) {
    gpumpi_sm_slot *slot = &gpumpi_sm_slots(sm)[index];
    sm->statistics.save_cycles += now - slot->since;
    sm->statistics.bytes_saved += slot->moved;
    slot->since = now;
    if (slot->keep) {
        sm->statistics.parked++;
        slot->state = GPUMP_BLOCK_PARKED;
        gpumpi_sm_post(sm, index, GPUMP_SM_ACTION_PARKED);
    } else {
        sm->statistics.saved++;
        slot->state = GPUMP_BLOCK_SAVED;
        slot->why = GPUMP_BLOCK_SAVED;
        gpumpi_sm_post(sm, index, GPUMP_SM_ACTION_FREED);
    }
}

static void gpumpi_sm_end_restoring(gpump_sm *sm, uint32_t index, uint64_t now) {
    gpumpi_sm_slot *slot = &gpumpi_sm_slots(sm)[index];
    sm->statistics.restore_cycles += now - slot->since;
    sm->statistics.bytes_restored += slot->moved;
    slot->state = GPUMP_BLOCK_RUNNING;
    slot->since = slot->start_cycle = now;
    slot->technique = GPUMP_NONE;
    if (sm->config.timing == GPUMP_SM_TIMING_PORT) gpumpi_sm_post(sm, index, GPUMP_SM_ACTION_RESUME);
}

/* Time passes: under port timing, transfers that have been handed over and have ended take effect. */
GPUMP_API gpump_result gpumpi_sm_advance(gpump_sm *sm, uint64_t now) {
    if (!sm) return GPUMP_ERROR_ARGUMENT;
    if (now < sm->now || now == GPUMP_UNKNOWN) return GPUMP_ERROR_TIME;
    sm->now = now;
    if (now < sm->wake_cycle) return GPUMP_OK;
    for (uint32_t i = 0; i < sm->config.entries; i++) {
        gpumpi_sm_slot *slot = &gpumpi_sm_slots(sm)[i];
        if (slot->port_end > now) continue;
        if (slot->state == GPUMP_BLOCK_SAVING && !(slot->pending & (1u << GPUMP_SM_ACTION_SAVE)))
            gpumpi_sm_end_saving(sm, i, slot->port_end);
        else if (slot->state == GPUMP_BLOCK_RESTORING && !(slot->pending & (1u << GPUMP_SM_ACTION_RESTORE)))
            gpumpi_sm_end_restoring(sm, i, slot->port_end);
    }
    sm->wake_cycle = gpumpi_sm_first_end(sm);
    return GPUMP_OK;
}

/* ---- room ---- */

/* The end of a range of `part` that overlaps [base, base + length), 0 for none. Goes round the entries from *from on,
 * and sets *from to the one behind that range: where entries lie in the order of their ranges, that is the next to
 * meet. */
static uint32_t gpumpi_sm_obstacle(const gpump_sm *sm, uint32_t part, uint32_t base, uint32_t length, uint32_t *from) {
    const gpumpi_sm_slot *const slots = gpumpi_sm_slots_const(sm);
    const uint32_t entries = sm->config.entries;
    uint32_t i = *from;
    for (uint32_t looked = 0; looked < entries; looked++) {
        const gpumpi_sm_slot *slot = &slots[i];
        i = i + 1 < entries ? i + 1 : 0;
        if (slot->held & part) {
            uint32_t other = part == GPUMP_PART_REGISTERS ? slot->register_base : slot->shared_base;
            uint32_t other_length = part == GPUMP_PART_REGISTERS ? slot->registers : slot->shared_bytes;
            if (!gpumpi_sm_overlap(base, length, other, other_length)) continue;
            *from = i;
            return other + other_length;
        }
    }
    return 0;
}
/* Finds the lowest free range of one part; the bases tried are multiples of `step` (0: any). 1 found. It goes round the
 * entries, steps over each range that it meets, and ends when a whole round meets none. */
static int gpumpi_sm_find_range(const gpump_sm *sm, uint32_t part, uint32_t length, uint32_t step, uint32_t *base) {
    const int is_registers = part == GPUMP_PART_REGISTERS;
    const gpumpi_sm_slot *slot = gpumpi_sm_slots_const(sm), *const end = slot + sm->config.entries;
    const uint32_t capacity = is_registers ? sm->config.registers : sm->shared_bytes;
    uint32_t at = is_registers ? sm->config.placed.registers : sm->config.placed.shared_bytes,
             left = sm->config.entries;
    if (length > capacity) return 0;
    if (step) at = (at + step - 1u) / step * step;
    for (; left; left--, slot = slot + 1 < end ? slot + 1 : gpumpi_sm_slots_const(sm)) {
        const uint32_t other = is_registers ? slot->register_base : slot->shared_base;
        const uint32_t other_length = is_registers ? slot->registers : slot->shared_bytes;
        if (!(slot->held & part) || !gpumpi_sm_overlap(at, length, other, other_length)) continue;
        at = other + other_length;
        if (step) at = (at + step - 1u) / step * step;
        left = sm->config.entries;
    }
    if (at > capacity - length) return 0;
    *base = at;
    return 1;
}

static uint32_t gpumpi_sm_rounded(uint32_t value, uint32_t granule) {
    uint64_t rounded = ((uint64_t)value + granule - 1u) / granule * granule;
    return rounded > UINT32_MAX ? UINT32_MAX : (uint32_t)rounded;
}

/* Finds room for the parts asked for; YES with the bases, else what is short. */
static gpump_reason gpumpi_sm_find_ranges(const gpump_sm *sm, uint32_t parts, uint32_t registers, uint32_t shared,
                                          uint32_t *register_base, uint32_t *shared_base) {
    int aligned = sm->config.placement == GPUMP_SM_ALIGNED;
    uint32_t position = 0, ends[2] = {sm->config.placed.registers, sm->config.placed.shared_bytes}, from[2] = {0, 0};
    *register_base = *shared_base = 0;
    if ((parts & GPUMP_PART_REGISTERS) &&
        !gpumpi_sm_find_range(sm, GPUMP_PART_REGISTERS, registers, aligned ? registers : 0, register_base))
        return GPUMP_REASON_REGISTERS;
    if ((parts & GPUMP_PART_SHARED_MEMORY) &&
        !gpumpi_sm_find_range(sm, GPUMP_PART_SHARED_MEMORY, shared, aligned ? shared : 0, shared_base))
        return GPUMP_REASON_SHARED_MEMORY;
    if (!aligned || parts != GPUMP_PARTS_IN_PLACE || !registers || !shared) return GPUMP_REASON_YES;
    do { /* both at the same position; every step passes an obstacle */
        uint64_t at_registers, at_shared;
        uint32_t next = ends[0] ? (uint32_t)(((uint64_t)ends[0] + registers - 1u) / registers) : 0;
        if (next > position) position = next;
        next = ends[1] ? (uint32_t)(((uint64_t)ends[1] + shared - 1u) / shared) : 0;
        if (next > position) position = next;
        at_registers = (uint64_t)position * registers;
        at_shared = (uint64_t)position * shared;
        if (at_registers + registers > sm->config.registers) return GPUMP_REASON_REGISTERS;
        if (at_shared + shared > sm->shared_bytes) return GPUMP_REASON_SHARED_MEMORY;
        ends[0] = gpumpi_sm_obstacle(sm, GPUMP_PART_REGISTERS, (uint32_t)at_registers, registers, &from[0]);
        ends[1] = gpumpi_sm_obstacle(sm, GPUMP_PART_SHARED_MEMORY, (uint32_t)at_shared, shared, &from[1]);
    } while (ends[0] || ends[1]);
    *register_base = position * registers;
    *shared_base = position * shared;
    return GPUMP_REASON_YES;
}

static uint32_t gpumpi_sm_warps(const gpump_sm *sm, uint32_t threads) {
    return (uint32_t)(((uint64_t)threads + sm->config.lanes - 1u) / sm->config.lanes);
}

/* Room among slots, warps and threads for a block that becomes active. */
static gpump_reason gpumpi_sm_active_room(const gpump_sm *sm, uint32_t threads, uint32_t placed) {
    if (placed & GPUMP_PART_SLOTS) return GPUMP_REASON_YES;
    if (sm->blocks >= sm->config.block_slots - sm->config.placed.block_slots) return GPUMP_REASON_BLOCK_SLOTS;
    if (gpumpi_sm_warps(sm, threads) > sm->config.warp_slots - sm->config.placed.warp_slots - sm->warps)
        return GPUMP_REASON_WARPS;
    if (threads > sm->config.thread_slots - sm->config.placed.thread_slots - sm->threads) return GPUMP_REASON_THREADS;
    return GPUMP_REASON_YES;
}

/* Registers and shared memory that the SM allocates to a block: none where another component places them. */
static uint32_t gpumpi_sm_registers(const gpump_sm *sm, const gpump_footprint *need, uint32_t placed) {
    return placed & GPUMP_PART_REGISTERS ? 0 : gpumpi_sm_rounded(need->registers, sm->config.register_granule);
}
static uint32_t gpumpi_sm_shared(const gpump_sm *sm, const gpump_footprint *need, uint32_t placed) {
    return placed & GPUMP_PART_SHARED_MEMORY ? 0
                                             : gpumpi_sm_rounded(need->shared_bytes, sm->config.shared_granule_bytes);
}

static uint32_t gpumpi_sm_free_slot(const gpump_sm *sm) {
    for (uint32_t i = 0; i < sm->config.entries; i++)
        if (gpumpi_sm_slots_const(sm)[i].state == GPUMP_BLOCK_FREE) return i;
    return GPUMP_NONE;
}

/* `placed`: gpump_part bits that the SM need not have. */
static gpump_reason gpumpi_sm_find_room(const gpump_sm *sm, uint32_t kernel, const gpump_footprint *need,
                                        uint32_t placed, uint32_t *register_base, uint32_t *shared_base) {
    const uint32_t registers = gpumpi_sm_registers(sm, need, placed), shared = gpumpi_sm_shared(sm, need, placed);
    const gpump_room *others = &sm->config.placed;
    gpump_reason reason;
    if (registers > sm->config.registers - others->registers ||
        shared > sm->config.shared_bytes - others->shared_bytes ||
        (!(placed & GPUMP_PART_SLOTS) &&
         (need->threads > sm->config.thread_slots - others->thread_slots ||
          gpumpi_sm_warps(sm, need->threads) > sm->config.warp_slots - others->warp_slots)))
        return GPUMP_REASON_NEVER_FITS;
    if (sm->reserved_for && sm->reserved_for != kernel) return GPUMP_REASON_RESERVED;
    if (gpumpi_sm_find_kernel(sm, kernel) == GPUMP_NONE && gpumpi_sm_find_kernel(sm, 0) == GPUMP_NONE)
        return GPUMP_REASON_KERNELS;
    reason = gpumpi_sm_active_room(sm, need->threads, placed);
    if (reason) return reason;
    if (gpumpi_sm_free_slot(sm) == GPUMP_NONE) return GPUMP_REASON_BLOCK_SLOTS;
    return gpumpi_sm_find_ranges(sm, GPUMP_PARTS_IN_PLACE, registers, shared, register_base, shared_base);
}

GPUMP_API gpump_reason gpumpi_sm_room(const gpump_sm *sm, uint32_t kernel, const gpump_footprint *need) {
    uint32_t register_base, shared_base;
    return gpumpi_sm_find_room(sm, kernel, need, 0, &register_base, &shared_base);
}

static gpump_result gpumpi_sm_no_room(gpump_reason reason, gpump_diag *diag) {
    gpumpi_fail_at(diag, reason == GPUMP_REASON_NEVER_FITS ? GPUMP_ERROR_REFUSED : GPUMP_BUSY, "need", 0);
    if (diag) diag->reason = reason;
    return reason == GPUMP_REASON_NEVER_FITS ? GPUMP_ERROR_REFUSED : GPUMP_BUSY;
}

/* Holds a request to be placed at cycle `now` in entry `where` against what any SM can be asked. */
static gpump_result gpumpi_sm_check_request(const gpump_sm *sm, uint64_t now, uint32_t where,
                                            const gpump_sm_request *request, gpump_diag *diag) {
    if (!request->kernel) return gpumpi_bad_argument(diag, "kernel", 0, 0, 1, UINT32_MAX);
    if (!request->need.threads) return gpumpi_bad_argument(diag, "threads", 0, 0, 1, sm->config.thread_slots);
    if (request->placed & ~GPUMPI_SM_PLACES)
        return gpumpi_bad_argument(diag, "placed", 0, request->placed, 0, GPUMPI_SM_PLACES);
    if (where != GPUMP_NONE && where >= sm->config.entries)
        return gpumpi_bad_argument(diag, "slot", 0, where, 0, sm->config.entries - 1);
    if (now < sm->now || now == GPUMP_UNKNOWN)
        return gpumpi_fail(diag, GPUMP_ERROR_TIME, "now", 0, now, sm->now, GPUMP_UNKNOWN - 1);
    return GPUMP_OK;
}

/* Counts one more block of a kernel, which enters the table with its first. */
static void gpumpi_sm_count_kernel(gpump_sm *sm, uint32_t kernel) {
    uint32_t entry = gpumpi_sm_find_kernel(sm, kernel);
    if (entry == GPUMP_NONE) {
        entry = gpumpi_sm_find_kernel(sm, 0);
        gpumpi_sm_kernels(sm)[entry].kernel = kernel;
    }
    gpumpi_sm_kernels(sm)[entry].blocks++;
}

/* The block becomes active: it takes its block slot, warp slots and thread slots, unless another component has them. */
static void gpumpi_sm_take_slots(gpump_sm *sm, gpumpi_sm_slot *slot) {
    slot->active = 1;
    if (slot->placed & GPUMP_PART_SLOTS) return;
    sm->blocks++;
    sm->warps += slot->warps;
    sm->threads += slot->threads;
}

/* Fills a free slot, but for its ranges, with a block that starts now, or that comes back (saved not NULL). */
static void gpumpi_sm_fill_slot(gpump_sm *sm, uint32_t index, uint64_t now, const gpump_sm_request *request,
                                const gpump_sm_history *saved) {
    gpumpi_sm_slot *slot = &gpumpi_sm_slots(sm)[index];
    slot->cookie = request->cookie;
    slot->kernel = request->kernel;
    slot->function = request->function ? request->function : request->kernel;
    slot->group = request->group;
    slot->placed = request->placed;
    slot->registers = gpumpi_sm_registers(sm, &request->need, request->placed);
    slot->shared_bytes = gpumpi_sm_shared(sm, &request->need, request->placed);
    slot->threads = request->need.threads;
    slot->warps = gpumpi_sm_warps(sm, request->need.threads);
    slot->held = GPUMP_PARTS_IN_PLACE;
    slot->technique = GPUMP_NONE;
    slot->since = slot->start_cycle = now;
    slot->context.register_bytes = (uint64_t)gpumpi_sm_registers(sm, &request->need, 0) * 4u;
    slot->context.shared_bytes = gpumpi_sm_shared(sm, &request->need, 0);
    slot->state = GPUMP_BLOCK_RUNNING;
    gpumpi_sm_take_slots(sm, slot);
    if (!saved) {
        sm->statistics.placed++;
        return;
    }
    sm->statistics.restored++;
    slot->executed = slot->brought = saved->executed;
    slot->cycles = saved->cycles;
    slot->clobbered = saved->clobbered != 0;
    slot->state = GPUMP_BLOCK_RESTORING;
    slot->parts = GPUMP_PARTS_IN_PLACE;
    gpumpi_sm_transfer(sm, slot, now, gpumpi_sm_whole_bytes(&saved->context, GPUMP_PARTS_IN_PLACE));
    gpumpi_sm_post(sm, index, GPUMP_SM_ACTION_RESTORE);
}

GPUMP_API gpump_result gpump_sm_place_in(gpump_sm *sm, uint64_t now, uint32_t where, const gpump_sm_request *request,
                                         const gpump_sm_history *saved, gpump_block_ref *block, gpump_diag *diag) {
    const char *missing = !sm ? "sm" : !request ? "request" : !block ? "block" : NULL;
    uint32_t register_base, shared_base, index;
    gpump_reason reason;
    gpump_result result;
    if (missing) return gpumpi_null(diag, missing);
    result = gpumpi_sm_check_request(sm, now, where, request, diag);
    if (result) return result;
    reason = gpumpi_sm_find_room(sm, request->kernel, &request->need, request->placed, &register_base, &shared_base);
    if (reason == GPUMP_REASON_NEVER_FITS) return gpumpi_sm_no_room(reason, diag);
    index = where == GPUMP_NONE ? gpumpi_sm_free_slot(sm) : where;
    if (!reason && gpumpi_sm_slots(sm)[index].state != GPUMP_BLOCK_FREE) reason = GPUMP_REASON_BLOCK_SLOTS;
    gpumpi_sm_advance(sm, now); /* frees nothing by itself: room comes with FREED and PARKED */
    if (reason) return gpumpi_sm_no_room(reason, diag);
    gpumpi_sm_count_kernel(sm, request->kernel);
    gpumpi_sm_fill_slot(sm, index, now, request, saved);
    gpumpi_sm_slots(sm)[index].register_base = register_base;
    gpumpi_sm_slots(sm)[index].shared_base = shared_base;
    block->slot = index;
    block->generation = gpumpi_sm_slots(sm)[index].generation;
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_sm_place(gpump_sm *sm, uint64_t now, const gpump_sm_request *request,
                                      const gpump_sm_history *saved, gpump_block_ref *block, gpump_diag *diag) {
    return gpump_sm_place_in(sm, now, GPUMP_NONE, request, saved, block, diag);
}

GPUMP_API gpump_result gpump_sm_reserve(gpump_sm *sm, uint32_t kernel) {
    if (!sm) return GPUMP_ERROR_ARGUMENT;
    sm->reserved_for = kernel;
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_sm_set_shared_bytes(gpump_sm *sm, uint32_t bytes, gpump_diag *diag) {
    if (!sm) return gpumpi_null(diag, "sm");
    if (bytes > sm->config.shared_bytes || bytes < sm->config.placed.shared_bytes)
        return gpumpi_bad_argument(diag, "bytes", 0, bytes, sm->config.placed.shared_bytes, sm->config.shared_bytes);
    for (uint32_t i = 0; i < sm->config.entries; i++) {
        const gpumpi_sm_slot *slot = &gpumpi_sm_slots(sm)[i];
        if ((slot->held & GPUMP_PART_SHARED_MEMORY) && slot->shared_bytes &&
            slot->shared_base + slot->shared_bytes > bytes)
            return gpumpi_fail(diag, GPUMP_ERROR_STATE, "bytes", i, bytes, slot->shared_base + slot->shared_bytes,
                               sm->config.shared_bytes);
    }
    sm->shared_bytes = bytes;
    return GPUMP_OK;
}

/* ---- facts ---- */

/* 1 when the block's transfer is under way and ends by `now` without a report (timing PORT). */
static int gpumpi_sm_transfer_ends(const gpump_sm *sm, const gpumpi_sm_slot *slot, uint64_t now) {
    return sm->config.timing == GPUMP_SM_TIMING_PORT && slot->port_end <= now && !slot->pending &&
           (slot->state == GPUMP_BLOCK_SAVING || slot->state == GPUMP_BLOCK_RESTORING);
}
/* The state a block has once time has passed to `now`. A save that ends is left out: PARKED or FREED must be pulled
 * before anything else can be said of the block. */
static uint32_t gpumpi_sm_state_at(const gpump_sm *sm, const gpumpi_sm_slot *slot, uint64_t now) {
    return slot->state == GPUMP_BLOCK_RESTORING && gpumpi_sm_transfer_ends(sm, slot, now)
               ? (uint32_t)GPUMP_BLOCK_RUNNING
               : slot->state;
}

/* Every timed fact begins here: arguments, time, name, state (bits); only then time passes, so that errors change
 * nothing. */
static gpump_result gpumpi_sm_enter(gpump_sm *sm, uint64_t now, gpump_block_ref block, uint32_t states,
                                    gpumpi_sm_slot **slot) {
    if (!sm) return GPUMP_ERROR_ARGUMENT;
    if (now < sm->now || now == GPUMP_UNKNOWN) return GPUMP_ERROR_TIME;
    if (!gpumpi_sm_names(sm, block)) return GPUMP_ERROR_STALE;
    *slot = &gpumpi_sm_slots(sm)[block.slot];
    if (!(states & (1u << gpumpi_sm_state_at(sm, *slot, now)))) return GPUMP_ERROR_STATE;
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_sm_report_waits(gpump_sm *sm, uint64_t now, gpump_block_ref block, uint32_t waits) {
    gpumpi_sm_slot *slot;
    gpump_result result;
    if (!sm || (waits & ~(sm->config.waits))) return GPUMP_ERROR_ARGUMENT;
    result = gpumpi_sm_enter(sm, now, block, 1u << GPUMP_BLOCK_STOPPING, &slot);
    if (result) return result;
    gpumpi_sm_advance(sm, now);
    slot->waits = waits;
    if (!waits) gpumpi_sm_start_saving(sm, block.slot, now);
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_sm_report_context_bytes(gpump_sm *sm, gpump_block_ref block,
                                                     const gpump_context_sizes *sizes) {
    if (!sm || !sizes) return GPUMP_ERROR_ARGUMENT;
    if (!gpumpi_sm_names(sm, block)) return GPUMP_ERROR_STALE;
    if (!gpumpi_block_executes(gpumpi_sm_slots(sm)[block.slot].state)) return GPUMP_ERROR_STATE;
    gpumpi_sm_slots(sm)[block.slot].context = *sizes;
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_sm_report_blocked(gpump_sm *sm, uint64_t now, gpump_block_ref block, uint32_t blocked) {
    gpumpi_sm_slot *slot;
    gpump_result result =
        gpumpi_sm_enter(sm, now, block, 1u << (blocked ? GPUMP_BLOCK_RUNNING : GPUMP_BLOCK_BLOCKED), &slot);
    if (result) return result;
    gpumpi_sm_advance(sm, now);
    slot->state = blocked ? GPUMP_BLOCK_BLOCKED : GPUMP_BLOCK_RUNNING;
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_sm_report_faults(gpump_sm *sm, gpump_block_ref block, uint32_t faults,
                                              uint64_t ready_cycle) {
    gpumpi_sm_slot *slot;
    if (!sm || (!faults && ready_cycle)) return GPUMP_ERROR_ARGUMENT;
    if (!gpumpi_sm_names(sm, block)) return GPUMP_ERROR_STALE;
    slot = &gpumpi_sm_slots(sm)[block.slot];
    if (slot->pending & (1u << GPUMP_SM_ACTION_FREED)) return GPUMP_ERROR_STATE;
    slot->faults = faults;
    slot->ready_cycle = ready_cycle;
    return GPUMP_OK;
}

/* A transfer has ended at `now`. If it was the last one planned, the port is free from then on. */
static void gpumpi_sm_correct_port(gpump_sm *sm, const gpumpi_sm_slot *slot, uint64_t now) {
    if (slot->moved && slot->port_end == sm->port.free_cycle) sm->port.free_cycle = now;
}

/* The transfer of a block in `state` has ended; the host has been told of it by `action`. */
static gpump_result gpumpi_sm_report_moved(gpump_sm *sm, uint64_t now, gpump_block_ref block, uint32_t state,
                                           uint32_t action) {
    gpumpi_sm_slot *slot;
    gpump_result result = gpumpi_sm_enter(sm, now, block, 1u << state, &slot);
    if (result) return result;
    if (sm->config.timing != GPUMP_SM_TIMING_HOST || (slot->pending & (1u << action))) return GPUMP_ERROR_STATE;
    gpumpi_sm_advance(sm, now);
    gpumpi_sm_correct_port(sm, slot, now);
    if (state == GPUMP_BLOCK_SAVING)
        gpumpi_sm_end_saving(sm, block.slot, now);
    else
        gpumpi_sm_end_restoring(sm, block.slot, now);
    return GPUMP_OK;
}
GPUMP_API gpump_result gpump_sm_report_saved(gpump_sm *sm, uint64_t now, gpump_block_ref block) {
    return gpumpi_sm_report_moved(sm, now, block, GPUMP_BLOCK_SAVING, GPUMP_SM_ACTION_SAVE);
}

GPUMP_API gpump_result gpump_sm_report_restored(gpump_sm *sm, uint64_t now, gpump_block_ref block) {
    return gpumpi_sm_report_moved(sm, now, block, GPUMP_BLOCK_RESTORING, GPUMP_SM_ACTION_RESTORE);
}

/* A transfer ends early at `now`. If it was the last one planned, the port is free for what was left of it. */
static void gpumpi_sm_cut_transfer(gpump_sm *sm, const gpumpi_sm_slot *slot, uint64_t now) {
    sm->statistics.port_returned_cycles += gpumpi_port_cut(&sm->port, slot->port_start, slot->port_end, now);
}

/* A block is killed: a save or a restore that is under way ends at `now`. */
static void gpumpi_sm_end_transfer(gpump_sm *sm, const gpumpi_sm_slot *slot, uint64_t now) {
    if (slot->state != GPUMP_BLOCK_SAVING && slot->state != GPUMP_BLOCK_RESTORING) return;
    gpumpi_sm_cut_transfer(sm, slot, now);
    if (slot->state == GPUMP_BLOCK_SAVING)
        sm->statistics.save_cycles += now - slot->since;
    else
        sm->statistics.restore_cycles += now - slot->since;
}

GPUMP_API gpump_result gpump_sm_report_done(gpump_sm *sm, uint64_t now, gpump_block_ref block) {
    gpumpi_sm_slot *slot;
    gpump_result result =
        gpumpi_sm_enter(sm, now, block,
                        1u << GPUMP_BLOCK_RUNNING | 1u << GPUMP_BLOCK_BLOCKED | 1u << GPUMP_BLOCK_DRAINING |
                            1u << GPUMP_BLOCK_STOPPING | 1u << GPUMP_BLOCK_SAVING | 1u << GPUMP_BLOCK_FLUSHED,
                        &slot);
    if (result) return result;
    /* A block without warp slots executes nothing. One that is dropped or saved by now has nothing in flight. */
    if (!slot->active || (slot->pending & (1u << GPUMP_SM_ACTION_FREED)) ||
        (slot->state == GPUMP_BLOCK_SAVING && gpumpi_sm_transfer_ends(sm, slot, now)))
        return GPUMP_ERROR_STATE;
    gpumpi_sm_advance(sm, now);
    if (gpumpi_block_executes(slot->state)) slot->cycles += now - slot->start_cycle;
    if (slot->state == GPUMP_BLOCK_STOPPING) sm->statistics.stop_cycles += now - slot->since;
    if (slot->state == GPUMP_BLOCK_DRAINING) {
        sm->statistics.drained++;
        sm->statistics.drain_cycles += now - slot->since;
    }
    if (slot->state == GPUMP_BLOCK_FLUSHED) { /* its last exit was in the pipeline */
        slot->cycles += now - slot->since;
        sm->statistics.drop_cycles += now - slot->since;
    }
    if (slot->state == GPUMP_BLOCK_SAVING) {
        gpumpi_sm_cut_transfer(sm, slot, now);
        sm->statistics.save_cycles += now - slot->since;
    }
    sm->statistics.done++;
    slot->pending = 0;
    slot->state = slot->why = GPUMP_BLOCK_DONE;
    slot->since = now;
    gpumpi_sm_post(sm, block.slot, GPUMP_SM_ACTION_FREED);
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_sm_report_dropped(gpump_sm *sm, uint64_t now, gpump_block_ref block) {
    gpumpi_sm_slot *slot;
    gpump_result result = gpumpi_sm_enter(sm, now, block, 1u << GPUMP_BLOCK_FLUSHED | 1u << GPUMP_BLOCK_KILLED, &slot);
    if (result) return result;
    if (slot->pending) return GPUMP_ERROR_STATE; /* DROP comes first, and this only once */
    gpumpi_sm_advance(sm, now);
    if (slot->state == GPUMP_BLOCK_FLUSHED) {
        sm->statistics.flushed++;
        sm->statistics.wasted += slot->executed;
    } else {
        sm->statistics.killed++;
    }
    sm->statistics.drop_cycles += now - slot->since;
    slot->why = slot->state;
    slot->since = now;
    gpumpi_sm_post(sm, block.slot, GPUMP_SM_ACTION_FREED);
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_sm_report_rewound(gpump_sm *sm, gpump_block_ref block, uint64_t warp_instructions) {
    gpumpi_sm_slot *slot;
    if (!sm) return GPUMP_ERROR_ARGUMENT;
    if (!gpumpi_sm_names(sm, block)) return GPUMP_ERROR_STALE;
    slot = &gpumpi_sm_slots(sm)[block.slot];
    if (slot->state != GPUMP_BLOCK_STOPPING || gpump_technique_begins(slot->technique) != GPUMP_TECHNIQUE_BEGIN_REWIND)
        return GPUMP_ERROR_STATE;
    if (warp_instructions > slot->executed) return GPUMP_ERROR_ARGUMENT;
    slot->executed -= warp_instructions;
    if (slot->executed < slot->brought) { /* back beyond the restore: that was not executed here */
        sm->statistics.executed -= slot->brought - slot->executed;
        slot->brought = slot->executed;
    }
    sm->statistics.executed += warp_instructions; /* they were executed here, whatever becomes of the block */
    sm->statistics.wasted += warp_instructions;
    return GPUMP_OK;
}

/* ---- questions ---- */

/* gpump_sm_may of a block that is here. */
GPUMP_INLINE gpump_reason gpumpi_sm_may(const gpump_sm *sm, const gpumpi_sm_slot *slot, uint32_t technique) {
    const gpump_technique *how;
    if (technique >= GPUMP_TECHNIQUES || !(sm->config.techniques >> technique & 1u)) return GPUMP_REASON_TECHNIQUE;
    how = gpump_technique_at(technique);
    if (!(how->states >> slot->state & 1u)) return GPUMP_REASON_NOT_RUNNING;
    if (slot->state == GPUMP_BLOCK_PARKED && slot->pending) return GPUMP_REASON_NOT_RUNNING; /* it is about to park */
    if (how->unclobbered && slot->clobbered) return GPUMP_REASON_CLOBBERED;
    return GPUMP_REASON_YES;
}

GPUMP_API gpump_reason gpump_sm_may(const gpump_sm *sm, gpump_block_ref block, uint32_t technique) {
    if (!sm || !gpumpi_sm_names(sm, block)) return GPUMP_REASON_NO_SUCH_BLOCK;
    return gpumpi_sm_may(sm, &gpumpi_sm_slots_const(sm)[block.slot], technique);
}

GPUMP_API gpump_reason gpump_sm_waits_for(const gpump_sm *sm, gpump_block_ref block, uint32_t *waits, uint64_t *since) {
    static const gpump_reason reasons[7] = {
        GPUMP_REASON_PIPELINE,   GPUMP_REASON_STORES,           GPUMP_REASON_ATOMICS, GPUMP_REASON_INSTRUCTION_MISSES,
        GPUMP_REASON_SCOREBOARD, GPUMP_REASON_PREEMPTION_POINT, GPUMP_REASON_FAULTED};
    const gpumpi_sm_slot *slot;
    if (!sm || !gpumpi_sm_names(sm, block)) return GPUMP_REASON_NO_SUCH_BLOCK;
    slot = &gpumpi_sm_slots_const(sm)[block.slot];
    if (slot->state != GPUMP_BLOCK_STOPPING) return GPUMP_REASON_NOT_RUNNING;
    if (waits) *waits = slot->waits;
    if (since) *since = slot->since;
    for (uint32_t i = 0; i < 7; i++)
        if (slot->waits & (1u << i)) return reasons[i];
    return GPUMP_REASON_YES;
}

static void gpumpi_sm_view(const gpump_sm *sm, uint64_t now, uint32_t index, gpump_block_view *view) {
    const gpumpi_sm_slot *slot = &gpumpi_sm_slots_const(sm)[index];
    gpump_block_ref ref;
    ref.slot = index;
    ref.generation = slot->generation;
    memset(view, 0, sizeof *view);
    view->cookie = slot->cookie;
    view->executed = slot->executed;
    view->start_cycle = slot->start_cycle;
    view->cycles = slot->cycles;
    if (gpumpi_block_executes(slot->state) && now > slot->start_cycle) view->cycles += now - slot->start_cycle;
    view->context_bytes = slot->state == GPUMP_BLOCK_PARKED ? gpumpi_sm_part_bytes(&slot->context, slot->held)
                                                            : gpumpi_sm_whole_bytes(&slot->context, slot->held);
    view->block = ref;
    view->kernel = slot->kernel;
    view->function = slot->function;
    view->state = slot->state;
    if (slot->held & GPUMP_PART_REGISTERS) {
        view->register_base = slot->register_base;
        view->registers = slot->registers;
    }
    if (slot->held & GPUMP_PART_SHARED_MEMORY) {
        view->shared_base = slot->shared_base;
        view->shared_bytes = slot->shared_bytes;
    }
    if (slot->active) { /* a parked block has left its warp slots */
        view->threads = slot->threads;
        view->warps = slot->warps;
    }
    for (uint32_t rest = sm->config.techniques; rest; rest &= rest - 1)
        if (gpumpi_sm_may(sm, slot, gpump_bits_lowest64(rest)) == GPUMP_REASON_YES) view->may |= rest & (0u - rest);
    view->group = slot->group;
    view->technique = slot->technique;
    if (gpumpi_block_is_saved_now(slot->state)) view->keep = slot->keep;
    view->faults = slot->faults;
    if (slot->ready_cycle > now)
        view->fault_cycles = slot->ready_cycle == GPUMP_UNKNOWN ? GPUMP_UNKNOWN : slot->ready_cycle - now;
    view->fault_stalls = slot->faults && (sm->config.waits & GPUMP_SM_WAIT_FAULT);
}

GPUMP_API gpump_result gpump_sm_block(const gpump_sm *sm, uint64_t now, gpump_block_ref block, gpump_block_view *view) {
    if (!sm || !view) return GPUMP_ERROR_ARGUMENT;
    if (!gpumpi_sm_names(sm, block)) return GPUMP_ERROR_STALE;
    gpumpi_sm_view(sm, now, block.slot, view);
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_sm_blocks(const gpump_sm *sm, uint64_t now, gpump_block_view *blocks, uint32_t capacity,
                                       uint32_t *count) {
    uint32_t here = 0;
    if (!sm || !count || (capacity && !blocks)) return GPUMP_ERROR_ARGUMENT;
    for (uint32_t i = 0; i < sm->config.entries; i++) here += gpumpi_sm_slots_const(sm)[i].state != GPUMP_BLOCK_FREE;
    *count = here;
    if (here > capacity) return GPUMP_ERROR_CAPACITY;
    here = 0;
    for (uint32_t i = 0; i < sm->config.entries; i++)
        if (gpumpi_sm_slots_const(sm)[i].state != GPUMP_BLOCK_FREE) gpumpi_sm_view(sm, now, i, &blocks[here++]);
    return GPUMP_OK;
}

/* ---- decisions ---- */

/* Holds choice i against the rules. */
static gpump_result gpumpi_sm_check_choice(const gpump_sm *sm, const gpump_block_choice *choice, uint32_t i,
                                           gpump_diag *diag) {
    const gpumpi_sm_slot *slot = &gpumpi_sm_slots_const(sm)[choice->block.slot];
    const gpump_technique *how = gpump_technique_at(choice->technique);
    const int stops = how && how->begin == GPUMP_TECHNIQUE_BEGIN_STOP;
    gpump_reason reason;
    if (!how)
        return gpumpi_bad_argument(diag, "choices.technique", i, choice->technique, 0,
                                   gpumpi_bits_count64(gpumpi_techniques()) - 1);
    if (choice->keep & ~(how->keeps & ~slot->placed))
        return gpumpi_bad_argument(diag, "choices.keep", i, choice->keep, 0, how->keeps & ~slot->placed);
    if (choice->to_point > 1 || (choice->to_point && !(stops && (sm->config.waits & GPUMP_SM_WAIT_PREEMPTION_POINT))))
        return gpumpi_bad_argument(diag, "choices.to_point", i, choice->to_point, 0, stops ? 1 : 0);
    reason = gpump_sm_may(sm, choice->block, choice->technique);
    if (reason) return gpumpi_refuse(diag, reason, "choices", i);
    if (gpumpi_technique_saves(choice->technique) && slot->state == GPUMP_BLOCK_PARKED &&
        ((choice->keep & ~slot->held) || choice->keep == slot->held || choice->to_point))
        return gpumpi_bad_argument(diag, "choices.keep", i, choice->keep, 0, slot->held);
    return GPUMP_OK;
}

/* Holds all choices against the rules, each alone and together. Nothing changes. */
static gpump_result gpumpi_sm_check_choices(const gpump_sm *sm, const gpump_block_choice *choices, uint32_t count,
                                            gpump_diag *diag) {
    uint64_t chosen = 0;
    for (uint32_t i = 0; i < count; i++) {
        gpump_result result;
        if (!gpumpi_sm_names(sm, choices[i].block)) {
            gpumpi_fail(diag, GPUMP_ERROR_STALE, "choices", i, choices[i].block.generation, 0, 0);
            if (diag) diag->reason = GPUMP_REASON_NO_SUCH_BLOCK;
            return GPUMP_ERROR_STALE;
        }
        if (chosen & ((uint64_t)1 << choices[i].block.slot))
            return gpumpi_bad_argument(diag, "choices (same block twice)", i, choices[i].block.slot, 0, 0);
        chosen |= (uint64_t)1 << choices[i].block.slot;
        result = gpumpi_sm_check_choice(sm, &choices[i], i, diag);
        if (result) return result;
    }
    for (uint32_t i = 0; i < count; i++) {
        const gpumpi_sm_slot *slot = &gpumpi_sm_slots_const(sm)[choices[i].block.slot];
        if (!slot->group || slot->state == GPUMP_BLOCK_PARKED) continue; /* a parked block has left already */
        for (uint32_t other = 0; other < sm->config.entries; other++) {
            const gpumpi_sm_slot *mate = &gpumpi_sm_slots_const(sm)[other];
            if (gpump_block_stays(mate->state) && mate->group == slot->group && mate->kernel == slot->kernel &&
                !(chosen & ((uint64_t)1 << other)))
                return gpumpi_refuse(diag, GPUMP_REASON_GROUP, "choices", i);
        }
    }
    return GPUMP_OK;
}

/* Tells the host to drop a block, whose state then is `state`. */
static void gpumpi_sm_drop(gpump_sm *sm, uint32_t index, uint32_t state, uint64_t now) {
    gpumpi_sm_slot *slot = &gpumpi_sm_slots(sm)[index];
    if (gpumpi_block_executes(slot->state)) slot->cycles += now - slot->start_cycle;
    slot->state = state;
    gpumpi_sm_post(sm, index, GPUMP_SM_ACTION_DROP);
}

/* Tells a block to be saved, or a parked one to give up more. */
static void gpumpi_sm_save_block(gpump_sm *sm, uint32_t index, const gpump_block_choice *choice, uint64_t now) {
    gpumpi_sm_slot *slot = &gpumpi_sm_slots(sm)[index];
    const gpump_technique *how = gpump_technique_at(choice->technique);
    const int rewinds = how->begin == GPUMP_TECHNIQUE_BEGIN_REWIND;
    const uint32_t point = choice->to_point ? (uint32_t)GPUMP_SM_WAIT_PREEMPTION_POINT : 0;
    slot->keep = choice->keep;
    slot->to_point = 0;
    if (slot->state == GPUMP_BLOCK_PARKED) {
        gpumpi_sm_start_saving(sm, index, now);
        return;
    }
    if (rewinds) sm->statistics.rewound++;
    slot->state = GPUMP_BLOCK_STOPPING;
    slot->waits = sm->config.waits & (how->waits | point);
    slot->to_point = (slot->waits & GPUMP_SM_WAIT_PREEMPTION_POINT) != 0;
    gpumpi_sm_post(sm, index, rewinds ? GPUMP_SM_ACTION_REWIND : GPUMP_SM_ACTION_STOP);
    if (!slot->waits && !rewinds) gpumpi_sm_start_saving(sm, index, now);
}

GPUMP_API gpump_result gpump_sm_preempt(gpump_sm *sm, uint64_t now, const gpump_block_choice *choices, uint32_t count,
                                        gpump_diag *diag) {
    uint64_t scratch[(sizeof(gpump_sm) + 64 * sizeof(gpumpi_sm_slot) + 64 * sizeof(gpumpi_sm_kernel)) / 8];
    const gpump_sm *then = sm;
    gpump_result result;
    if (!sm || (count && !choices)) return gpumpi_null(diag, sm ? "choices" : "sm");
    if (now < sm->now || now == GPUMP_UNKNOWN)
        return gpumpi_fail(diag, GPUMP_ERROR_TIME, "now", 0, now, sm->now, GPUMP_UNKNOWN - 1);
    if (count > sm->config.entries) return gpumpi_bad_argument(diag, "count", 0, count, 0, sm->config.entries);
    if (sm->config.timing == GPUMP_SM_TIMING_PORT) {
        /* Whether a choice is allowed may depend on transfers that end by `now`, and an error must change nothing: so
         * time passes in a copy first. */
        memcpy(scratch, sm, (size_t)sm->head.bytes);
        gpumpi_sm_advance((gpump_sm *)(void *)scratch, now);
        then = (const gpump_sm *)(const void *)scratch;
    }
    result = gpumpi_sm_check_choices(then, choices, count, diag);
    if (result) return result;
    gpumpi_sm_advance(sm, now);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t index = choices[i].block.slot;
        gpumpi_sm_slot *slot = &gpumpi_sm_slots(sm)[index];
        if (slot->state == GPUMP_BLOCK_DRAINING) sm->statistics.drain_cycles += now - slot->since;
        if (slot->state == GPUMP_BLOCK_STOPPING) sm->statistics.stop_cycles += now - slot->since;
        slot->technique = choices[i].technique;
        slot->since = now;
        slot->pending = 0; /* an unread STOP or RESUME is overtaken */
        sm->pending &= ~((uint64_t)1 << index);
        switch (gpump_technique_begins(choices[i].technique)) {
        case GPUMP_TECHNIQUE_BEGIN_DROP: gpumpi_sm_drop(sm, index, GPUMP_BLOCK_FLUSHED, now); break;
        case GPUMP_TECHNIQUE_BEGIN_RUN: slot->state = GPUMP_BLOCK_DRAINING; break;
        default: gpumpi_sm_save_block(sm, index, &choices[i], now); break;
        }
    }
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_sm_kill(gpump_sm *sm, uint64_t now, gpump_block_ref block) {
    const uint32_t states = 1u << GPUMP_BLOCK_RUNNING | 1u << GPUMP_BLOCK_BLOCKED | 1u << GPUMP_BLOCK_DRAINING |
                            1u << GPUMP_BLOCK_STOPPING | 1u << GPUMP_BLOCK_SAVING | 1u << GPUMP_BLOCK_RESTORING |
                            1u << GPUMP_BLOCK_PARKED;
    gpumpi_sm_slot *slot;
    gpump_result result = gpumpi_sm_enter(sm, now, block, states, &slot);
    if (result) return result;
    if (slot->state == GPUMP_BLOCK_SAVING && !slot->keep && gpumpi_sm_transfer_ends(sm, slot, now))
        return GPUMP_ERROR_STATE; /* it is saved by now */
    gpumpi_sm_advance(sm, now);
    if (slot->state == GPUMP_BLOCK_DRAINING) sm->statistics.drain_cycles += now - slot->since;
    if (slot->state == GPUMP_BLOCK_STOPPING) sm->statistics.stop_cycles += now - slot->since;
    gpumpi_sm_end_transfer(sm, slot, now);
    slot->technique = GPUMP_NONE;
    slot->since = now;
    slot->pending = 0;
    gpumpi_sm_drop(sm, block.slot, GPUMP_BLOCK_KILLED, now);
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_sm_unpark(gpump_sm *sm, uint64_t now, gpump_block_ref block, gpump_diag *diag) {
    gpumpi_sm_slot *slot;
    gpump_reason reason;
    uint32_t register_base, shared_base, missing;
    gpump_result result = gpumpi_sm_enter(sm, now, block, 1u << GPUMP_BLOCK_PARKED, &slot);
    if (!result && slot->pending) result = GPUMP_ERROR_STATE;
    if (result) return gpumpi_fail(diag, result, result == GPUMP_ERROR_TIME ? "now" : "block", block.slot, now, 0, 0);
    gpumpi_sm_advance(sm, now);
    if (sm->reserved_for && sm->reserved_for != slot->kernel) return gpumpi_sm_no_room(GPUMP_REASON_RESERVED, diag);
    missing = GPUMP_PARTS_IN_PLACE & ~slot->held;
    reason = gpumpi_sm_active_room(sm, slot->threads, slot->placed);
    if (!reason)
        reason = gpumpi_sm_find_ranges(sm, missing, slot->registers, slot->shared_bytes, &register_base, &shared_base);
    if (reason) return gpumpi_sm_no_room(reason, diag);
    if (missing & GPUMP_PART_REGISTERS) slot->register_base = register_base;
    if (missing & GPUMP_PART_SHARED_MEMORY) slot->shared_base = shared_base;
    slot->held = GPUMP_PARTS_IN_PLACE;
    slot->parts = missing;
    slot->state = GPUMP_BLOCK_RESTORING;
    slot->since = now;
    gpumpi_sm_take_slots(sm, slot);
    sm->statistics.unparked++;
    gpumpi_sm_transfer(sm, slot, now, gpumpi_sm_whole_bytes(&slot->context, missing));
    gpumpi_sm_post(sm, block.slot, GPUMP_SM_ACTION_RESTORE);
    return GPUMP_OK;
}

/* ---- actions ---- */

/* Takes a block out of its block slot, warp slots and thread slots. */
static void gpumpi_sm_leave(gpump_sm *sm, gpumpi_sm_slot *slot) {
    if (!slot->active) return;
    slot->active = 0;
    if (slot->placed & GPUMP_PART_SLOTS) return;
    sm->blocks--;
    sm->warps -= slot->warps;
    sm->threads -= slot->threads;
}

GPUMP_API gpump_result gpump_sm_next(gpump_sm *sm, uint64_t now, gpump_sm_action *action) {
    gpump_result result = action ? gpumpi_sm_advance(sm, now) : GPUMP_ERROR_ARGUMENT;
    gpumpi_sm_slot *slot;
    uint32_t index, kind;
    if (result) return result;
    if (!sm->pending) return GPUMP_EMPTY;
    index = gpump_bits_lowest64(sm->pending);
    slot = &gpumpi_sm_slots(sm)[index];
    kind = gpump_bits_lowest64(slot->pending);
    slot->pending &= ~(1u << kind);
    if (!slot->pending) sm->pending &= ~((uint64_t)1 << index);
    memset(action, 0, sizeof *action);
    action->kind = kind;
    action->cookie = slot->cookie;
    action->block.slot = index;
    action->block.generation = slot->generation;
    action->technique = slot->technique;
    action->kernel = slot->kernel;
    action->function = slot->function;
    action->register_base = slot->register_base;
    action->registers = slot->registers;
    action->shared_base = slot->shared_base;
    action->shared_bytes = slot->shared_bytes;
    action->threads = slot->threads;
    action->warps = slot->warps;
    action->history.executed = slot->executed;
    action->history.cycles = slot->cycles;
    action->history.context = slot->context;
    action->history.clobbered = slot->clobbered;
    if (kind == GPUMP_SM_ACTION_SAVE || kind == GPUMP_SM_ACTION_RESTORE) {
        action->parts = slot->parts;
        action->bytes = slot->moved;
        action->start_cycle = slot->port_start;
        action->end_cycle = slot->port_end;
    } else if (kind == GPUMP_SM_ACTION_PARKED) {
        action->parts = slot->keep;
        gpumpi_sm_leave(sm, slot);
        slot->held = slot->keep;
    } else if (kind == GPUMP_SM_ACTION_DROP) {
        action->why = slot->state;
    } else if (kind == GPUMP_SM_ACTION_FREED) {
        gpumpi_sm_kernel *kernel = &gpumpi_sm_kernels(sm)[gpumpi_sm_find_kernel(sm, slot->kernel)];
        uint32_t generation = slot->generation;
        action->why = slot->why;
        sm->statistics.executed += slot->executed - slot->brought;
        gpumpi_sm_leave(sm, slot);
        if (!--kernel->blocks) memset(kernel, 0, sizeof *kernel);
        memset(slot, 0, sizeof *slot);
        slot->generation = generation + 1u;
    }
    return GPUMP_OK;
}

static uint64_t gpumpi_sm_next_cycle(const void *of) {
    const gpump_sm *sm = (const gpump_sm *)of;
    if (sm->pending) return sm->now;
    return sm->config.timing == GPUMP_SM_TIMING_PORT ? gpumpi_sm_first_end(sm) : GPUMP_UNKNOWN;
}

/* ---- statistics ---- */

static const char *const gpumpi_sm_counters[][3] = {
#define GPUMPI_FIELD(name, unit, description) {#name, unit, description},
    GPUMPI_SM_STATISTICS(GPUMPI_FIELD)
#undef GPUMPI_FIELD
};
/* clang-format off */
static const gpumpi_methods gpumpi_sm_hooks = {
    "sm", "sm", GPUMPI_SM_MAGIC,
    GPUMP_LAYOUT_SM, sizeof(gpump_sm_config), offsetof(gpump_sm, config), offsetof(gpump_sm, statistics),
    sizeof gpumpi_sm_counters / sizeof *gpumpi_sm_counters, gpumpi_sm_counters, 0,
    /* preset, check_config, bytes, bits, tables */
    gpumpi_sm_preset, gpumpi_sm_check_config, gpumpi_sm_bytes, NULL, gpumpi_sm_tables,
    /* set_up, unfit, check, hash */
    gpumpi_sm_set_up, NULL, gpumpi_sm_check, gpumpi_sm_hash,
    /* preset_for, next_cycle, copy_statistics */
    NULL, gpumpi_sm_next_cycle, NULL,
};
/* clang-format on */
GPUMP_API const gpumpi_methods *gpumpi_sm_methods(void) { return &gpumpi_sm_hooks; }
