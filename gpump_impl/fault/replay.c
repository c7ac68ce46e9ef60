#include "fault/replay.h"

#include <string.h>

#define GPUMPI_REPLAY_MAGIC UINT64_C(0x67706d7072707900) /* "gpmprpy" */

static gpumpi_replay_warp *gpumpi_replay_warp_of(gpump_replay *replay, uint32_t warp) {
    return (gpumpi_replay_warp *)(void *)(replay + 1) + warp;
}
static gpumpi_replay_slot *gpumpi_replay_slots(gpump_replay *replay) {
    return (gpumpi_replay_slot *)(void *)gpumpi_replay_warp_of(replay, replay->config.warps);
}
/* The log units taken by each block. */
static uint64_t *gpumpi_replay_used(gpump_replay *replay) {
    return (uint64_t *)(void *)(gpumpi_replay_slots(replay) + (size_t)replay->config.warps * GPUMP_REPLAY_WINDOW);
}
static int gpumpi_replay_has_queue(const gpump_replay_config *config) {
    return config->scheme == GPUMP_REPLAY_QUEUE || config->scheme == GPUMP_REPLAY_LOG;
}
static int gpumpi_replay_disables(const gpump_replay_config *config) {
    return config->scheme == GPUMP_REPLAY_WD_COMMIT || config->scheme == GPUMP_REPLAY_WD_CHECK;
}
static void gpumpi_replay_wake(gpump_replay *replay, uint32_t warp) { gpump_bits_set(replay->active, warp); }

static gpump_result gpumpi_replay_preset(void *filled, const char *preset) {
    gpump_replay_config *config = (gpump_replay_config *)filled;
    static const struct {
        const char *name;
        uint32_t scheme, log_bytes;
    } presets[] = {
        {"stall", GPUMP_REPLAY_STALL, 0},       {"wd_commit", GPUMP_REPLAY_WD_COMMIT, 0},
        {"wd_check", GPUMP_REPLAY_WD_CHECK, 0}, {"queue", GPUMP_REPLAY_QUEUE, 0},
        {"log8", GPUMP_REPLAY_LOG, 8192},       {"log16", GPUMP_REPLAY_LOG, 16384},
        {"log32", GPUMP_REPLAY_LOG, 32768},     {"log64", GPUMP_REPLAY_LOG, 65536},
        {"regions", GPUMP_REPLAY_REGIONS, 0},
    };
    gpump_gpu gpu;
    for (uint32_t i = 0; i < sizeof presets / sizeof presets[0]; i++) {
        gpump_result result;
        if (strcmp(presets[i].name, preset) != 0) continue;
        result = gpump_preset(&gpump_gpu_component, &gpu, "table61", NULL);
        if (result) return result;
        memset(config, 0, sizeof *config);
        config->scheme = presets[i].scheme;
        config->warps = gpu.warp_slots;
        config->blocks = gpu.block_slots;
        config->entries = 32;
        config->log_bytes = presets[i].log_bytes;
        config->log_entry_bytes = gpu.lanes * 8;
        config->order = GPUMP_REPLAY_CLASS;
        config->on_fault = GPUMP_REPLAY_EAGER;
        config->probe = 1;
        config->wide = GPUMP_REPLAY_WIDE_HOLDS;
        config->lanes = gpu.lanes;
        return GPUMP_OK;
    }
    return GPUMP_ERROR_UNKNOWN_NAME;
}

static gpump_result gpumpi_replay_check_config(const void *checked, gpump_diag *diag) {
    static const gpumpi_limit limits[] = {
        GPUMPI_LIMIT(gpump_replay_config, scheme, 0u, GPUMP_REPLAY_SCHEMES - 1u),
        GPUMPI_LIMIT(gpump_replay_config, warps, 1u, 256u),
        GPUMPI_LIMIT(gpump_replay_config, blocks, 1u, 64u),
        GPUMPI_LIMIT(gpump_replay_config, entries, 1u, GPUMP_REPLAY_WINDOW),
        GPUMPI_LIMIT(gpump_replay_config, log_entry_bytes, 1u, 4096u),
        GPUMPI_LIMIT(gpump_replay_config, order, 0u, GPUMP_REPLAY_ORDERS - 1u),
        GPUMPI_LIMIT(gpump_replay_config, on_fault, 0u, 1u),
        GPUMPI_LIMIT(gpump_replay_config, probe, 0u, 1u),
        GPUMPI_LIMIT(gpump_replay_config, wide, 0u, 1u),
        GPUMPI_LIMIT(gpump_replay_config, lanes, 1u, 64u),
    };
    const gpump_replay_config *config = (const gpump_replay_config *)checked;
    const gpump_result result = GPUMPI_CHECK_LIMITS(config, limits, diag);
    return result ? result
                  : gpumpi_range(diag, "log_bytes", config->log_bytes,
                                 config->scheme == GPUMP_REPLAY_LOG ? config->log_entry_bytes : 0u, 1u << 20);
}

static uint64_t gpumpi_replay_bytes(const void *of) {
    const gpump_replay_config *config = (const gpump_replay_config *)of;
    return sizeof(gpump_replay) +
           config->warps * (sizeof(gpumpi_replay_warp) + GPUMP_REPLAY_WINDOW * sizeof(gpumpi_replay_slot)) +
           config->blocks * sizeof(uint64_t);
}

static uint32_t gpumpi_replay_share(const gpump_replay_config *config, uint32_t blocks) {
    return config->scheme == GPUMP_REPLAY_LOG ? config->log_bytes / config->log_entry_bytes / blocks : 0;
}

/* Why a warp in this state may not fetch, and may not issue. Warp disable has only older instructions left to issue
 * when a warp drains, and these must commit before its PC goes back. */
static gpump_reason gpumpi_replay_no_fetch(const gpumpi_replay_warp *w) {
    if (w->block == GPUMP_NONE) return GPUMP_REASON_NO_SUCH_BLOCK;
    if (w->state == GPUMP_REPLAY_RUN)
        return w->flags & GPUMPI_REPLAY_DISABLED ? GPUMP_REASON_WARP_DISABLED : GPUMP_REASON_YES;
    return w->state == GPUMP_REPLAY_REPLAY ? GPUMP_REASON_REPLAYING : GPUMP_REASON_FAULTED;
}
static gpump_reason gpumpi_replay_no_issue(const gpump_replay *replay, const gpumpi_replay_warp *w) {
    if (w->block == GPUMP_NONE) return GPUMP_REASON_NO_SUCH_BLOCK;
    if (w->state == GPUMP_REPLAY_RUN) return GPUMP_REASON_YES;
    if (w->state == GPUMP_REPLAY_DRAIN && gpumpi_replay_disables(&replay->config)) return GPUMP_REASON_YES;
    return w->state == GPUMP_REPLAY_REPLAY ? GPUMP_REASON_REPLAYING : GPUMP_REASON_FAULTED;
}
static void gpumpi_replay_enter(gpump_replay *replay, uint32_t warp, gpump_replay_state state) {
    gpumpi_replay_warp *w = gpumpi_replay_warp_of(replay, warp);
    w->state = state;
    w->may_fetch = gpumpi_replay_no_fetch(w);
    w->may_issue = gpumpi_replay_no_issue(replay, w);
    gpumpi_replay_wake(replay, warp);
}

