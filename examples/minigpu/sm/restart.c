#include "sm/restart.h"

#include "sm/gate.h"
#include "sm/pipeline.h"

int restart_configure(machine *m, const char *preset) {
    gpump_restart_config config;
    if (gpump_preset(&gpump_restart_component, &config, preset, NULL) != GPUMP_OK) return -1;
    config.lanes = LANES;
    config.frames = SIMT_DEPTH;
    m->restart_config = config;
    return 0;
}

int restart_make(machine *m) {
    uint32_t i;
    m->restart_config.warps = warp_numbers(m);
    for (i = 0; i < m->sm_count; i++) {
        size_t bytes;
        void *memory;
        if (gpump_bytes(&gpump_restart_component, &m->restart_config, &bytes, NULL) != GPUMP_OK ||
            !(memory = arena_take(&m->arena, bytes)) ||
            gpump_init(&gpump_restart_component, memory, bytes, &m->restart_config, &m->sms[i]->restart, NULL) !=
                GPUMP_OK)
            return -1;
    }
    return 0;
}

void restart_record(machine *m, sm *s, warp *w, int is_short) {
    gpump_restart_frame frames[SIMT_DEPTH];
    uint32_t i;
    PARTS_TELL(m, boundary, (m, s, w, is_short));
    for (i = 0; i < w->stack.depth; i++) {
        frames[i].lanes = w->stack.entries[i].mask;
        frames[i].pc = w->stack.entries[i].pc;
        frames[i].reconvergence_pc = w->stack.entries[i].reconvergence;
    }
    machine_must(m, "gpump_restart_report_boundary",
                 gpump_restart_report_boundary(s->restart, w->number,
                                               is_short ? GPUMP_RESTART_SHORT : GPUMP_RESTART_SPARSE, frames,
                                               w->stack.depth),
                 NULL);
}

int restart_warp(machine *m, sm *s, warp *w, uint32_t region) {
    gpump_restart_frame frames[SIMT_DEPTH];
    uint32_t depth = 0;
    const uint64_t now = s->now > m->now ? s->now : m->now;
    const uint32_t index = (uint32_t)(w - m->warps);
    if (!restart_may(s, w, region)) return 0;
    pipeline_squash_warp(m, s, index);
    machine_must(m, "gpump_restart_go_back",
                 gpump_restart_go_back(s->restart, w->number, region, frames, SIMT_DEPTH, &depth), NULL);
    restart_stack(&w->stack, frames, depth);
    PARTS_TELL(m, warp_goes_back, (m, s, w, region));
    s->fetched &= ~warp_bit(w);
    gate_open(s, w, GPUMP_WARP_FETCH, GPUMP_WARP_FAULT);
    pipeline_refresh_warp(m, s, w);
    pipe_put(&s->pipes[PIPE_FETCH], now, index);
    if (s->wake > now + 1) s->wake = now + 1;
    return 1;
}
