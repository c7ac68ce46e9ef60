/* pipe: a stage of fixed length as a queue: what goes in at cycle c comes out at c + length, in order. */
#ifndef MINIGPU_PIPE_H
#define MINIGPU_PIPE_H

#include <stdint.h>

typedef struct pipe_entry {
    uint64_t cycle;
    uint32_t item; /* in-flight record, warp, page: whatever its owner counts */
    uint32_t unused;
} pipe_entry;
typedef struct pipe_stage {
    uint64_t due; /* when the next item comes out; UINT64_MAX: it is empty */
    pipe_entry *entries;
    uint32_t head, count, mask;
    uint32_t length; /* cycles */
} pipe_stage;

/* An empty stage with room for so many items, a power of two. */
static inline void pipe_make(pipe_stage *p, pipe_entry *entries, uint32_t room, uint32_t length) {
    p->due = UINT64_MAX;
    p->entries = entries;
    p->head = p->count = 0;
    p->mask = room - 1;
    p->length = length;
}
static inline void pipe_put(pipe_stage *p, uint64_t now, uint32_t item) {
    pipe_entry *entry = &p->entries[(p->head + p->count) & p->mask];
    entry->cycle = now + p->length;
    entry->item = item;
    if (!p->count++) p->due = entry->cycle;
}
static inline uint64_t pipe_next(const pipe_stage *p) { return p->due; }
/* Takes out the next item that is due; UINT32_MAX when there is none. */
static inline uint32_t pipe_take(pipe_stage *p, uint64_t now) {
    uint32_t item;
    if (p->due > now) return UINT32_MAX;
    item = p->entries[p->head].item;
    p->head = (p->head + 1) & p->mask;
    p->due = --p->count ? p->entries[p->head].cycle : UINT64_MAX;
    return item;
}

#endif
