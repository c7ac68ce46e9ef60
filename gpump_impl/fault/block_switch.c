#include "fault/block_switch.h"

#include <string.h>
#include "gpu/gpu.h"

#define GPUMPI_BLOCK_SWITCH_MAGIC UINT64_C(0x67706d7062737700) /* "gpmpbsw" */

typedef struct gpumpi_block_switch_block {
    uint64_t cookie, since, ready_cycle, stopped, switch_cycles;
    uint64_t blocked_since; /* ON: when it became blocked; GPUMP_UNKNOWN: it is not */
    uint64_t ready_since;   /* OFF and COMING: when it became ready; GPUMP_UNKNOWN: it is not */
    uint32_t state, warps, pending, unused;
} gpumpi_block_switch_block;
struct gpump_block_switch {
    gpumpi_head head;
    uint64_t now;
    gpump_block_switch_statistics statistics;
    gpump_block_switch_config config;
    uint32_t capacity; /* blocks that the SM holds now */
    uint32_t blocks;   /* entries in use, in the order in which they came to be known */
    uint32_t promised; /* NEW actions that have not been answered */
    uint32_t new_blocks, contexts, unused;
};
typedef char gpumpi_block_switch_has_no_padding
    [sizeof(gpump_block_switch) == sizeof(gpumpi_head) + (1 + 11) * 8 + sizeof(gpump_block_switch_config) + 6 * 4 &&
             sizeof(gpumpi_block_switch_block) == 72 && sizeof(gpump_block_switch_config) == 48
         ? 1
         : -1];

static gpumpi_block_switch_block *gpumpi_block_switch_blocks(const gpump_block_switch *u) {
    return (gpumpi_block_switch_block *)(void *)(uintptr_t)(const void *)(u + 1);
}

/* ---- configuration, birth, copies ---- */

static gpump_result gpumpi_block_switch_preset_for(void *filled, const char *preset, const void *machine) {
    gpump_block_switch_config *config = (gpump_block_switch_config *)filled;
    const gpump_gpu *gpu = (const gpump_gpu *)machine;
    if (strcmp(preset, "table61") != 0 && strcmp(preset, "priced") != 0) return GPUMP_ERROR_UNKNOWN_NAME;
    memset(config, 0, sizeof *config);
    config->blocks = gpu->block_slots;
    config->extra = 4;
    config->priced = strcmp(preset, "priced") == 0;
    config->fair_cycles = gpump_gpu_cycles_from_ns(gpu, 1000000); /* 1 ms (assumed) */
    config->port = gpump_gpu_port(gpu);
    return GPUMP_OK;
}

static gpump_result gpumpi_block_switch_preset(void *filled, const char *preset) {
    gpump_gpu gpu;
    gpump_result result = gpump_preset(&gpump_gpu_component, &gpu, "table61", NULL);
    return result ? result : gpumpi_block_switch_preset_for(filled, preset, &gpu);
}

static gpump_result gpumpi_block_switch_check_config(const void *checked, gpump_diag *diag) {
    static const gpumpi_limit limits[] = {
        GPUMPI_LIMIT(gpump_block_switch_config, blocks, 1u, 64u),
        GPUMPI_LIMIT(gpump_block_switch_config, extra, 0u, 64u),
        GPUMPI_LIMIT(gpump_block_switch_config, priced, 0u, 1u),
        GPUMPI_LIMIT(gpump_block_switch_config, unused, 0u, 0u),
    };
    const gpump_block_switch_config *config = (const gpump_block_switch_config *)checked;
    gpump_result result = GPUMPI_CHECK_LIMITS(config, limits, diag);
    if (!result) result = gpumpi_range(diag, "fair_cycles", config->fair_cycles, 1, UINT64_MAX);
    if (!result) result = gpumpi_range(diag, "port.cycles", config->port.cycles, 1, UINT64_MAX);
    return result ? result : gpumpi_range(diag, "port.bytes", config->port.bytes, 1, UINT64_MAX);
}
static uint64_t gpumpi_block_switch_bytes(const void *of) {
    const gpump_block_switch_config *config = (const gpump_block_switch_config *)of;
    return sizeof(gpump_block_switch) + (config->blocks + config->extra) * sizeof(gpumpi_block_switch_block);
}

static void gpumpi_block_switch_set_up(void *object) {
    gpump_block_switch *u = (gpump_block_switch *)object;
    const gpump_block_switch_config *config = &u->config;
    u->capacity = config->blocks;
    u->contexts = UINT32_MAX;
}

