#include "fault/restart.h"

#include <string.h>

#define GPUMPI_RESTART_MAGIC UINT64_C(0x67706d7072737400) /* "gpmprst" */
enum { GPUMPI_RESTART_FLAGS = GPUMPI_RESTART_OPEN | GPUMPI_RESTART_BOTH_FORBIDDEN };

static gpumpi_restart_warp *gpumpi_restart_warp_of(gpump_restart *restart, uint32_t warp) {
    return (gpumpi_restart_warp *)(void *)(restart + 1) + warp;
}
/* The SIMT stack at a restart PC of its own: where SHORT is recorded as depth 0, that of SPARSE holds for both. */
static const gpump_restart_frame *gpumpi_restart_frames(const gpump_restart *restart, uint32_t warp, uint32_t region) {
    return (const gpump_restart_frame *)(const void *)gpumpi_restart_at(restart, restart->config.warps) +
           (size_t)(2 * warp + region) * restart->config.frames;
}
static gpump_restart_frame *gpumpi_restart_room(gpump_restart *restart, uint32_t warp, uint32_t region) {
    return (gpump_restart_frame *)(void *)gpumpi_restart_warp_of(restart, restart->config.warps) +
           (size_t)(2 * warp + region) * restart->config.frames;
}
/* Which record says where a region of the warp starts. */
static uint32_t gpumpi_restart_record(const gpumpi_restart_warp *w, uint32_t region) {
    return w->depth[region] ? region : (uint32_t)GPUMP_RESTART_SPARSE;
}
static int gpumpi_restart_is_open(const gpump_restart *restart, uint32_t warp) {
    return restart && warp < restart->config.warps && (gpumpi_restart_at(restart, warp)->flags & GPUMPI_RESTART_OPEN);
}
/* The warp runs as if it had raised no exception in its region. */
static void gpumpi_restart_run(gpumpi_restart_warp *w) {
    w->mode = GPUMP_RESTART_RUN;
    w->exception_pc = w->earlier_pc = GPUMP_NONE;
    w->restarts = 0;
}
/* Nothing is known of the warp, or there is none. */
static void gpumpi_restart_clear(gpumpi_restart_warp *w) {
    memset(w, 0, sizeof *w);
    w->detect_cycle = GPUMP_UNKNOWN;
    gpumpi_restart_run(w);
}

/* ---- configuration ---- */

/* iGPU Table 2; latencies are assumed. */
static const struct {
    const char *name;
    uint32_t latency_cycles, errors_per_10000, voltage_percent;
} gpumpi_restart_detections[] = {
    {"decor", 8, 100, 10}, {"emergency", 8, 1, 10}, {"razor", 1, 100, 15}, {"razor2", 4, 10, 15}};

GPUMP_API const char *gpump_restart_detection_name(uint32_t index) {
    return index < sizeof gpumpi_restart_detections / sizeof gpumpi_restart_detections[0]
               ? gpumpi_restart_detections[index].name
               : NULL;
}

static gpump_result gpumpi_restart_preset(void *filled, const char *preset) {
    gpump_restart_config *config = (gpump_restart_config *)filled;
    const char *name;
    uint32_t i = 0;
    while ((name = gpump_restart_detection_name(i)) != NULL && strcmp(name, preset)) i++;
    if (!name && strcmp(preset, "igpu")) return GPUMP_ERROR_UNKNOWN_NAME;
    memset(config, 0, sizeof *config);
    config->warps = 48;
    config->lanes = 32;
    config->frames = 64;
    config->patch = GPUMP_RESTART_PATCH_REGION;
    config->most_restarts = 8;
    if (!name) return GPUMP_OK;
    config->latency_cycles = gpumpi_restart_detections[i].latency_cycles;
    config->error_rate_q32 =
        (uint32_t)gpump_muldiv_down(gpumpi_restart_detections[i].errors_per_10000, UINT64_C(1) << 32, 10000);
    config->voltage_q16 = gpumpi_restart_detections[i].voltage_percent * 65536u / 100u;
    config->store_entries = 64;
    return GPUMP_OK;
}