static void gpumpi_replay_set_up(void *object) {
    gpump_replay *fresh = (gpump_replay *)object;
    const gpump_replay_config *config = &fresh->config;
    fresh->running = config->blocks;
    fresh->partition = gpumpi_replay_share(config, config->blocks);
    for (uint32_t warp = 0; warp < config->warps; warp++) {
        gpumpi_replay_warp_of(fresh, warp)->block = GPUMP_NONE;
        gpumpi_replay_warp_of(fresh, warp)->may_fetch = GPUMP_REASON_NO_SUCH_BLOCK;
        gpumpi_replay_warp_of(fresh, warp)->may_issue = GPUMP_REASON_NO_SUCH_BLOCK;
    }
}

/* What is wrong with a warp; NULL: nothing. Adds its log units to used[]. */
static const char *gpumpi_replay_wrong(const gpump_replay *replay, uint32_t warp, uint64_t *used) {
    const gpumpi_replay_warp *w = gpumpi_replay_at(replay, warp);
    const gpumpi_replay_slot *slots = gpumpi_replay_slot_at(replay, warp * GPUMP_REPLAY_WINDOW);
    const int open = w->block != GPUMP_NONE;
    uint64_t ranks = 0, units = 0;
    uint32_t queued = 0;
    if (open && w->block >= replay->config.blocks) return "block of a warp";
    if (w->state >= GPUMP_REPLAY_STATES || (w->flags & ~(uint32_t)GPUMPI_REPLAY_FLAGS) || w->unused)
        return "warp state";
    if (w->may_fetch != (uint32_t)gpumpi_replay_no_fetch(w) ||
        w->may_issue != (uint32_t)gpumpi_replay_no_issue(replay, w))
        return "rights of a warp";
    if (!open && (w->present | w->state | w->flags)) return "warp without block";
    if ((w->memory | w->syncs | w->issued) & ~w->present) return "entries of a warp";
    if ((w->loads | w->effective | w->waiting | w->faulted | w->issued) & ~w->memory) return "memory instructions";
    if (w->memory & w->syncs) return "kinds of a warp";
    if ((w->effective | w->waiting | w->faulted) & ~w->issued) return "instructions in flight";
    if ((w->effective & (w->waiting | w->faulted)) | (w->waiting & w->faulted)) return "instructions in flight";
    if (w->state == GPUMP_REPLAY_RUN && (w->present & ~w->issued)) return "pending instructions";
    if (w->issued &&
        (w->state == GPUMP_REPLAY_HELD || (w->state == GPUMP_REPLAY_DRAIN && w->flags & GPUMPI_REPLAY_DRAINED)))
        return "pending instructions";
    if (w->state != GPUMP_REPLAY_RUN && replay->config.scheme == GPUMP_REPLAY_STALL) return "warp state";
    if (w->state == GPUMP_REPLAY_REPLAY && !(w->present & ~w->issued)) return "pending instructions";
    if (!gpumpi_replay_has_queue(&replay->config) && (w->present & ~w->issued)) return "pending instructions";
    for (uint64_t rest = w->present; rest; rest &= rest - 1) {
        const uint32_t slot = gpump_bits_lowest64(rest), rank = gpump_bits_count64(slots[slot].older & w->present);
        const gpump_replay_entry *entry = &slots[slot].entry;
        const uint64_t bit = (uint64_t)1 << slot;
        if (rank >= GPUMP_REPLAY_WINDOW || gpump_bits_get(&ranks, rank)) return "program order";
        gpump_bits_set(&ranks, rank);
        for (uint64_t older = slots[slot].older & w->present; older; older &= older - 1)
            if (slots[gpump_bits_lowest64(older)].entry.sequence >= entry->sequence) return "program order";
        if (entry->kind >= GPUMP_REPLAY_KINDS || (entry->flags & ~3u)) return "entry";
        if (((w->memory & bit) != 0) != (entry->kind >= GPUMP_REPLAY_LOAD)) return "kind of an entry";
        if (((w->loads & bit) != 0) != (entry->kind == GPUMP_REPLAY_LOAD)) return "kind of an entry";
        if (((w->syncs & bit) != 0) != (entry->kind == GPUMP_REPLAY_SYNC)) return "kind of an entry";
        if ((entry->flags && !(w->memory & bit)) || ((w->issued & bit) && !(entry->flags & GPUMP_REPLAY_ISSUED)) ||
            entry->flags == GPUMP_REPLAY_HOLDS ||
            (entry->flags & GPUMP_REPLAY_HOLDS && replay->config.scheme != GPUMP_REPLAY_LOG))
            return "flags of an entry";
        if (!(entry->flags & GPUMP_REPLAY_ISSUED)) continue;
        queued++;
        if ((entry->flags & GPUMP_REPLAY_HOLDS || replay->config.scheme != GPUMP_REPLAY_LOG) && entry->log_units)
            return "log units of an entry";
        units += entry->log_units;
    }
    if (ranks & (ranks + 1)) return "program order";
    if (queued != w->queued || units != w->log_units) return "sums of a warp";
    if (open) used[w->block] += units;
    return NULL;
}

static gpump_result gpumpi_replay_check(const void *object, gpump_diag *diag) {
    const gpump_replay *replay = (const gpump_replay *)object;
    uint64_t used[64];
    const uint64_t *taken;
    if (replay->unused) return gpumpi_bad_bytes(diag, "unused", 0, replay->unused, 0, 0);
    if (replay->running < 1 || replay->running > replay->config.blocks ||
        replay->partition != gpumpi_replay_share(&replay->config, replay->running))
        return gpumpi_bad_bytes(diag, "running blocks", 0, replay->running, 1, replay->config.blocks);
    for (uint32_t warp = 0; warp < 256; warp++)
        if (gpump_bits_get(replay->active, warp) && warp >= replay->config.warps)
            return gpumpi_bad_bytes(diag, "active warps", warp, warp, 0, replay->config.warps - 1);
    memset(used, 0, sizeof used);
    for (uint32_t warp = 0; warp < replay->config.warps; warp++) {
        const char *wrong = gpumpi_replay_wrong(replay, warp, used);
        if (wrong) return gpumpi_fail_at(diag, GPUMP_ERROR_FORMAT, wrong, warp);
    }
    taken = (const uint64_t *)(const void *)gpumpi_replay_slot_at(replay, replay->config.warps * GPUMP_REPLAY_WINDOW);
    for (uint32_t block = 0; block < replay->config.blocks; block++)
        if (taken[block] != used[block] || used[block] > replay->partition)
            return gpumpi_bad_bytes(diag, "log of a block", block, taken[block], used[block], used[block]);
    return GPUMP_OK;
}

