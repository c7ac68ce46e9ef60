/* Occupancy and save time of one kernel, which a host computes when a kernel is launched. The size is the number of
 * kernels in turn. */
#include <stdlib.h>
#include "gpump_once.h"
#include "micro.h"

typedef struct kernels {
    gpump_gpu gpu;
    uint64_t count;
    gpump_footprint *need;
} kernels;

static const uint64_t sizes[] = {1, 64, 0};

static void *setup(uint64_t size) {
    kernels *k = (kernels *)calloc(1, sizeof *k);
    uint64_t random = 1;
    if (!k || gpump_preset(&gpump_gpu_component, &k->gpu, "k20c", NULL) != GPUMP_OK) return NULL;
    k->need = (gpump_footprint *)malloc((size_t)size * sizeof *k->need);
    if (!k->need) return NULL;
    k->count = size;
    for (uint64_t i = 0; i < size; i++) {
        k->need[i].threads = 32 + gpump_random_below(&random, 992);
        k->need[i].registers = k->need[i].threads * 24;
        k->need[i].shared_bytes = gpump_random_below(&random, 32768);
    }
    return k;
}
static void teardown(void *state) {
    free(((kernels *)state)->need);
    free(state);
}
static uint64_t run_occupancy(void *state, uint64_t operations) {
    const kernels *k = (const kernels *)state;
    gpump_occupancy occupancy;
    uint64_t sum = 0;
    for (uint64_t i = 0; i < operations; i++)
        if (gpump_gpu_occupancy(&k->gpu, &k->need[i % k->count], &occupancy, NULL) == GPUMP_OK) sum += occupancy.blocks;
    return sum;
}
static uint64_t run_save(void *state, uint64_t operations) {
    const kernels *k = (const kernels *)state;
    uint64_t sum = 0;
    for (uint64_t i = 0; i < operations; i++)
        sum += gpump_gpu_save_cycles(&k->gpu, gpump_gpu_context_bytes(&k->gpu, &k->need[i % k->count]));
    return sum;
}

const micro_case micro_gpu[] = {
    {"gpu_occupancy", "blocks per SM and what limits them", NULL, sizes, setup, run_occupancy, NULL, teardown},
    {"gpu_save_cycles", "context bytes of a block and the cycles to save them", NULL, sizes, setup, run_save, NULL,
     teardown},
    {NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL},
};
