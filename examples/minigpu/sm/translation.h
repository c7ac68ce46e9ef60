/* translation: the page table's answer to an address. TLBs and their latency are the part faults (parts/faults/tlb.h).
 */
#ifndef MINIGPU_TRANSLATION_H
#define MINIGPU_TRANSLATION_H

#include "state/state.h"

typedef enum translation {
    TRANSLATION_HIT,
    TRANSLATION_PENDING, /* an answer follows (tlb_take) */
    TRANSLATION_ABSENT,
    TRANSLATION_FAULT,
    TRANSLATION_BUSY /* no room for a miss: look up again after the next answer */
} translation;

/* Returns the page table's answer for an address, for reading or for writing. */
translation translate(const machine *m, uint64_t address, int write);
/* Reports to the parts that the rights of a page have changed. */
static inline void translation_changes(machine *m, uint64_t page) { PARTS_TELL(m, rights_change, (m, page)); }

#endif