static uint64_t gpumpi_block_switch_all_warps(uint32_t warps) { return UINT64_MAX >> (64u - warps); }
/* 1 when a block on the SM can do nothing until its pages are there. */
static int gpumpi_block_switch_is_blocked(const gpumpi_block_switch_block *block) {
    return block->state == GPUMP_BLOCK_SWITCH_ON && block->pending &&
           block->stopped == gpumpi_block_switch_all_warps(block->warps);
}
static int gpumpi_block_switch_is_off(const gpumpi_block_switch_block *block) {
    return block->state == GPUMP_BLOCK_SWITCH_OFF || block->state == GPUMP_BLOCK_SWITCH_COMING;
}

static gpump_result gpumpi_block_switch_check(const void *object, gpump_diag *diag) {
    const gpump_block_switch *u = (const gpump_block_switch *)object;
    const char *wrong = NULL;
    uint32_t at = 0, coming = 0;
    if (!u->capacity || u->capacity > u->config.blocks || u->blocks > u->config.blocks + u->config.extra || u->unused ||
        u->now == GPUMP_UNKNOWN || u->promised > u->config.blocks)
        wrong = "counts";
    for (uint32_t i = 0; !wrong && i < u->blocks; i++) {
        const gpumpi_block_switch_block *block = gpumpi_block_switch_blocks(u) + i;
        at = i;
        coming += block->state == GPUMP_BLOCK_SWITCH_COMING;
        if (!block->state || block->state >= GPUMP_BLOCK_SWITCH_STATES || block->since > u->now || block->unused)
            wrong = "state";
        else if (!block->warps || block->warps > 64 || (block->stopped & ~gpumpi_block_switch_all_warps(block->warps)))
            wrong = "warps";
        else if ((block->blocked_since != GPUMP_UNKNOWN) != gpumpi_block_switch_is_blocked(block) ||
                 (block->blocked_since != GPUMP_UNKNOWN && block->blocked_since > u->now))
            wrong = "blocked_since";
        else if ((block->ready_since != GPUMP_UNKNOWN) != (gpumpi_block_switch_is_off(block) && !block->pending) ||
                 (block->ready_since != GPUMP_UNKNOWN && block->ready_since > u->now))
            wrong = "ready_since";
        for (uint32_t j = 0; !wrong && j < i; j++)
            if (gpumpi_block_switch_blocks(u)[j].cookie == block->cookie) wrong = "cookie (twice)";
    }
    if (!wrong && (coming > u->config.blocks || u->blocks + u->promised > u->config.blocks + u->config.extra))
        wrong = "blocks promised";
    return wrong ? gpumpi_fail_at(diag, GPUMP_ERROR_FORMAT, wrong, at) : GPUMP_OK;
}

static uint64_t gpumpi_block_switch_hash(const void *object) {
    const gpump_block_switch *u = (const gpump_block_switch *)object;
    uint64_t hash = gpumpi_hash_u64s(gpumpi_hash_u32s(GPUMP_HASH_SEED, &u->config.blocks, 4), &u->config.fair_cycles,
                                     4); /* port included */
    hash = gpump_hash_u64(hash, u->now);
    hash = gpumpi_hash_u64s(hash, &u->statistics.placed, sizeof u->statistics / 8);
    hash = gpumpi_hash_u32s(hash, &u->capacity, 6);
    for (uint32_t i = 0; i < u->blocks; i++) {
        hash = gpumpi_hash_u64s(hash, &gpumpi_block_switch_blocks(u)[i].cookie, 7);
        hash = gpumpi_hash_u32s(hash, &gpumpi_block_switch_blocks(u)[i].state, 4);
    }
    return hash;
}

static uint64_t gpumpi_block_switch_bits(const void *of) {
    const gpump_block_switch_config *config = (const gpump_block_switch_config *)of;
    return (config->blocks + config->extra) *
           (gpumpi_bits_for(GPUMP_BLOCK_SWITCH_STATES) + UINT64_C(16) + 64 + 2 * 32 + 16);
}

/* ---- facts ---- */

