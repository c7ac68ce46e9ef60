/* memory_access: which bytes a memory instruction touches, and what it does to them when it takes effect. */
#ifndef MINIGPU_MEMORY_ACCESS_H
#define MINIGPU_MEMORY_ACCESS_H

#include "state/state.h"

/* In the plain form, where operands never come from a log, loads and stores capture addresses instead of what they are
 * computed from. */
static inline int memory_access_is_addressed(const instruction *i) {
    return IS_PLAIN && (i->opcode == OPCODE_LD || i->opcode == OPCODE_ST) && i->sources[0].kind == OPERAND_REGISTER;
}
/* The coalescer: computes the record's addresses, the 128-byte segments they fall into (in the order of the lanes), the
 * words of each, and the cycles that bank conflicts in shared memory cost. Wrong addresses stop the machine. */
SM_PATH void memory_access_coalesce(machine *m, sm *s, in_flight *r);
/* A checked instruction past its last translation check: lanes whose page is absent drop out of it (record->faulted).
 */
SM_PATH void memory_access_checked(machine *m, in_flight *r);
/* The space that a lane of a load, store or atomic goes to; *address is where in it. */
SM_PATH memory_space memory_access_space(const in_flight *r, uint32_t lane, uint64_t *address);
/* Is it global memory? */
SM_PATH int memory_access_global(const in_flight *r, uint32_t lane, uint64_t *address);
/* The instruction takes effect: loads and atomics get their results into the record, stores and atomics change memory,
 * and the flush bit is kept. All of a warp instruction at once, after its last translation check. */
SM_PATH void memory_access_effect(machine *m, sm *s, in_flight *r);
/* Where the SM has a log (store_log.h): what it wrote in this cycle reaches memory, and its atomics get their results.
 */
SM_PATH void memory_access_cross(machine *m, sm *s, uint64_t cycle);
/* A constant or parameter load: reads it straight into the record. */
SM_PATH void memory_access_constant(machine *m, sm *s, in_flight *r);

#endif
