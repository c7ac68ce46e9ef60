/* fault_held: the state of a warp that has faulted (faults.h), for other files: whether it is complete, and which
 * registers the warp will read. */
#ifndef MINIGPU_FAULT_HELD_H
#define MINIGPU_FAULT_HELD_H

#include "parts/faults/fault_state.h"

/* Returns whether the warp is held, so that its state is complete. */
static inline int faults_is_held(const machine *m, const warp *w) {
    const sm *s = m->sms[w->sm];
    return sm_faults_of(s) && gpump_replay_state_of(sm_faults_of(s)->replay, w->number) == GPUMP_REPLAY_HELD;
}
/* Returns whether the warp is draining: its faulted instructions are not in the replay queue yet. */
static inline int faults_is_draining(const machine *m, const warp *w) {
    const sm *s = m->sms[w->sm];
    return sm_faults_of(s) && gpump_replay_state_of(sm_faults_of(s)->replay, w->number) == GPUMP_REPLAY_DRAIN;
}
/* Adds the registers to `set` that the replay entries of a held warp will read. */
void faults_sources(const machine *m, const warp *w, uint64_t *set);

#endif
