/* direct: the second L1, which own_l1.sh adds by the recipe of l1/model.h: each line has one place of eight. */
#include "l1/model.h"

#define PLACES 8u

typedef struct direct {
    cache_line places[PLACES];
    uint64_t lines[PLACES]; /* + 1; 0: empty */
} direct;

static void *make(arena *a, const minigpu_config *config) {
    (void)config;
    return arena_take(a, sizeof(direct));
}

static cache_line *find(void *l1, uint64_t line) {
    direct *d = (direct *)l1;
    return d->lines[line % PLACES] == line + 1 ? &d->places[line % PLACES] : NULL;
}

static cache_line *victim(void *l1, uint64_t line) {
    cache_line *place = &((direct *)l1)->places[line % PLACES];
    return place->pending ? NULL : place;
}

static uint32_t number(const void *l1, const cache_line *place) {
    return (uint32_t)(place - ((const direct *)l1)->places);
}

static void fill(void *l1, cache_line *place, uint64_t line) { ((direct *)l1)->lines[number(l1, place)] = line + 1; }

static void use(void *l1, cache_line *place) {
    (void)l1;
    (void)place;
}

static uint64_t line_of(const void *l1, const cache_line *place) {
    return ((const direct *)l1)->lines[number(l1, place)] - 1;
}

static void drop(void *l1, cache_line *place) { ((direct *)l1)->lines[number(l1, place)] = 0; }

static cache_line *numbered(void *l1, uint32_t wanted) {
    return wanted < PLACES ? &((direct *)l1)->places[wanted] : NULL;
}

static void empty(void *l1) { memset(l1, 0, sizeof(direct)); }

static uint64_t hash_of(const void *l1, uint64_t hash) {
    uint32_t i;
    for (i = 0; i < PLACES; i++) hash = gpump_hash_u64(hash, ((const direct *)l1)->lines[i]);
    return hash;
}

const l1_model direct_l1 = {.name = "direct",
                            .make = make,
                            .find = find,
                            .victim = victim,
                            .fill = fill,
                            .use = use,
                            .line_of = line_of,
                            .drop = drop,
                            .place = numbered,
                            .number = number,
                            .empty = empty,
                            .hash = hash_of};
