/* trace: what happened where and when, as Chrome trace-event JSON, which https://ui.perfetto.dev opens.
 *
 * One process per SM, one thread per block slot. A slice carries the kernel's name, so Perfetto gives each kernel its
 * own colour; stopping, saving, restoring and draining are slices of their own, a flush is an instant. Times are
 * microseconds of simulated time. An observer: it is outside the arena and changes nothing. */
#ifndef MINIGPU_TRACE_H
#define MINIGPU_TRACE_H

#include <stdint.h>

struct trace;

typedef enum trace_phase {
    TRACE_NOTHING,
    TRACE_RUN,
    TRACE_STOP,
    TRACE_SAVE,
    TRACE_RESTORE,
    TRACE_DRAIN,
    TRACE_PHASES
} trace_phase;

/* Opens a trace file. NULL, with errno set, when it cannot be written. */
struct trace *trace_open(const char *path, uint32_t sms, uint32_t slots, uint32_t clock_khz);
/* From now on a slot of an SM is in another phase. All of these do nothing when t is NULL. */
void trace_slot(struct trace *t, uint64_t now, uint32_t sm, uint32_t slot, trace_phase phase, const char *kernel,
                uint64_t block);
/* Something happened at an instant: on a slot ("flush hotspot"), or on the GPU as a whole (slot GPUMP_NONE: "pathfinder
 * arrives"). */
void trace_instant(struct trace *t, uint64_t now, uint32_t sm, uint32_t slot, const char *what, const char *kernel);
/* A kernel's time on the GPU as a whole. */
void trace_kernel(struct trace *t, uint64_t start, uint64_t end, uint32_t process, const char *kernel);
/* Writes the end and closes. Returns 0, or -1 when something could not be written. */
int trace_close(struct trace *t, uint64_t now);

#endif
