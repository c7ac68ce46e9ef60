#include "fault/tlb.h"

#include <string.h>

#define GPUMPI_TLB_MAGIC UINT64_C(0x67706d70746c6200) /* "gpmptlb" */

/* A known page; rights 0: the place is free. */
typedef struct gpumpi_tlb_entry {
    uint64_t page, used; /* `used`: the stamp of its last look-up */
    uint32_t process, rights;
} gpumpi_tlb_entry;
/* A page that is missed. It is in the list of its set, or in the list of free ones. */
typedef struct gpumpi_tlb_miss {
    uint64_t page;
    uint32_t process, next;
    uint32_t first, last; /* waiters; GPUMP_NONE: none */
    uint32_t count, taken;
} gpumpi_tlb_miss;
/* A look-up that waits. It is in the list of its miss, or in the list of free ones (owner GPUMP_NONE). */
typedef struct gpumpi_tlb_waiter {
    uint64_t waiter;
    uint32_t next, owner;
} gpumpi_tlb_waiter;
struct gpump_tlb {
    gpumpi_head head;
    uint64_t stamp;
    gpump_tlb_statistics statistics;
    gpump_tlb_config config;
    uint32_t sets, in_flight, free_miss, free_waiter;
};
typedef char gpumpi_tlb_has_no_padding[sizeof(gpump_tlb) == sizeof(gpumpi_head) + (1 + 9) * 8 + (6 + 4) * 4 ? 1 : -1];

/* Behind the head: entries, misses, waiters, and the first miss of each set. */
static gpumpi_tlb_entry *gpumpi_tlb_entries(const gpump_tlb *tlb) {
    return (gpumpi_tlb_entry *)(void *)(uintptr_t)(const void *)(tlb + 1);
}
static gpumpi_tlb_miss *gpumpi_tlb_misses(const gpump_tlb *tlb) {
    return (gpumpi_tlb_miss *)(void *)(gpumpi_tlb_entries(tlb) + tlb->config.entries);
}
static gpumpi_tlb_waiter *gpumpi_tlb_waiters(const gpump_tlb *tlb) {
    return (gpumpi_tlb_waiter *)(void *)(gpumpi_tlb_misses(tlb) + tlb->config.misses);
}
static uint32_t *gpumpi_tlb_lists(const gpump_tlb *tlb) {
    return (uint32_t *)(void *)(gpumpi_tlb_waiters(tlb) + tlb->config.waiters);
}
static uint32_t gpumpi_tlb_set(const gpump_tlb *tlb, uint64_t page) { return (uint32_t)page & (tlb->sets - 1u); }

static gpump_result gpumpi_tlb_preset(void *filled, const char *preset) {
    gpump_tlb_config *config = (gpump_tlb_config *)filled;
    /* clang-format off */
    static const struct { const char *name; uint32_t entries, ways, misses, waiters; } presets[] = {
        {"table61_l1", 32, 8, 32, 2048},   /* Tanasic Table 6.1; misses and waiters assumed */
        {"table61_l2", 1024, 8, 128, 512}, /* Tanasic Table 6.1; waiters assumed */
    };
    /* clang-format on */
    for (uint32_t i = 0; i < sizeof presets / sizeof presets[0]; i++) {
        if (strcmp(presets[i].name, preset) != 0) continue;
        memset(config, 0, sizeof *config);
        config->entries = presets[i].entries;
        config->ways = presets[i].ways;
        config->misses = presets[i].misses;
        config->waiters = presets[i].waiters;
        config->page_bits = 36;
        config->processes = 16;
        return GPUMP_OK;
    }
    return GPUMP_ERROR_UNKNOWN_NAME;
}

