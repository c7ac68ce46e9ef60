#include "memory/events.h"

#include <string.h>

static uint32_t *heap(const events *e) { return (uint32_t *)(uintptr_t)(events_pool(e) + e->capacity); }

size_t events_bytes(uint32_t capacity) {
    return sizeof(events) + capacity * (sizeof(event) + sizeof(uint32_t)) + (capacity & 1) * sizeof(uint32_t);
}

events *events_init(void *memory, uint32_t capacity) {
    events *e = (events *)memory;
    uint32_t i;
    memset(e, 0, sizeof *e);
    e->capacity = capacity;
    for (i = 0; i < EVENTS_WHEEL; i++) e->first[i] = GPUMP_NONE;
    for (i = 0; i < capacity; i++) events_pool(e)[i].next = i + 1 < capacity ? i + 1 : GPUMP_NONE;
    e->free = capacity ? 0 : GPUMP_NONE;
    return e;
}

static int earlier(const event *a, const event *b) {
    if (a->cycle != b->cycle) return a->cycle < b->cycle;
    return a->key != b->key ? a->key < b->key : a->sequence < b->sequence;
}

void events_far_put(events *e, uint32_t index) {
    uint32_t *h = heap(e), at = e->heap_count++;
    while (at > 0 && earlier(&events_pool(e)[index], &events_pool(e)[h[(at - 1) / 2]])) {
        h[at] = h[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    h[at] = index;
}

uint64_t events_far_next(const events *e) { return events_pool(e)[heap(e)[0]].cycle; }

uint32_t events_far_take(events *e, uint32_t index) {
    event *pool = events_pool(e);
    uint32_t *h = heap(e), top = h[0], last, at = 0;
    if (index != GPUMP_NONE && !earlier(&pool[top], &pool[index])) return GPUMP_NONE;
    last = h[--e->heap_count];
    for (;;) {
        uint32_t child = 2 * at + 1;
        if (child >= e->heap_count) break;
        if (child + 1 < e->heap_count && earlier(&pool[h[child + 1]], &pool[h[child]])) child++;
        if (!earlier(&pool[h[child]], &pool[last])) break;
        h[at] = h[child];
        at = child;
    }
    h[at] = last;
    return top;
}
