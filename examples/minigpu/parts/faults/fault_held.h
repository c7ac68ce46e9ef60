/* fault_held: what others ask about a warp that has faulted (faults.h): whether its state is complete, and what it will
 * read when it goes on. */
#ifndef MINIGPU_FAULT_HELD_H
#define MINIGPU_FAULT_HELD_H

#include "state/state.h"

/* Is the warp held, so that its state is complete? */
static inline int faults_is_held(const machine *m, const warp *w) {
    const sm *s = m->sms[w->sm];
    return s->faults && gpump_replay_state_of(s->faults->replay, w->number) == GPUMP_REPLAY_HELD;
}
/* Is the warp on its way there? What it gives up is not in the replay queue yet. */
static inline int faults_is_draining(const machine *m, const warp *w) {
    const sm *s = m->sms[w->sm];
    return s->faults && gpump_replay_state_of(s->faults->replay, w->number) == GPUMP_REPLAY_DRAIN;
}
/* Adds the registers that the entries of a held warp will read to `set`. */
void faults_sources(const machine *m, const warp *w, uint64_t *set);

#endif
