#include "parts/restart/restart.h"

#include <string.h>

#include "sm/gate.h"
#include "preemption/context_forms.h"
#include "sm/pipeline.h"

/* Registers nobody needs at the place the warp goes back to hold nothing any more, but for those that it needs to go
 * back further, to the start of its sparse region. */
static void overwrite_dead(machine *m, const sm *s, const block *b, const warp *w) {
    const kernel *k = &m->kernels[b->kernel];
    uint64_t live[CONTEXT_LIVE_WORDS], further[CONTEXT_LIVE_WORDS];
    warp start = *w;
    uint32_t r, lane, *registers = warp_registers(m, b, w);
    if (!m->config.overwrite_freed || !m->views) return;
    context_live(m->views[b->kernel], k, w, live);
    restart_where(s, w, GPUMP_RESTART_SPARSE, &start.stack);
    context_live(m->views[b->kernel], k, &start, further);
    for (r = 0; r < k->registers; r++) {
        if (gpump_bits_get(live, r) || gpump_bits_get(further, r)) continue;
        for (lane = 0; lane < LANES; lane++) registers[r * LANES + lane] = 0xdeadbeefu ^ r;
    }
}

int restart_warp(machine *m, sm *s, warp *w, uint32_t region) {
    block *b = &m->blocks[w->block];
    gpump_restart_frame frames[SIMT_DEPTH];
    uint32_t depth = 0;
    const uint64_t now = s->now > m->now ? s->now : m->now;
    const uint32_t index = (uint32_t)(w - m->warps);
    if (!restart_may(s, w, region)) return 0;
    pipeline_squash_warp(m, s, index);
    machine_must(m, "gpump_restart_go_back",
                 gpump_restart_go_back(s->restart, w->slot, region, frames, SIMT_DEPTH, &depth), NULL);
    if (s->shared_log) shared_log_undo(s, w->slot, region);
    restart_stack(&w->stack, frames, depth);
    overwrite_dead(m, s, b, w);
    s->fetched &= ~(UINT64_C(1) << w->slot);
    gate_open(s, w, GPUMP_WARP_FETCH, GPUMP_WARP_FAULT);
    pipeline_refresh_warp(m, s, w);
    pipe_put(&s->pipes[PIPE_FETCH], now, index);
    if (s->wake > now + 1) s->wake = now + 1;
    return 1;
}
