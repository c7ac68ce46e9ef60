/* pipe: a pipeline stage of fixed length as a queue: an item that enters at cycle c leaves at c + length, in order. */
#ifndef MINIGPU_PIPE_H
#define MINIGPU_PIPE_H

#include <stdint.h>
#include <string.h>

typedef struct pipe_entry {
    uint64_t cycle;
    uint32_t item; /* in-flight record, warp, page: a number of the owner's */
    uint32_t with; /* what the owner says of it */
} pipe_entry;
typedef struct pipe_stage {
    uint64_t due; /* when the next item leaves; UINT64_MAX: the stage is empty */
    pipe_entry *entries;
    uint32_t head, count, mask; /* the stage uses the first mask + 1 entries, and more when they are full */
    uint32_t length;            /* cycles */
} pipe_stage;

/* Makes an empty stage. The number of entries is a power of two and bounds the items. The stage uses as few entries as
 * possible, so that they stay in the host's caches. */
static inline void pipe_make(pipe_stage *p, pipe_entry *entries, uint32_t length) {
    p->due = UINT64_MAX;
    p->entries = entries;
    p->head = p->count = p->mask = 0;
    p->length = length;
}
/* Doubles the entries in use: items that wrapped to the front move behind the others. */
static inline void pipe_widen(pipe_stage *p) {
    memcpy(p->entries + p->mask + 1, p->entries, p->head * sizeof *p->entries);
    p->mask = 2 * p->mask + 1;
}
/* Returns the entry for one more item. */
static inline pipe_entry *pipe_add(pipe_stage *p) {
    if (p->count > p->mask) pipe_widen(p);
    return &p->entries[(p->head + p->count++) & p->mask];
}
/* Enters an item. Returns its entry. */
static inline pipe_entry *pipe_put(pipe_stage *p, uint64_t now, uint32_t item) {
    pipe_entry *entry = pipe_add(p);
    entry->cycle = now + p->length;
    entry->item = item;
    if (p->count == 1) p->due = entry->cycle;
    return entry;
}
static inline uint64_t pipe_next(const pipe_stage *p) { return p->due; }
/* Returns the next entry of a stage that is not empty. */
static inline pipe_entry pipe_first(const pipe_stage *p) { return p->entries[p->head]; }
/* Removes it. */
static inline void pipe_drop(pipe_stage *p) {
    p->head = (p->head + 1) & p->mask;
    p->due = --p->count ? p->entries[p->head].cycle : UINT64_MAX;
}
/* Removes the next item that is due; UINT32_MAX when there is none. */
static inline uint32_t pipe_take(pipe_stage *p, uint64_t now) {
    uint32_t item;
    if (p->due > now) return UINT32_MAX;
    item = p->entries[p->head].item;
    pipe_drop(p);
    return item;
}

#endif
