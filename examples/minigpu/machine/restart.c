#include "machine/restart.h"

#include <string.h>

#include "machine/gate.h"
#include "preemption/context_forms.h"
#include "machine/pipeline.h"

/* Registers nobody needs at the place the warp goes back to hold nothing any more, but for those that it needs to go
 * back further, to the start of its sparse region. */
static void overwrite_dead(machine *m, const block *b, const warp *w) {
    const kernel *k = &m->kernels[b->kernel];
    uint64_t live[CONTEXT_LIVE_WORDS], further[CONTEXT_LIVE_WORDS];
    warp start = *w;
    uint32_t r, lane, *registers = warp_registers(m, b, w);
    if (!m->config.overwrite_freed || !m->views) return;
    context_live(m->views[b->kernel], k, w, live);
    restart_copy_stack(&start.stack, &w->sparse_start);
    context_live(m->views[b->kernel], k, &start, further);
    for (r = 0; r < k->registers; r++) {
        if (gpump_bits_get(live, r) || gpump_bits_get(further, r)) continue;
        for (lane = 0; lane < LANES; lane++) registers[r * LANES + lane] = 0xdeadbeefu ^ r;
    }
}

int restart_warp(machine *m, sm *s, warp *w, int to_short) {
    block *b = &m->blocks[w->block];
    const uint32_t index = (uint32_t)(w - m->warps);
    if (!restart_may(w)) return 0;
    pipeline_squash_warp(m, s, index);
    restart_copy_stack(&w->stack, to_short ? &w->short_start : &w->sparse_start);
    if (!to_short) restart_copy_stack(&w->short_start, &w->sparse_start);
    if (!to_short) w->executed_since[0] = 0;
    w->executed_since[1] = 0;
    w->restarts++;
    overwrite_dead(m, b, w);
    s->fetched &= ~(UINT64_C(1) << w->slot);
    gate_open(s, w, GPUMP_WARP_FETCH, GPUMP_WARP_FAULT);
    pipeline_refresh_warp(m, s, w);
    pipe_put(&s->pipes[PIPE_FETCH], m->now, index);
    if (s->wake > m->now + 1) s->wake = m->now + 1;
    return 1;
}
