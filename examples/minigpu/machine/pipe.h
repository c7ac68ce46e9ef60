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
    pipe_entry *entries;
    uint32_t head, count, mask;
    uint32_t length; /* cycles */
} pipe_stage;

static inline void pipe_put(pipe_stage *p, uint64_t now, uint32_t item) {
    pipe_entry *entry = &p->entries[(p->head + p->count++) & p->mask];
    entry->cycle = now + p->length;
    entry->item = item;
}
static inline uint64_t pipe_next(const pipe_stage *p) { return p->count ? p->entries[p->head].cycle : UINT64_MAX; }
/* Takes out the next item that is due; UINT32_MAX when there is none. */
static inline uint32_t pipe_take(pipe_stage *p, uint64_t now) {
    uint32_t item;
    if (!p->count || p->entries[p->head].cycle > now) return UINT32_MAX;
    item = p->entries[p->head].item;
    p->head = (p->head + 1) & p->mask;
    p->count--;
    return item;
}

#endif
