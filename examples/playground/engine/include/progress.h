/* progress: examples/progress.h for a machine without terminals. The page shows the progress. */
#ifndef EXAMPLES_PROGRESS_H
#define EXAMPLES_PROGRESS_H

typedef struct progress {
    int unused;
} progress;

static inline void progress_begin(progress *p, const char *program) { p->unused = program == 0; }
static inline void progress_show(progress *p, double fraction, const char *what) { p->unused = fraction > 1 || !what; }
static inline void progress_end(progress *p) { p->unused = 0; }

#endif
