/* Finding an in-place plan among n blocks, and the time to save a block of n warps through the pipeline. */
#include <stdlib.h>
#include <string.h>
#include "gpump_once.h"
#include "micro.h"

static const uint64_t block_counts[] = {8, 16, 32, 64, 0};
static const uint64_t warp_counts[] = {8, 32, 64, 0};

static void *setup_plan(uint64_t size) {
    gpump_block_view *views = (gpump_block_view *)calloc(65, sizeof *views);
    if (!views) return NULL;
    for (uint64_t i = 0; i < size; i++) {
        views[i].register_base = (uint32_t)(i * (65536 / size));
        views[i].registers = (uint32_t)(65536 / size) - 64;
        views[i].shared_base = (uint32_t)(i * (98304 / size));
        views[i].shared_bytes = (uint32_t)(98304 / size / 2);
        views[i].may = 1u << GPUMP_TECHNIQUE_SWITCH;
    }
    views[64].block.slot = (uint32_t)size;
    return views;
}
static uint64_t run_plan(void *state, uint64_t operations) {
    const gpump_block_view *views = (const gpump_block_view *)state;
    uint64_t sum = 0;
    for (uint64_t i = 0; i < operations; i++) {
        gpump_in_place_need need = {4, 0, 4096, GPUMP_IN_PLACE_BEST, GPUMP_IN_PLACE_BEST};
        gpump_in_place_plan plan;
        gpump_in_place_sm sm = {views, views[64].block.slot, 65536, 98304, {0, 0, 0, 0, 0, 0}};
        need.registers = 6000 + (uint32_t)(i & 255);
        if (gpump_in_place_find(&sm, &need, &plan, NULL) == GPUMP_OK) sum += plan.register_bytes;
    }
    return sum;
}

static void *setup_save(uint64_t size) {
    gpump_spill_warp *warps = (gpump_spill_warp *)calloc(65, sizeof *warps);
    if (!warps) return NULL;
    for (uint64_t i = 0; i < size; i++) {
        warps[i].point_cycle = i * 7 % 100;
        warps[i].drained_cycle = warps[i].point_cycle + 40;
        warps[i].registers = 20;
        warps[i].bytes = 400;
    }
    warps[64].registers = (uint32_t)size;
    return warps;
}
static uint64_t run_save(void *state, uint64_t operations) {
    const gpump_spill_warp *warps = (const gpump_spill_warp *)state;
    gpump_spill_config config;
    gpump_spill_times times;
    uint64_t sum = 0;
    (void)gpump_preset(&gpump_spill_component, &config, "k20c", NULL);
    for (uint64_t i = 0; i < operations; i++) {
        gpump_spill_transfer transfer = {warps, 0, {13 * 706000, 208000000, 0}, 0, warps[64].registers, 0, 256, 0};
        transfer.shared_bytes = 1024 + (uint32_t)(i & 127);
        if (gpump_spill_save_time(&config, &transfer, &times, NULL) == GPUMP_OK) sum += times.end;
    }
    return sum;
}

const micro_case micro_spill[] = {
    {"in_place_find", "one plan among n blocks", NULL, block_counts, setup_plan, run_plan, NULL, free},
    {"spill_save_time", "the time to save a block of n warps", NULL, warp_counts, setup_save, run_save, NULL, free},
    {NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL}};
