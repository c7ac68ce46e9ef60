/* bench/every_instruction [--every K] [--shard I/N] [--log FILE] [KERNEL...]: an error, and an exception of arithmetic,
 * in every single instruction of every small launch, or of the named ones, as CSV.
 *
 * A place is one instruction that a warp executes. The machine runs to the cycle before a place. There the process
 * forks, and in the copy one bit of the instruction is wrong, or the instruction traps, once. The copy runs to its end,
 * where memory must be as without the error. A place therefore costs only the cycles behind it. Errors are detected 8
 * cycles later under sparse regions, and 4 cycles later under regions of 32. A single exception is no live-lock.
 *
 * - --every K: only every K-th place, from a random first one on (GPUMP_TEST_SEED)
 * - --shard I/N: only the places of shard I of N, from 0, for several processes
 * - --log FILE: adds the lines to FILE, and leaves out the places of its lines, so an interrupted run can continue
 *
 * A line stands for the places `first` to `last` of a kernel. `places` were taken, `recovered` of them took effect and
 * were repaired, and `wrong` of them ended with other memory, another count of recoveries, or not at all. Exit status 1
 * when a place was wrong, 2 on a usage error. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/analysis.h"
#include "tools/in_copy.h"
#include "kernels/reference.h"
#include "machine/machine.h"
#include "output.h"
#include "parts/errors/error_facts.h"
#include "progress.h"
#include "tools/check.h"
#include "tools/recovery.h"

#define PROGRAM "every_instruction"
#define WATCHDOG_CYCLES 50000000u /* a copy that runs longer counts as one that never ends */
#define PIECE 4000u               /* the most places of a line */

typedef struct kind {
    const char *name, *detection; /* NULL: exceptions */
    uint32_t regions;
} kind;
static const kind kinds[] = {{"error", "decor", REGIONS_SPARSE},
                             {"error", "razor2", 32},
                             {"exception", NULL, REGIONS_SPARSE},
                             {"exception", NULL, 32}};
enum { KINDS = sizeof kinds / sizeof *kinds };

typedef struct task {
    uint64_t every, shard, shards, offset;
    const char *log;
    char *done; /* the text of the log at the start; NULL */
} task;

/* A launch, and its run without errors. */
typedef struct subject {
    const char *name;
    const kind *kind;
    launch_file launch;
    uint64_t result, places;
    uint32_t *cycle_of; /* by place, from 1: the cycle in which it executes */
} subject;

typedef struct outcome {
    uint64_t recovered, wrong;
    char error[LAUNCH_ERROR_BYTES];
} outcome;

static void give_up(const char *what, const char *why) {
    fprintf(stderr, PROGRAM ": %s: %s\n", what, why);
    exit(2);
}

static machine *build(subject *s) {
    char error[LAUNCH_ERROR_BYTES];
    machine_options options;
    machine *m;
    machine_options_default(&options);
    options.regions = s->kind->regions;
    options.errors.detection = s->kind->detection;
    *(s->kind->detection ? &options.errors.errs.at : &options.errors.traps_at.at) = NEVER - 1; /* places are counted
                                                                                                 without an error */
    s->launch.regions = REGIONS_NONE;
    if (!(m = machine_build(&s->launch, &options, error))) give_up(s->name, error);
    return m;
}

static error_count *count_of(const subject *s, const machine *m) {
    return s->kind->detection ? &machine_errors_of(m)->errs : &machine_errors_of(m)->traps_at;
}

/* Runs without errors, and notes the cycle of each place. */
static void look(subject *s) {
    machine *m = build(s);
    kernel_check check[16];
    uint64_t capacity = 1u << 16, place = 1;
    int ended;
    if (s->launch.kernel_count > 16) give_up(s->name, "more than 16 kernels");
    s->cycle_of = (uint32_t *)malloc(capacity * sizeof *s->cycle_of);
    do {
        ended = machine_run(m, m->now + 1);
        for (; place <= count_of(s, m)->candidates && s->cycle_of; place++) {
            if (place == capacity)
                s->cycle_of = (uint32_t *)realloc(s->cycle_of, (capacity *= 2) * sizeof *s->cycle_of);
            if (s->cycle_of) s->cycle_of[place] = (uint32_t)m->now;
        }
        if (!s->cycle_of) give_up(s->name, "out of memory");
    } while (!ended);
    if (ended < 0 || check_results(m, &s->launch, check)) give_up(s->name, m->failed ? m->error : "wrong by itself");
    s->places = count_of(s, m)->candidates;
    s->result = machine_result_hash(m, &s->launch);
    machine_free(m);
}