static gpump_result gpumpi_restart_check_config(const void *checked, gpump_diag *diag) {
    static const gpumpi_limit limits[] = {
        GPUMPI_LIMIT(gpump_restart_config, warps, 1u, 64u * GPUMPI_RESTART_SET_WORDS),
        GPUMPI_LIMIT(gpump_restart_config, lanes, 1u, 64u),
        GPUMPI_LIMIT(gpump_restart_config, frames, 1u, 256u),
        GPUMPI_LIMIT(gpump_restart_config, latency_cycles, 0u, 4096u),
        GPUMPI_LIMIT(gpump_restart_config, voltage_q16, 0u, 65536u),
        GPUMPI_LIMIT(gpump_restart_config, store_entries, 0u, 65536u),
        GPUMPI_LIMIT(gpump_restart_config, cure, 0u, GPUMP_RESTART_CURES - 1u),
        GPUMPI_LIMIT(gpump_restart_config, patch, 0u, GPUMP_RESTART_PATCHES - 1u),
        GPUMPI_LIMIT(gpump_restart_config, most_restarts, 1u, UINT32_MAX - 1u),
    };
    return GPUMPI_CHECK_LIMITS(checked, limits, diag);
}

static uint64_t gpumpi_restart_bytes(const void *of) {
    const gpump_restart_config *config = (const gpump_restart_config *)of;
    return sizeof(gpump_restart) +
           config->warps * (sizeof(gpumpi_restart_warp) + 2 * config->frames * sizeof(gpump_restart_frame));
}

static void gpumpi_restart_set_up(void *object) {
    gpump_restart *fresh = (gpump_restart *)object;
    const gpump_restart_config *config = &fresh->config;
    for (uint32_t i = 0; i < config->warps; i++) gpumpi_restart_clear(gpumpi_restart_warp_of(fresh, i));
}

/* What is wrong with a warp's state; NULL: nothing. */
static const char *gpumpi_restart_contradiction(const gpump_restart_config *config, const gpumpi_restart_warp *w) {
    if (w->flags > GPUMPI_RESTART_FLAGS) return "flags";
    if (w->mode >= GPUMP_RESTART_MODES) return "mode";
    if (w->depth[0] > config->frames || w->depth[1] > config->frames) return "depth";
    if (w->mode != GPUMP_RESTART_RUN && !w->depth[0] && !w->depth[1]) return "mode";
    /* Patched once, an instruction that has been emulated is known, and is not patched any more. */
    if (w->exception_pc == GPUMP_NONE ? w->mode == GPUMP_RESTART_AGAIN
                                      : w->mode == GPUMP_RESTART_RUN && config->patch != GPUMP_RESTART_PATCH_ONCE)
        return "exception_pc";
    if (w->restarts > config->most_restarts) return "restarts";
    return NULL;
}

static gpump_result gpumpi_restart_check(const void *object, gpump_diag *diag) {
    const gpump_restart *restart = (const gpump_restart *)object;
    uint64_t stores = 0;
    for (uint32_t i = 0; i < restart->config.warps; i++) {
        const gpumpi_restart_warp *w = gpumpi_restart_at(restart, i);
        const char *field = gpumpi_restart_contradiction(&restart->config, w);
        const int open = (w->flags & GPUMPI_RESTART_OPEN) != 0, errs = gpump_restart_errs(restart, i);
        if (!field && !open && (w->flags || w->depth[0] || w->depth[1] || w->stores)) field = "flags";
        if (!field && errs != (w->detect_cycle != GPUMP_UNKNOWN && open)) field = "erring";
        if (field) return gpumpi_fail_at(diag, GPUMP_ERROR_FORMAT, field, i);
        stores += w->stores;
    }
    if (stores != restart->stores || (restart->config.store_entries && stores > restart->config.store_entries))
        return gpumpi_bad_bytes(diag, "stores", 0, restart->stores, stores, stores);
    for (uint32_t i = restart->config.warps; i < 64 * GPUMPI_RESTART_SET_WORDS; i++)
        if (gpump_restart_errs(restart, i)) return gpumpi_bad_bytes(diag, "erring", i, 1, 0, 0);
    return GPUMP_OK;
}

static uint64_t gpumpi_restart_hash_frames(uint64_t hash, const gpump_restart_frame *frames, uint32_t depth) {
    for (uint32_t i = 0; i < depth; i++) {
        hash = gpump_hash_u64(hash, frames[i].lanes);
        hash = gpump_hash_u64(hash, frames[i].pc | (uint64_t)frames[i].reconvergence_pc << 32);
    }
    return hash;
}