static gpump_result gpumpi_tlb_check_config(const void *checked, gpump_diag *diag) {
    static const gpumpi_limit limits[] = {
        GPUMPI_LIMIT(gpump_tlb_config, ways, 1u, 64u),         GPUMPI_LIMIT(gpump_tlb_config, misses, 1u, 65536u),
        GPUMPI_LIMIT(gpump_tlb_config, waiters, 1u, 1u << 20), GPUMPI_LIMIT(gpump_tlb_config, page_bits, 1u, 64u),
        GPUMPI_LIMIT(gpump_tlb_config, processes, 1u, 65536u),
    };
    const gpump_tlb_config *config = (const gpump_tlb_config *)checked;
    gpump_result result = GPUMPI_CHECK_LIMITS(config, limits, diag);
    uint32_t sets;
    if (!result) result = gpumpi_range(diag, "entries", config->entries, config->ways, 65536u);
    if (result) return result;
    sets = config->entries / config->ways;
    if (config->entries % config->ways || (sets & (sets - 1u)))
        return gpumpi_bad_config(diag, "entries (a power of two times ways)", 0, config->entries, config->ways, 65536);
    return GPUMP_OK;
}

static uint64_t gpumpi_tlb_bytes(const void *of) {
    const gpump_tlb_config *config = (const gpump_tlb_config *)of;
    size_t sets;
    sets = config->entries / config->ways;
    return sizeof(gpump_tlb) + config->entries * sizeof(gpumpi_tlb_entry) + config->misses * sizeof(gpumpi_tlb_miss) +
           config->waiters * sizeof(gpumpi_tlb_waiter) + (sets + sets % 2) * sizeof(uint32_t);
}

static void gpumpi_tlb_set_up(void *object) {
    gpump_tlb *fresh = (gpump_tlb *)object;
    const gpump_tlb_config *config = &fresh->config;
    fresh->sets = config->entries / config->ways;
    for (uint32_t i = 0; i < config->misses; i++)
        gpumpi_tlb_misses(fresh)[i].next = i + 1 < config->misses ? i + 1 : GPUMP_NONE;
    for (uint32_t i = 0; i < config->waiters; i++) {
        gpumpi_tlb_waiters(fresh)[i].next = i + 1 < config->waiters ? i + 1 : GPUMP_NONE;
        gpumpi_tlb_waiters(fresh)[i].owner = GPUMP_NONE;
    }
    for (uint32_t i = 0; i < fresh->sets; i++) gpumpi_tlb_lists(fresh)[i] = GPUMP_NONE;
}

static const char *gpumpi_tlb_unfit(const void *object) {
    const gpump_tlb *tlb = (const gpump_tlb *)object;
    return tlb->sets == tlb->config.entries / tlb->config.ways ? NULL : "sets";
}

/* Walks one list of waiters: `count` of them, all of `owner`; sets *last. */
static int gpumpi_tlb_list_is_good(const gpump_tlb *tlb, uint32_t first, uint32_t owner, uint32_t count,
                                   uint32_t *last) {
    const gpumpi_tlb_waiter *waiters = gpumpi_tlb_waiters(tlb);
    *last = GPUMP_NONE;
    for (; count; count--, first = waiters[first].next) {
        if (first >= tlb->config.waiters || waiters[first].owner != owner) return 0;
        *last = first;
    }
    return first == GPUMP_NONE;
}

static gpump_result gpumpi_tlb_check(const void *object, gpump_diag *diag) {
    const gpump_tlb *tlb = (const gpump_tlb *)object;
    const gpumpi_tlb_miss *misses;
    uint32_t waiting = 0, taken = 0, seen = 0, last, at;
    misses = gpumpi_tlb_misses(tlb);
    for (uint32_t set = 0; set < tlb->sets; set++)
        for (at = gpumpi_tlb_lists(tlb)[set]; at != GPUMP_NONE; at = misses[at].next, taken++) {
            if (at >= tlb->config.misses || taken >= tlb->config.misses || misses[at].taken != 1 ||
                gpumpi_tlb_set(tlb, misses[at].page) != set)
                return gpumpi_bad_bytes(diag, "misses of a set", set, at, 0, tlb->config.misses - 1);
            if (misses[at].count > tlb->config.waiters - waiting ||
                !gpumpi_tlb_list_is_good(tlb, misses[at].first, at, misses[at].count, &last) || last != misses[at].last)
                return gpumpi_bad_bytes(diag, "waiters of a miss", at, misses[at].count, 0, tlb->config.waiters);
            waiting += misses[at].count;
        }
    if (taken != tlb->in_flight) return gpumpi_bad_bytes(diag, "misses in flight", 0, tlb->in_flight, taken, taken);
    for (at = tlb->free_miss; at != GPUMP_NONE; at = misses[at].next, seen++)
        if (at >= tlb->config.misses || seen >= tlb->config.misses - taken || misses[at].taken)
            return gpumpi_bad_bytes(diag, "free misses", seen, at, 0, tlb->config.misses - 1);
    if (seen != tlb->config.misses - taken)
        return gpumpi_bad_bytes(diag, "free misses", 0, seen, tlb->config.misses - taken, 0);
    if (!gpumpi_tlb_list_is_good(tlb, tlb->free_waiter, GPUMP_NONE, tlb->config.waiters - waiting, &last))
        return gpumpi_bad_bytes(diag, "free waiters", 0, tlb->free_waiter, 0, tlb->config.waiters - 1);
    for (uint32_t i = 0; i < tlb->config.entries; i++)
        if (gpumpi_tlb_entries(tlb)[i].rights > GPUMP_TLB_RIGHTS)
            return gpumpi_bad_bytes(diag, "rights", i, gpumpi_tlb_entries(tlb)[i].rights, 0, GPUMP_TLB_RIGHTS);
    return GPUMP_OK;
}

