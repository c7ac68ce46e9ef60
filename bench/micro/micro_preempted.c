/* Blocks that have left their SMs: the list of them, and the space for their contexts. */
#include <stdlib.h>
#include "gpump_once.h"
#include "micro.h"

static const uint64_t block_counts[] = {8, 64, 1024, 16384, 0};
static const uint64_t sm_counts[] = {16, 128, 1024, 0};

typedef struct scene {
    gpump_preempted *list;
    uint32_t *loads, *order;
    uint32_t size, handle;
} scene;
static void teardown(void *state) {
    scene *s = (scene *)state;
    free(s->list);
    free(s->loads);
    free(s->order);
    free(s);
}
static scene *make(uint64_t size, uint32_t blocks, uint32_t sms) {
    scene *s = (scene *)calloc(1, sizeof *s);
    gpump_preempted_config config;
    size_t bytes;
    void *memory;
    uint64_t random = 5;
    if (!s) return NULL;
    config.blocks = blocks;
    config.sms = sms;
    s->size = (uint32_t)size;
    s->loads = (uint32_t *)malloc(sms * sizeof *s->loads);
    s->order = (uint32_t *)malloc(sms * sizeof *s->order);
    if (gpump_bytes(&gpump_preempted_component, &config, &bytes, NULL) != GPUMP_OK || !(memory = malloc(bytes)))
        return NULL;
    if (!s->loads || !s->order || gpump_init(&gpump_preempted_component, memory, bytes, &config, &s->list, NULL))
        return NULL;
    for (uint32_t sm = 0; sm < sms; sm++) s->loads[sm] = gpump_random_below(&random, 64);
    return s;
}
static gpump_result add(scene *s, uint64_t ready_cycle) {
    gpump_preempted_block block = {0, 0, 1, GPUMP_NONE, GPUMP_NONE, 0};
    block.ready_cycle = ready_cycle;
    return gpump_preempted_add(s->list, &block, &s->handle);
}

/* n blocks wait, of which only the last may come back. One operation: it is found, comes back, and another leaves. */
static void *setup_find(uint64_t size) {
    scene *s = make(size, (uint32_t)size, 16);
    for (uint64_t i = 0; s && i < size; i++)
        if (add(s, i + 1 == size ? 0 : GPUMP_UNKNOWN)) return NULL;
    return s;
}
static uint64_t run_find(void *state, uint64_t operations) {
    scene *s = (scene *)state;
    uint64_t good = 0;
    for (uint64_t i = 0; i < operations; i++) {
        const uint32_t sm = (uint32_t)i & 15u, handle = gpump_preempted_find(s->list, i, 0, sm, 0);
        good += handle == s->handle && !gpump_preempted_take(s->list, handle, sm) && !add(s, 0);
    }
    return good;
}

static void *setup_order(uint64_t size) { return make(size, 16, (uint32_t)size); }
static uint64_t run_order(void *state, uint64_t operations) {
    const scene *s = (const scene *)state;
    uint64_t sum = 0;
    for (uint64_t i = 0; i < operations; i++) {
        s->loads[i % s->size] ^= 1u;
        if (gpump_preempted_order(s->list, s->loads, s->order)) return 0;
        sum += s->order[0];
    }
    return sum;
}

/* ---- the space for contexts ---- */

static const uint64_t context_counts[] = {64, 1024, 65536, 0};
static const uint64_t kernel_counts[] = {16, 128, 1024, 0};
typedef struct space {
    gpump_context_pool *pool;
    uint64_t last; /* the context that is given back and taken again */
    uint32_t kernel;
} space;
static void *setup_space(uint32_t kernels, uint32_t contexts) {
    space *s = (space *)calloc(1, sizeof *s);
    gpump_context_pool_config config;
    size_t bytes;
    void *memory;
    if (!s) return NULL;
    config.kernels = s->kernel = kernels;
    config.contexts = contexts;
    config.context_bytes = 4096;
    if (gpump_bytes(&gpump_context_pool_component, &config, &bytes, NULL) != GPUMP_OK || !(memory = malloc(bytes)))
        return NULL;
    if (gpump_init(&gpump_context_pool_component, memory, bytes, &config, &s->pool, NULL) != GPUMP_OK) return NULL;
    for (uint32_t kernel = 1; kernel <= kernels; kernel++)
        if (gpump_context_pool_open(s->pool, kernel) != GPUMP_OK) return NULL;
    for (uint32_t i = 0; i < contexts; i++)
        if (gpump_context_pool_take(s->pool, kernels, 4096, &s->last) != GPUMP_OK) return NULL;
    return s;
}
static void *setup_contexts(uint64_t size) { return setup_space(2, (uint32_t)size); }
static void *setup_kernels(uint64_t size) { return setup_space((uint32_t)size, 64); }
static void teardown_space(void *state) {
    free(((space *)state)->pool);
    free(state);
}
static uint64_t run_space(void *state, uint64_t operations) {
    space *s = (space *)state;
    uint64_t sum = 0;
    for (uint64_t i = 0; i < operations; i++) {
        if (gpump_context_pool_give(s->pool, s->last)) return 0;
        sum += gpump_context_pool_room(s->pool, s->kernel).contexts;
        if (gpump_context_pool_take(s->pool, s->kernel, 1 + (i & 4095), &s->last)) return 0;
    }
    return sum;
}

const micro_case micro_preempted[] = {
    {"preempted_find", "the only block that may come back is found, comes back, and another leaves; n wait", NULL,
     block_counts, setup_find, run_find, NULL, teardown},
    {"preempted_order", "the order in which n SMs of 0 to 63 blocks are asked for room", NULL, sm_counts, setup_order,
     run_order, NULL, teardown},
    {"context_pool_contexts", "room for a context given back, counted and taken; a kernel has n", NULL, context_counts,
     setup_contexts, run_space, NULL, teardown_space},
    {"context_pool_kernels", "the same, n kernels have 64 each", NULL, kernel_counts, setup_kernels, run_space, NULL,
     teardown_space},
    {NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL},
};
