/* fault_facts: the calls between the pipeline and gpump_replay (faults.h). Each function is called only where an SM has
 * `faults`. */
#ifndef MINIGPU_FAULT_FACTS_H
#define MINIGPU_FAULT_FACTS_H

#include <string.h>

#include "parts/faults/fault_state.h"
#include "sm/gate.h"

static inline const replay_info *faults_info(const machine *m, const warp *w, uint32_t pc) {
    return &m->kernels[m->blocks[w->block].kernel].replay[pc];
}
/* Does gpump_replay keep track of this instruction in flight? */
static inline int faults_tracks(const machine *m, const in_flight *r) {
    return m->kernels[m->blocks[r->block].kernel].replay[r->pc].kind > GPUMP_REPLAY_SYNC;
}

/* A warp fetches the instruction at its PC. Warp disable stops it here when that may fault. */
static inline void faults_fetched(machine *m, sm *s, warp *w, uint32_t pc, uint64_t sequence) {
    if (!faults_info(m, w, pc)->can_fault) return;
    fault_warp_of(s, w)->stack_depth = w->stack.depth;
    gpump_replay_report_fetched(sm_faults_of(s)->replay, w->number, sequence);
    if (gpump_replay_may(sm_faults_of(s)->replay, w->number, GPUMP_REPLAY_TO_FETCH) != GPUMP_REASON_YES)
        gate_close(s, w, GPUMP_WARP_ISSUE, GPUMP_WARP_FAULT);
}

/* Has the warp's instruction at this PC room in the replay queue and in the log? */
static inline int faults_have_room(const machine *m, const sm *s, const warp *w, uint32_t pc) {
    const replay_info *info = faults_info(m, w, pc);
    return info->kind <= GPUMP_REPLAY_SYNC ||
           gpump_replay_may_issue_memory(sm_faults_of(s)->replay, w->number, info->log_units) == GPUMP_REASON_YES;
}

/* A memory instruction has issued for the first time. */
static inline void faults_issued(machine *m, sm *s, warp *w, uint32_t record) {
    const in_flight *r = &s->records[record];
    uint32_t *handle = &look_up_of(s, r)->entry;
    fault_warp *fw = fault_warp_of(s, w);
    const replay_info *info = faults_info(m, w, r->pc);
    gpump_replay_entry entry;
    look_up_of(s, r)->pinned = fw->pinned != PINNED_NONE;
    if (fw->pinned == PINNED_NEXT) fw->pinned = PINNED_NONE;
    if (info->kind <= GPUMP_REPLAY_SYNC) return;
    memset(&entry, 0, sizeof entry);
    entry.sequence = r->sequence;
    entry.lanes = r->mask;
    entry.pc = r->pc;
    entry.kind = info->kind;
    entry.log_units = info->log_units;
    machine_must(m, "gpump_replay_report_issued",
                 gpump_replay_report_issued(sm_faults_of(s)->replay, w->number, &entry, handle), NULL);
    if (!m->failed) sm_faults_of(s)->records[*handle] = record;
}

/* Does it release its sources once it has read them? */
static inline int faults_release_sources(const machine *m, const sm *s, const in_flight *r) {
    return !faults_tracks(m, r) || gpump_replay_releases_sources(sm_faults_of(s)->replay, look_up_of(s, r)->entry);
}

/* An instruction has taken effect. */
static inline void faults_committed(machine *m, sm *s, const in_flight *r) {
    if (!faults_tracks(m, r)) return;
    sm_faults_of(s)->records[look_up_of(s, r)->entry] = NONE;
    machine_must(m, "gpump_replay_report_committed",
                 gpump_replay_report_committed(sm_faults_of(s)->replay, look_up_of(s, r)->entry), NULL);
}

/* A warp goes back: its instructions in flight, replays and waits are removed as if they had never issued. */
void faults_forget(machine *m, sm *s, warp *w);

#endif
