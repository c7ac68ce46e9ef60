/* More blocks on an SM than fit: a warp stalls, its registers move to a frame, and another warp's registers move in. */
#include <stdlib.h>
#include <string.h>
#include "gpump_once.h"
#include "micro.h"

static const uint64_t registers_per_thread[] = {40, 48, 64, 0};

static void *setup_duet(uint64_t size) {
    const gpump_footprint need = {64, 64 * (uint32_t)size, 1024};
    gpump_duet_config config;
    gpump_duet_plan plan;
    gpump_duet *duet;
    size_t bytes;
    void *memory;
    uint32_t block;
    if (gpump_preset(&gpump_duet_component, &config, "maxwell_duet", NULL) != GPUMP_OK) return NULL;
    config.extra_blocks = GPUMP_DUET_ALL;
    if (gpump_duet_plan_make(&config, &need, 8, &plan, NULL) != GPUMP_OK) return NULL;
    if (gpump_bytes(&gpump_duet_component, &config, &bytes, NULL) != GPUMP_OK || !(memory = malloc(bytes))) return NULL;
    if (gpump_init(&gpump_duet_component, memory, bytes, &config, &duet, NULL) != GPUMP_OK) return NULL;
    if (gpump_duet_set_kernel(duet, 0, &plan) != GPUMP_OK) return NULL;
    while (gpump_duet_place_block(duet, 0, 0, &block, NULL) == GPUMP_OK) {}
    return duet;
}
/* A cycle: one warp after the other stalls until its reply, actions are pulled, and a move ends. */
static uint64_t run_duet(void *state, uint64_t operations) {
    gpump_duet *duet = (gpump_duet *)state;
    gpump_duet_action action;
    uint64_t now = duet->now, moved = 0;
    for (uint64_t i = 0; i < operations; i++) {
        const uint32_t warp = (uint32_t)i & 31u;
        now += 40;
        (void)gpump_duet_report_stall(duet, now, warp, 0, 1);
        while (gpump_duet_next(duet, now, &action) == GPUMP_OK) moved++;
        (void)gpump_duet_report_moved(duet, now);
        gpump_duet_report_reply(duet, warp);
    }
    return moved;
}

const micro_case micro_duet[] = {
    {"duet_exchange", "a warp stalls, actions are pulled, a move ends; n registers per thread", NULL,
     registers_per_thread, setup_duet, run_duet, NULL, free},
    {NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL},
};
