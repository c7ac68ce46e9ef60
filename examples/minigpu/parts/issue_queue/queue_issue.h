/* queue_issue: the issue stage of an SM with an issue queue. Fetch fills the queue, one warp's line per cycle, and the
 * oldest ready instructions issue. Instructions that have to issue again enter the queue like fetched ones. */
#ifndef MINIGPU_QUEUE_ISSUE_H
#define MINIGPU_QUEUE_ISSUE_H

#include "parts/issue_queue/issue_queue.h"

/* Issues and fetches. Returns the next cycle in which there is something to do without another event; NEVER. */
uint64_t queue_issue_cycle(machine *m, sm *s);
/* Looks again whether the warp's instruction that waits for more than registers may issue. */
void queue_issue_reconsider(machine *m, sm *s, warp *w);
/* Makes all instructions of a warp in the queue vanish. */
void queue_issue_squash(machine *m, sm *s, warp *w);
/* The same. Returns the number of instructions that issue again, in entries[]. The others wait in the replay queue, or
 * are control instructions, which are fetched again. */
uint32_t queue_issue_take(machine *m, sm *s, warp *w, gpump_replay_entry *entries);
/* Puts an instruction of the replay queue into the issue queue. may_go: 1: it could issue at once, so it may have the
 * entry that is reserved for such instructions. */
replay_result queue_issue_replay(machine *m, sm *s, warp *w, uint32_t handle, const gpump_replay_entry *what,
                                 int may_go);

#endif
