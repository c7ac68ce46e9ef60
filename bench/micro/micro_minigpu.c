/* link: minigpu_core */
/* The mini-GPU with timing on: one operation is one thread instruction, so 20 ns are 50 million per second. */
#include <stdio.h>
#include <stdlib.h>
#include "machine/machine.h"
#include "micro.h"

typedef struct simulation {
    launch_file launch;
    machine *m;
    void *start; /* the machine before its first cycle */
} simulation;

static const uint64_t sizes[] = {1, 0};

static void *setup(const char *name) {
    simulation *s = (simulation *)calloc(1, sizeof *s);
    machine_options options;
    char path[1024], error[LAUNCH_ERROR_BYTES];
    snprintf(path, sizeof path, "%s/../../bench/data/%s", MINIGPU_SOURCE_DIR, name);
    machine_options_default(&options);
    if (!s || launch_file_read(&s->launch, path, error)) {
        if (s) fprintf(stderr, "micro: %s\n", error);
        return NULL;
    }
    if (!(s->m = machine_build(&s->launch, &options, error)) || !(s->start = arena_checkpoint(&s->m->arena))) {
        fprintf(stderr, "micro: %s\n", s->m ? "out of memory" : error);
        return NULL;
    }
    return s;
}
static void *setup_saxpy(uint64_t size) { return size ? setup("minigpu_saxpy.yaml") : NULL; }
static void *setup_hotspot(uint64_t size) { return size ? setup("minigpu_hotspot.yaml") : NULL; }
static void teardown(void *state) {
    simulation *s = (simulation *)state;
    free(s->start);
    machine_free(s->m);
    launch_file_free(&s->launch);
    free(s);
}

/* Runs until that many thread instructions have been executed. Starts again from the first cycle when the kernel
 * ends. */
static uint64_t run(void *state, uint64_t operations) {
    simulation *s = (simulation *)state;
    uint64_t goal = s->m->kernels[0].thread_instructions + operations;
    for (;;) {
        int ended = machine_run(s->m, s->m->now + 20);
        uint64_t done = s->m->kernels[0].thread_instructions;
        if (ended < 0) {
            fprintf(stderr, "micro: %s\n", s->m->error);
            exit(1);
        }
        if (done >= goal) return s->m->now;
        if (!ended) continue;
        goal -= done;
        arena_restore(&s->m->arena, s->start);
    }
}

const micro_case micro_minigpu[] = {
    {"minigpu_saxpy", "a thread instruction of saxpy, 7,813 blocks, timing on", NULL, sizes, setup_saxpy, run, NULL,
     teardown},
    {"minigpu_hotspot", "a thread instruction of hotspot, 1,156 blocks, timing on", NULL, sizes, setup_hotspot, run,
     NULL, teardown},
    {NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL},
};
