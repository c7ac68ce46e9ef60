/* cache: the tags of a set-associative cache with least-recently-used replacement, for L1s and the L2 of memory model
 * 0. A cache holds no data, because values always come from device memory. */
#ifndef MINIGPU_CACHE_H
#define MINIGPU_CACHE_H

#include <stdint.h>
#include <string.h>

#include "gpump_once.h"
#include "launch/config.h"
#include "base/arena.h"

typedef struct cache_line {
    uint64_t ready;        /* L2: the cycle at which its data arrives */
    uint32_t stamp;        /* time of its last use */
    uint32_t first_waiter; /* L1: the first waiting load: record * 32 + segment, linked through waiters; NONE */
    uint32_t pending;      /* L1: loads that wait while the line is in flight */
    uint32_t dirty;
} cache_line;

typedef struct cache {
    uint64_t *tags; /* of lines: address / 128 + 1; 0: empty. Apart: the tags of a set are one or two cache lines */
    cache_line *lines;
    uint32_t sets, ways, clock, unused;
} cache;

/* Makes an empty cache in the arena. Returns 0, or -1 when the arena is full. */
static inline int cache_make(cache *c, arena *a, uint32_t bytes, uint32_t ways) {
    c->ways = ways;
    c->sets = bytes / SEGMENT_BYTES / ways;
    c->clock = 0;
    c->tags = (uint64_t *)arena_take_array(a, (size_t)c->sets * ways, sizeof *c->tags);
    c->lines = (cache_line *)arena_take_array(a, (size_t)c->sets * ways, sizeof *c->lines);
    return c->tags && c->lines ? 0 : -1;
}

/* Returns the number of the first line of the set that a line belongs to. */
static inline uint64_t cache_set(const cache *c, uint64_t line) {
    return (c->sets & (c->sets - 1) ? line % c->sets : line & (c->sets - 1)) * c->ways;
}
/* Returns a pointer to the tag of a line. */
static inline uint64_t *cache_tag(const cache *c, const cache_line *line) { return &c->tags[line - c->lines]; }

/* Prefetches the set of a line that will be looked up soon into the host's caches. */
static inline void cache_fetch_ahead(const cache *c, uint64_t line) {
    const uint64_t first = cache_set(c, line);
    uint32_t byte;
    __builtin_prefetch(&c->tags[first]);
    for (byte = 0; byte < c->ways * sizeof(cache_line); byte += 64)
        __builtin_prefetch((const char *)&c->lines[first] + byte);
}

/* Returns the line (address / 128), or NULL for a line that the cache does not hold. */
static inline cache_line *cache_find(cache *c, uint64_t line) {
    const uint64_t set = cache_set(c, line);
    uint32_t way, found = c->ways;
    for (way = 0; way < c->ways; way++) found = c->tags[set + way] == line + 1 ? way : found; /* no branch to predict */
    return found < c->ways ? &c->lines[set + found] : NULL;
}

/* Returns the least recently used line of the set, among the lines without a waiting load; NULL when there is none. */
static inline cache_line *cache_victim(cache *c, uint64_t line) {
    const uint64_t first = cache_set(c, line);
    cache_line *set = &c->lines[first], *victim = NULL;
    uint32_t way;
    for (way = 0; way < c->ways; way++) {
        if (set[way].pending) continue;
        if (!c->tags[first + way]) return &set[way];
        if (!victim || (int32_t)(set[way].stamp - victim->stamp) < 0) victim = &set[way];
    }
    return victim;
}

/* Returns an empty line of the set, or one by chance; for an L2, where no load waits in a line. */
static inline cache_line *cache_any(const cache *c, uint64_t line) {
    const uint64_t first = cache_set(c, line);
    uint64_t chance = line ^ (uint64_t)c->clock << 32;
    for (uint32_t way = 0; way < c->ways; way++)
        if (!c->tags[first + way]) return &c->lines[first + way];
    return &c->lines[first + gpump_random_below(&chance, c->ways)];
}

/* Empties a cache that is idle. */
static inline void cache_empty(cache *c) {
    uint32_t i;
    for (i = 0; i < c->sets * c->ways; i++) {
        if (!c->tags[i]) continue;
        c->tags[i] = 0;
        memset(&c->lines[i], 0, sizeof c->lines[i]);
    }
}

static inline uint64_t cache_hash(const cache *c, uint64_t hash) {
    uint32_t i;
    for (i = 0; i < c->sets * c->ways; i++) {
        hash = gpump_hash_u64(hash, c->tags[i]);
        hash = gpump_hash_u64(hash, c->lines[i].ready);
        hash = gpump_hash_u64(hash, c->lines[i].stamp);
    }
    return hash;
}

#endif