static const subject *measured; /* the subject that in_copy's function works on, because in_copy passes only a number */

/* Makes the place `n` places ahead err or trap. Runs in a copy. */
static void inject(machine *m, uint32_t n, void *result) {
    const subject *s = measured;
    outcome *out = (outcome *)result;
    gpump_restart_statistics before, after;
    kernel_check check[16];
    memset(out, 0, sizeof *out);
    recovery_statistics(m, &before);
    count_of(s, m)->turns.at = count_of(s, m)->candidates + n;
    if (machine_run(m, m->now + WATCHDOG_CYCLES) != 1) {
        snprintf(out->error, sizeof out->error, "%s", m->failed ? m->error : "it does not end");
    } else if (machine_result_hash(m, &s->launch) != s->result && check_results(m, &s->launch, check)) {
        snprintf(out->error, sizeof out->error, "other memory");
    } else {
        recovery_statistics(m, &after);
        out->recovered = s->kind->detection ? after.detected - before.detected : after.emulated - before.emulated;
        if (count_of(s, m)->turns.at != NEVER - 1)
            snprintf(out->error, sizeof out->error, "the place never executes");
        else if (!out->recovered || (s->kind->detection && after.errors - before.errors != 1))
            snprintf(out->error, sizeof out->error, "it took no effect");
        else if (after.live_locks != before.live_locks)
            snprintf(out->error, sizeof out->error, "a live-lock of one exception");
    }
    out->wrong = out->error[0] != 0;
}

/* Measures one place, on a machine that has not reached it. */
static int take(subject *s, machine *m, uint64_t place, outcome *sum) {
    outcome one;
    if (machine_run(m, s->cycle_of[place] - 1) < 0) give_up(s->name, m->error);
    measured = s;
    if (in_copy(inject, m, (uint32_t)(place - count_of(s, m)->candidates), &one, sizeof one)) {
        one.wrong = 1;
        one.recovered = 0;
        snprintf(one.error, sizeof one.error, "the copy crashed");
    }
    sum->recovered += one.recovered != 0;
    sum->wrong += one.wrong;
    if (one.wrong)
        fprintf(stderr, PROGRAM ": %s, %s, regions %u, place %" PRIu64 ": %s\n", s->name, s->kind->name,
                s->kind->regions, place, one.error);
    return (int)one.wrong;
}

static int is_taken(const task *t, uint64_t place) {
    return (place - 1) % t->every == t->offset && (place - 1) / t->every % t->shards == t->shard;
}

/* Returns whether the log has a line with this beginning. */
static int is_done(const task *t, const char *line) {
    const char *at = t->done;
    const size_t length = strlen(line);
    while (at && (at = strstr(at, line))) {
        if (at == t->done || at[-1] == '\n') return 1;
        at += length;
    }
    return 0;
}

static uint64_t sweep(const task *t, subject *s, progress *shown, double from, double share) {
    uint64_t first, last, place, wrong = 0;
    machine *m;
    look(s);
    m = build(s);
    for (first = 1; first <= s->places; first = last + 1) {
        outcome sum;
        uint64_t places = 0;
        char line[256];
        FILE *log = stdout;
        last =
            first + PIECE * t->every * t->shards - 1 < s->places ? first + PIECE * t->every * t->shards - 1 : s->places;
        snprintf(line, sizeof line, "%s,%s,%s,%" PRIu64 "/%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",", s->name,
                 s->kind->name, s->kind->regions == REGIONS_SPARSE ? "sparse" : "32", t->shard, t->shards, t->every,
                 first, last);
        if (is_done(t, line)) continue;
        memset(&sum, 0, sizeof sum);
        for (place = first; place <= last; place++) {
            if (!is_taken(t, place)) continue;
            progress_show(shown, from + share * (double)place / (double)s->places, line);
            take(s, m, place, &sum);
            places++;
        }
        if (t->log && !(log = fopen(t->log, "a"))) give_up(t->log, "cannot be written");
        fprintf(log, "%s%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\n", line, places, sum.recovered, sum.wrong);
        if (t->log && output_close(log, PROGRAM, t->log)) exit(2);
        fflush(stdout);
        wrong += sum.wrong;
    }
    machine_free(m);
    free(s->cycle_of);
    return wrong;
}

