/* ahead: an SM runs ahead of the others as long as it accesses no state that they share.
 *
 * Cycle by cycle, fifteen SMs in turn evict each other's registers and warps from the host's caches. Most cycles of an
 * SM concern this SM alone: arithmetic, branches, shared memory, replies that have arrived. An SM that has had its turn
 * therefore continues at once, until its next cycle would do one of these, for which it waits until the other SMs have
 * reached that cycle:
 *
 *   - access global memory, or send a request
 *   - take a reply of the memory that is not known yet; none can arrive within half the network's shortest latency
 *   - something that the machine does in a cycle of its own: a kernel arrives, a preemption, the end of the run
 *
 * A block may end, or an instruction fail, in a cycle ahead. That cycle is then the SM's last one ahead, and the others
 * learn of it in its cycle. Running ahead changes only the time that a run takes. No SM runs ahead while blocks are to
 * be placed or moved, while kernels share the machine, or where SMs run in the general form (sm_form.h). */
#ifndef MINIGPU_AHEAD_H
#define MINIGPU_AHEAD_H

#include "machine/sm_form.h"

/* Returns whether SMs of this machine may run ahead at all. The answer holds until machine_run returns. */
int ahead_is_possible(const machine *m);
/* Returns the cycle that no SM may reach ahead; 0: no SM may run ahead now. arrival: when the next kernel arrives. */
uint64_t ahead_end(const machine *m, uint64_t arrival, uint64_t until);
/* Returns whether the SM's next cycle concerns this SM alone. An access that waits for room waits until a reply arrives
 * or a miss leaves. */
static inline int ahead_is_alone(const sm *s) {
    return !s->queued_misses && !(s->check_count && s->records[s->check_queue[s->check_head]].info->is_global) &&
           !(s->access_count && !s->access_waits && s->records[s->access_queue[s->access_head]].info->is_global);
}
/* Runs an SM, which has had the cycle m->now, ahead. */
void ahead_go(machine *m, sm *s, sm_cycle_form *cycle, uint64_t end);
/* Settles an SM when the others reach the cycle in which one of its blocks has ended, or an instruction has failed. */
void ahead_settle(machine *m, sm *s);
/* Returns the cycle for ahead_settle; NEVER. */
static inline uint64_t ahead_settles(const sm *s) { return s->ended_count | s->failure.failed ? s->now : NEVER; }

#endif
