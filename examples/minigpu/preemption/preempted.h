/* preempted: the list of blocks that have left their SMs and will resume (a gpump_preempted). The host's data
 * of the block with handle n is m->preempted[n]. */
#ifndef MINIGPU_PREEMPTED_H
#define MINIGPU_PREEMPTED_H

#include "state/state.h"

/* Makes the list, for m->preempted_count blocks. Returns 0, or -1 when memory is out. */
int preempted_make(machine *m);
/* Adds a block that has just left its SM, as the action says. Returns its handle, or NONE when the machine has
 * failed. */
uint32_t preempted_add(machine *m, const block *b, const gpump_sm_action *action);
/* Removes a block that resumes on SM number `sm`; NONE: it is dropped. m->preempted[handle] stays valid until the next
 * preempted_add. */
void preempted_take(machine *m, uint32_t handle, uint32_t sm);
/* Binds a block that has left SM number `sm` on a fault to that SM. The block resumes when the SM requests it
 * (fault_switch.h). NONE: the block may resume on any SM from now on. */
void preempted_belongs(machine *m, uint32_t handle, uint32_t sm);
/* Reports to the list that m->preempted[handle] has changed where or when its block may resume. */
void preempted_changed(machine *m, uint32_t handle);
/* Returns the SMs in the order in which the dispatcher tries them: the order of gpump_preempted_order while
 * blocks wait, otherwise by number. */
const uint32_t *preempted_order(machine *m);

/* Returns the first block of a kernel in the order in which they left, or the one after `handle`; NONE. */
static inline uint32_t preempted_after(const machine *m, uint32_t kernel, uint32_t handle) {
    return gpump_preempted_after(m->preempted_list, kernel + 1, handle);
}
static inline uint32_t preempted_first(const machine *m, uint32_t kernel) { return preempted_after(m, kernel, NONE); }
/* Returns the block with this number of the kernel's grid; NONE. */
uint32_t preempted_find(const machine *m, uint32_t kernel, uint64_t linear);

#endif