static uint64_t sweep_kernel(const task *t, const char *name, progress *shown, double from, double share) {
    char path[1024], error[LAUNCH_ERROR_BYTES];
    uint64_t wrong = 0;
    uint32_t k;
    for (k = 0; k < KINDS; k++) {
        subject s;
        memset(&s, 0, sizeof s);
        s.name = name;
        s.kind = &kinds[k];
        snprintf(path, sizeof path, "%s/kernels/%s/small.yaml", MINIGPU_SOURCE_DIR, name);
        if (launch_file_read(&s.launch, path, error)) give_up(path, error);
        wrong += sweep(t, &s, shown, from + share * k / KINDS, share / KINDS);
        launch_file_free(&s.launch);
    }
    return wrong;
}

static char *read_log(const char *path) {
    FILE *file = fopen(path, "r");
    char *text = NULL;
    long bytes;
    if (!file) return NULL;
    if (fseek(file, 0, SEEK_END) || (bytes = ftell(file)) < 0 || fseek(file, 0, SEEK_SET) ||
        !(text = (char *)calloc((size_t)bytes + 1, 1)) || fread(text, 1, (size_t)bytes, file) != (size_t)bytes)
        give_up(path, "cannot be read");
    fclose(file);
    return text;
}

/* The number that a text is; 0 when it is none. */
static uint64_t whole_number(const char *text) {
    char *end;
    const uint64_t number = strtoull(text, &end, 10);
    return *text >= '0' && *text <= '9' && !*end ? number : 0;
}

static int usage(int status) {
    fputs("usage: " PROGRAM " [--every K] [--shard I/N] [--log FILE] [KERNEL...]: an error, and an exception, in every "
          "instruction of every small launch, as CSV\n",
          status ? stderr : stdout);
    return status ? status : output_status(0, PROGRAM);
}

int main(int argc, char **argv) {
    const char *seed = getenv("GPUMP_TEST_SEED");
    task t;
    progress shown;
    uint64_t wrong = 0;
    uint32_t i, count = 0;
    char behind;
    int a;
    memset(&t, 0, sizeof t);
    t.every = t.shards = 1;
    for (a = 1; a < argc && argv[a][0] == '-'; a++) {
        if (!strcmp(argv[a], "--help")) return usage(0);
        if (a + 1 == argc) return usage(2);
        if (!strcmp(argv[a], "--log"))
            t.log = argv[++a];
        else if (!strcmp(argv[a], "--every"))
            t.every = whole_number(argv[++a]);
        else if (strcmp(argv[a], "--shard") ||
                 sscanf(argv[++a], "%" SCNu64 "/%" SCNu64 "%c", &t.shard, &t.shards, &behind) != 2)
            return usage(2);
    }
    if (!t.every) give_up("--every", "needs a whole number from 1");
    if (t.shard >= t.shards) give_up("--shard", "needs I/N with I below N, as 0/3, 1/3 and 2/3");
    for (i = (uint32_t)a; i < (uint32_t)argc; i++)
        if (!reference_find(argv[i]))
            give_up(argv[i], "there is no kernel of that name: examples/minigpu/kernels has them");
    t.offset = (seed ? strtoull(seed, NULL, 0) : 1) % t.every;
    if (t.log && (t.done = read_log(t.log)) == NULL) {
        FILE *log = fopen(t.log, "w");
        if (!log) give_up(t.log, "cannot be written");
        fputs("kernel,kind,regions,shard,every,first,last,places,recovered,wrong\n", log);
        if (output_close(log, PROGRAM, t.log)) return 2;
    }
    if (!t.log) puts("kernel,kind,regions,shard,every,first,last,places,recovered,wrong");
    progress_begin(&shown, PROGRAM);
    if (a < argc) {
        for (i = (uint32_t)a; i < (uint32_t)argc; i++)
            wrong += sweep_kernel(&t, argv[i], &shown, (double)((int)i - a) / (argc - a), 1.0 / (argc - a));
    } else {
        while (reference_entries[count].name) count++;
        for (i = 0; i < count; i++)
            wrong += sweep_kernel(&t, reference_entries[i].name, &shown, (double)i / count, 1.0 / count);
    }
    progress_end(&shown);
    free(t.done);
    return output_status(wrong != 0, PROGRAM);
}
