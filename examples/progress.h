/* progress: how far a program is that runs for longer than two seconds. On a terminal one line that is written again,
 * with an estimate of the time that is left; elsewhere one line a minute. Everything goes to stderr. */
#ifndef EXAMPLES_PROGRESS_H
#define EXAMPLES_PROGRESS_H

#include <stdio.h>
#include <time.h>
#include <unistd.h>

typedef struct progress {
    const char *program;
    double started, shown; /* seconds */
    int is_terminal, is_shown;
} progress;

static inline double progress_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static inline void progress_begin(progress *p, const char *program) {
    p->program = program;
    p->started = p->shown = progress_now();
    p->is_terminal = isatty(STDERR_FILENO);
    p->is_shown = 0;
}

/* Shows how far it is, not too often. share: 0 to 1, or below 0 where nobody knows. what: in a few words. */
static inline void progress_show(progress *p, double share, const char *what) {
    const double now = progress_now(), spent = now - p->started;
    if (spent < 2 || now - p->shown < (p->is_terminal ? 0.5 : 60)) return;
    p->shown = now;
    p->is_shown = p->is_terminal;
    fprintf(stderr, "%s%s: %s", p->is_terminal ? "\r\033[K" : "", p->program, what);
    if (share > 0.001 && share <= 1)
        fprintf(stderr, ", %.0f%%, about %.0f s left", 100 * share, spent * (1 - share) / share);
    fputs(p->is_terminal ? "" : "\n", stderr);
    fflush(stderr);
}

/* Wipes the line, so that other output can follow. */
static inline void progress_end(progress *p) {
    if (p->is_shown) fputs("\r\033[K", stderr);
    p->is_shown = 0;
}

#endif
