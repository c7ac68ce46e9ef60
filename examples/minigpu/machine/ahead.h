/* ahead: an SM runs ahead of the others as long as it accesses no state that they share.
 *
 * A machine that advances fifteen SMs cycle by cycle evicts each SM's registers and warps from the host's
 * caches. Most cycles of an SM concern this SM alone: arithmetic, branches, shared memory, replies that have
 * arrived. An SM therefore continues after its turn, until its next cycle would do one of the following. It
 * then waits until the other SMs have reached that cycle.
 *
 *   - A global access takes effect. What follows of it, in L1, concerns the SM alone.
 *   - The SM sends a request. Memory model 0 takes requests with the cycle in which they enter, and the SM
 *     waits only where its input may be full.
 *   - The SM takes a reply of the memory that is not known yet. No reply can arrive within half the
 *     network's shortest latency (model 0: within the least cycles from a request to its reply).
 *   - The machine acts in a cycle of its own: a kernel arrives, a preemption, the end of the run.
 *
 * A block may end, or an instruction fail, in a cycle ahead. That cycle is then the SM's last one ahead, and
 * the machine handles the end or failure when the other SMs reach it. Running ahead changes only the time
 * that a run takes. No SM runs ahead while blocks are to be placed or moved, while kernels share the machine,
 * or where SMs run in the general form (sm_form.h). */
#ifndef MINIGPU_AHEAD_H
#define MINIGPU_AHEAD_H

#include "machine/sm_form.h"
#include "sm/memory_path.h"

/* Returns whether SMs of this machine may run ahead at all. The answer holds until machine_run returns. */
int ahead_is_possible(const machine *m);
/* Returns the first cycle that no SM may reach ahead; 0: no SM may run ahead now. arrival: the arrival cycle
 * of the next kernel. */
uint64_t ahead_end(const machine *m, uint64_t arrival, uint64_t until);
/* Returns the SM's next cycle. A reply that is known counts. */
static inline uint64_t ahead_next(const sm *s) {
    const uint64_t reply = *s->reply_cycle;
    return s->wake < reply ? s->wake : reply;
}
/* Returns whether the SM's next cycle, `next`, concerns this SM alone. */
static inline int ahead_is_alone(const sm *s, uint64_t next) {
    if (s->check_count && s->records[s->check_queue[s->check_head]].info->is_global &&
        (s->check_due == NEVER || s->check_due <= next))
        return 0;
    if (s->network_full) return !memory_path_may_be_full(s);
    /* An access that waits for room waits until a reply arrives or a miss leaves. */
    return !s->queued_misses && next < *s->reply_cycle &&
           !(s->access_count && !s->access_waits && s->records[s->access_queue[s->access_head]].info->is_global);
}
/* Runs an SM whose next cycle concerns it alone ahead, after the SM has had cycle m->now. */
void ahead_go(machine *m, sm *s, sm_cycle_form *cycle, uint64_t end);
/* Settles an SM when the others reach the cycle in which one of its blocks has ended, or an instruction has failed. */
void ahead_settle(machine *m, sm *s);
/* Returns the cycle in which ahead_settle is due for the SM; NEVER. */
static inline uint64_t ahead_settles(const sm *s) { return s->ended_count | s->failure.failed ? s->now : NEVER; }

#endif
