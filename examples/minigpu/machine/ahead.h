/* ahead: an SM goes ahead of the others for as long as it touches nothing that they see.
 *
 * Cycle by cycle, fifteen SMs in turn push each other's registers and warps out of the host's caches. Most cycles of an
 * SM concern it alone: arithmetic, branches, shared memory, replies that have come. So an SM that has had its turn goes
 * on at once, until its next cycle would do one of these, which it does when the others have come there, too:
 *   - look at global memory, write to it, or send a request
 *   - take a reply of the memory: none reaches it within half the network's shortest way that is not known already
 *   - something that the machine does in a cycle of its own: a kernel arrives, a preemption, the end of the run
 * A block may end, and an instruction fail, in such a cycle: that is the SM's last one ahead, and becomes known to the
 * others in its cycle. So nothing changes but the time that a run takes. Nobody goes ahead while blocks are to be
 * placed or moved, while kernels share the machine, or where SMs run in the general form (sm_form.h). */
#ifndef MINIGPU_AHEAD_H
#define MINIGPU_AHEAD_H

#include "machine/sm_form.h"

/* May SMs of this machine go ahead at all? Until machine_run returns, that stays. */
int ahead_is_possible(const machine *m);
/* Returns the cycle that no SM may reach ahead; 0: nobody may go ahead now. arrival: when the next kernel arrives. */
uint64_t ahead_end(const machine *m, uint64_t arrival, uint64_t until);
/* The SM, which has had the cycle m->now, goes ahead. */
void ahead_go(machine *m, sm *s, sm_cycle_form *cycle, uint64_t end);
/* The others have come to the cycle in which a block of the SM has ended, or an instruction has failed. */
void ahead_settle(machine *m, sm *s);
/* When that is; NEVER. */
static inline uint64_t ahead_settles(const sm *s) { return s->ended_count | s->failure.failed ? s->now : NEVER; }

#endif
