/* fault_memory: GPU memory that is smaller than the buffers, and pages that stay with the CPU.
 *
 * With --gpu-memory the fault unit evicts. A granule leaves the page table at once, and its frame is free when no
 * instruction past its last check accesses it any more. (The memory system orders stores that have left their SM before
 * the eviction.) The unit keeps the granules of one warp's instruction, the holder's, so that every instruction ends. A
 * warp's instructions are therefore translated one after the other: `turn` of a record. A record whose page was evicted
 * between its look-up and its last check faults again.
 *
 * Code that is absent at first (--absent code) is evicted, too. A warp whose fetch has faulted may become the holder,
 * and holds until parts/code_pages says that it needs the page no longer.
 *
 * With --remote a fault may end in a mapping over the link. Accesses to such a page bypass L1 and occupy the link.
 * After enough accesses the unit's counters migrate the granule. */
#ifndef MINIGPU_FAULT_MEMORY_H
#define MINIGPU_FAULT_MEMORY_H

#include "parts/fault_unit/fault_unit.h"

/* Returns whether the page of a segment is accessed over the link. */
static inline int fault_memory_is_remote(const machine *m, uint64_t segment) {
    return segment >= DEVICE_BASE && (m->page_table[(segment - DEVICE_BASE) / PAGE_BYTES] & PAGE_REMOTE);
}
/* Sends a segment of a record over the link. replies: 1: the record waits for it. */
void fault_memory_send(machine *m, sm *s, uint32_t record, uint64_t segment, int replies);
/* Occupies the link with an access in the machine's present cycle, and sends the reply to the SM. */
void fault_memory_access_remote(machine *m, sm *s, const remote_access *remote);
/* Reports to the unit that an instruction has passed its last check. */
void fault_memory_release(machine *m, const fault_release *release);
/* Reports that a record's instruction has passed its last check. */
void fault_memory_passed(machine *m, const in_flight *r);
/* Reports that a warp needs the page of code no longer for which its fetch has faulted. */
void fault_memory_fetch_ends(machine *m, sm *s, const warp *w);
/* Handles a granule that is mapped or evicted. */
void fault_memory_mapped(machine *m, const gpump_fault_action *action);
void fault_memory_evict(machine *m, const gpump_fault_action *action);
/* Frees the frames of granules that no instruction accesses any more. */
void fault_memory_free_frames(machine *m);

#endif