/* All behind the head is either a u64 or a pair of u32: pages, stamps and waiters go in whole, links in pairs. Places
 * that are free hash as what they last held, which the same calls make the same. */
static uint64_t gpumpi_tlb_hash(const void *object) {
    const gpump_tlb *tlb = (const gpump_tlb *)object;
    uint64_t hash = gpumpi_hash_u64s(GPUMP_HASH_SEED, &tlb->stamp, 1 + sizeof tlb->statistics / 8);
    hash = gpumpi_hash_u32s(hash, &tlb->config.entries, sizeof tlb->config / 4 + 4);
    for (uint32_t i = 0; i < tlb->config.entries; i++) {
        const gpumpi_tlb_entry *entry = gpumpi_tlb_entries(tlb) + i;
        hash = gpumpi_hash_u32s(gpumpi_hash_u64s(hash, &entry->page, 2), &entry->process, 2);
    }
    for (uint32_t i = 0; i < tlb->config.misses; i++)
        hash = gpumpi_hash_u32s(gpump_hash_u64(hash, gpumpi_tlb_misses(tlb)[i].page),
                                &gpumpi_tlb_misses(tlb)[i].process, 6);
    for (uint32_t i = 0; i < tlb->config.waiters; i++)
        hash = gpumpi_hash_u32s(gpump_hash_u64(hash, gpumpi_tlb_waiters(tlb)[i].waiter),
                                &gpumpi_tlb_waiters(tlb)[i].next, 2);
    return gpumpi_hash_u32s(hash, gpumpi_tlb_lists(tlb), tlb->sets);
}

static uint64_t gpumpi_tlb_bits(const void *of) {
    const gpump_tlb_config *config = (const gpump_tlb_config *)of;
    uint64_t process, set, waiter;
    process = gpumpi_bits_for(config->processes);
    set = gpumpi_bits_for(config->entries / config->ways);
    waiter = gpumpi_bits_for(config->waiters);
    set = set < config->page_bits ? set : config->page_bits;
    return config->entries * (2u * config->page_bits - set + process + 3 + gpumpi_bits_for(config->ways)) +
           config->misses * (config->page_bits + process + 1 + 2 * waiter) + config->waiters * 2 * waiter;
}

static gpumpi_tlb_entry *gpumpi_tlb_find(const gpump_tlb *tlb, uint32_t process, uint64_t page) {
    gpumpi_tlb_entry *entry = gpumpi_tlb_entries(tlb) + gpumpi_tlb_set(tlb, page) * tlb->config.ways;
    for (uint32_t way = 0; way < tlb->config.ways; way++, entry++)
        if (entry->page == page && entry->process == process && entry->rights) return entry;
    return NULL;
}
/* Returns the link that leads to the miss of a page, which is GPUMP_NONE when there is no such miss. */
static uint32_t *gpumpi_tlb_find_miss(const gpump_tlb *tlb, uint32_t process, uint64_t page) {
    gpumpi_tlb_miss *misses = gpumpi_tlb_misses(tlb);
    uint32_t *link = gpumpi_tlb_lists(tlb) + gpumpi_tlb_set(tlb, page);
    while (*link != GPUMP_NONE && (misses[*link].page != page || misses[*link].process != process))
        link = &misses[*link].next;
    return link;
}

