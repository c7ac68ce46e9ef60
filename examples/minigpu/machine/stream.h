/* stream: a process whose runs are requests. Each request has an arrival cycle. A request begins when it has
 * arrived and all earlier requests are done. Without a stream, a process repeats at once. */
#ifndef MINIGPU_STREAM_H
#define MINIGPU_STREAM_H

#include "state/state.h"

struct stream {
    uint32_t process;
    uint32_t count, ended; /* number of requests, and of requests that are done */
    uint32_t unused;
    uint64_t *arrivals, *ends; /* cycles; `count` of each, in the order of arrival */
};

/* Makes the process a stream of `count` requests, at least 1, at arrivals[count] in ascending order. Its first request
 * has not begun. Returns 0, or -1 when memory is out. */
int stream_make(machine *m, uint32_t process, const uint64_t *arrivals, uint32_t count);
/* Handles the end of a run of the process, which then waits for its next request. */
void stream_ended(machine *m, uint32_t process);

#endif