static gpumpi_block_switch_block *gpumpi_block_switch_find(const gpump_block_switch *u, uint64_t cookie) {
    for (uint32_t i = 0; i < u->blocks; i++)
        if (gpumpi_block_switch_blocks(u)[i].cookie == cookie) return gpumpi_block_switch_blocks(u) + i;
    return NULL;
}
static gpump_result gpumpi_block_switch_time(const gpump_block_switch *u, uint64_t now) {
    if (!u) return GPUMP_ERROR_ARGUMENT;
    return now < u->now || now == GPUMP_UNKNOWN ? GPUMP_ERROR_TIME : GPUMP_OK;
}
/* After anything about a block has changed at `now`: dates when it became blocked, or ready. */
static void gpumpi_block_switch_date(gpump_block_switch *u, gpumpi_block_switch_block *block) {
    const int blocked = gpumpi_block_switch_is_blocked(block);
    const int ready = gpumpi_block_switch_is_off(block) && !block->pending;
    if (!blocked && block->blocked_since != GPUMP_UNKNOWN)
        u->statistics.blocked_cycles += u->now - block->blocked_since;
    if (!blocked || block->blocked_since == GPUMP_UNKNOWN) block->blocked_since = blocked ? u->now : GPUMP_UNKNOWN;
    if (!ready || block->ready_since == GPUMP_UNKNOWN) block->ready_since = ready ? u->now : GPUMP_UNKNOWN;
}
static void gpumpi_block_switch_enter(gpump_block_switch *u, gpumpi_block_switch_block *block, uint32_t state) {
    block->state = state;
    block->since = u->now;
    gpumpi_block_switch_date(u, block);
}

