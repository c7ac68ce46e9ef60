/* stream: a process whose runs are requests. Each has a cycle at which it arrives, and begins when those before it are
 * done. Without a stream a process repeats at once. */
#ifndef MINIGPU_STREAM_H
#define MINIGPU_STREAM_H

#include "state/state.h"

struct stream {
    uint32_t process;
    uint32_t count, ended; /* requests, and those that are done */
    uint32_t unused;
    uint64_t *arrivals, *ends; /* cycles; `count` of them, in this order */
};

/* Makes the process a stream of `count` requests, at least 1, at arrivals[count] in ascending order; its first has not
 * begun. Returns 0, or -1 when memory is full. */
int stream_make(machine *m, uint32_t process, const uint64_t *arrivals, uint32_t count);
/* The process has ended once more, and waits. */
void stream_ended(machine *m, uint32_t process);

#endif
