#include "sm/read_set.h"

#include <string.h>

#define GPUMPI_READ_SET_MAGIC UINT64_C(0x67706d7072733031) /* "gpmprs01" */
#define GPUMPI_READ_SET_EPOCHS 127u /* entries of 127 earlier contents can stay in the table before it is wiped */

/* An entry is in use when the epoch in its key is the set's. Entries of earlier epochs count as empty, so that a set is
 * emptied by counting its epoch up. */
typedef struct gpumpi_read_set_entry {
    uint64_t key; /* number of the segment (57 bits), then the epoch (7 bits); 0: never used */
    uint32_t read, written;
} gpumpi_read_set_entry;

struct gpump_read_set {
    gpumpi_head head;
    gpump_read_set_config config;
    uint32_t epoch; /* 1 to GPUMPI_READ_SET_EPOCHS */
    uint32_t used;  /* entries of this epoch */
    uint32_t lost;  /* 1: a segment did not fit, or all of memory counts as read */
};
typedef char gpumpi_read_set_has_no_padding[sizeof(gpump_read_set) == sizeof(gpumpi_head) + 4 * 4 ? 1 : -1];

static gpumpi_read_set_entry *gpumpi_read_set_table(gpump_read_set *set) {
    return (gpumpi_read_set_entry *)(void *)(set + 1);
}
static const gpumpi_read_set_entry *gpumpi_read_set_table_const(const gpump_read_set *set) {
    return (const gpumpi_read_set_entry *)(const void *)(set + 1);
}
static uint32_t gpumpi_read_set_limit(const gpump_read_set *set) { return set->config.segments / 4 * 3; }

/* ---- configuration, birth, copies ---- */

static gpump_result gpumpi_read_set_preset(void *filled, const char *preset) {
    gpump_read_set_config *config = (gpump_read_set_config *)filled;
    if (strcmp(preset, "default") != 0) return GPUMP_ERROR_UNKNOWN_NAME;
    config->segments = 2048;
    return GPUMP_OK;
}

static gpump_result gpumpi_read_set_check_config(const void *checked, gpump_diag *diag) {
    const gpump_read_set_config *config = (const gpump_read_set_config *)checked;
    if (config->segments < 16 || config->segments > 1u << 20 || (config->segments & (config->segments - 1u)))
        return gpumpi_bad_config(diag, "segments (a power of two)", 0, config->segments, 16, 1u << 20);
    return GPUMP_OK;
}
static uint64_t gpumpi_read_set_bytes(const void *of) {
    const gpump_read_set_config *config = (const gpump_read_set_config *)of;
    return sizeof(gpump_read_set) + config->segments * sizeof(gpumpi_read_set_entry);
}

static void gpumpi_read_set_set_up(void *object) {
    gpump_read_set *fresh = (gpump_read_set *)object;
    fresh->epoch = 1;
}

static gpump_result gpumpi_read_set_check(const void *object, gpump_diag *diag) {
    const gpump_read_set *set = (const gpump_read_set *)object;
    uint32_t used = 0;
    if (!set->epoch || set->epoch > GPUMPI_READ_SET_EPOCHS || set->lost > 1)
        return gpumpi_bad_bytes(diag, "epoch or lost", 0, set->epoch, 1, GPUMPI_READ_SET_EPOCHS);
    for (uint32_t i = 0; i < set->config.segments; i++) {
        const uint64_t epoch = gpumpi_read_set_table_const(set)[i].key & 127u;
        used += epoch == set->epoch;
        if (epoch > set->epoch) return gpumpi_fail_at(diag, GPUMP_ERROR_FORMAT, "an entry of a later epoch", i);
    }
    if (used != set->used || used > gpumpi_read_set_limit(set))
        return gpumpi_bad_bytes(diag, "used", 0, set->used, used, used);
    return GPUMP_OK;
}

static uint64_t gpumpi_read_set_hash(const void *object) {
    const gpump_read_set *set = (const gpump_read_set *)object;
    uint64_t sum = 0, hash = gpumpi_hash_u32s(GPUMP_HASH_SEED, &set->config.segments, 1);
    for (uint32_t i = 0; i < set->config.segments; i++) {
        const gpumpi_read_set_entry *entry = &gpumpi_read_set_table_const(set)[i];
        if ((entry->key & 127u) != set->epoch) continue;
        sum += gpumpi_hash_u32s(gpump_hash_u64(GPUMP_HASH_SEED, entry->key >> 7), &entry->read, 2);
    }
    return gpump_hash_u64(gpump_hash_u64(hash, sum), set->lost);
}

static uint64_t gpumpi_read_set_bits(const void *of) {
    const gpump_read_set_config *config = (const gpump_read_set_config *)of;
    return config->segments * (uint64_t)(64 + 32 + 32);
}

/* ---- reports ---- */

