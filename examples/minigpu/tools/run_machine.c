/* run_machine: see run_machine.h. */
#define _GNU_SOURCE
#include "tools/run_machine.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "parts/trace/trace.h"
#include "progress.h"

/* Returns processor time, or with several threads elapsed time, because the sum of their processor times is no measure
 * of speed. */
static double seconds_now(const machine *m) {
    struct timespec t;
    clock_gettime(m->threads > 1 ? CLOCK_MONOTONIC : CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Reports that a file could not be written, and why. Returns the exit status. */
int cannot_write(const char *path) {
    fprintf(stderr, "minigpu: cannot write %s: %s\n", path, strerror(errno));
    return EXIT_BAD_INPUT;
}

/* Reports before the run that a file (NULL: none) cannot be written. Returns the exit status. */
int try_to_write(const char *path) {
    FILE *file = path ? fopen(path, "a") : NULL;
    if (!path) return EXIT_RIGHT;
    if (!file) return cannot_write(path);
    fclose(file);
    return EXIT_RIGHT;
}

/* Set by Ctrl-C: the run ends at once, and the report is written. */
static volatile sig_atomic_t stop_now;
static void on_signal(int number) {
    (void)number;
    stop_now = 1;
}

/* Number of cycles with events that the machine simulates between two tests for progress and Ctrl-C. */
#define CYCLES_BETWEEN_LOOKS 20000u

/* Runs a machine to its end and shows the progress. Returns machine_run's result, or 0 after Ctrl-C. */
static int run_with_progress(machine *m) {
    progress shown;
    int ended;
    progress_begin(&shown, "minigpu");
    signal(SIGINT, on_signal);
    while ((ended = machine_run(m, machine_next_cycle(m) + CYCLES_BETWEEN_LOOKS)) == 0 && !stop_now) {
        uint64_t done = 0, blocks = 0;
        char what[96];
        uint32_t i;
        for (i = 0; i < m->kernel_count; i++) {
            done += m->kernels[i].done_blocks;
            blocks += m->kernels[i].blocks;
        }
        snprintf(what, sizeof what, "cycle %" PRIu64 ", %" PRIu64 " of %" PRIu64 " blocks done", m->now, done, blocks);
        progress_show(&shown, m->launch->loop_count ? -1 : (double)done / (double)blocks, what);
    }
    progress_end(&shown);
    signal(SIGINT, SIG_DFL);
    return ended;
}

/* Runs a built machine to its end and checks it. Returns the exit status. *result points into the machine and to
 * *checks, which the caller frees. *recorded, unless recorded is NULL, is set to the timeline of the run, which the
 * caller frees (NULL: memory is out). */
int run_machine(machine *m, const launch_file *launch, timeline **recorded, run_result *result, kernel_check **checks) {
    double start;
    int ended, wrong = 0;
    memset(result, 0, sizeof *result);
    result->machine = m;
    result->launch = launch;
    *checks = NULL;
    if (recorded && trace_open(m, launch)) fprintf(stderr, "minigpu: no memory to record the run\n");
    start = seconds_now(m);
    ended = run_with_progress(m);
    result->seconds = seconds_now(m) - start;
    if (recorded && !(*recorded = trace_close(m))) wrong = 1;
    if (!ended) {
        result->error = "interrupted";
        fprintf(stderr, "minigpu: interrupted at cycle %" PRIu64 "; the report covers the run until then\n", m->now);
        return EXIT_INTERRUPTED;
    }
    if (ended < 0) {
        result->error = m->error;
        fprintf(stderr, "minigpu: cycle %" PRIu64 ": %s\n", m->now, m->error);
        if (m->deadlocked) machine_dump(m, stderr);
        return EXIT_WRONG;
    }
    *checks = (kernel_check *)calloc(launch->kernel_count, sizeof **checks);
    if (!*checks || check_results(m, launch, *checks) != 0) wrong = 1;
    result->checks = *checks;
    return wrong ? EXIT_WRONG : EXIT_RIGHT;
}