static uint64_t gpumpi_replay_hash(const void *object) {
    const gpump_replay *replay = (const gpump_replay *)object;
    uint64_t hash = gpumpi_hash_u64s(GPUMP_HASH_SEED, replay->active, 4);
    hash = gpumpi_hash_u64s(hash, &replay->statistics.issued, sizeof replay->statistics / 8);
    hash = gpumpi_hash_u32s(hash, &replay->config.scheme, sizeof replay->config / 4 + 3);
    for (uint32_t warp = 0; warp < replay->config.warps; warp++) {
        const gpumpi_replay_warp *w = gpumpi_replay_at(replay, warp);
        const gpumpi_replay_slot *slots = gpumpi_replay_slot_at(replay, warp * GPUMP_REPLAY_WINDOW);
        hash = gpumpi_hash_u32s(gpumpi_hash_u64s(hash, &w->present, 9), &w->may_fetch, 8);
        for (uint64_t rest = w->present; rest; rest &= rest - 1) {
            const gpumpi_replay_slot *slot = slots + gpump_bits_lowest64(rest);
            hash = gpumpi_hash_u32s(gpumpi_hash_u64s(hash, &slot->entry.sequence, 2), &slot->entry.pc, 4);
            hash = gpumpi_hash_u64s(gpump_hash_u64(hash, slot->older & w->present), &slot->low, 3);
        }
    }
    return gpumpi_hash_u64s(
        hash, (const uint64_t *)(const void *)gpumpi_replay_slot_at(replay, replay->config.warps * GPUMP_REPLAY_WINDOW),
        replay->config.blocks);
}

static uint64_t gpumpi_replay_bits(const void *of) {
    const gpump_replay_config *config = (const gpump_replay_config *)of;
    uint64_t entry, units, bits;
    if (config->scheme == GPUMP_REPLAY_STALL) return 0;
    bits = 2u * (uint64_t)config->warps; /* the state */
    if (gpumpi_replay_disables(config)) bits += config->warps;
    if (!gpumpi_replay_has_queue(config)) return bits;
    /* PC, lanes, kind, 5 flags (present, issued, effective, waiting, faulted), and who is older */
    entry = 32 + (uint64_t)config->lanes + gpumpi_bits_for(GPUMP_REPLAY_KINDS) + 5 + config->entries;
    if (config->order == GPUMP_REPLAY_ADDRESS) entry += 3 * 64;
    if (config->scheme == GPUMP_REPLAY_LOG) {
        units = config->log_bytes / config->log_entry_bytes;
        entry += 2 + 1; /* how many log entries it has, and whether it holds its sources */
        bits += (uint64_t)config->log_bytes * 8 + units * gpumpi_bits_for(config->entries) +
                config->blocks * gpumpi_bits_for(units + 1);
    }
    return bits + config->warps * config->entries * entry;
}

/* ---- blocks and warps come and go ---- */

