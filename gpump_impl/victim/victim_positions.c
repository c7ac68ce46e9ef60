#include "victim/victim_parts.h"

/* ---- geometry and candidate sets ---- */

/* x * factor >> 40 is x / divisor, for x and divisor below 2^20. */
static uint64_t gpumpi_victim_factor(uint32_t divisor) {
    return divisor ? (((uint64_t)1 << 40) + divisor - 1) / divisor : 0;
}

GPUMP_API gpump_result gpump_victim_geometry_init(gpump_victim_geometry *geometry, const gpump_gpu *gpu,
                                                  const gpump_footprint *need, uint32_t shared_bytes,
                                                  gpump_diag *diag) {
    gpump_gpu fixed;
    gpump_occupancy occupancy;
    gpump_result result;
    uint32_t positions = GPUMP_VICTIM_POSITIONS;
    if (!geometry || !gpu || !need) return gpumpi_bad_argument(diag, "geometry, gpu or need", 0, 0, 1, UINT64_MAX);
    if (gpu->registers >= 1u << 20) return gpumpi_bad_config(diag, "registers", 0, gpu->registers, 0, (1u << 20) - 1);
    if (shared_bytes >= 1u << 20) return gpumpi_bad_argument(diag, "shared_bytes", 0, shared_bytes, 0, (1u << 20) - 1);
    fixed = *gpu;
    fixed.shared_option_count = 1;
    fixed.shared_bytes[0] = shared_bytes;
    result = gpump_gpu_occupancy(&fixed, need, &occupancy, diag);
    if (result != GPUMP_OK) return result;
    if (occupancy.blocks == 0) return gpumpi_refuse(diag, GPUMP_REASON_NEVER_FITS, "need", 0);
    if (occupancy.registers && gpu->registers / occupancy.registers < positions)
        positions = gpu->registers / occupancy.registers;
    if (occupancy.block_shared_bytes && shared_bytes / occupancy.block_shared_bytes < positions)
        positions = shared_bytes / occupancy.block_shared_bytes;
    if (!occupancy.registers && !occupancy.block_shared_bytes) positions = occupancy.blocks;
    geometry->register_factor = gpumpi_victim_factor(occupancy.registers);
    geometry->shared_factor = gpumpi_victim_factor(occupancy.block_shared_bytes);
    geometry->positions = positions;
    geometry->registers = occupancy.registers;
    geometry->shared_bytes = occupancy.block_shared_bytes;
    geometry->warps = occupancy.warps;
    geometry->threads = need->threads;
    geometry->blocks = occupancy.blocks;
    geometry->warp_slots = gpu->warp_slots;
    geometry->thread_slots = gpu->thread_slots;
    geometry->block_slots = gpu->block_slots;
    geometry->unused = 0;
    geometry->register_file = gpu->registers;
    geometry->shared_memory_bytes = shared_bytes;
    geometry->entries = gpu->block_slots > GPUMP_VICTIM_BLOCKS / 2 ? GPUMP_VICTIM_BLOCKS : gpu->block_slots * 2;
    return GPUMP_OK;
}

GPUMP_API uint64_t gpumpi_victim_mark_kept(const gpump_victim_geometry *geometry, const gpump_block_view *block,
                                           uint64_t mark, uint64_t *sets) {
    uint64_t kept[GPUMP_VICTIM_POSITIONS], positions = 0;
    uint32_t keeps = gpumpi_victim_keeps(block), p;
    memset(kept, 0, sizeof kept);
    gpumpi_victim_mark_parts(geometry, block, GPUMP_PARTS_IN_PLACE & ~keeps, mark, sets);
    gpumpi_victim_mark_parts(geometry, block, keeps, 1, kept);
    for (p = 0; p < geometry->positions; p++) positions |= kept[p] << p;
    return positions;
}

GPUMP_API void gpump_victim_candidates(const gpump_victim_geometry *geometry, const gpump_block_view *blocks,
                                       uint32_t count, uint32_t kernel, uint64_t *sets, uint64_t *taken) {
    uint64_t own = 0, kept = 0;
    uint32_t i;
    memset(sets, 0, geometry->positions * sizeof *sets);
    for (i = 0; i < count; i++) {
        if (gpumpi_victim_keeps(&blocks[i]))
            kept |= gpumpi_victim_mark_kept(geometry, &blocks[i], (uint64_t)1 << i, sets);
        else
            gpumpi_victim_mark_parts(geometry, &blocks[i], GPUMP_PARTS_IN_PLACE, (uint64_t)1 << i, sets);
        if (blocks[i].kernel == kernel) own |= (uint64_t)1 << i;
    }
    *taken = gpumpi_victim_take_out(own, geometry->positions, sets) | kept;
}

