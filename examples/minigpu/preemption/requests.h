/* requests: preempts blocks for a kernel that needs an SM, or room on one: which blocks must leave, and by
 * which technique. */
#ifndef MINIGPU_REQUESTS_H
#define MINIGPU_REQUESTS_H

#include "state/state.h"

/* Allocates the space for contexts of saved blocks. Returns 0, or -1 with the reason in error. */
int preemption_make_context_pool(machine *m, uint32_t contexts_per_kernel, char error[LAUNCH_ERROR_BYTES]);
/* Preempts all blocks of an SM by one technique. for_kernel: number of the kernel that gets the SM; 0: none.
 * A block that must not be flushed is switched instead. With `strict`, such a block makes the function refuse
 * the whole request, with the reason. */
gpump_reason preemption_request(machine *m, sm *s, uint32_t technique, uint32_t for_kernel, int strict);
/* Switches one block out to make room on its SM. Returns a reason other than YES when the block cannot be
 * saved now. */
gpump_reason preemption_switch_block(machine *m, sm *s, block *b);
/* Preempts chosen blocks of an SM, each by its own technique, and reserves the SM for kernel number
 * for_kernel (0: none). A block that finds no context space drains, and its entry of choices[] then says so.
 * Preempts all of the blocks, or none of them and returns the reason. */
gpump_reason preemption_carry_out(machine *m, sm *s, gpump_block_choice *choices, uint32_t chosen, uint32_t for_kernel);
/* Leaves in place of choices[count] whatever `blocks` blocks of a kernel do not need (Lin 2.3.1); 0: everything stays.
 * Where something is in place from before, nothing else is left there. */
void preemption_keep_in_place(const machine *m, const sm *s, uint32_t kernel_index, uint32_t blocks,
                              gpump_block_choice *choices, uint32_t count);
/* Calls preemption_keep_in_place for as many blocks of kernel number for_kernel (0: none) as an SM holds, if
 * the machine parks blocks. */
void preemption_keep_for(const machine *m, const sm *s, uint32_t for_kernel, gpump_block_choice *choices,
                         uint32_t count);
/* Preempts for a kernel that has arrived: empties as many SMs of lower priority as the kernel can use. */
void preemption_make_room(machine *m, uint32_t kernel_index);
/* Releases a reserved SM. */
void preemption_unreserve(machine *m, sm *s);
/* Opens a kernel's context space at its start. */
void preemption_kernel_starts(machine *m, uint32_t kernel_index);
/* Closes a kernel's context space at its end. */
void preemption_kernel_ends(machine *m, uint32_t kernel_index);

#endif
