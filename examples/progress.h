/* progress: how far a program is that runs for longer than two seconds. On a terminal one line that is written again,
 * with an estimate of the time that is left; elsewhere one line a minute. Everything goes to stderr. Where a step may
 * take long, progress_watch shows the line from a timer, and says at Ctrl-C what there is of the results. */
#ifndef EXAMPLES_PROGRESS_H
#define EXAMPLES_PROGRESS_H

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

typedef struct progress {
    const char *program;
    double started, shown;      /* seconds */
    double expected;            /* seconds that the whole is thought to take; 0: nobody knows */
    double share;               /* done, 0 to 1; below 0: nobody knows */
    char what[96];              /* what is done now; empty: nothing to show */
    const char *kept;           /* for progress_watch: what an interrupted run leaves, as a sentence */
    long process;               /* whose timer it is: copies of the process show nothing */
    volatile sig_atomic_t busy; /* what and share are being changed */
    int is_terminal, is_shown;
} progress;

static progress *progress_watched;

static inline double progress_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static inline void progress_begin(progress *p, const char *program) {
    memset(p, 0, sizeof *p);
    p->program = program;
    p->started = p->shown = progress_now();
    p->is_terminal = isatty(STDERR_FILENO);
}

/* Writes the line when it is time for it; also called by the timer, so without stdio's streams. */
static inline void progress_write(progress *p) {
    const double now = progress_now(), spent = now - p->started;
    double left = -1;
    char line[256];
    size_t length;
    if (!p->what[0] || spent < 2 || now - p->shown < (p->is_terminal ? 0.5 : 60)) return;
    if (p->share > 0.001 && p->share <= 1)
        left = spent * (1 - p->share) / p->share;
    else if (p->expected > spent)
        left = p->expected - spent;
    snprintf(line, sizeof line, "%s%s: %s", p->is_terminal ? "\r\033[K" : "", p->program, p->what);
    length = strlen(line);
    if (left >= 0)
        snprintf(line + length, sizeof line - length, ", %d%%, about %ld s left", (int)(100 * p->share + 0.5),
                 (long)(left + 0.5));
    length = strlen(line);
    if (!p->is_terminal) line[length++] = '\n'; /* at least a hundred bytes are left */
    if (write(STDERR_FILENO, line, length) < 0) return;
    p->shown = now;
    p->is_shown = p->is_terminal;
}

/* Shows how far it is, not too often. share: 0 to 1, or below 0 where nobody knows. what: in a few words. */
static inline void progress_show(progress *p, double share, const char *what) {
    p->busy = 1;
    p->share = share;
    snprintf(p->what, sizeof p->what, "%.*s", (int)sizeof p->what - 1, what);
    progress_write(p);
    p->busy = 0;
}

/* Wipes the line, so that other output can follow; nothing is shown until progress_show is called again. */
static inline void progress_end(progress *p) {
    p->busy = 1;
    p->what[0] = 0;
    if (p->is_shown) fputs("\r\033[K", stderr);
    p->is_shown = 0;
    p->busy = 0;
}

static inline void progress_on_signal(int number) {
    const int earlier = errno;
    progress *p = progress_watched;
    const int own = p && p->process == (long)getpid();
    if (number == SIGALRM) {
        if (own && !p->busy) progress_write(p);
    } else {
        char line[256];
        snprintf(line, sizeof line, "%s%s: interrupted; %s\n", own && p->is_shown ? "\r\033[K" : "",
                 own ? p->program : "", own ? p->kept : "");
        _exit(own && write(STDERR_FILENO, line, strlen(line)) < 0 ? 1 : 130);
    }
    errno = earlier;
}

/* From now on the line is shown by a timer, too, and Ctrl-C ends the program with exit status 130 and the sentence
 * `kept`, which says what there is of its results. One progress of a program at a time. */
static inline void progress_watch(progress *p, const char *kept) {
    const struct itimerval often = {{0, 500000}, {0, 500000}};
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = progress_on_signal;
    action.sa_flags = SA_RESTART;
    p->kept = kept;
    p->process = (long)getpid();
    progress_watched = p;
    sigaction(SIGALRM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
}

/* Ends that, before *p does. */
static inline void progress_unwatch(progress *p) {
    const struct itimerval never = {{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &never, NULL);
    progress_end(p);
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    progress_watched = NULL;
}

#endif
