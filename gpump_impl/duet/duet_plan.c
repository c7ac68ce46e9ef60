#include "duet/duet_plan.h"

#include <string.h>

GPUMP_API gpump_result gpumpi_duet_preset(void *filled, const char *preset) {
    gpump_duet_config *config = (gpump_duet_config *)filled;
    static const struct {
        const char *name;
        uint32_t mode, extra_blocks, barriers;
    } presets[] = {
        {"maxwell_duet", GPUMP_DUET_MODE_DUET, GPUMP_DUET_MONITOR, GPUMP_DUET_BARRIERS_LEAVE},
        {"duet_whole", GPUMP_DUET_MODE_DUET, GPUMP_DUET_MONITOR, GPUMP_DUET_BARRIERS_WHOLE},
        {"duet_block", GPUMP_DUET_MODE_BLOCK, GPUMP_DUET_MONITOR, GPUMP_DUET_BARRIERS_LEAVE},
        {"virtual_thread", GPUMP_DUET_MODE_SLOTS, GPUMP_DUET_ALL, GPUMP_DUET_BARRIERS_LEAVE},
    };
    uint32_t i;
    for (i = 0; i < sizeof presets / sizeof presets[0]; i++) {
        if (strcmp(preset, presets[i].name)) continue;
        config->mode = presets[i].mode;
        config->warps = 128;
        config->blocks = 32;
        config->warp_slots = 64;
        config->block_slots = 32;
        config->register_granules = 2048;
        config->shared_granules = 768;
        config->l1_granules = 256;
        config->slot_granules = 2;
        config->warp_queue = 16;
        config->block_queue = 8;
        config->port_bytes = 128;
        config->barriers_leave = presets[i].barriers;
        config->leaves_early = 1;
        config->extra_blocks = presets[i].extra_blocks;
        config->skip_cycles = config->period_cycles = 10000;
        config->taken_back = 1;
        config->under_permille = 600;
        config->under_dram_permille = 500;
        config->saturated_permille = 800;
        config->saturated_network_permille = 900;
        config->saturated_dram_permille = 700;
        config->l1_useless_permille = 30;
        return GPUMP_OK;
    }
    return GPUMP_ERROR_UNKNOWN_NAME;
}

GPUMP_API gpump_result gpumpi_duet_check_config(const void *checked, gpump_diag *diag) {
    static const gpumpi_limit limits[] = {
        GPUMPI_LIMIT(gpump_duet_config, mode, 0, GPUMP_DUET_MODE_SLOTS),
        GPUMPI_LIMIT(gpump_duet_config, warps, 1, GPUMP_DUET_WARPS),
        GPUMPI_LIMIT(gpump_duet_config, blocks, 1, GPUMP_DUET_BLOCKS),
        GPUMPI_LIMIT(gpump_duet_config, register_granules, 0, 65536),
        GPUMPI_LIMIT(gpump_duet_config, shared_granules, 0, 65536),
        GPUMPI_LIMIT(gpump_duet_config, l1_granules, 0, 65536),
        GPUMPI_LIMIT(gpump_duet_config, slot_granules, 0, 64),
        GPUMPI_LIMIT(gpump_duet_config, warp_queue, 1, 256),
        GPUMPI_LIMIT(gpump_duet_config, block_queue, 1, 256),
        GPUMPI_LIMIT(gpump_duet_config, port_bytes, 1, 4096),
        GPUMPI_LIMIT(gpump_duet_config, barriers_leave, 0, (uint32_t)GPUMP_DUET_BARRIERS - 1),
        GPUMPI_LIMIT(gpump_duet_config, leaves_early, 0, 1),
        GPUMPI_LIMIT(gpump_duet_config, period_cycles, 1, UINT32_MAX),
    };
    const gpump_duet_config *config = (const gpump_duet_config *)checked;
    gpump_result result = GPUMPI_CHECK_LIMITS(config, limits, diag);
    if (!result) result = gpumpi_range(diag, "warp_slots", config->warp_slots, 1, config->warps);
    return result ? result : gpumpi_range(diag, "block_slots", config->block_slots, 1, config->blocks);
}
static gpump_result gpumpi_duet_check_given(const gpump_duet_config *config, gpump_diag *diag) {
    if (!config) return gpumpi_null(diag, "config");
    return gpumpi_duet_check_config(config, diag);
}

