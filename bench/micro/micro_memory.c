/* link: minigpu_core */
/* The meter, and the parts of the queued memory, one at a time. */
#include <stdlib.h>
#include "gpump_once.h"
#include "memory/crossbar.h"
#include "memory/dram.h"
#include "micro.h"

/* ---- meter: a request enters and leaves a hop ---- */

static const uint64_t kernel_counts[] = {1, 8, 64, 0};
static void *setup_meter(uint64_t size) {
    gpump_meter_config config;
    gpump_meter *meter;
    size_t bytes;
    void *memory;
    if (gpump_preset(&gpump_meter_component, &config, "maxwell_ccbp", NULL) != GPUMP_OK) return NULL;
    config.kernels = (uint32_t)size;
    if (gpump_bytes(&gpump_meter_component, &config, &bytes, NULL) != GPUMP_OK || !(memory = malloc(bytes)))
        return NULL;
    return gpump_init(&gpump_meter_component, memory, bytes, &config, &meter, NULL) == GPUMP_OK ? meter : NULL;
}
static uint64_t run_meter(void *state, uint64_t operations) {
    gpump_meter *meter = (gpump_meter *)state;
    gpump_traffic traffic;
    uint64_t i, now = 0;
    const uint64_t before = gpump_meter_total(meter, meter->now, 1, &traffic) == GPUMP_OK ? traffic.up_requests : 0;
    for (i = 0; i < operations; i++) {
        const uint32_t kernel = 1 + (uint32_t)(i % meter->config.kernels);
        gpump_meter_report_enter(meter, now, kernel, GPUMP_METER_UP);
        now += 1 + (i & 127);
        gpump_meter_report_leave(meter, now, kernel, GPUMP_METER_UP, now - 1 - (i & 127));
    }
    return gpump_meter_total(meter, meter->now, 1, &traffic) == GPUMP_OK ? traffic.up_requests - before : 0;
}

/* ---- crossbar: a packet of a saturated n x n ---- */

static const uint64_t port_counts[] = {4, 16, 64, 0};
typedef struct network {
    events *wheel;
    crossbar *x;
    uint64_t random, now;
} network;
static void *setup_crossbar(uint64_t size) {
    const crossbar_config config = {(uint32_t)size, (uint32_t)size, 4, CROSSBAR_UNLIMITED, 1, 0};
    network *n = (network *)calloc(1, sizeof *n);
    uint32_t i;
    if (!n) return NULL;
    n->wheel = events_init(malloc(events_bytes(2 * config.inputs)), 2 * config.inputs);
    n->x = crossbar_init(malloc(crossbar_bytes(&config)), &config);
    for (i = 0; i < 4 * config.inputs; i++)
        crossbar_offer(n->x, n->wheel, 0, 0, i % config.inputs, gpump_random_below(&n->random, config.outputs), 5, 0);
    return n;
}
static uint64_t run_crossbar(void *state, uint64_t operations) {
    network *n = (network *)state;
    uint64_t passed = 0;
    event happened;
    while (passed < operations && events_take(n->wheel, EVENTS_NEVER, &happened)) {
        crossbar_packet done;
        uint32_t input;
        n->now = happened.cycle;
        if (!crossbar_event(n->x, n->wheel, n->now, &happened, &done, &input)) continue;
        crossbar_offer(n->x, n->wheel, n->now, n->now, input, gpump_random_below(&n->random, n->x->config.outputs), 5,
                       0);
        passed++;
    }
    return passed;
}
static void teardown_crossbar(void *state) {
    network *n = (network *)state;
    free(n->wheel);
    free(n->x);
    free(n);
}

/* ---- dram: a pick among n ---- */

static const uint64_t queue_lengths[] = {8, 32, 128, 0};
static void *setup_dram(uint64_t size) {
    dram_config config;
    void *memory;
    dram_config_gddr5(&config);
    config.queue_entries = (uint32_t)size;
    config.line_cycles = 8;
    memory = malloc(dram_bytes(&config));
    return memory ? dram_init(memory, &config) : NULL;
}
static uint64_t run_dram(void *state, uint64_t operations) {
    dram *d = (dram *)state;
    uint64_t i, now = d->data_end, random = 1, picked_count = 0;
    for (i = 0; i < operations; i++) {
        dram_entry picked;
        uint64_t end;
        while (dram_room(d)) dram_put(d, now, gpump_random_next(&random) >> 44, 0, 0);
        now = dram_next(d, now);
        dram_pick(d, now, &picked, &end);
        picked_count++;
    }
    return picked_count;
}

const micro_case micro_memory[] = {
    {"meter_hop", "a request enters and leaves a hop, of n kernels", NULL, kernel_counts, setup_meter, run_meter, NULL,
     free},
    {"memory_crossbar", "a packet through a saturated crossbar of n ports", NULL, port_counts, setup_crossbar,
     run_crossbar, NULL, teardown_crossbar},
    {"memory_dram", "a pick among n waiting requests, random rows", NULL, queue_lengths, setup_dram, run_dram, NULL,
     free},
    {NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL},
};