GPUMP_API gpump_result gpump_tlb_lookup(gpump_tlb *tlb, uint32_t process, uint64_t page, uint32_t rights,
                                        uint64_t waiter, uint32_t *outcome) {
    gpumpi_tlb_entry *entry;
    gpumpi_tlb_miss *miss;
    gpumpi_tlb_waiter *last;
    uint32_t *link, at;
    if (!tlb || !outcome || process == GPUMP_TLB_ALL || !rights || (rights & ~(uint32_t)GPUMP_TLB_RIGHTS))
        return GPUMP_ERROR_ARGUMENT;
    entry = gpumpi_tlb_find(tlb, process, page);
    if (entry) {
        const int allowed = (rights & ~entry->rights) == 0;
        entry->used = ++tlb->stamp;
        tlb->statistics.hits += (uint64_t)allowed;
        tlb->statistics.denied += (uint64_t)!allowed;
        *outcome = (uint32_t)(allowed ? GPUMP_TLB_HIT : GPUMP_TLB_DENIED);
        return GPUMP_OK;
    }
    link = gpumpi_tlb_find_miss(tlb, process, page);
    if (tlb->free_waiter == GPUMP_NONE || (*link == GPUMP_NONE && tlb->free_miss == GPUMP_NONE)) {
        tlb->statistics.busy++;
        return GPUMP_BUSY;
    }
    *outcome = (uint32_t)(*link == GPUMP_NONE ? GPUMP_TLB_MISS : GPUMP_TLB_MERGED);
    if (*link == GPUMP_NONE) {
        at = tlb->free_miss;
        miss = gpumpi_tlb_misses(tlb) + at;
        tlb->free_miss = miss->next;
        *link = at;
        miss->page = page;
        miss->process = process;
        miss->next = miss->first = miss->last = GPUMP_NONE;
        miss->count = 0;
        miss->taken = 1;
        tlb->in_flight++;
        tlb->statistics.misses++;
    } else {
        tlb->statistics.merged++;
    }
    miss = gpumpi_tlb_misses(tlb) + *link;
    at = tlb->free_waiter;
    last = gpumpi_tlb_waiters(tlb) + at;
    tlb->free_waiter = last->next;
    last->waiter = waiter;
    last->owner = *link;
    last->next = GPUMP_NONE;
    if (miss->last == GPUMP_NONE)
        miss->first = at;
    else
        gpumpi_tlb_waiters(tlb)[miss->last].next = at;
    miss->last = at;
    miss->count++;
    return GPUMP_OK;
}

static void gpumpi_tlb_free_waiter(gpump_tlb *tlb, uint32_t at) {
    gpumpi_tlb_waiters(tlb)[at].owner = GPUMP_NONE;
    gpumpi_tlb_waiters(tlb)[at].next = tlb->free_waiter;
    tlb->free_waiter = at;
}

