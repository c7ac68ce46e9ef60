/* requests: a kernel needs an SM, or room on one: which blocks must leave, and by which technique. */
#ifndef MINIGPU_REQUESTS_H
#define MINIGPU_REQUESTS_H

#include "state/state.h"

/* Makes the space for saved blocks. Returns 0, or -1 with the reason in error. */
int preemption_make_context_pool(machine *m, uint32_t contexts_per_kernel, char error[LAUNCH_ERROR_BYTES]);
/* Makes all blocks of an SM leave by one technique. Kernel number for_kernel (0: none) gets the SM. A block that must
 * not be flushed is switched instead. With `strict` the whole request is refused with that reason. */
gpump_reason preemption_request(machine *m, sm *s, uint32_t technique, uint32_t for_kernel, int strict);
/* Switches one block out, so that its SM has room. Refused with a reason when it cannot be saved now. */
gpump_reason preemption_switch_block(machine *m, sm *s, block *b);
/* Makes chosen blocks of an SM leave, each by its own technique, and reserves the SM for kernel number for_kernel (0:
 * none). A block that cannot be saved for want of space drains; the choices say so afterwards. All of them or, with a
 * reason, none. */
gpump_reason preemption_carry_out(machine *m, sm *s, gpump_block_choice *choices, uint32_t chosen, uint32_t for_kernel);
/* Leaves in place of choices[count] whatever `blocks` blocks of a kernel do not need (Lin 2.3.1); 0: everything stays.
 * Where something is in place from before, nothing else is left there. */
void preemption_keep_in_place(const machine *m, const sm *s, uint32_t kernel_index, uint32_t blocks,
                              gpump_block_choice *choices, uint32_t count);
/* The same for as many blocks of kernel number for_kernel (0: none) as an SM holds, if the machine parks blocks. */
void preemption_keep_for(const machine *m, const sm *s, uint32_t for_kernel, gpump_block_choice *choices,
                         uint32_t count);
/* Makes room for a kernel that has arrived: empties as many SMs of lower priority as it can use. */
void preemption_make_room(machine *m, uint32_t kernel_index);
/* Releases a reserved SM. */
void preemption_unreserve(machine *m, sm *s);
/* Opens and closes a kernel's space for contexts, when it starts and when it has ended. */
void preemption_kernel_starts(machine *m, uint32_t kernel_index);
void preemption_kernel_ends(machine *m, uint32_t kernel_index);

#endif
