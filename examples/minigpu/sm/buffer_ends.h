/* buffer_ends: accesses beyond a buffer's last byte. A buffer ends inside its last page, and translation knows only
 * whole pages, so the bytes behind the end of a buffer are checked here. */
#ifndef MINIGPU_BUFFER_ENDS_H
#define MINIGPU_BUFFER_ENDS_H

#include "state/state.h"

#define NEAREST_TEXT_BYTES 200

/* Returns those of these lanes that reach a byte outside all buffers, on a page of a buffer. The access has `bytes`
 * bytes per lane. Translation refuses pages without a buffer. */
uint32_t buffer_ends_outside(const machine *m, const in_flight *r, uint32_t lanes, uint32_t bytes);
/* Stops the machine for an access of `bytes` bytes by these lanes. */
void buffer_ends_fail(machine *m, const in_flight *r, uint32_t lanes, uint32_t bytes) __attribute__((cold));
/* Describes an address relative to the nearest buffer: element, buffer, distance. */
void buffer_ends_nearest(const machine *m, uint64_t address, uint32_t bytes, char text[NEAREST_TEXT_BYTES])
    __attribute__((cold));

/* Returns whether some word of a record may lie behind the last used byte of its page. One table look-up per segment
 * answers no in most cases. */
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