GPUMP_API gpump_result gpump_block_switch_set_blocks(gpump_block_switch *u, uint32_t blocks) {
    if (!u || !blocks || blocks > u->config.blocks) return GPUMP_ERROR_ARGUMENT;
    u->capacity = blocks;
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_block_switch_set_outside(gpump_block_switch *u, uint32_t new_blocks, uint32_t contexts) {
    if (!u) return GPUMP_ERROR_ARGUMENT;
    u->new_blocks = new_blocks;
    u->contexts = contexts;
    return GPUMP_OK;
}

/* Blocks that are on the SM, leaving it or coming to it. */
static uint32_t gpumpi_block_switch_here(const gpump_block_switch *u) {
    uint32_t here = 0;
    for (uint32_t i = 0; i < u->blocks; i++) here += gpumpi_block_switch_blocks(u)[i].state != GPUMP_BLOCK_SWITCH_OFF;
    return here;
}

/* Cycles in which the context of a block leaves and comes back. */
static uint64_t gpumpi_block_switch_price(const gpump_block_switch *u, uint64_t bytes) {
    const uint64_t cycles = gpump_port_cycles(&u->config.port, bytes);
    return gpump_add_saturated(cycles, cycles);
}

/* Enters a new block that is on the SM. */
static void gpumpi_block_switch_place(gpump_block_switch *u, const gpump_block_view *view) {
    gpumpi_block_switch_block *block = gpumpi_block_switch_blocks(u) + u->blocks++;
    if (u->promised) u->promised--;
    memset(block, 0, sizeof *block);
    block->cookie = view->cookie;
    block->warps = view->warps;
    block->switch_cycles = gpumpi_block_switch_price(u, view->context_bytes);
    block->blocked_since = block->ready_since = GPUMP_UNKNOWN;
    u->statistics.placed++;
    gpumpi_block_switch_enter(u, block, GPUMP_BLOCK_SWITCH_ON);
}

static void gpumpi_block_switch_give_context(gpump_block_switch *u) {
    if (u->contexts != UINT32_MAX) u->contexts++;
}

/* Holds residents that are reported against what the unit can take. */
static gpump_result gpumpi_block_switch_check_residents(const gpump_block_switch *u, const gpump_block_view *blocks,
                                                        uint32_t count) {
    uint32_t fresh = 0;
    if (!blocks) return GPUMP_ERROR_ARGUMENT;
    for (uint32_t i = 0; i < count; i++) {
        if (!gpump_block_stays(blocks[i].state)) continue;
        if (!blocks[i].warps || blocks[i].warps > 64) return GPUMP_ERROR_ARGUMENT;
        fresh += !gpumpi_block_switch_find(u, blocks[i].cookie);
    }
    if (fresh &&
        (gpumpi_block_switch_here(u) + fresh > u->capacity || u->blocks + fresh > u->capacity + u->config.extra))
        return GPUMP_ERROR_FULL;
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_block_switch_report_residents(gpump_block_switch *u, uint64_t now,
                                                           const gpump_block_view *blocks, uint32_t count) {
    gpump_result result = gpumpi_block_switch_time(u, now);
    if (!result) result = gpumpi_block_switch_check_residents(u, blocks, count);
    if (result) return result;
    u->now = now;
    for (uint32_t i = 0; i < count; i++) {
        gpumpi_block_switch_block *block;
        if (!gpump_block_stays(blocks[i].state)) continue;
        block = gpumpi_block_switch_find(u, blocks[i].cookie);
        if (!block) gpumpi_block_switch_place(u, &blocks[i]);
        if (!block || block->state != GPUMP_BLOCK_SWITCH_COMING) continue;
        gpumpi_block_switch_enter(u, block, GPUMP_BLOCK_SWITCH_ON);
        gpumpi_block_switch_give_context(u);
    }
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_block_switch_report_none(gpump_block_switch *u, uint64_t now) {
    gpump_result result = gpumpi_block_switch_time(u, now);
    if (result) return result;
    if (!u->promised) return GPUMP_ERROR_STATE;
    u->now = now;
    u->promised--;
    u->new_blocks = 0;
    u->statistics.none++;
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_block_switch_report_warp(gpump_block_switch *u, uint64_t now, uint64_t cookie,
                                                      uint32_t warp, uint32_t runs) {
    gpumpi_block_switch_block *block;
    gpump_result result = gpumpi_block_switch_time(u, now);
    if (result) return result;
    block = gpumpi_block_switch_find(u, cookie);
    if (!block) return GPUMP_EMPTY;
    if (warp >= block->warps || runs > 1) return GPUMP_ERROR_ARGUMENT;
    u->now = now;
    if (runs)
        block->stopped &= ~((uint64_t)1 << warp);
    else
        block->stopped |= (uint64_t)1 << warp;
    gpumpi_block_switch_date(u, block);
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_block_switch_report_pending(gpump_block_switch *u, uint64_t now, uint64_t cookie,
                                                         uint32_t pending, uint64_t ready_cycle) {
    gpumpi_block_switch_block *block;
    gpump_result result = gpumpi_block_switch_time(u, now);
    if (result) return result;
    block = gpumpi_block_switch_find(u, cookie);
    if (!block) return GPUMP_EMPTY;
    u->now = now;
    block->pending = pending;
    block->ready_cycle = pending ? ready_cycle : 0;
    gpumpi_block_switch_date(u, block);
    return GPUMP_OK;
}

/* The answers to OUT: the block enters another state. */
static gpump_result gpumpi_block_switch_answer(gpump_block_switch *u, uint64_t now, uint64_t cookie, uint32_t from,
                                               uint32_t to) {
    gpumpi_block_switch_block *block;
    gpump_result result = gpumpi_block_switch_time(u, now);
    if (result) return result;
    block = gpumpi_block_switch_find(u, cookie);
    if (!block || block->state != from) return GPUMP_ERROR_STATE;
    u->now = now;
    gpumpi_block_switch_enter(u, block, to);
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_block_switch_report_left(gpump_block_switch *u, uint64_t now, uint64_t cookie) {
    return gpumpi_block_switch_answer(u, now, cookie, GPUMP_BLOCK_SWITCH_LEAVING, GPUMP_BLOCK_SWITCH_OFF);
}

GPUMP_API gpump_result gpump_block_switch_report_stayed(gpump_block_switch *u, uint64_t now, uint64_t cookie) {
    gpump_result result = gpumpi_block_switch_answer(u, now, cookie, GPUMP_BLOCK_SWITCH_LEAVING, GPUMP_BLOCK_SWITCH_ON);
    if (result) return result;
    u->contexts = 0;
    u->statistics.stayed++;
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_block_switch_report_ended(gpump_block_switch *u, uint64_t now, uint64_t cookie) {
    gpumpi_block_switch_block *blocks, *block;
    gpump_result result = gpumpi_block_switch_time(u, now);
    if (result) return result;
    blocks = gpumpi_block_switch_blocks(u);
    block = gpumpi_block_switch_find(u, cookie);
    if (!block) return GPUMP_EMPTY;
    u->now = now;
    if (block->state != GPUMP_BLOCK_SWITCH_ON) gpumpi_block_switch_give_context(u);
    block->pending = 0;
    gpumpi_block_switch_date(u, block);
    u->blocks--;
    memmove(block, block + 1, (size_t)(blocks + u->blocks - block) * sizeof *block);
    memset(blocks + u->blocks, 0, sizeof *block);
    u->statistics.ended++;
    return GPUMP_OK;
}

/* ---- decisions ---- */

/* The numbers that decide. */
typedef struct gpumpi_block_switch_counts {
    uint32_t room;      /* places on the SM that nobody has and nobody was promised */
    uint32_t leaving;   /* places that will become free */
    uint32_t ready;     /* blocks off the chip that can come back */
    uint32_t available; /* of these and new ones together */
} gpumpi_block_switch_counts;

static gpumpi_block_switch_counts gpumpi_block_switch_count(const gpump_block_switch *u) {
    gpumpi_block_switch_counts counts = {0, 0, 0, 0};
    const uint32_t known = u->blocks + u->promised, most = u->capacity + u->config.extra;
    const uint32_t more = known < most ? most - known : 0;
    uint32_t taken = u->promised;
    for (uint32_t i = 0; i < u->blocks; i++) {
        const gpumpi_block_switch_block *block = gpumpi_block_switch_blocks(u) + i;
        taken += block->state != GPUMP_BLOCK_SWITCH_OFF;
        counts.leaving += block->state == GPUMP_BLOCK_SWITCH_LEAVING;
        counts.ready += block->state == GPUMP_BLOCK_SWITCH_OFF && !block->pending;
    }
    counts.room = taken < u->capacity ? u->capacity - taken : 0;
    counts.available = counts.ready + (u->new_blocks < more ? u->new_blocks : more);
    return counts;
}

/* The block that has been ready longest, of those off the chip; NULL without one. */
static gpumpi_block_switch_block *gpumpi_block_switch_first_ready(const gpump_block_switch *u) {
    gpumpi_block_switch_block *best = NULL;
    for (uint32_t i = 0; i < u->blocks; i++) {
        gpumpi_block_switch_block *block = gpumpi_block_switch_blocks(u) + i;
        if (block->state == GPUMP_BLOCK_SWITCH_OFF && !block->pending &&
            (!best || block->ready_since < best->ready_since))
            best = block;
    }
    return best;
}

/* The blocked block whose pages are furthest away; NULL when none is to leave. */
static gpumpi_block_switch_block *gpumpi_block_switch_furthest(const gpump_block_switch *u, uint64_t now) {
    gpumpi_block_switch_block *best = NULL;
    for (uint32_t i = 0; i < u->blocks; i++) {
        gpumpi_block_switch_block *block = gpumpi_block_switch_blocks(u) + i;
        if (!gpumpi_block_switch_is_blocked(block)) continue;
        if (u->config.priced && block->ready_cycle <= gpump_add_saturated(now, block->switch_cycles)) continue;
        if (!best || block->ready_cycle > best->ready_cycle) best = block;
    }
    return best;
}

/* The block that has been on the SM longest; NULL without one. */
static gpumpi_block_switch_block *gpumpi_block_switch_longest(const gpump_block_switch *u) {
    gpumpi_block_switch_block *best = NULL;
    for (uint32_t i = 0; i < u->blocks; i++) {
        gpumpi_block_switch_block *block = gpumpi_block_switch_blocks(u) + i;
        if (block->state == GPUMP_BLOCK_SWITCH_ON && (!best || block->since < best->since)) best = block;
    }
    return best;
}

/* What is to be done at `now`: a gpump_block_switch_action_kind and the block; 0: nothing. *fair as in the action. */
static uint32_t gpumpi_block_switch_decide(const gpump_block_switch *u, uint64_t now, gpumpi_block_switch_block **block,
                                           uint32_t *fair) {
    const gpumpi_block_switch_counts counts = gpumpi_block_switch_count(u);
    gpumpi_block_switch_block *ready = gpumpi_block_switch_first_ready(u);
    *fair = 0;
    *block = NULL;
    if (counts.room && counts.ready) {
        *block = ready;
        return GPUMP_BLOCK_SWITCH_ACT_IN;
    }
    if (counts.room && counts.available) return GPUMP_BLOCK_SWITCH_ACT_NEW;
    if (!u->contexts) return 0;
    if (counts.available > counts.leaving) *block = gpumpi_block_switch_furthest(u, now);
    if (!*block && counts.ready > counts.leaving && now - ready->ready_since >= u->config.fair_cycles) {
        *block = gpumpi_block_switch_longest(u);
        *fair = 1;
    }
    return *block ? GPUMP_BLOCK_SWITCH_ACT_OUT : 0;
}

GPUMP_API gpump_result gpump_block_switch_next(gpump_block_switch *u, uint64_t now, gpump_block_switch_action *action) {
    gpumpi_block_switch_block *block;
    uint32_t fair, kind;
    gpump_result result = action ? gpumpi_block_switch_time(u, now) : GPUMP_ERROR_ARGUMENT;
    if (result) return result;
    u->now = now;
    kind = gpumpi_block_switch_decide(u, now, &block, &fair);
    if (!kind) return GPUMP_EMPTY;
    memset(action, 0, sizeof *action);
    action->kind = kind;
    action->fair = fair;
    if (kind == GPUMP_BLOCK_SWITCH_ACT_NEW) {
        u->promised++;
        if (u->new_blocks != UINT32_MAX) u->new_blocks--;
        u->statistics.news++;
        return GPUMP_OK;
    }
    action->cookie = block->cookie;
    if (kind == GPUMP_BLOCK_SWITCH_ACT_IN) {
        u->statistics.ins++;
        u->statistics.off_cycles += now - block->since;
        u->statistics.ready_cycles += now - block->ready_since;
        gpumpi_block_switch_enter(u, block, GPUMP_BLOCK_SWITCH_COMING);
        return GPUMP_OK;
    }
    if (u->contexts != UINT32_MAX) u->contexts--;
    if (fair)
        u->statistics.fair_outs++;
    else
        u->statistics.outs++;
    gpumpi_block_switch_enter(u, block, GPUMP_BLOCK_SWITCH_LEAVING);
    return GPUMP_OK;
}

static uint64_t gpumpi_block_switch_next_cycle(const void *of) {
    const gpump_block_switch *u = (const gpump_block_switch *)of;
    const gpumpi_block_switch_counts counts = gpumpi_block_switch_count(u);
    gpumpi_block_switch_block *block;
    uint32_t fair;
    if (gpumpi_block_switch_decide(u, u->now, &block, &fair)) return u->now;
    if (!u->contexts || counts.ready <= counts.leaving || !gpumpi_block_switch_longest(u)) return GPUMP_UNKNOWN;
    return gpump_add_saturated(gpumpi_block_switch_first_ready(u)->ready_since, u->config.fair_cycles);
}

GPUMP_API gpump_result gpump_block_switch_blocks(const gpump_block_switch *u, gpump_block_switch_view *blocks,
                                                 uint32_t capacity, uint32_t *count) {
    if (!u || !count || (capacity && !blocks)) return GPUMP_ERROR_ARGUMENT;
    *count = u->blocks;
    if (u->blocks > capacity) return GPUMP_ERROR_CAPACITY;
    for (uint32_t i = 0; i < u->blocks; i++) {
        const gpumpi_block_switch_block *block = gpumpi_block_switch_blocks(u) + i;
        blocks[i].cookie = block->cookie;
        blocks[i].since = block->since;
        blocks[i].ready_cycle = block->ready_cycle;
        blocks[i].stopped = block->stopped;
        blocks[i].state = block->state;
        blocks[i].warps = block->warps;
        blocks[i].pending = block->pending;
        blocks[i].unused = 0;
    }
    return GPUMP_OK;
}

/* ---- statistics ---- */

static const char *const gpumpi_block_switch_counters[][3] = {
#define GPUMPI_FIELD(name, unit, description) {#name, unit, description},
    GPUMPI_BLOCK_SWITCH_STATISTICS(GPUMPI_FIELD)
#undef GPUMPI_FIELD
};
/* clang-format off */
static const gpumpi_methods gpumpi_block_switch_hooks = {
    "block_switch", "fault", GPUMPI_BLOCK_SWITCH_MAGIC,
    GPUMP_LAYOUT_FAULT, sizeof(gpump_block_switch_config),
    offsetof(gpump_block_switch, config), offsetof(gpump_block_switch, statistics),
    sizeof gpumpi_block_switch_counters / sizeof *gpumpi_block_switch_counters, gpumpi_block_switch_counters, 0,
    /* preset, check_config, bytes, bits, tables */
    gpumpi_block_switch_preset, gpumpi_block_switch_check_config,
    gpumpi_block_switch_bytes, gpumpi_block_switch_bits, NULL,
    /* set_up, unfit, check, hash */
    gpumpi_block_switch_set_up, NULL, gpumpi_block_switch_check, gpumpi_block_switch_hash,
    /* preset_for, next_cycle, copy_statistics */
    gpumpi_block_switch_preset_for, gpumpi_block_switch_next_cycle, NULL,
};
/* clang-format on */
GPUMP_API const gpumpi_methods *gpumpi_block_switch_methods(void) { return &gpumpi_block_switch_hooks; }