/* The entry of a segment, which is added when it is new; NULL: the set is full. */
static gpumpi_read_set_entry *gpumpi_read_set_look_up(gpump_read_set *set, uint64_t address) {
    gpumpi_read_set_entry *table = gpumpi_read_set_table(set);
    const uint64_t key = (address & ~(uint64_t)127) | set->epoch;
    const uint32_t mask = set->config.segments - 1u;
    /* Eight segments side by side lie in 128 bytes of the table, because a block often accesses all of them. Most of
     * the cost is the host's cache miss. */
    const uint64_t scattered = ((key >> 10) * UINT64_C(0x9e3779b97f4a7c15)) >> 32; /* groups in sequence lie apart */
    uint32_t at = ((uint32_t)(scattered * set->config.segments >> 32) & ~7u) | (uint32_t)(key >> 7 & 7u);
    while (table[at].key != key) { /* a quarter of the table is never of this epoch, so the search ends */
        if ((table[at].key & 127u) != set->epoch) {
            if (set->used >= gpumpi_read_set_limit(set)) set->lost = 1;
            if (set->lost) return NULL;
            set->used++;
            table[at].key = key;
            table[at].read = table[at].written = 0;
            break;
        }
        at = (at + 1u) & mask;
    }
    return &table[at];
}

GPUMP_API void gpump_read_set_clear(gpump_read_set *set) {
    if (set->epoch == GPUMPI_READ_SET_EPOCHS) {
        memset(gpumpi_read_set_table(set), 0, set->config.segments * sizeof(gpumpi_read_set_entry));
        set->epoch = 0;
    }
    set->epoch++;
    set->used = set->lost = 0;
}

GPUMP_API void gpumpi_read_set_assume_all(gpump_read_set *set) {
    gpump_read_set_clear(set);
    set->lost = 1;
}

GPUMP_API void gpump_read_set_load(gpump_read_set *set, uint64_t address, uint32_t words) {
    gpumpi_read_set_entry *entry = gpumpi_read_set_look_up(set, address);
    if (entry) entry->read |= words & ~entry->written;
}

GPUMP_API int gpump_read_set_store(gpump_read_set *set, uint64_t address, uint32_t words) {
    gpumpi_read_set_entry *entry = gpumpi_read_set_look_up(set, address);
    if (!entry) return 1;
    entry->written |= words & ~entry->read;
    return (entry->read & words) != 0;
}

/* ---- travelling with a block ---- */

GPUMP_API gpump_result gpump_read_set_save(const gpump_read_set *set, gpump_read_set_segment *segments,
                                           uint32_t capacity, uint32_t *count) {
    uint32_t n = 0;
    if (!set || !count || (capacity && !segments)) return GPUMP_ERROR_ARGUMENT;
    *count = set->lost ? 1 : set->used;
    if (*count > capacity) return GPUMP_ERROR_CAPACITY;
    if (set->lost) {
        segments->address = GPUMP_READ_SET_ALL;
        segments->read = UINT32_MAX;
        segments->written = 0;
        return GPUMP_OK;
    }
    for (uint32_t i = 0; n < *count; i++) {
        const gpumpi_read_set_entry *entry = &gpumpi_read_set_table_const(set)[i];
        if ((entry->key & 127u) != set->epoch) continue;
        segments[n].address = entry->key & ~(uint64_t)127;
        segments[n].read = entry->read;
        segments[n].written = entry->written;
        n++;
    }
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_read_set_restore(gpump_read_set *set, const gpump_read_set_segment *segments,
                                              uint32_t count) {
    if (!set || (count && !segments)) return GPUMP_ERROR_ARGUMENT;
    gpump_read_set_clear(set);
    for (uint32_t i = 0; i < count; i++) {
        gpumpi_read_set_entry *entry =
            segments[i].address == GPUMP_READ_SET_ALL ? NULL : gpumpi_read_set_look_up(set, segments[i].address);
        if (!entry) {
            gpumpi_read_set_assume_all(set);
            return GPUMP_OK;
        }
        entry->read |= segments[i].read;
        entry->written |= segments[i].written;
    }
    return GPUMP_OK;
}

/* clang-format off */
static const gpumpi_methods gpumpi_read_set_hooks = {
    "read_set", "sm", GPUMPI_READ_SET_MAGIC,
    GPUMP_LAYOUT_SM, sizeof(gpump_read_set_config), offsetof(gpump_read_set, config), 0,
    0, NULL, 0,
    /* preset, check_config, bytes, bits, tables */
    gpumpi_read_set_preset, gpumpi_read_set_check_config, gpumpi_read_set_bytes, gpumpi_read_set_bits, NULL,
    /* set_up, unfit, check, hash */
    gpumpi_read_set_set_up, NULL, gpumpi_read_set_check, gpumpi_read_set_hash,
    /* preset_for, next_cycle, copy_statistics */
    NULL, NULL, NULL,
};
/* clang-format on */
GPUMP_API const gpumpi_methods *gpumpi_read_set_methods(void) { return &gpumpi_read_set_hooks; }
