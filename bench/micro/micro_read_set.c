/* What a block has read and written, from its start to its return. */
#include <stdlib.h>
#include "gpump_once.h"
#include "micro.h"

static const uint64_t segment_counts[] = {32, 256, 1536, 16384, 0};

typedef struct scene {
    gpump_read_set *set;
    gpump_read_set_segment *saved;
    uint32_t segments;
} scene;
static void teardown(void *state) {
    scene *s = (scene *)state;
    free(s->set);
    free(s->saved);
    free(s);
}
/* The table is at most half full. */
static void *setup(uint64_t size) {
    scene *s = (scene *)calloc(1, sizeof *s);
    gpump_read_set_config config;
    size_t bytes;
    void *memory;
    if (!s || gpump_preset(&gpump_read_set_component, &config, "default", NULL) != GPUMP_OK) return NULL;
    for (config.segments = 16; config.segments < 2 * size;) config.segments *= 2;
    s->segments = (uint32_t)size;
    s->saved = (gpump_read_set_segment *)malloc(size * sizeof *s->saved);
    if (gpump_bytes(&gpump_read_set_component, &config, &bytes, NULL) != GPUMP_OK || !(memory = malloc(bytes)))
        return NULL;
    if (!s->saved || gpump_init(&gpump_read_set_component, memory, bytes, &config, &s->set, NULL)) return NULL;
    return s;
}
static uint64_t run(void *state, uint64_t operations) {
    const scene *s = (const scene *)state;
    uint64_t sum = 0;
    for (uint64_t i = 0; i < operations; i++) {
        uint32_t count;
        gpump_read_set_clear(s->set);
        for (uint64_t n = 0; n < s->segments; n++) {
            const uint64_t address = (i % 61 * 4096 + n) * GPUMP_READ_SET_SEGMENT_BYTES;
            gpump_read_set_load(s->set, address, 0xffff);
            sum += (uint64_t)gpump_read_set_store(s->set, address, 0xffff0000);
        }
        if (gpump_read_set_save(s->set, s->saved, s->segments, &count) || count != s->segments) return 0;
        if (gpump_read_set_restore(s->set, s->saved, count)) return 0;
        sum += count;
    }
    return sum;
}

const micro_case micro_read_set[] = {
    {"read_set_block", "a block loads and stores n segments, is saved and restored", NULL, segment_counts, setup, run,
     NULL, teardown},
    {NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL},
};
