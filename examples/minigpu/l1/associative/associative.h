/* associative: the set-associative L1 with least-recently-used replacement (l1_bytes, l1_ways). */
#ifndef MINIGPU_L1_ASSOCIATIVE_H
#define MINIGPU_L1_ASSOCIATIVE_H

#include "l1/model.h"

static inline cache_line *associative_find(void *l1, uint64_t line) { return cache_find((cache *)l1, line); }
static inline cache_line *associative_victim(void *l1, uint64_t line) { return cache_victim((cache *)l1, line); }
static inline void associative_use(void *l1, cache_line *place) { place->stamp = ++((cache *)l1)->clock; }
static inline void associative_fill(void *l1, cache_line *place, uint64_t line) {
    *cache_tag((const cache *)l1, place) = line + 1;
    associative_use(l1, place);
}
static inline uint64_t associative_line_of(const void *l1, const cache_line *place) {
    return *cache_tag((const cache *)l1, place) - 1; /* tag 0 gives NO_LINE */
}
static inline uint32_t associative_number(const void *l1, const cache_line *place) {
    return (uint32_t)(place - ((const cache *)l1)->lines);
}
static inline cache_line *associative_place(void *l1, uint32_t number) {
    const cache *c = (const cache *)l1;
    return number < c->sets * c->ways ? &c->lines[number] : NULL;
}

#endif
