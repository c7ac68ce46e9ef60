/* window: SMs advance side by side (--threads N), with the same result for every N.
 *
 * Time is divided into windows half as long as the network's shortest latency. A request that an SM sends in
 * a window arrives neither in this window nor in the next. Each SM therefore runs alone through a window, on
 * its own clock. The network runs beside the SMs, one window behind (memory/port.h). In other runs, some
 * effects cross SMs without delay. Here these effects cross at the end of a window, in the order (cycle, SM):
 *
 *   - Stores and atomics take effect in global memory. Until then only their own SM sees them
 *     (memory/store_log.h).
 *   - Blocks that have ended leave. The dispatcher fills their places when the next window begins.
 *   - Kernels arrive, pages arrive or are evicted, preemption is requested and policies are asked at the
 *     beginning of a window.
 *   - Parts that all SMs share, such as a fault unit, take what the SMs report (sm/late.h).
 *
 * Two costs limit the speed: threads wait for each other, and one thread works alone between two windows. An
 * SM therefore binds the warps of its new blocks, and overwrites the remains of ended blocks, on its own
 * thread (preemption/block_life.h). The data of one SM lie apart from those of other SMs. The network
 * begins when the SMs have ended, beside the rest of the work.
 *
 * An SM from which blocks leave, or to which they are restored, accesses state that all SMs share. Such SMs
 * run on the caller's thread, cycle by cycle in their order, during the window. All SMs do so while an
 * observer watches, while a part has PART_SHARED_BY_SMS, and while look-ups are counted over all SMs. */
#ifndef MINIGPU_WINDOW_H
#define MINIGPU_WINDOW_H

#include "base/team.h"
#include "machine/sm_form.h"

/* Makes the data of windows in the machine's arena. Returns 0, or -1 with the reason in error, which names an option
 * that excludes windows. */
int window_make(machine *m, char error[LAUNCH_ERROR_BYTES]);
/* Returns whether all SMs advance in turn on one thread, because they share state within a cycle. */
int window_is_in_turn(const machine *m);
/* Runs the window that begins at m->now on all SMs, and sets m->now to its end. cycle: of sm_form_choose. team: NULL
 * for one thread. */
void window_run(machine *m, sm_cycle_form *cycle, team *team);
/* Simulates the memory up to the SMs' time, between two windows. */
void window_settle(machine *m);
/* Returns the first cycle from `cycle` on at which a window begins; NEVER stays NEVER. */
static inline uint64_t window_from(const machine *m, uint64_t cycle) {
    const uint64_t rest = cycle % m->window_cycles;
    return cycle == NEVER || !rest ? cycle : cycle + (m->window_cycles - rest);
}

#endif