GPUMP_API gpump_result gpump_duet_config_from_gpu(gpump_duet_config *config, const gpump_gpu *gpu,
                                                  const gpump_room *room, uint32_t l1_bytes, gpump_diag *diag) {
    gpump_duet_config changed;
    gpump_result result = gpumpi_duet_check_given(config, diag);
    if (!result) result = gpump_check(&gpump_gpu_component, gpu, diag);
    if (!result && !room) result = gpumpi_null(diag, "room");
    if (!result) result = gpumpi_range(diag, "lanes", gpu->lanes, 32, 32);
    if (!result) result = gpumpi_range(diag, "registers", room->registers, 0, gpu->registers);
    if (!result) result = gpumpi_range(diag, "block_slots", room->block_slots, 1, gpu->block_slots);
    if (!result)
        result = gpumpi_range(diag, "warp_slots", room->warp_slots, 1,
                              gpu->warp_slots < GPUMP_DUET_WARPS ? gpu->warp_slots : GPUMP_DUET_WARPS);
    if (!result)
        result =
            gpumpi_range(diag, "shared_bytes", room->shared_bytes, 0, gpu->shared_bytes[gpu->shared_option_count - 1]);
    if (result) return result;
    changed = *config;
    changed.warps = 2 * room->warp_slots < GPUMP_DUET_WARPS ? 2 * room->warp_slots : GPUMP_DUET_WARPS;
    changed.warp_slots = room->warp_slots;
    changed.blocks = changed.block_slots = room->block_slots;
    changed.register_granules = room->registers / 32;
    changed.shared_granules = room->shared_bytes / GPUMP_DUET_GRANULE_BYTES;
    changed.l1_granules = l1_bytes / GPUMP_DUET_GRANULE_BYTES;
    result = gpumpi_duet_check_config(&changed, diag);
    if (!result) *config = changed;
    return result;
}

/* ---- the plan ---- */

/* What `blocks` blocks take, and what is left of a memory of `granules`. */
static uint32_t gpumpi_duet_left(uint32_t granules, uint64_t taken) {
    return taken > granules ? 0 : granules - (uint32_t)taken;
}

/* Lays out homes and frames for `extra` extra blocks. Returns 1 when everything has a place. */
static int gpumpi_duet_lay_out(const gpump_duet_config *config, gpump_duet_plan *plan, uint32_t extra, int l1) {
    const uint64_t native = plan->native_blocks, all = native + extra;
    const uint64_t registers =
        (plan->moves_registers ? native : all) * plan->block_warps * (uint64_t)plan->warp_granules;
    const uint64_t shared = (plan->moves_shared ? native : all) * plan->shared_granules;
    const uint64_t needed = plan->unit == GPUMP_DUET_WARP ? (uint64_t)extra * plan->block_warps : extra;
    const uint32_t left[3] = {gpumpi_duet_left(config->register_granules, registers),
                              gpumpi_duet_left(config->shared_granules, shared), l1 ? config->l1_granules : 0};
    uint64_t frames = 0;
    uint32_t i;
    if (registers > config->register_granules || shared > config->shared_granules) return 0;
    if (all > config->blocks || all * plan->block_warps > config->warps) return 0;
    for (i = 0; i < 3; i++) {
        plan->frames[i] = plan->frame_granules ? left[i] / plan->frame_granules : 0;
        if (config->mode == GPUMP_DUET_MODE_SLOTS && i != 1) plan->frames[i] = 0; /* into shared memory (Lin 3.5.2) */
        frames += plan->frames[i];
    }
    plan->first_frame[0] = (uint32_t)registers;
    plan->first_frame[1] = config->register_granules + (uint32_t)shared;
    plan->first_frame[2] = config->register_granules + config->shared_granules;
    return frames >= needed;
}

static uint32_t gpumpi_duet_most_extra(const gpump_duet_config *config, const gpump_duet_plan *plan, int l1) {
    gpump_duet_plan tried = *plan;
    uint32_t extra = 0;
    while (extra < config->blocks && gpumpi_duet_lay_out(config, &tried, extra + 1, l1)) extra++;
    return extra;
}