GPUMP_API gpump_result gpump_replay_set_blocks(gpump_replay *replay, uint32_t blocks) {
    if (!replay || !blocks || blocks > replay->config.blocks) return GPUMP_ERROR_ARGUMENT;
    for (uint32_t block = 0; block < replay->config.blocks; block++)
        if (gpumpi_replay_used(replay)[block]) return GPUMP_ERROR_STATE;
    replay->running = blocks;
    replay->partition = gpumpi_replay_share(&replay->config, blocks);
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_replay_open(gpump_replay *replay, uint32_t warp, uint32_t block) {
    if (!replay || warp >= replay->config.warps || block >= replay->config.blocks) return GPUMP_ERROR_ARGUMENT;
    if (gpumpi_replay_at(replay, warp)->block != GPUMP_NONE) return GPUMP_ERROR_STATE;
    gpumpi_replay_warp_of(replay, warp)->block = block;
    gpumpi_replay_enter(replay, warp, GPUMP_REPLAY_RUN);
    gpump_bits_clear(replay->active, warp);
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_replay_close(gpump_replay *replay, uint32_t warp) {
    gpumpi_replay_warp *w;
    if (!replay || warp >= replay->config.warps) return GPUMP_ERROR_ARGUMENT;
    w = gpumpi_replay_warp_of(replay, warp);
    if (w->block == GPUMP_NONE) return GPUMP_ERROR_STATE;
    gpumpi_replay_used(replay)[w->block] -= w->log_units;
    memset(w, 0, sizeof *w);
    w->block = GPUMP_NONE;
    w->may_fetch = w->may_issue = GPUMP_REASON_NO_SUCH_BLOCK;
    gpump_bits_clear(replay->active, warp);
    return GPUMP_OK;
}

/* ---- entries ---- */

/* A slot, chosen among the free ones, becomes *entry. There must be one. */
static uint32_t gpumpi_replay_insert(gpump_replay *replay, uint32_t warp, const gpump_replay_entry *entry) {
    gpumpi_replay_warp *w = gpumpi_replay_warp_of(replay, warp);
    gpumpi_replay_slot *slots = gpumpi_replay_slots(replay) + (size_t)warp * GPUMP_REPLAY_WINDOW;
    const uint32_t slot = gpump_bits_lowest64(~w->present);
    const uint64_t bit = (uint64_t)1 << slot;
    gpumpi_replay_slot *fresh = slots + slot;
    fresh->entry = *entry;
    fresh->older = w->present;
    fresh->low = 0; /* until the segments are known, they may be any */
    fresh->high = fresh->signature = UINT64_MAX;
    for (uint64_t rest = w->present; rest; rest &= rest - 1) {
        const uint32_t other = gpump_bits_lowest64(rest);
        if (slots[other].entry.sequence > entry->sequence) {
            slots[other].older |= bit;
            fresh->older &= ~((uint64_t)1 << other);
        } else {
            slots[other].older &= ~bit;
        }
    }
    w->present |= bit;
    if (entry->kind >= GPUMP_REPLAY_LOAD) w->memory |= bit;
    if (entry->kind == GPUMP_REPLAY_LOAD) w->loads |= bit;
    if (entry->kind == GPUMP_REPLAY_SYNC) w->syncs |= bit;
    return warp * GPUMP_REPLAY_WINDOW + slot;
}

/* Gives the log entries of `entry` back. */
static void gpumpi_replay_free_log(gpump_replay *replay, uint32_t entry) {
    gpumpi_replay_warp *w = gpumpi_replay_warp_of(replay, entry / GPUMP_REPLAY_WINDOW);
    gpumpi_replay_slot *slot = gpumpi_replay_slots(replay) + entry;
    if (!(slot->entry.flags & GPUMP_REPLAY_ISSUED)) return;
    w->log_units -= slot->entry.log_units;
    gpumpi_replay_used(replay)[w->block] -= slot->entry.log_units;
    slot->entry.log_units = 0;
}

/* Gives `entry` its log entries, or makes it hold its sources; there must be room. */
static void gpumpi_replay_take_log(gpump_replay *replay, uint32_t entry) {
    gpumpi_replay_warp *w = gpumpi_replay_warp_of(replay, entry / GPUMP_REPLAY_WINDOW);
    gpump_replay_entry *instruction = &gpumpi_replay_slots(replay)[entry].entry;
    instruction->flags = GPUMP_REPLAY_ISSUED;
    w->queued++;
    if (replay->config.scheme != GPUMP_REPLAY_LOG) {
        instruction->log_units = 0;
    } else if (instruction->log_units > replay->partition) {
        instruction->flags |= GPUMP_REPLAY_HOLDS;
        instruction->log_units = 0;
        replay->statistics.held++;
    } else {
        w->log_units += instruction->log_units;
        gpumpi_replay_used(replay)[w->block] += instruction->log_units;
        replay->statistics.logged += instruction->log_units;
    }
}

static void gpumpi_replay_remove(gpump_replay *replay, uint32_t entry) {
    gpumpi_replay_warp *w = gpumpi_replay_warp_of(replay, entry / GPUMP_REPLAY_WINDOW);
    const uint64_t keep = ~((uint64_t)1 << entry % GPUMP_REPLAY_WINDOW);
    gpumpi_replay_free_log(replay, entry);
    if (gpumpi_replay_slots(replay)[entry].entry.flags & GPUMP_REPLAY_ISSUED) w->queued--;
    w->present &= keep;
    w->memory &= keep;
    w->loads &= keep;
    w->syncs &= keep;
    w->issued &= keep;
    w->effective &= keep;
    w->waiting &= keep;
    w->faulted &= keep;
}

/* Warp disable: the warp may fetch again when `entry` is the instruction that it waits for, and not an older one. */
static void gpumpi_replay_enable(gpump_replay *replay, uint32_t entry) {
    const uint32_t warp = entry / GPUMP_REPLAY_WINDOW;
    gpumpi_replay_warp *w = gpumpi_replay_warp_of(replay, warp);
    if (!(w->flags & GPUMPI_REPLAY_DISABLED) || gpumpi_replay_slots(replay)[entry].entry.sequence < w->fetched) return;
    w->flags &= ~(uint32_t)GPUMPI_REPLAY_DISABLED;
    if (w->state != GPUMP_REPLAY_RUN) return;
    w->may_fetch = GPUMP_REASON_YES;
    w->flags |= GPUMPI_REPLAY_FETCHES;
    gpumpi_replay_wake(replay, warp);
}

static void gpumpi_replay_take_effect(gpump_replay *replay, uint32_t entry) {
    const uint32_t warp = entry / GPUMP_REPLAY_WINDOW;
    gpumpi_replay_warp *w = gpumpi_replay_warp_of(replay, warp);
    gpump_bits_set(&w->effective, entry % GPUMP_REPLAY_WINDOW);
    gpump_bits_clear(&w->waiting, entry % GPUMP_REPLAY_WINDOW);
    replay->statistics.effects++;
    gpumpi_replay_free_log(replay, entry);
    if (replay->config.scheme == GPUMP_REPLAY_WD_CHECK) gpumpi_replay_enable(replay, entry);
    if (w->waiting) gpumpi_replay_wake(replay, warp);
}

static void gpumpi_replay_drain(gpump_replay *replay, uint32_t warp) {
    replay->statistics.drains++;
    gpumpi_replay_warp_of(replay, warp)->flags &= ~((uint32_t)GPUMPI_REPLAY_DRAINED | (uint32_t)GPUMPI_REPLAY_SERVED);
    gpumpi_replay_enter(replay, warp, GPUMP_REPLAY_DRAIN);
}

GPUMP_API uint64_t gpumpi_replay_common(const gpump_replay *replay, uint32_t entry, uint64_t older) {
    const gpumpi_replay_slot *mine = gpumpi_replay_slot_at(replay, entry);
    const gpumpi_replay_slot *slots = mine - entry % GPUMP_REPLAY_WINDOW;
    uint64_t common = 0;
    for (; older; older &= older - 1) {
        const gpumpi_replay_slot *other = slots + gpump_bits_lowest64(older);
        if (mine->low <= other->high && other->low <= mine->high && (mine->signature & other->signature))
            common |= older & (0u - older);
    }
    return common;
}

/* The warp and the bit of a handle; 0 when it names no entry. */
static uint64_t gpumpi_replay_bit(const gpump_replay *replay, uint32_t entry) {
    uint64_t bit = (uint64_t)1 << entry % GPUMP_REPLAY_WINDOW;
    if (entry / GPUMP_REPLAY_WINDOW >= replay->config.warps) return 0;
    return bit & gpumpi_replay_at(replay, entry / GPUMP_REPLAY_WINDOW)->present;
}

/* ---- questions ---- */

GPUMP_API gpump_reason gpump_replay_may_reissue(const gpump_replay *replay, uint32_t entry) {
    const uint32_t warp = entry / GPUMP_REPLAY_WINDOW;
    const gpumpi_replay_warp *w = gpumpi_replay_at(replay, warp);
    const gpumpi_replay_slot *slot = gpumpi_replay_slot_at(replay, entry);
    const uint64_t pending = w->present & ~w->issued;
    if (w->state != GPUMP_REPLAY_REPLAY) return GPUMP_REASON_FAULTED;
    if (slot->entry.kind == GPUMP_REPLAY_OTHER) return GPUMP_REASON_YES;
    if (slot->older & pending & (w->memory | w->syncs)) return GPUMP_REASON_MEMORY_ORDER;
    if (slot->entry.kind == GPUMP_REPLAY_SYNC)
        return slot->older & w->memory & ~w->effective ? GPUMP_REASON_MEMORY_ORDER : GPUMP_REASON_YES;
    return slot->entry.flags & GPUMP_REPLAY_ISSUED ? GPUMP_REASON_YES
                                                   : gpumpi_replay_room(replay, warp, slot->entry.log_units);
}

GPUMP_API int gpump_replay_waits_for_page(const gpump_replay *replay, uint32_t warp, uint32_t log_units) {
    const gpumpi_replay_warp *w = gpumpi_replay_at(replay, warp);
    uint64_t stuck = 0;
    if (w->block == GPUMP_NONE || gpumpi_replay_room(replay, warp, log_units) != GPUMP_REASON_LOG_ROOM) return 0;
    for (uint32_t other = 0; other < replay->config.warps; other++) {
        const gpumpi_replay_warp *o = gpumpi_replay_at(replay, other);
        if (o->block == w->block && gpumpi_replay_awaits_page(replay, other)) stuck += o->log_units;
    }
    return stuck + log_units > replay->partition;
}

/* ---- facts ---- */

GPUMP_API gpump_result gpump_replay_report_issued(gpump_replay *replay, uint32_t warp,
                                                  const gpump_replay_entry *instruction, uint32_t *entry) {
    gpumpi_replay_warp *w;
    if (!replay || !instruction || !entry || warp >= replay->config.warps || instruction->kind < GPUMP_REPLAY_LOAD ||
        instruction->kind >= GPUMP_REPLAY_KINDS)
        return GPUMP_ERROR_ARGUMENT;
    w = gpumpi_replay_warp_of(replay, warp);
    if (w->block == GPUMP_NONE || w->state != GPUMP_REPLAY_RUN) return GPUMP_ERROR_STATE;
    for (uint64_t rest = w->present; rest; rest &= rest - 1)
        if (gpumpi_replay_slot_at(replay, warp * GPUMP_REPLAY_WINDOW + gpump_bits_lowest64(rest))->entry.sequence >=
            instruction->sequence)
            return GPUMP_ERROR_ARGUMENT;
    if (gpump_replay_may_issue_memory(replay, warp, instruction->log_units)) return GPUMP_BUSY;
    *entry = gpumpi_replay_insert(replay, warp, instruction);
    gpump_bits_set(&w->issued, *entry % GPUMP_REPLAY_WINDOW);
    gpumpi_replay_take_log(replay, *entry);
    replay->statistics.issued++;
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_replay_report_segments(gpump_replay *replay, uint32_t entry, const uint64_t *segments,
                                                    uint32_t count) {
    gpumpi_replay_slot *slot;
    if (!replay || (!segments && count) || !gpumpi_replay_bit(replay, entry)) return GPUMP_ERROR_ARGUMENT;
    slot = gpumpi_replay_slots(replay) + entry;
    slot->low = UINT64_MAX;
    slot->high = slot->signature = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (segments[i] < slot->low) slot->low = segments[i];
        if (segments[i] > slot->high) slot->high = segments[i];
        slot->signature |= (uint64_t)1 << (segments[i] * UINT64_C(0x9e3779b97f4a7c15) >> 58);
    }
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_replay_report_checked(gpump_replay *replay, uint32_t entry, gpump_reason *answer) {
    gpumpi_replay_warp *w;
    uint64_t bit;
    if (!replay || !answer) return GPUMP_ERROR_ARGUMENT;
    bit = gpumpi_replay_bit(replay, entry);
    if (!bit) return GPUMP_ERROR_ARGUMENT;
    w = gpumpi_replay_warp_of(replay, entry / GPUMP_REPLAY_WINDOW);
    if (!(bit & w->issued & ~w->effective & ~w->waiting)) return GPUMP_ERROR_STATE;
    if (w->state == GPUMP_REPLAY_DRAIN && (bit & w->faulted)) { /* the squash is on its way */
        *answer = GPUMP_REASON_FAULTED;
        return GPUMP_OK;
    }
    w->faulted &= ~bit;
    *answer = gpumpi_replay_may_take_effect(replay, entry);
    if (*answer == GPUMP_REASON_YES) {
        gpumpi_replay_take_effect(replay, entry);
    } else {
        w->waiting |= bit;
        replay->statistics.waits++;
        gpumpi_replay_wake(replay, entry / GPUMP_REPLAY_WINDOW);
    }
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_replay_report_faulted(gpump_replay *replay, uint32_t entry) {
    const uint32_t warp = entry / GPUMP_REPLAY_WINDOW;
    gpumpi_replay_warp *w;
    uint64_t bit;
    if (!replay) return GPUMP_ERROR_ARGUMENT;
    bit = gpumpi_replay_bit(replay, entry);
    if (!bit) return GPUMP_ERROR_ARGUMENT;
    w = gpumpi_replay_warp_of(replay, warp);
    if (!(bit & w->issued & ~w->effective & ~w->waiting)) return GPUMP_ERROR_STATE;
    w->faulted |= bit;
    w->flags |= GPUMPI_REPLAY_AWAITS;
    w->flags &= ~(uint32_t)GPUMPI_REPLAY_SERVED;
    replay->statistics.faults++;
    if (replay->config.scheme == GPUMP_REPLAY_STALL) return GPUMP_OK;
    if (w->state == GPUMP_REPLAY_DRAIN)
        gpumpi_replay_wake(replay, warp);
    else if (replay->config.on_fault == GPUMP_REPLAY_EAGER)
        gpumpi_replay_drain(replay, warp);
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_replay_report_committed(gpump_replay *replay, uint32_t entry) {
    const uint32_t warp = entry / GPUMP_REPLAY_WINDOW;
    uint64_t bit;
    if (!replay) return GPUMP_ERROR_ARGUMENT;
    bit = gpumpi_replay_bit(replay, entry);
    if (!bit) return GPUMP_ERROR_ARGUMENT;
    if (!(bit & gpumpi_replay_at(replay, warp)->effective)) return GPUMP_ERROR_STATE;
    if (replay->config.scheme == GPUMP_REPLAY_WD_COMMIT) gpumpi_replay_enable(replay, entry);
    gpumpi_replay_remove(replay, entry);
    replay->statistics.committed++;
    if (gpumpi_replay_at(replay, warp)->state == GPUMP_REPLAY_DRAIN) gpumpi_replay_wake(replay, warp);
    return GPUMP_OK;
}

/* Sequences ascend and are none of the warp's. */
static int gpumpi_replay_sequences_are_new(const gpump_replay *replay, uint32_t warp, const gpump_replay_entry *entries,
                                           uint32_t count) {
    const gpumpi_replay_slot *slots = gpumpi_replay_slot_at(replay, warp * GPUMP_REPLAY_WINDOW);
    for (uint32_t i = 0; i < count; i++) {
        if (entries[i].kind >= GPUMP_REPLAY_KINDS || (i && entries[i].sequence <= entries[i - 1].sequence)) return 0;
        for (uint64_t rest = gpumpi_replay_at(replay, warp)->present; rest; rest &= rest - 1)
            if (slots[gpump_bits_lowest64(rest)].entry.sequence == entries[i].sequence) return 0;
    }
    return 1;
}

GPUMP_API gpump_result gpump_replay_report_unissued(gpump_replay *replay, uint32_t warp,
                                                    const gpump_replay_entry *entries, uint32_t count) {
    gpumpi_replay_warp *w;
    if (!replay || warp >= replay->config.warps || (!entries && count)) return GPUMP_ERROR_ARGUMENT;
    w = gpumpi_replay_warp_of(replay, warp);
    if (w->state != GPUMP_REPLAY_DRAIN || !(w->flags & GPUMPI_REPLAY_DRAINED)) return GPUMP_ERROR_STATE;
    if (count && !gpumpi_replay_has_queue(&replay->config)) return GPUMP_ERROR_ARGUMENT;
    if (count > GPUMP_REPLAY_WINDOW - gpumpi_bits_count64(w->present)) return GPUMP_ERROR_FULL;
    if (!gpumpi_replay_sequences_are_new(replay, warp, entries, count)) return GPUMP_ERROR_ARGUMENT;
    for (uint32_t i = 0; i < count; i++) {
        gpump_replay_entry entry = entries[i];
        entry.flags = 0;
        (void)gpumpi_replay_insert(replay, warp, &entry);
    }
    replay->statistics.unissued += count;
    gpumpi_replay_enter(replay, warp, GPUMP_REPLAY_HELD);
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_replay_report_served(gpump_replay *replay, uint32_t warp) {
    gpumpi_replay_warp *w;
    if (!replay || warp >= replay->config.warps) return GPUMP_ERROR_ARGUMENT;
    w = gpumpi_replay_warp_of(replay, warp);
    if (w->block == GPUMP_NONE) return GPUMP_ERROR_STATE;
    w->flags &= ~(uint32_t)GPUMPI_REPLAY_AWAITS;
    if (w->state != GPUMP_REPLAY_DRAIN && w->state != GPUMP_REPLAY_HELD) return GPUMP_OK;
    w->flags |= GPUMPI_REPLAY_SERVED;
    gpumpi_replay_wake(replay, warp);
    return GPUMP_OK;
}

/* The warp leaves HELD, or its replay is over: it runs. */
static void gpumpi_replay_run(gpump_replay *replay, uint32_t warp) {
    gpumpi_replay_warp_of(replay, warp)->flags &=
        ~(uint32_t)(GPUMPI_REPLAY_DISABLED | GPUMPI_REPLAY_SERVED | GPUMPI_REPLAY_LEAVES | GPUMPI_REPLAY_DRAINED);
    gpumpi_replay_warp_of(replay, warp)->flags |= GPUMPI_REPLAY_FETCHES;
    gpumpi_replay_enter(replay, warp, GPUMP_REPLAY_RUN);
}

GPUMP_API gpump_result gpump_replay_report_reissued(gpump_replay *replay, uint32_t entry) {
    const uint32_t warp = entry / GPUMP_REPLAY_WINDOW;
    gpumpi_replay_warp *w;
    gpumpi_replay_slot *slot;
    uint64_t bit;
    if (!replay) return GPUMP_ERROR_ARGUMENT;
    bit = gpumpi_replay_bit(replay, entry);
    if (!bit) return GPUMP_ERROR_ARGUMENT;
    w = gpumpi_replay_warp_of(replay, warp);
    slot = gpumpi_replay_slots(replay) + entry;
    if (w->state != GPUMP_REPLAY_REPLAY || (bit & w->issued)) return GPUMP_ERROR_STATE;
    if (gpump_replay_may_reissue(replay, entry)) return GPUMP_BUSY;
    replay->statistics.reissued++;
    if (!(bit & w->memory)) {
        gpumpi_replay_remove(replay, entry);
    } else {
        w->issued |= bit;
        if (!(slot->entry.flags & GPUMP_REPLAY_ISSUED)) {
            gpumpi_replay_take_log(replay, entry);
            replay->statistics.issued++;
        }
    }
    if (!(w->present & ~w->issued)) gpumpi_replay_run(replay, warp);
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_replay_squash(gpump_replay *replay, uint32_t warp) {
    gpumpi_replay_warp *w;
    if (!replay || warp >= replay->config.warps) return GPUMP_ERROR_ARGUMENT;
    w = gpumpi_replay_warp_of(replay, warp);
    if (w->block == GPUMP_NONE) return GPUMP_ERROR_STATE;
    if (replay->config.scheme == GPUMP_REPLAY_STALL) return GPUMP_BUSY;
    if (w->state == GPUMP_REPLAY_RUN || w->state == GPUMP_REPLAY_REPLAY) gpumpi_replay_drain(replay, warp);
    w->flags &= ~(uint32_t)GPUMPI_REPLAY_SERVED;
    w->flags |= GPUMPI_REPLAY_LEAVES;
    gpumpi_replay_wake(replay, warp);
    return GPUMP_OK;
}

/* ---- actions ---- */

/* The oldest of some entries of a warp; there must be one. */
static uint32_t gpumpi_replay_oldest(const gpump_replay *replay, uint32_t warp, uint64_t entries) {
    const gpumpi_replay_slot *slots = gpumpi_replay_slot_at(replay, warp * GPUMP_REPLAY_WINDOW);
    uint64_t rest = entries;
    while (slots[gpump_bits_lowest64(rest)].older & entries) rest &= rest - 1;
    return warp * GPUMP_REPLAY_WINDOW + gpump_bits_lowest64(rest);
}

/* What must leave the pipeline now, of a warp that drains: what has faulted, and what an older one keeps from its
 * effect for good. With `probe` the latter first finishes its checks. */
static uint64_t gpumpi_replay_to_squash(const gpump_replay *replay, uint32_t warp) {
    const gpumpi_replay_warp *w = gpumpi_replay_at(replay, warp);
    const uint64_t in_flight = w->issued & ~w->effective;
    uint64_t squash = w->faulted, dead;
    if ((w->flags & GPUMPI_REPLAY_LEAVES) || replay->config.scheme == GPUMP_REPLAY_REGIONS) return in_flight;
    for (dead = replay->config.probe ? w->waiting : in_flight & ~squash; dead; dead &= dead - 1)
        if (gpumpi_replay_may_take_effect(replay, warp * GPUMP_REPLAY_WINDOW + gpump_bits_lowest64(dead)) ==
            GPUMP_REASON_FAULTED)
            squash |= dead & (0u - dead);
    return squash;
}
/* What has waited for older ones that have taken effect by now. */
static uint64_t gpumpi_replay_to_effect(const gpump_replay *replay, uint32_t warp) {
    uint64_t ready = 0;
    for (uint64_t rest = gpumpi_replay_at(replay, warp)->waiting; rest; rest &= rest - 1)
        if (!gpumpi_replay_blockers(replay, warp * GPUMP_REPLAY_WINDOW + gpump_bits_lowest64(rest)))
            ready |= rest & (0u - rest);
    return ready;
}

static int gpumpi_replay_act(gpump_replay *replay, uint32_t warp, gpump_replay_action *action) {
    gpumpi_replay_warp *w = gpumpi_replay_warp_of(replay, warp);
    uint64_t chosen = w->state == GPUMP_REPLAY_DRAIN ? gpumpi_replay_to_squash(replay, warp) : 0;
    if (chosen) {
        const uint32_t entry = gpumpi_replay_oldest(replay, warp, chosen);
        const uint64_t keep = ~((uint64_t)1 << entry % GPUMP_REPLAY_WINDOW);
        action->entry = entry;
        action->what = gpumpi_replay_slot_at(replay, entry)->entry;
        if (!gpumpi_replay_has_queue(&replay->config)) {
            action->kind = GPUMP_REPLAY_ACT_REFETCH;
            gpumpi_replay_remove(replay, entry);
            replay->statistics.refetched++;
            return 1;
        }
        action->kind = GPUMP_REPLAY_ACT_SQUASH;
        action->nacked = !(w->faulted & ~keep) && !(w->flags & GPUMPI_REPLAY_LEAVES);
        w->issued &= keep;
        w->waiting &= keep;
        w->faulted &= keep;
        replay->statistics.nacked += action->nacked;
        replay->statistics.squashed += !action->nacked;
        return 1;
    }
    chosen = w->waiting ? gpumpi_replay_to_effect(replay, warp) : 0;
    if (chosen) {
        action->kind = GPUMP_REPLAY_ACT_EFFECT;
        action->entry = gpumpi_replay_oldest(replay, warp, chosen);
        gpumpi_replay_take_effect(replay, action->entry);
        action->what = gpumpi_replay_slot_at(replay, action->entry)->entry;
        return 1;
    }
    if (w->state == GPUMP_REPLAY_DRAIN && !w->issued && !(w->flags & GPUMPI_REPLAY_DRAINED)) {
        w->flags |= GPUMPI_REPLAY_DRAINED;
        action->kind = GPUMP_REPLAY_ACT_DRAINED;
        return 1;
    }
    if (w->state == GPUMP_REPLAY_HELD && (w->flags & GPUMPI_REPLAY_SERVED)) {
        gpumpi_replay_run(replay, warp);
        w->flags &= ~(uint32_t)GPUMPI_REPLAY_FETCHES;
        action->kind = GPUMP_REPLAY_ACT_FETCH;
        if (!w->present) return 1;
        gpumpi_replay_enter(replay, warp, GPUMP_REPLAY_REPLAY);
        replay->statistics.replays++;
        action->kind = GPUMP_REPLAY_ACT_REPLAY;
        return 1;
    }
    if (w->state == GPUMP_REPLAY_RUN && (w->flags & GPUMPI_REPLAY_FETCHES)) {
        w->flags &= ~(uint32_t)GPUMPI_REPLAY_FETCHES;
        action->kind = GPUMP_REPLAY_ACT_FETCH;
        return 1;
    }
    return 0;
}

GPUMP_API gpump_result gpump_replay_next(gpump_replay *replay, gpump_replay_action *action) {
    if (!replay || !action) return GPUMP_ERROR_ARGUMENT;
    for (uint32_t word = 0; word < 4; word++)
        while (replay->active[word]) {
            const uint32_t warp = word * 64 + gpump_bits_lowest64(replay->active[word]);
            gpump_replay_action found;
            memset(&found, 0, sizeof found);
            found.warp = warp;
            found.entry = GPUMP_NONE;
            if (gpumpi_replay_act(replay, warp, &found)) {
                *action = found;
                return GPUMP_OK;
            }
            gpump_bits_clear(replay->active, warp);
        }
    return GPUMP_EMPTY;
}

/* Handles of `entries` of a warp in program order; the number is known. */
static void gpumpi_replay_in_order(const gpump_replay *replay, uint32_t warp, uint64_t entries, uint32_t *handles) {
    const gpumpi_replay_slot *slots = gpumpi_replay_slot_at(replay, warp * GPUMP_REPLAY_WINDOW);
    for (uint64_t rest = entries; rest; rest &= rest - 1) {
        const uint32_t slot = gpump_bits_lowest64(rest);
        handles[gpumpi_bits_count64(slots[slot].older & entries)] = warp * GPUMP_REPLAY_WINDOW + slot;
    }
}

GPUMP_API gpump_result gpump_replay_pending(const gpump_replay *replay, uint32_t warp, uint32_t *entries,
                                            uint32_t capacity, uint32_t *count) {
    uint64_t pending;
    if (!replay || !count || warp >= replay->config.warps || (!entries && capacity)) return GPUMP_ERROR_ARGUMENT;
    pending = gpumpi_replay_at(replay, warp)->present & ~gpumpi_replay_at(replay, warp)->issued;
    *count = gpumpi_bits_count64(pending);
    if (*count > capacity) return GPUMP_ERROR_CAPACITY;
    gpumpi_replay_in_order(replay, warp, pending, entries);
    return GPUMP_OK;
}

/* ---- contexts ---- */

GPUMP_API gpump_result gpump_replay_save(const gpump_replay *replay, uint32_t warp, gpump_replay_entry *entries,
                                         uint32_t capacity, uint32_t *count) {
    const gpumpi_replay_warp *w;
    uint32_t handles[GPUMP_REPLAY_WINDOW];
    if (!replay || !count || warp >= replay->config.warps || (!entries && capacity)) return GPUMP_ERROR_ARGUMENT;
    w = gpumpi_replay_at(replay, warp);
    if (w->block == GPUMP_NONE || (w->state != GPUMP_REPLAY_HELD && (w->state != GPUMP_REPLAY_RUN || w->present)))
        return GPUMP_ERROR_STATE;
    *count = gpumpi_bits_count64(w->present);
    if (*count > capacity) return GPUMP_ERROR_CAPACITY;
    gpumpi_replay_in_order(replay, warp, w->present, handles);
    for (uint32_t i = 0; i < *count; i++) entries[i] = gpumpi_replay_slot_at(replay, handles[i])->entry;
    return GPUMP_OK;
}

/* What is wrong with a saved entry; NULL: nothing. */
static const char *gpumpi_replay_saved_wrong(const gpump_replay *replay, const gpump_replay_entry *entry) {
    const int logs = replay->config.scheme == GPUMP_REPLAY_LOG;
    if (entry->kind >= GPUMP_REPLAY_KINDS) return "kind";
    if ((entry->flags & ~3u) || (entry->flags && entry->kind < GPUMP_REPLAY_LOAD)) return "flags";
    if (entry->flags == GPUMP_REPLAY_HOLDS || (entry->flags & GPUMP_REPLAY_HOLDS && !logs)) return "flags";
    if (entry->flags & GPUMP_REPLAY_ISSUED && (!logs || entry->flags & GPUMP_REPLAY_HOLDS) && entry->log_units)
        return "log_units";
    return NULL;
}

GPUMP_API gpump_result gpump_replay_restore(gpump_replay *replay, uint32_t warp, const gpump_replay_entry *entries,
                                            uint32_t count, gpump_diag *diag) {
    gpumpi_replay_warp *w;
    uint64_t units = 0;
    if (!replay || (!entries && count) || warp >= replay->config.warps)
        return gpumpi_bad_argument(diag, "warp", 0, warp, 0, replay ? replay->config.warps - 1 : 0);
    w = gpumpi_replay_warp_of(replay, warp);
    if (w->block == GPUMP_NONE || w->present || w->state != GPUMP_REPLAY_RUN)
        return gpumpi_fail(diag, GPUMP_ERROR_STATE,
                           "warp is closed or has entries: call gpump_replay_open just before gpump_replay_restore",
                           warp, warp, 0, 0);
    if (count > (gpumpi_replay_has_queue(&replay->config) ? GPUMP_REPLAY_WINDOW : 0u))
        return gpumpi_bad_bytes(diag, "count", 0, count, 0, GPUMP_REPLAY_WINDOW);
    if (replay->config.scheme == GPUMP_REPLAY_STALL) return GPUMP_OK;
    for (uint32_t i = 0; i < count; i++) {
        const char *wrong = gpumpi_replay_saved_wrong(replay, entries + i);
        if (wrong) return gpumpi_fail_at(diag, GPUMP_ERROR_FORMAT, wrong, i);
        if (entries[i].flags & GPUMP_REPLAY_ISSUED) units += entries[i].log_units;
    }
    if (!gpumpi_replay_sequences_are_new(replay, warp, entries, count))
        return gpumpi_fail_at(diag, GPUMP_ERROR_FORMAT, "sequence", 0);
    if (units > replay->partition - gpumpi_replay_used(replay)[w->block])
        return gpumpi_fail(diag, GPUMP_ERROR_FULL, "log_units", 0, units, 0,
                           replay->partition - gpumpi_replay_used(replay)[w->block]);
    for (uint32_t i = 0; i < count; i++) {
        (void)gpumpi_replay_insert(replay, warp, entries + i);
        if (entries[i].flags & GPUMP_REPLAY_ISSUED) w->queued++;
    }
    w->log_units = (uint32_t)units;
    gpumpi_replay_used(replay)[w->block] += units;
    w->flags = GPUMPI_REPLAY_AWAITS | GPUMPI_REPLAY_LEAVES;
    gpumpi_replay_enter(replay, warp, GPUMP_REPLAY_HELD);
    replay->statistics.restored++;
    return GPUMP_OK;
}

GPUMP_API void gpump_replay_pack(const gpump_replay_entry *entries, uint32_t count, uint64_t *words) {
    for (uint32_t i = 0; i < count; i++, words += 4) {
        words[0] = entries[i].sequence;
        words[1] = entries[i].lanes;
        words[2] = entries[i].pc | (uint64_t)entries[i].kind << 32;
        words[3] = entries[i].log_units | (uint64_t)entries[i].flags << 32;
    }
}

GPUMP_API void gpump_replay_unpack(const uint64_t *words, uint32_t count, gpump_replay_entry *entries) {
    for (uint32_t i = 0; i < count; i++, words += 4) {
        entries[i].sequence = words[0];
        entries[i].lanes = words[1];
        entries[i].pc = (uint32_t)words[2];
        entries[i].kind = (uint32_t)(words[2] >> 32);
        entries[i].log_units = (uint32_t)words[3];
        entries[i].flags = (uint32_t)(words[3] >> 32);
    }
}

GPUMP_API uint64_t gpump_replay_context_bytes(const gpump_replay_config *config, const gpump_replay_entry *entries,
                                              uint32_t count) {
    uint64_t queue = 32u * (uint64_t)count, log = 0;
    for (uint32_t i = 0; i < count; i++)
        if (entries[i].flags & GPUMP_REPLAY_ISSUED && entries[i].log_units)
            log += 16 + 8u * (uint64_t)config->lanes * entries[i].log_units;
    return (queue ? queue + 16 : 0) + (log ? log + 16 : 0);
}

/* ---- statistics ---- */

static const char *const gpumpi_replay_counters[][3] = {
#define GPUMPI_FIELD(name, unit, description) {#name, unit, description},
    GPUMPI_REPLAY_STATISTICS(GPUMPI_FIELD)
#undef GPUMPI_FIELD
};
/* clang-format off */
static const gpumpi_methods gpumpi_replay_hooks = {
    "replay", "fault", GPUMPI_REPLAY_MAGIC,
    GPUMP_LAYOUT_FAULT, sizeof(gpump_replay_config),
    offsetof(gpump_replay, config), offsetof(gpump_replay, statistics),
    sizeof gpumpi_replay_counters / sizeof *gpumpi_replay_counters, gpumpi_replay_counters, 0,
    /* preset, check_config, bytes, bits, tables */
    gpumpi_replay_preset, gpumpi_replay_check_config, gpumpi_replay_bytes, gpumpi_replay_bits, NULL,
    /* set_up, unfit, check, hash */
    gpumpi_replay_set_up, NULL, gpumpi_replay_check, gpumpi_replay_hash,
    /* preset_for, next_cycle, copy_statistics */
    NULL, NULL, NULL,
};
/* clang-format on */
GPUMP_API const gpumpi_methods *gpumpi_replay_methods(void) { return &gpumpi_replay_hooks; }