GPUMP_API void gpumpi_victim_candidates_update(uint64_t *sets, uint32_t positions, uint64_t preempted) {
    uint32_t p;
    for (p = 0; p < positions; p++) sets[p] &= ~preempted;
}

/* ---- storage ---- */

static gpump_result gpumpi_victim_preset(void *filled, const char *preset) {
    gpump_victim_config *config = (gpump_victim_config *)filled;
    gpump_gpu gpu;
    gpump_result result;
    uint32_t largest, i;
    result = gpump_preset(&gpump_gpu_component, &gpu, preset, NULL);
    if (result != GPUMP_OK) return result;
    memset(config, 0, sizeof *config);
    config->sms = gpu.sms;
    config->counter_bits = 32;
    if (!strcmp(preset, "gtx480_shieh")) {
        config->positions = 64;
        config->address_bits = 16;
        config->candidates = config->blocks = 16;
        return GPUMP_OK;
    }
    largest = gpu.registers;
    for (i = 0; i < gpu.shared_option_count; i++)
        if (gpu.shared_bytes[i] > largest) largest = gpu.shared_bytes[i];
    config->positions = GPUMP_VICTIM_POSITIONS;
    config->address_bits = (uint32_t)gpumpi_bits_for(largest);
    config->candidates = config->blocks = gpu.block_slots;
    return GPUMP_OK;
}

static gpump_result gpumpi_victim_check_config(const void *checked, gpump_diag *diag) {
    const gpump_victim_config *config = (const gpump_victim_config *)checked;
    return gpumpi_range(diag, "sms", config->sms, 1, 65536);
}
static uint64_t gpumpi_victim_tables(const void *of, void *filled) {
    const gpump_victim_config *config = (const gpump_victim_config *)of;
    gpump_victim_storage *storage = (gpump_victim_storage *)filled;
    const uint64_t id = gpumpi_bits_for(config->blocks);
    storage->sm_bits = (uint64_t)2 * config->address_bits * config->positions +
                       id * config->blocks * config->candidates +
                       (uint64_t)(2 * config->counter_bits + 1) * config->blocks;
    storage->gpu_bits = id * config->blocks * config->sms;
    return storage->sm_bits * config->sms + storage->gpu_bits;
}

/* clang-format off */
static const gpumpi_methods gpumpi_victim_hooks = {
    "victim", "victim", 0,
    GPUMP_LAYOUT_VICTIM, sizeof(gpump_victim_config), 0, 0,
    0, NULL, 0,
    /* preset, check_config, bytes, bits, tables */
    gpumpi_victim_preset, gpumpi_victim_check_config, NULL, NULL, gpumpi_victim_tables,
    /* set_up, unfit, check, hash */
    NULL, NULL, NULL, NULL,
    /* preset_for, next_cycle, copy_statistics */
    NULL, NULL, NULL,
};
/* clang-format on */
GPUMP_API const gpumpi_methods *gpumpi_victim_methods(void) { return &gpumpi_victim_hooks; }

GPUMP_API uint32_t gpumpi_victim_cheapest(const gpump_cost_estimate *estimate, uint32_t allowed, uint64_t left) {
    return gpumpi_victim_pick_technique(estimate, allowed, left).technique;
}

GPUMP_API GPUMPI_CALLED void gpumpi_victim_correct_parked(uint64_t parked, uint64_t kept, gpumpi_victim_room *room) {
    room->slots -= gpumpi_bits_count64(parked);
    room->spare += (int64_t)gpumpi_bits_count64(parked) - (int64_t)gpumpi_bits_count64(kept);
}

GPUMP_API GPUMPI_CALLED void gpumpi_victim_release(const gpump_victim_plan_args *args, uint64_t set,
                                                   gpumpi_victim_room *room) {
    gpumpi_victim_release_hot(args, set, room);
}

GPUMP_API gpumpi_victim_room gpumpi_victim_room_minus(const gpump_victim_plan_args *args, gpumpi_victim_room room,
                                                      uint64_t set) {
    gpumpi_victim_room held = {0, 0, 0, 0};
    gpumpi_victim_release(args, set, &held);
    room.warps -= held.warps;
    room.threads -= held.threads;
    room.slots -= held.slots;
    room.spare -= held.spare;
    return room;
}