/* Decides what is switched (Lin 3.6.6, "Context Switching Logic"). */
static void gpumpi_duet_choose_unit(const gpump_duet_config *config, gpump_duet_plan *plan) {
    const uint32_t capacity = GPUMP_RESOURCE_REGISTERS | GPUMP_RESOURCE_SHARED_MEMORY;
    plan->unit = GPUMP_DUET_OFF;
    plan->moves_registers = plan->moves_shared = 0;
    if (!plan->native_blocks || (plan->limits & capacity) == capacity) return;
    if (config->mode == GPUMP_DUET_MODE_SLOTS) { /* capacity-limited kernels gain nothing (Lin 3.5.2) */
        plan->unit = plan->limits & capacity ? GPUMP_DUET_OFF : GPUMP_DUET_BLOCK;
        return;
    }
    plan->moves_shared = (plan->limits & GPUMP_RESOURCE_SHARED_MEMORY) != 0;
    plan->moves_registers = !plan->moves_shared;
    plan->unit = plan->moves_shared || config->mode == GPUMP_DUET_MODE_BLOCK ? GPUMP_DUET_BLOCK : GPUMP_DUET_WARP;
}

/* How many blocks fit without switching, and which resources stop one more. */
static void gpumpi_duet_bind(const gpump_duet_config *config, gpump_duet_plan *plan) {
    const uint64_t takes[4] = {1, plan->block_warps, (uint64_t)plan->block_warps * plan->warp_granules,
                               plan->shared_granules};
    const uint32_t has[4] = {config->block_slots, config->warp_slots, config->register_granules,
                             config->shared_granules};
    static const uint32_t bits[4] = {GPUMP_RESOURCE_BLOCK_SLOTS, GPUMP_RESOURCE_WARP_SLOTS, GPUMP_RESOURCE_REGISTERS,
                                     GPUMP_RESOURCE_SHARED_MEMORY};
    uint32_t i;
    plan->native_blocks = UINT32_MAX;
    for (i = 0; i < 4; i++) {
        if (takes[i] && has[i] / takes[i] < plan->native_blocks) plan->native_blocks = (uint32_t)(has[i] / takes[i]);
    }
    for (i = 0; i < 4; i++) {
        if (takes[i] && (plan->native_blocks + 1) * takes[i] > has[i]) plan->limits |= bits[i];
    }
}

GPUMP_API gpump_result gpump_duet_plan_make(const gpump_duet_config *config, const gpump_footprint *need,
                                            uint32_t live_granules, gpump_duet_plan *plan, gpump_diag *diag) {
    gpump_duet_plan made;
    gpump_result result = gpumpi_duet_check_given(config, diag);
    uint32_t warp_frame;
    if (result) return result;
    if (!plan) return gpumpi_null(diag, "plan");
    if (!need || !need->threads || need->threads > 32 * GPUMP_DUET_WARPS)
        return gpumpi_bad_argument(diag, "threads", 0, need ? need->threads : 0, 1, 32 * GPUMP_DUET_WARPS);
    memset(&made, 0, sizeof made);
    made.block_warps = (need->threads + 31) / 32;
    made.warp_granules = (need->registers + 32 * made.block_warps - 1) / (32 * made.block_warps);
    made.shared_granules =
        need->shared_bytes / GPUMP_DUET_GRANULE_BYTES + (need->shared_bytes % GPUMP_DUET_GRANULE_BYTES != 0);
    made.frame_registers = live_granules < made.warp_granules ? live_granules : made.warp_granules;
    gpumpi_duet_bind(config, &made);
    gpumpi_duet_choose_unit(config, &made);
    warp_frame = config->slot_granules + (made.moves_registers ? made.frame_registers : 0);
    made.frame_granules = made.unit == GPUMP_DUET_WARP
                              ? warp_frame
                              : made.block_warps * warp_frame + (made.moves_shared ? made.shared_granules : 0);
    if (made.unit != GPUMP_DUET_OFF) {
        const int uses_l1 = config->mode != GPUMP_DUET_MODE_SLOTS && config->l1_granules;
        made.extra_blocks = made.extra_blocks_l1 = gpumpi_duet_most_extra(config, &made, 0);
        if (!made.extra_blocks && uses_l1) made.extra_blocks_l1 = gpumpi_duet_most_extra(config, &made, 1);
        if (!made.extra_blocks_l1) made.unit = GPUMP_DUET_OFF;
    }
    made.homes = made.unit == GPUMP_DUET_BLOCK ? made.native_blocks : made.native_blocks * made.block_warps;
    if (made.unit != GPUMP_DUET_OFF) (void)gpumpi_duet_lay_out(config, &made, made.extra_blocks_l1, !made.extra_blocks);
    *plan = made;
    return GPUMP_OK;
}

