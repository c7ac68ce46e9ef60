/* memory_access: the bytes that a memory instruction accesses, and its effect on them. */
#ifndef MINIGPU_MEMORY_ACCESS_H
#define MINIGPU_MEMORY_ACCESS_H

#include "state/state.h"

/* Returns whether loads and stores capture addresses instead of the operands that they are computed from. They do in
 * the plain form, where operands never come from a log. */
static inline int memory_access_is_addressed(const instruction *i) {
    return IS_PLAIN && (i->opcode == OPCODE_LD || i->opcode == OPCODE_ST) && i->sources[0].kind == OPERAND_REGISTER;
}
/* Coalesces an access: computes the record's addresses, the 128-byte segments that they fall into (in the order of the
 * lanes), the words of each, and the cycles of bank conflicts in shared memory. Wrong addresses stop the machine. */
SM_PATH void memory_access_coalesce(machine *m, sm *s, in_flight *r);
/* Removes lanes whose page is absent from a checked instruction that has passed its last translation check
 * (record->faulted). */
SM_PATH void memory_access_checked(machine *m, in_flight *r);
/* Returns the space that a lane of a load, store or atomic accesses; *address is the address in that space. */
SM_PATH memory_space memory_access_space(const in_flight *r, uint32_t lane, uint64_t *address);
/* Returns whether a lane accesses global memory. */
SM_PATH int memory_access_global(const in_flight *r, uint32_t lane, uint64_t *address);
/* Makes the instruction take effect: loads and atomics get their results into the record, stores and atomics
 * change memory, and the flush bit is kept. A whole warp instruction takes effect at once, after its last
 * translation check. */
SM_PATH void memory_access_effect(machine *m, sm *s, in_flight *r);
/* Where the SM has a log (store_log.h): moves the stores of a cycle to memory, and executes its atomics. */
SM_PATH void memory_access_cross(machine *m, sm *s, uint64_t cycle);
/* Reads a constant or parameter load into the record at once. */
SM_PATH void memory_access_constant(machine *m, sm *s, in_flight *r);

#endif
