#include "l1/associative/associative.h"

static void *make(arena *a, const minigpu_config *config) {
    cache *c = (cache *)arena_take(a, sizeof *c);
    return c && !cache_make(c, a, config->l1_bytes, config->l1_ways) ? c : NULL;
}

static void drop(void *l1, cache_line *place) { *cache_tag((const cache *)l1, place) = 0; }
static void empty(void *l1) { cache_empty((cache *)l1); }
static uint64_t hash_of(const void *l1, uint64_t hash) { return cache_hash((const cache *)l1, hash); }

const l1_model associative_l1 = {.name = "associative",
                                 .make = make,
                                 .find = associative_find,
                                 .victim = associative_victim,
                                 .fill = associative_fill,
                                 .use = associative_use,
                                 .line_of = associative_line_of,
                                 .drop = drop,
                                 .place = associative_place,
                                 .number = associative_number,
                                 .empty = empty,
                                 .hash = hash_of};