static uint64_t gpumpi_restart_hash(const void *object) {
    const gpump_restart *restart = (const gpump_restart *)object;
    uint64_t hash = gpumpi_hash_u64s(GPUMP_HASH_SEED, restart->erring, gpump_bits_words(restart->config.warps));
    hash = gpumpi_hash_u32s(hash, &restart->config.warps, sizeof restart->config / 4);
    hash = gpumpi_hash_u64s(hash, &restart->statistics.boundaries, sizeof restart->statistics / 8);
    for (uint32_t i = 0; i < restart->config.warps; i++) {
        const gpumpi_restart_warp *w = gpumpi_restart_at(restart, i);
        if (!(w->flags & GPUMPI_RESTART_OPEN)) continue;
        hash = gpumpi_hash_u64s(gpump_hash_u64(hash, i), w->since, 4);
        hash = gpumpi_hash_u32s(hash, w->depth, 8);
        for (uint32_t region = 0; region < GPUMP_RESTART_REGIONS; region++)
            hash = gpumpi_restart_hash_frames(hash, gpumpi_restart_frames(restart, i, region), w->depth[region]);
    }
    return hash;
}

static uint64_t gpumpi_restart_tables(const void *of, void *storage) {
    const gpump_restart_config *config = (const gpump_restart_config *)of;
    gpump_restart_storage *tables = (gpump_restart_storage *)storage;
    const uint64_t pc = 32;
    /* Two stacks with their depths, mode, forbidden twice, the count of restarts. */
    uint64_t warp = 2 * (config->frames * (2 * pc + config->lanes) + gpumpi_bits_for((uint64_t)config->frames + 1)) +
                    2 + 2 + gpumpi_bits_for((uint64_t)config->most_restarts + 1);
    if (config->latency_cycles) /* cycles until it is verified, and until its error is known */
        warp += 2 * gpumpi_bits_for((uint64_t)config->latency_cycles + 1) +
                gpumpi_bits_for((uint64_t)config->store_entries + 1);
    tables->pc_bits = config->warps * 2 * pc;
    tables->warp_bits = config->warps * warp;
    tables->store_bits = config->store_entries * (UINT64_C(64) + 64 + config->lanes);
    return tables->pc_bits + tables->warp_bits + tables->store_bits;
}

/* ---- warps come and go ---- */

