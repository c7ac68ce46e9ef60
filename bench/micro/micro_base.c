/* The sparse map of base beside stb_ds's hash map: look-ups, and insertions with removals, in a map of `size` keys. */
#include <stdlib.h>
#include "gpump_once.h"
#include "micro.h"
#define STB_DS_IMPLEMENTATION
#include "micro/stb_ds_any.h"

typedef struct entry {
    uint64_t key, value;
} entry;
typedef struct maps {
    gpumpi_map *ours;
    entry *rival;
    uint64_t size;
} maps;

static const uint64_t sizes[] = {64, 1024, 16384, 262144, 0};

/* Pages of 64 KB, as in a fault table, not in order. */
static uint64_t key_of(uint64_t i) { return ((i * UINT64_C(0x9e3779b1)) & 0xffffffff) << 16; }

static void *setup(uint64_t size) {
    maps *all = (maps *)calloc(1, sizeof *all);
    size_t bytes;
    if (!all || gpumpi_map_bytes((uint32_t)size + 1, &bytes) != GPUMP_OK) return NULL;
    if (gpumpi_map_init(malloc(bytes), bytes, (uint32_t)size + 1, &all->ours) != GPUMP_OK) return NULL;
    all->size = size;
    for (uint64_t i = 0; i < size; i++) {
        uint64_t key = key_of(i);
        (void)gpumpi_map_put(all->ours, key, i);
        hmput(all->rival, key, i);
    }
    return all;
}
static void teardown(void *state) {
    maps *all = (maps *)state;
    hmfree(all->rival);
    free(all->ours);
    free(all);
}

/* Half of the look-ups miss. */
static uint64_t run_get(void *state, uint64_t operations) {
    maps *all = (maps *)state;
    uint64_t sum = 0, random = 1, value;
    for (uint64_t i = 0; i < operations; i++)
        if (gpumpi_map_get(all->ours, key_of(gpump_random_below(&random, 2 * (uint32_t)all->size)), &value) == GPUMP_OK)
            sum += value;
    return sum;
}
static uint64_t run_get_stb(void *state, uint64_t operations) {
    maps *all = (maps *)state;
    uint64_t sum = 0, random = 1;
    for (uint64_t i = 0; i < operations; i++) {
        uint64_t key = key_of(gpump_random_below(&random, 2 * (uint32_t)all->size));
        ptrdiff_t at = hmgeti(all->rival, key);
        if (at >= 0) sum += all->rival[at].value;
    }
    return sum;
}

/* One operation inserts a new key and removes it. */
static uint64_t run_churn(void *state, uint64_t operations) {
    maps *all = (maps *)state;
    uint64_t removed = 0;
    for (uint64_t i = 0; i < operations; i++) {
        uint64_t key = key_of(all->size + (i & 0xffff));
        (void)gpumpi_map_put(all->ours, key, i);
        removed += gpumpi_map_remove(all->ours, key) == GPUMP_OK;
    }
    return removed;
}
static uint64_t run_churn_stb(void *state, uint64_t operations) {
    maps *all = (maps *)state;
    uint64_t removed = 0;
    for (uint64_t i = 0; i < operations; i++) {
        uint64_t key = key_of(all->size + (i & 0xffff));
        hmput(all->rival, key, i);
        removed += (uint64_t)hmdel(all->rival, key);
    }
    return removed;
}

const micro_case micro_base[] = {
    {"base_map_get", "a look-up, half of them missing, in a map of n keys", "stb_ds hmgeti", sizes, setup, run_get,
     run_get_stb, teardown},
    {"base_map_put_remove", "a new key put and removed in a map of n keys", "stb_ds hmput, hmdel", sizes, setup,
     run_churn, run_churn_stb, teardown},
    {NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL},
};
