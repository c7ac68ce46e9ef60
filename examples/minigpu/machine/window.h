/* window: SMs advance side by side (--threads N), with the same result for every N.
 *
 * Time goes in windows half as long as the network's shortest way: what an SM sends in a window reaches nobody in this
 * window or the next, so each SM runs alone through it, on its own clock, and the network beside them is one window
 * behind (memory/port.h). What crosses SMs without delay elsewhere crosses at the end of a window, in the order (cycle,
 * SM):
 *   - stores and atomics take effect in global memory; until then only their own SM sees them (memory/store_log.h)
 *   - blocks that have ended leave; the dispatcher fills their places when the next window begins
 *   - kernels arrive, preemption is requested and policies are asked at the beginning of a window
 * Beside the threads' waiting for each other, what one thread does alone between two windows limits the speed. So an SM
 * binds the warps of its new blocks and overwrites what ended blocks leave on its own thread (preemption/block_life.h),
 * what an SM uses lies apart from what others use, and the network begins when the SMs are through, beside all that
 * follows.
 *
 * An SM from which blocks leave, or to which they come back, touches what all SMs share. Such SMs run on the caller's
 * thread, cycle by cycle in their order, while the window lasts; so does everybody while an observer watches, or while
 * instructions err (errors.h). */
#ifndef MINIGPU_WINDOW_H
#define MINIGPU_WINDOW_H

#include "state/state.h"
#include "base/team.h"

/* Makes what windows need, in the machine's arena. Returns 0, or -1 with the reason in error: a part of the machine
 * that knows no windows is named there. */
int window_make(machine *m, char error[LAUNCH_ERROR_BYTES]);
/* Lets the window that begins at m->now happen on all SMs, and sets m->now to its end. team: NULL, one thread. */
void window_run(machine *m, team *team);
/* Between two windows: what lies behind the SMs catches up with them. */
void window_settle(machine *m);
/* Returns the first cycle from `cycle` on at which a window begins; NEVER stays. */
static inline uint64_t window_from(const machine *m, uint64_t cycle) {
    const uint64_t rest = cycle % m->window_cycles;
    return cycle == NEVER || !rest ? cycle : cycle + (m->window_cycles - rest);
}

#endif
