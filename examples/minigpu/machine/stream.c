#include "machine/stream.h"

#include <string.h>

static void await(machine *m, uint64_t cycle) {
    uint32_t i;
    for (i = 0; i < m->kernel_count; i++)
        if (m->kernels[i].process == m->stream->process) m->kernels[i].arrival_cycle = cycle;
}

int stream_make(machine *m, uint32_t process, const uint64_t *arrivals, uint32_t count) {
    struct stream *s = (struct stream *)arena_take(&m->arena, sizeof *s);
    if (!s) return -1;
    memset(s, 0, sizeof *s);
    s->process = process;
    s->count = count;
    s->arrivals = (uint64_t *)arena_take_array(&m->arena, count, sizeof *s->arrivals);
    s->ends = (uint64_t *)arena_take_array(&m->arena, count, sizeof *s->ends);
    if (!s->arrivals || !s->ends) return -1;
    memcpy(s->arrivals, arrivals, count * sizeof *arrivals);
    m->stream = s;
    await(m, arrivals[0]);
    return 0;
}

void stream_ended(machine *m, uint32_t process) {
    struct stream *s = m->stream;
    if (!s || s->process != process || s->ended == s->count) return;
    s->ends[s->ended++] = m->now;
    await(m, s->ended < s->count ? s->arrivals[s->ended] : NEVER);
}
