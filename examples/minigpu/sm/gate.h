/* gate: a warp's gate is opened or closed, and the SM's mask of slots follows. */
#ifndef MINIGPU_GATE_H
#define MINIGPU_GATE_H

#include "state/state.h"

static inline void gate_refresh(sm *s, const warp *w) {
    const uint64_t bit = warp_bit(w);
    s->held = gpump_warp_gate_may(w->gate, GPUMP_WARP_ISSUE) ? s->held & ~bit : s->held | bit;
    s->calling =
        gpump_warp_gate_closed_by(w->gate, GPUMP_WARP_FETCH, GPUMP_WARP_FAULT) ? s->calling | bit : s->calling & ~bit;
}
static inline void gate_close(sm *s, warp *w, gpump_warp_right right, gpump_warp_asker asker) {
    gpump_warp_gate_close(&w->gate, right, asker);
    gate_refresh(s, w);
}
static inline void gate_open(sm *s, warp *w, gpump_warp_right right, gpump_warp_asker asker) {
    gpump_warp_gate_open(&w->gate, right, asker);
    gate_refresh(s, w);
}
/* Has preemption told it to stop? */
static inline int gate_stopped(const warp *w) {
    return gpump_warp_gate_closed_by(w->gate, GPUMP_WARP_ISSUE, GPUMP_WARP_PREEMPTION);
}
/* Is a control instruction in flight, so that its next PC is unknown? */
static inline int gate_in_control(const warp *w) {
    return gpump_warp_gate_closed_by(w->gate, GPUMP_WARP_FETCH, GPUMP_WARP_PIPELINE);
}
/* Does the fault handler work for it? */
static inline int gate_calling(const warp *w) {
    return gpump_warp_gate_closed_by(w->gate, GPUMP_WARP_FETCH, GPUMP_WARP_FAULT);
}

/* The warp's next instruction waits until a cycle. */
static inline void gate_wait_until(sm *s, warp *w, uint64_t cycle) {
    w->called_until = cycle;
    gate_close(s, w, GPUMP_WARP_FETCH, GPUMP_WARP_FAULT);
    s->fetched &= ~warp_bit(w);
    if (s->wake > w->called_until) s->wake = w->called_until;
}
/* Delays the warp by `cycles` from the SM's present cycle. Only within the SM's cycle: an SM that sleeps has an old
 * one. */
static inline void gate_wait(sm *s, warp *w, uint64_t cycles) { gate_wait_until(s, w, s->now + cycles); }

/* A warp of a stopping block issues no more. */
static inline void gate_stop(sm *s, warp *w) { gate_close(s, w, GPUMP_WARP_ISSUE, GPUMP_WARP_PREEMPTION); }

#endif
