/* Warps that go back to their restart PCs. */
#include <stdlib.h>
#include "gpump_once.h"
#include "micro.h"

static const uint64_t depths[] = {1, 8, 64, 256, 0};
static const uint64_t warp_counts[] = {8, 64, 256, 0};
static const uint64_t lengths[] = {1000, 8000, 100000, 0};

typedef struct scene {
    gpump_restart *restart;
    gpump_restart_frame *frames;
    uint64_t *words;
    uint64_t now;
    uint32_t size;
} scene;
static void teardown(void *state) {
    scene *s = (scene *)state;
    free(s->restart);
    free(s->frames);
    free(s->words);
    free(s);
}
static scene *make(uint64_t size, uint32_t warps, uint32_t depth) {
    scene *s = (scene *)calloc(1, sizeof *s);
    gpump_restart_config config;
    size_t bytes;
    void *memory;
    if (!s || gpump_preset(&gpump_restart_component, &config, "decor", NULL) != GPUMP_OK) return NULL;
    config.warps = warps;
    config.frames = depth;
    config.lanes = 32;
    s->size = (uint32_t)size;
    s->frames = (gpump_restart_frame *)calloc(depth, sizeof *s->frames);
    s->words = (uint64_t *)calloc(8 + 4 * (size_t)depth, 8);
    if (gpump_bytes(&gpump_restart_component, &config, &bytes, NULL) != GPUMP_OK || !(memory = malloc(bytes)))
        return NULL;
    if (!s->frames || !s->words || gpump_init(&gpump_restart_component, memory, bytes, &config, &s->restart, NULL))
        return NULL;
    for (uint32_t i = 0; i < depth; i++) {
        s->frames[i].lanes = 0xffffffff;
        s->frames[i].pc = s->frames[i].reconvergence_pc = i;
    }
    return s;
}
static void *setup_life(uint64_t size) { return make(size, 8, (uint32_t)size); }

/* One operation: a warp crosses a boundary, errs, goes back, leaves and returns. */
static uint64_t run_life(void *state, uint64_t operations) {
    scene *s = (scene *)state;
    gpump_restart *r = s->restart;
    uint64_t good = 0;
    for (uint64_t i = 0; i < operations; i++) {
        const uint32_t warp = (uint32_t)i & 7u;
        uint32_t depth, count, erring;
        s->now += 100;
        if (gpump_restart_open(r, warp)) return 0;
        if (gpump_restart_report_boundary(r, warp, GPUMP_RESTART_SPARSE, s->frames, s->size)) return 0;
        gpump_restart_report_executed(r, warp);
        gpump_restart_report_unverified(r, warp, s->now);
        if (gpump_restart_report_error(r, warp, s->now)) return 0;
        if (gpump_restart_next(r, s->now + 50, &erring) || erring != warp) return 0;
        if (gpump_restart_go_back(r, warp, GPUMP_RESTART_SHORT, s->frames, s->size, &depth)) return 0;
        if (gpump_restart_save(r, warp, s->words, 8 + 4 * s->size, &count)) return 0;
        if (gpump_restart_close(r, warp) || gpump_restart_open(r, warp)) return 0;
        good += gpump_restart_restore(r, warp, s->words, count, NULL) == GPUMP_OK && depth == s->size;
        if (gpump_restart_close(r, warp)) return 0;
    }
    return good;
}

/* All n warps have an error that has not been detected; the error of the last warp is detected first. */
static void *setup_next(uint64_t size) {
    scene *s = make(size, (uint32_t)size, 1);
    for (uint32_t warp = 0; s && warp < size; warp++)
        if (gpump_restart_open(s->restart, warp) ||
            gpump_restart_report_boundary(s->restart, warp, GPUMP_RESTART_SPARSE, s->frames, 1) ||
            gpump_restart_report_error(s->restart, warp, warp + 1 == size ? 0 : 1000))
            return NULL;
    return s;
}
static uint64_t run_next(void *state, uint64_t operations) {
    const scene *s = (const scene *)state;
    uint64_t sum = 0;
    for (uint64_t i = 0; i < operations; i++) {
        uint32_t warp;
        sum += gpump_restart_next(s->restart, 100 + (i & 255), &warp) == GPUMP_OK && warp + 1 == s->size;
    }
    return sum;
}

static uint64_t run_expected(void *state, uint64_t operations) {
    const scene *s = (const scene *)state;
    uint64_t sum = 0;
    for (uint64_t i = 0; i < operations; i++) sum += gpump_restart_expected(s->size, 1000 + (uint32_t)i, 8);
    return sum;
}
static void *setup_expected(uint64_t size) { return make(size, 1, 1); }

const micro_case micro_restart[] = {
    {"restart_life", "a warp errs, goes back, leaves and returns, with a SIMT stack of n entries", NULL, depths,
     setup_life, run_life, NULL, teardown},
    {"restart_next", "the first detected error among n warps that err", NULL, warp_counts, setup_next, run_next, NULL,
     teardown},
    {"restart_expected", "the instructions that a region of n executes until it has passed", NULL, lengths,
     setup_expected, run_expected, NULL, teardown},
    {NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL},
};