GPUMP_API uint32_t gpump_duet_frame_granule(const gpump_duet_plan *plan, uint32_t frame) {
    uint32_t i = 0;
    while (i < 2 && frame >= plan->frames[i]) frame -= plan->frames[i++];
    return plan->first_frame[i] + frame * plan->frame_granules;
}

/* ---- the class, and the cost ---- */

static int gpumpi_duet_above(uint32_t q16, uint32_t permille) {
    return (uint64_t)q16 * 1000 > (uint64_t)permille << 16;
}
static int gpumpi_duet_below(uint32_t q16, uint32_t permille) {
    return (uint64_t)q16 * 1000 < (uint64_t)permille << 16;
}

GPUMP_API uint32_t gpumpi_duet_classify(const gpump_duet_config *config, const gpump_utilisation *utilisation) {
    const uint32_t network = utilisation->up_q16 > utilisation->down_q16 ? utilisation->up_q16 : utilisation->down_q16;
    if (gpumpi_duet_above(utilisation->scheduler_q16, config->saturated_permille) ||
        gpumpi_duet_above(utilisation->l1_q16, config->saturated_permille) ||
        gpumpi_duet_above(utilisation->l2_q16, config->saturated_permille) ||
        gpumpi_duet_above(network, config->saturated_network_permille) ||
        gpumpi_duet_above(utilisation->dram_q16, config->saturated_dram_permille))
        return GPUMP_DUET_SATURATED;
    if (gpumpi_duet_below(utilisation->scheduler_q16, config->under_permille) &&
        gpumpi_duet_below(utilisation->l1_q16, config->under_permille) &&
        gpumpi_duet_below(utilisation->l2_q16, config->under_permille) &&
        gpumpi_duet_below(network, config->under_permille) &&
        gpumpi_duet_below(utilisation->dram_q16, config->under_dram_permille))
        return GPUMP_DUET_UNDERUTILISED;
    return GPUMP_DUET_MODERATE;
}

GPUMP_API uint64_t gpumpi_duet_tables(const void *of, void *filled) {
    const gpump_duet_config *config = (const gpump_duet_config *)of;
    gpump_duet_storage *storage = (gpump_duet_storage *)filled;
    uint64_t granules, address, warp, block;
    memset(storage, 0, sizeof *storage);
    granules = (uint64_t)config->register_granules + config->shared_granules + config->l1_granules;
    address = gpumpi_bits_for(granules);
    warp = gpumpi_bits_for(config->warps);
    block = gpumpi_bits_for(config->blocks);
    if (config->mode == GPUMP_DUET_MODE_SLOTS) { /* Lin 3.6.8 */
        storage->block_table_bits = config->blocks * gpumpi_bits_for((uint64_t)config->warp_slots + 1);
        storage->warp_table_bits = config->warp_slots * warp;
    } else { /* Lin Table 3.4 */
        storage->bitmap_bits = granules;
        storage->warp_table_bits = config->warps * (1 + 2 + address + address);
        storage->block_table_bits = config->blocks * (1 + 32 + address);
        storage->warp_queues_bits = 2 * config->warp_queue * warp;
        storage->block_queues_bits = 2 * config->block_queue * block;
    }
    /* Why: load or barrier. Replies: up to 63. The counter: one period. */
    storage->unprinted_bits = config->warps * (block + 2 + 6) + gpumpi_bits_for(config->period_cycles);
    return storage->bitmap_bits + storage->warp_table_bits + storage->block_table_bits + storage->warp_queues_bits +
           storage->block_queues_bits;
}
