/* link: minigpu_core */
/* The mini-GPU: nanoseconds of processor time per simulated thread instruction, timing on. 20 ns are 50 million per second. */
#include <stdio.h>
#include <stdlib.h>

#include "machine.h"
#include "micro.h"

typedef struct simulation {
    launch_file launch;
    machine *m;
    void *start;
    uint64_t ahead; /* thread instructions simulated and not yet asked for */
} simulation;

/* Goes on, from the start again after each end, until that many more thread instructions have been simulated. What a step did beyond that counts
 * for the next call. */
static uint64_t run(void *state, uint64_t operations) {
    simulation *s = (simulation *)state;
    kernel *k = &s->m->kernels[0];
    while (s->ahead < operations) {
        uint64_t before = k->thread_instructions;
        int ended = machine_run(s->m, s->m->now + 256) != 0;
        s->ahead += k->thread_instructions - before;
        if (ended) arena_restore(&s->m->arena, s->start);
    }
    s->ahead -= operations;
    return s->ahead;
}

static void *setup(const char *kernel) {
    simulation *s = (simulation *)calloc(1, sizeof *s);
    machine_options options;
    char path[512], error[LAUNCH_ERROR_BYTES];
    if (!s) return NULL;
    machine_options_default(&options);
    snprintf(path, sizeof path, "%s/launches/speed_%s.yaml", MINIGPU_SOURCE_DIR, kernel);
    if (launch_file_read(&s->launch, path, error)) {
        fprintf(stderr, "%s\n", error);
        free(s);
        return NULL;
    }
    s->m = machine_build(&s->launch, &options, error);
    if (!s->m) fprintf(stderr, "%s\n", error);
    s->start = s->m ? arena_checkpoint(&s->m->arena) : NULL;
    if (!s->start) {
        machine_free(s->m);
        launch_file_free(&s->launch);
        free(s);
        return NULL;
    }
    run(s, 100000); /* touches the machine's memory for the first time */
    return s;
}
static void *setup_saxpy(uint64_t size) { (void)size; return setup("saxpy"); }
static void *setup_hotspot(uint64_t size) { (void)size; return setup("hotspot"); }
static void *setup_pathfinder(uint64_t size) { (void)size; return setup("pathfinder"); }

static void teardown(void *state) {
    simulation *s = (simulation *)state;
    free(s->start);
    machine_free(s->m);
    launch_file_free(&s->launch);
    free(s);
}

static const uint64_t one[] = {1, 0};
const micro_case micro_minigpu[] = {
    {"minigpu_saxpy", "one thread instruction of saxpy, timing on", NULL, one, setup_saxpy, run, NULL, teardown},
    {"minigpu_hotspot", "one thread instruction of hotspot, timing on", NULL, one, setup_hotspot, run, NULL, teardown},
    {"minigpu_pathfinder", "one thread instruction of pathfinder, timing on", NULL, one, setup_pathfinder, run, NULL, teardown},
    {NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL},
};