GPUMP_API gpump_result gpump_restart_open(gpump_restart *restart, uint32_t warp) {
    gpumpi_restart_warp *w;
    if (!restart || warp >= restart->config.warps) return GPUMP_ERROR_ARGUMENT;
    w = gpumpi_restart_warp_of(restart, warp);
    if (w->flags) return GPUMP_ERROR_STATE;
    gpumpi_restart_clear(w);
    w->flags = GPUMPI_RESTART_OPEN;
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_restart_close(gpump_restart *restart, uint32_t warp) {
    gpumpi_restart_warp *w;
    if (!restart || warp >= restart->config.warps) return GPUMP_ERROR_ARGUMENT;
    if (!gpumpi_restart_is_open(restart, warp)) return GPUMP_ERROR_STATE;
    w = gpumpi_restart_warp_of(restart, warp);
    restart->stores -= w->stores;
    gpump_bits_clear(restart->erring, warp);
    gpumpi_restart_clear(w);
    return GPUMP_OK;
}

/* ---- boundaries, and the way back ---- */

GPUMP_API gpump_result gpump_restart_where(const gpump_restart *restart, uint32_t warp, uint32_t region,
                                           gpump_restart_frame *frames, uint32_t capacity, uint32_t *depth) {
    const gpumpi_restart_warp *w;
    uint32_t record;
    if (!restart || warp >= restart->config.warps || region >= GPUMP_RESTART_REGIONS || !depth || (!frames && capacity))
        return GPUMP_ERROR_ARGUMENT;
    w = gpumpi_restart_at(restart, warp);
    record = gpumpi_restart_record(w, region);
    *depth = w->depth[record];
    if (!*depth) return GPUMP_EMPTY;
    if (capacity < *depth) return GPUMP_ERROR_CAPACITY;
    memcpy(frames, gpumpi_restart_frames(restart, warp, record), *depth * sizeof *frames);
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_restart_report_boundary(gpump_restart *restart, uint32_t warp, uint32_t region,
                                                     const gpump_restart_frame *frames, uint32_t depth) {
    gpumpi_restart_warp *w;
    if (!restart || warp >= restart->config.warps || region >= GPUMP_RESTART_REGIONS || !frames || !depth ||
        depth > restart->config.frames)
        return GPUMP_ERROR_ARGUMENT;
    w = gpumpi_restart_warp_of(restart, warp);
    if (!w->flags || gpump_restart_errs(restart, warp)) return GPUMP_ERROR_STATE;
    memcpy(gpumpi_restart_room(restart, warp, region), frames, depth * sizeof *frames);
    w->depth[region] = depth;
    w->since[GPUMP_RESTART_SHORT] = 0;
    if (region == GPUMP_RESTART_SPARSE) {
        w->depth[GPUMP_RESTART_SHORT] = 0;
        w->since[GPUMP_RESTART_SPARSE] = 0;
    }
    w->flags &= ~((uint32_t)GPUMPI_RESTART_FORBIDDEN << region);
    gpumpi_restart_run(w);
    restart->statistics.boundaries++;
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_restart_go_back(gpump_restart *restart, uint32_t warp, uint32_t region,
                                             gpump_restart_frame *frames, uint32_t capacity, uint32_t *depth) {
    gpumpi_restart_warp *w;
    gpump_result result;
    if (!gpumpi_restart_is_open(restart, warp)) return GPUMP_ERROR_ARGUMENT;
    if (region >= GPUMP_RESTART_REGIONS) return GPUMP_ERROR_ARGUMENT;
    if (!gpump_restart_may_go_back(restart, warp, region)) return GPUMP_BUSY;
    result = gpump_restart_where(restart, warp, region, frames, capacity, depth);
    if (result) return result;
    w = gpumpi_restart_warp_of(restart, warp);
    restart->statistics.restarts++;
    restart->statistics.given_up += w->since[region];
    if (region == GPUMP_RESTART_SPARSE) {
        if (w->depth[GPUMP_RESTART_SHORT]) gpumpi_restart_run(w); /* its exceptions belong to a region further on */
        w->depth[GPUMP_RESTART_SHORT] = 0;
        w->since[GPUMP_RESTART_SPARSE] = 0;
    } else {
        w->since[GPUMP_RESTART_SPARSE] -= w->since[GPUMP_RESTART_SHORT];
    }
    w->since[GPUMP_RESTART_SHORT] = 0;
    w->verified_cycle = 0; /* what was unverified is given up */
    restart->stores -= w->stores;
    w->stores = 0;
    w->detect_cycle = GPUMP_UNKNOWN;
    gpump_bits_clear(restart->erring, warp);
    return GPUMP_OK;
}

/* ---- errors ---- */

GPUMP_API gpump_result gpump_restart_report_error(gpump_restart *restart, uint32_t warp, uint64_t now) {
    gpumpi_restart_warp *w;
    if (!gpumpi_restart_is_open(restart, warp)) return GPUMP_ERROR_ARGUMENT;
    if (!restart->config.latency_cycles || !gpump_restart_may_go_back(restart, warp, GPUMP_RESTART_SHORT))
        return GPUMP_ERROR_STATE;
    w = gpumpi_restart_warp_of(restart, warp);
    restart->statistics.errors++;
    if (gpump_restart_errs(restart, warp)) return GPUMP_OK; /* the first one sends it back */
    restart->statistics.detected++;
    w->detect_cycle = now + restart->config.latency_cycles;
    gpump_bits_set(restart->erring, warp);
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_restart_next(const gpump_restart *restart, uint64_t now, uint32_t *warp) {
    if (!restart || !warp) return GPUMP_ERROR_ARGUMENT;
    *warp = GPUMP_NONE;
    for (uint32_t word = 0; word < gpump_bits_words(restart->config.warps); word++)
        for (uint64_t left = restart->erring[word]; left; left &= left - 1) {
            const uint32_t i = word * 64 + gpump_bits_lowest64(left);
            if (gpumpi_restart_at(restart, i)->detect_cycle > now) continue;
            *warp = i;
            return GPUMP_OK;
        }
    return GPUMP_EMPTY;
}

GPUMP_API gpump_result gpump_restart_report_store(gpump_restart *restart, uint32_t warp) {
    if (!gpumpi_restart_is_open(restart, warp)) return GPUMP_ERROR_ARGUMENT;
    if (!gpumpi_restart_may_store(restart)) return GPUMP_BUSY;
    gpumpi_restart_warp_of(restart, warp)->stores++;
    restart->stores++;
    restart->statistics.stores++;
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_restart_report_stored(gpump_restart *restart, uint32_t warp) {
    if (!gpumpi_restart_is_open(restart, warp)) return GPUMP_ERROR_ARGUMENT;
    if (!gpump_restart_has_stores(restart, warp)) return GPUMP_ERROR_STATE;
    gpumpi_restart_warp_of(restart, warp)->stores--;
    restart->stores--;
    return GPUMP_OK;
}

/* ---- exceptions ---- */

/* An exception that emulation repairs, of a warp that may go back. */
static void gpumpi_restart_decide(gpump_restart *restart, gpumpi_restart_warp *w, gpump_restart_order *order) {
    const gpump_restart_config *config = &restart->config;
    const uint32_t pc = order->pc, before = w->exception_pc;
    const int recurs = w->earlier_pc == pc && before != pc;
    if (recurs || w->restarts == config->most_restarts) {
        restart->statistics.live_locks++;
        order->other = before == pc ? GPUMP_NONE : before;
        if (config->cure == GPUMP_RESTART_CURE_STEP || order->other == GPUMP_NONE) {
            w->mode = GPUMP_RESTART_STEP;
            order->answer = GPUMP_RESTART_GO_STEP;
            return;
        }
        /* In regions of their own, neither exception meets the other again: both start anew. */
        gpumpi_restart_run(w);
        order->answer = GPUMP_RESTART_SPLIT;
        return;
    }
    if (before != pc) w->earlier_pc = before;
    w->exception_pc = pc;
    w->mode = GPUMP_RESTART_AGAIN;
    w->restarts++;
    order->answer = GPUMP_RESTART_GO_BACK;
}

GPUMP_API gpump_result gpump_restart_report_exception(gpump_restart *restart, uint32_t warp, uint32_t pc,
                                                      uint32_t repair, gpump_restart_order *order) {
    gpumpi_restart_warp *w;
    if (!restart || warp >= restart->config.warps || !order || repair >= GPUMP_RESTART_REPAIRS || pc == GPUMP_NONE)
        return GPUMP_ERROR_ARGUMENT;
    if (!gpumpi_restart_is_open(restart, warp)) return GPUMP_ERROR_STATE;
    w = gpumpi_restart_warp_of(restart, warp);
    memset(order, 0, sizeof *order);
    order->pc = pc;
    order->other = GPUMP_NONE;
    order->region = repair == GPUMP_RESTART_SERVED && gpump_restart_may_go_back(restart, warp, GPUMP_RESTART_SPARSE)
                        ? GPUMP_RESTART_SPARSE
                        : GPUMP_RESTART_SHORT;
    if (gpump_restart_errs(restart, warp)) {
        restart->statistics.ignored++;
        order->answer = GPUMP_RESTART_IGNORE;
        return GPUMP_OK;
    }
    if (repair == GPUMP_RESTART_SERVED)
        restart->statistics.faults++;
    else
        restart->statistics.exceptions++;
    if (repair == GPUMP_RESTART_EMULATED && gpump_restart_mode_at(restart, warp, pc) != GPUMP_RESTART_RUN) {
        order->answer = GPUMP_RESTART_IN_PLACE;
    } else if (!gpump_restart_may_go_back(restart, warp, order->region)) {
        restart->statistics.stuck++;
        order->answer = GPUMP_RESTART_STUCK;
    } else if (repair == GPUMP_RESTART_SERVED) {
        order->answer = GPUMP_RESTART_GO_BACK;
    } else {
        gpumpi_restart_decide(restart, w, order);
    }
    return GPUMP_OK;
}

GPUMP_API void gpump_restart_report_emulated(gpump_restart *restart, uint32_t warp) {
    gpumpi_restart_warp *w = gpumpi_restart_warp_of(restart, warp);
    restart->statistics.emulated++;
    /* Unpatched; what it went back for stays known, so that a live-lock is seen. */
    if (restart->config.patch == GPUMP_RESTART_PATCH_ONCE && w->mode == GPUMP_RESTART_AGAIN)
        w->mode = GPUMP_RESTART_RUN;
}

GPUMP_API gpump_result gpump_restart_step(gpump_restart *restart, uint32_t warp) {
    if (!gpumpi_restart_is_open(restart, warp)) return GPUMP_ERROR_ARGUMENT;
    if (!gpump_restart_may_go_back(restart, warp, GPUMP_RESTART_SHORT)) return GPUMP_ERROR_STATE;
    gpumpi_restart_warp_of(restart, warp)->mode = GPUMP_RESTART_STEP;
    return GPUMP_OK;
}

/* ---- contexts ---- */

enum { GPUMPI_RESTART_WORDS = 3 }; /* before the frames */

GPUMP_API gpump_result gpump_restart_save(const gpump_restart *restart, uint32_t warp, uint64_t *words,
                                          uint32_t capacity, uint32_t *count) {
    const gpumpi_restart_warp *w;
    uint64_t *out = words;
    if (!gpumpi_restart_is_open(restart, warp) || !count || (!words && capacity)) return GPUMP_ERROR_ARGUMENT;
    w = gpumpi_restart_at(restart, warp);
    *count = GPUMPI_RESTART_WORDS + 2 * (w->depth[0] + w->depth[1]);
    if (gpump_restart_errs(restart, warp)) return GPUMP_BUSY;
    if (capacity < *count) return GPUMP_ERROR_CAPACITY;
    *out++ = w->depth[0] | (uint64_t)w->depth[1] << 16 | (uint64_t)w->mode << 32 |
             (uint64_t)(w->flags & GPUMPI_RESTART_BOTH_FORBIDDEN) << 48;
    *out++ = w->exception_pc | (uint64_t)w->earlier_pc << 32;
    *out++ = w->restarts;
    for (uint32_t region = 0; region < GPUMP_RESTART_REGIONS; region++) {
        const gpump_restart_frame *frames = gpumpi_restart_frames(restart, warp, region);
        for (uint32_t i = 0; i < w->depth[region]; i++) {
            *out++ = frames[i].lanes;
            *out++ = frames[i].pc | (uint64_t)frames[i].reconvergence_pc << 32;
        }
    }
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_restart_restore(gpump_restart *restart, uint32_t warp, const uint64_t *words,
                                             uint32_t count, gpump_diag *diag) {
    gpumpi_restart_warp *w, saved;
    const char *field;
    if (!restart || warp >= restart->config.warps || !words) return GPUMP_ERROR_ARGUMENT;
    w = gpumpi_restart_warp_of(restart, warp);
    if (!w->flags || w->depth[0] || w->depth[1])
        return gpumpi_fail(
            diag, GPUMP_ERROR_STATE,
            "warp is closed or has boundaries: call gpump_restart_open just before gpump_restart_restore", warp, warp,
            0, 0);
    if (count < GPUMPI_RESTART_WORDS)
        return gpumpi_bad_bytes(diag, "count", 0, count, GPUMPI_RESTART_WORDS, UINT32_MAX);
    memset(&saved, 0, sizeof saved);
    saved.depth[0] = (uint32_t)(words[0] & 0xffffu);
    saved.depth[1] = (uint32_t)(words[0] >> 16 & 0xffffu);
    saved.mode = (uint32_t)(words[0] >> 32 & 0xffffu);
    saved.flags = GPUMPI_RESTART_OPEN | (uint32_t)(words[0] >> 48);
    saved.exception_pc = (uint32_t)words[1];
    saved.earlier_pc = (uint32_t)(words[1] >> 32);
    saved.restarts = words[2] > UINT32_MAX ? UINT32_MAX : (uint32_t)words[2];
    saved.detect_cycle = GPUMP_UNKNOWN;
    field = gpumpi_restart_contradiction(&restart->config, &saved);
    if (field) return gpumpi_fail_at(diag, GPUMP_ERROR_FORMAT, field, 0);
    if (count != GPUMPI_RESTART_WORDS + 2 * (saved.depth[0] + saved.depth[1]))
        return gpumpi_bad_bytes(diag, "count", 0, count, 0, 0);
    words += GPUMPI_RESTART_WORDS;
    for (uint32_t region = 0; region < GPUMP_RESTART_REGIONS; region++) {
        gpump_restart_frame *frames = gpumpi_restart_room(restart, warp, region);
        for (uint32_t i = 0; i < saved.depth[region]; i++, words += 2) {
            frames[i].lanes = words[0];
            frames[i].pc = (uint32_t)words[1];
            frames[i].reconvergence_pc = (uint32_t)(words[1] >> 32);
        }
    }
    *w = saved;
    restart->statistics.restored++;
    return GPUMP_OK;
}

/* ---- statistics ---- */

/* ---- closed forms ---- */

/* A try that begins costs, until it fails or passes, what it executes: instruction i (from 1) is reached with
 * probability q^(i-1), and errs with p. With Q = q^n the tries needed are 1 / Q on average, so
 *   E = n + (1 / Q) sum_i q^(i-1) p min(i + latency, n)
 * Probabilities are fractions of 2^63. */
GPUMP_API uint64_t gpump_restart_expected(uint32_t instructions, uint32_t error_rate_q32, uint32_t latency) {
    const uint64_t one = UINT64_C(1) << 32;
    uint64_t reached = UINT64_C(1) << 63, lost_high = 0, lost_low = 0;
    if (!instructions || instructions > 1u << 20) return UINT64_MAX;
    for (uint32_t i = 1; i <= instructions; i++) {
        const uint64_t errs = gpump_muldiv_down(reached, error_rate_q32, one);
        const uint64_t cost = latency < instructions - i ? (uint64_t)i + latency : instructions;
        /* errs * cost in units of 2^-63: the low 43 bits apart, so that 2^20 terms do not overflow */
        lost_high += (errs >> 43) * cost;
        lost_low += (errs & ((UINT64_C(1) << 43) - 1)) * cost;
        lost_high += lost_low >> 43;
        lost_low &= (UINT64_C(1) << 43) - 1;
        reached -= errs;
    }
    if (!reached) return UINT64_MAX;
    /* (lost_high 2^43 + lost_low) / reached, times 2^16 */
    return gpump_add_saturated((uint64_t)instructions << 16,
                               gpump_add_saturated(gpump_muldiv_down(lost_high, UINT64_C(1) << 59, reached),
                                                   gpump_muldiv_down(lost_low, UINT64_C(1) << 16, reached)));
}

GPUMP_API uint64_t gpump_restart_energy(uint32_t voltage_q16, uint64_t time_q16) {
    const uint64_t left = voltage_q16 < 65536u ? 65536u - voltage_q16 : 0;
    const uint64_t twice = gpump_muldiv_down(left * left, time_q16, UINT64_C(1) << 31); /* times 2^17 */
    return twice / 2 + twice % 2;
}

static const char *const gpumpi_restart_counters[][3] = {
#define GPUMPI_FIELD(name, unit, description) {#name, unit, description},
    GPUMPI_RESTART_STATISTICS(GPUMPI_FIELD)
#undef GPUMPI_FIELD
};
/* clang-format off */
static const gpumpi_methods gpumpi_restart_hooks = {
    "restart", "fault", GPUMPI_RESTART_MAGIC,
    GPUMP_LAYOUT_FAULT, sizeof(gpump_restart_config),
    offsetof(gpump_restart, config), offsetof(gpump_restart, statistics),
    sizeof gpumpi_restart_counters / sizeof *gpumpi_restart_counters, gpumpi_restart_counters, 0,
    /* preset, check_config, bytes, bits, tables */
    gpumpi_restart_preset, gpumpi_restart_check_config, gpumpi_restart_bytes, NULL, gpumpi_restart_tables,
    /* set_up, unfit, check, hash */
    gpumpi_restart_set_up, NULL, gpumpi_restart_check, gpumpi_restart_hash,
    /* preset_for, next_cycle, copy_statistics */
    NULL, NULL, NULL,
};
/* clang-format on */
GPUMP_API const gpumpi_methods *gpumpi_restart_methods(void) { return &gpumpi_restart_hooks; }