GPUMP_API gpump_result gpump_tlb_fill(gpump_tlb *tlb, uint32_t process, uint64_t page, uint32_t rights,
                                      uint64_t *waiters, uint32_t capacity, uint32_t *count) {
    gpumpi_tlb_entry *entry, *set;
    gpumpi_tlb_miss *miss;
    uint32_t *link, at, next;
    if (!tlb || !count || (!waiters && capacity) || process == GPUMP_TLB_ALL || (rights & ~(uint32_t)GPUMP_TLB_RIGHTS))
        return GPUMP_ERROR_ARGUMENT;
    link = gpumpi_tlb_find_miss(tlb, process, page);
    *count = *link == GPUMP_NONE ? 0 : gpumpi_tlb_misses(tlb)[*link].count;
    if (*count > capacity) return GPUMP_ERROR_CAPACITY;
    if (*link != GPUMP_NONE) {
        uint64_t *out = waiters;
        miss = gpumpi_tlb_misses(tlb) + *link;
        for (at = miss->first; at != GPUMP_NONE; at = next) {
            next = gpumpi_tlb_waiters(tlb)[at].next;
            *out++ = gpumpi_tlb_waiters(tlb)[at].waiter;
            gpumpi_tlb_free_waiter(tlb, at);
        }
        at = *link;
        *link = miss->next;
        miss->taken = 0;
        miss->next = tlb->free_miss;
        tlb->free_miss = at;
        tlb->in_flight--;
    }
    entry = gpumpi_tlb_find(tlb, process, page);
    if (!rights) {
        tlb->statistics.failed++;
        if (entry) entry->rights = 0;
        return GPUMP_OK;
    }
    tlb->statistics.fills++;
    if (!entry) { /* a free place, else the one whose last look-up is longest ago; the first of several */
        entry = set = gpumpi_tlb_entries(tlb) + gpumpi_tlb_set(tlb, page) * tlb->config.ways;
        for (uint32_t way = 1; way < tlb->config.ways && entry->rights; way++)
            if (!set[way].rights || set[way].used < entry->used) entry = set + way;
        tlb->statistics.evictions += entry->rights != 0;
        entry->page = page;
        entry->process = process;
    }
    entry->rights = rights;
    entry->used = ++tlb->stamp;
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_tlb_cancel(gpump_tlb *tlb, uint32_t process, uint64_t page, uint64_t waiter) {
    gpumpi_tlb_waiter *waiters;
    gpumpi_tlb_miss *miss;
    uint32_t at, before = GPUMP_NONE;
    if (!tlb) return GPUMP_ERROR_ARGUMENT;
    at = *gpumpi_tlb_find_miss(tlb, process, page);
    if (at == GPUMP_NONE) return GPUMP_EMPTY;
    waiters = gpumpi_tlb_waiters(tlb);
    miss = gpumpi_tlb_misses(tlb) + at;
    for (at = miss->first; at != GPUMP_NONE && waiters[at].waiter != waiter; at = waiters[at].next) before = at;
    if (at == GPUMP_NONE) return GPUMP_EMPTY;
    if (before == GPUMP_NONE)
        miss->first = waiters[at].next;
    else
        waiters[before].next = waiters[at].next;
    if (miss->last == at) miss->last = before;
    miss->count--;
    gpumpi_tlb_free_waiter(tlb, at);
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_tlb_invalidate(gpump_tlb *tlb, uint32_t process, uint64_t first, uint64_t pages) {
    if (!tlb) return GPUMP_ERROR_ARGUMENT;
    for (uint32_t i = 0; i < tlb->config.entries; i++) {
        gpumpi_tlb_entry *entry = gpumpi_tlb_entries(tlb) + i;
        if (!entry->rights || (process != GPUMP_TLB_ALL && entry->process != process)) continue;
        if (entry->page < first || (entry->page - first >= pages && pages != UINT64_MAX)) continue;
        entry->rights = 0;
        tlb->statistics.invalidated++;
    }
    return GPUMP_OK;
}

GPUMP_API uint32_t gpumpi_tlb_in_flight(const gpump_tlb *tlb) { return tlb->in_flight; }

/* ---- statistics ---- */

static const char *const gpumpi_tlb_counters[][3] = {
#define GPUMPI_FIELD(name, unit, description) {#name, unit, description},
    GPUMPI_TLB_STATISTICS(GPUMPI_FIELD)
#undef GPUMPI_FIELD
};
/* clang-format off */
static const gpumpi_methods gpumpi_tlb_hooks = {
    "tlb", "fault", GPUMPI_TLB_MAGIC,
    GPUMP_LAYOUT_FAULT, sizeof(gpump_tlb_config), offsetof(gpump_tlb, config), offsetof(gpump_tlb, statistics),
    sizeof gpumpi_tlb_counters / sizeof *gpumpi_tlb_counters, gpumpi_tlb_counters, 0,
    /* preset, check_config, bytes, bits, tables */
    gpumpi_tlb_preset, gpumpi_tlb_check_config, gpumpi_tlb_bytes, gpumpi_tlb_bits, NULL,
    /* set_up, unfit, check, hash */
    gpumpi_tlb_set_up, gpumpi_tlb_unfit, gpumpi_tlb_check, gpumpi_tlb_hash,
    /* preset_for, next_cycle, copy_statistics */
    NULL, NULL, NULL,
};
/* clang-format on */
GPUMP_API const gpumpi_methods *gpumpi_tlb_methods(void) { return &gpumpi_tlb_hooks; }
