/* buffer_ends: accesses beyond a buffer's last byte. Buffers end inside their last page, and translation knows whole
 * pages only, so the bytes behind the end of a buffer are told apart here. */
#ifndef MINIGPU_BUFFER_ENDS_H
#define MINIGPU_BUFFER_ENDS_H

#include "state/state.h"

#define NEAREST_TEXT_BYTES 200

/* Of these lanes of an access of `bytes` bytes each, those that reach a byte that belongs to no buffer, on a page that
 * belongs to one. Pages of nobody are for translation to refuse. */
uint32_t buffer_ends_outside(const machine *m, const in_flight *r, uint32_t lanes, uint32_t bytes);
/* Stops the machine, for an access of `bytes` bytes by these lanes. */
void buffer_ends_fail(machine *m, const in_flight *r, uint32_t lanes, uint32_t bytes) __attribute__((cold));
/* Says where an address lies beside the nearest buffer: element, buffer, distance. */
void buffer_ends_nearest(const machine *m, uint64_t address, uint32_t bytes, char text[NEAREST_TEXT_BYTES])
    __attribute__((cold));

/* Does any of a record's words lie behind the last byte of its page that is somebody's? Most do not: one look at a
 * table for each segment. */
static inline int buffer_ends_may_be_crossed(const machine *m, const in_flight *r) {
    uint32_t i;
    for (i = 0; i < r->segment_count; i++) {
        const uint64_t at = r->segments[i] - DEVICE_BASE;
        if (at < m->memory_bytes &&
            at % PAGE_BYTES + 4 * (32u - (uint32_t)__builtin_clz(r->words[i] | 1u)) > m->page_ends[at / PAGE_BYTES])
            return 1;
    }
    return 0;
}

#endif
