/* fault_memory: GPU memory that holds less than the buffers, and pages that stay with the CPU.
 *
 * With --gpu-memory the fault unit evicts: a granule is taken from the page table at once, and its frame is free when
 * no instruction past its last check accesses it any more. (Stores that have left their SM are ordered behind it by the
 * memory system.) The unit keeps the granules of one warp's instruction, the holder's, so that every instruction ends.
 * For that a warp's instructions are translated one after the other: `turn` of a record. A record whose page was
 * evicted between its look-up and its last one faults again.
 *
 * With --remote a fault may end in a mapping over the link. Accesses to such a page bypass L1 and occupy the link; the
 * unit's access counters bring the granule after enough of them. */
#ifndef MINIGPU_FAULT_MEMORY_H
#define MINIGPU_FAULT_MEMORY_H

#include "parts/fault_unit/fault_unit.h"

static inline int fault_memory_is_finite(const machine *m) { return m->fault_unit && m->fault_unit->finite; }
/* Is the page of a segment accessed over the link? */
static inline int fault_memory_is_remote(const machine *m, uint64_t segment) {
    return segment >= DEVICE_BASE && (m->page_table[(segment - DEVICE_BASE) / PAGE_BYTES] & PAGE_REMOTE);
}
/* A segment of a record goes over the link; replies: 1: the record waits for it. */
void fault_memory_send(machine *m, sm *s, uint32_t record, uint64_t segment, int replies);
/* The instruction of a record has passed its last check. */
void fault_memory_passed(machine *m, const in_flight *r);
/* A granule is mapped, or is evicted: what that changes here. */
void fault_memory_mapped(machine *m, const gpump_fault_action *action);
void fault_memory_evict(machine *m, const gpump_fault_action *action);
/* Frames whose granule nobody accesses any more are free. */
void fault_memory_free_frames(machine *m);

#endif
