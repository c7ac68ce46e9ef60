#include "memory/events.h"

#include <string.h>

#include "gpump.h"

static event *pool(const events *e) { return (event *)(uintptr_t)(e + 1); }
static uint32_t *heap(const events *e) { return (uint32_t *)(uintptr_t)(pool(e) + e->capacity); }

size_t events_bytes(uint32_t capacity) {
    return sizeof(events) + capacity * (sizeof(event) + sizeof(uint32_t)) + (capacity & 1) * sizeof(uint32_t);
}

events *events_init(void *memory, uint32_t capacity) {
    events *e = (events *)memory;
    uint32_t i;
    memset(e, 0, sizeof *e);
    e->capacity = capacity;
    for (i = 0; i < EVENTS_WHEEL; i++) e->first[i] = GPUMP_NONE;
    for (i = 0; i < capacity; i++) pool(e)[i].next = i + 1 < capacity ? i + 1 : GPUMP_NONE;
    e->free = capacity ? 0 : GPUMP_NONE;
    return e;
}

static int earlier(const event *a, const event *b) {
    if (a->cycle != b->cycle) return a->cycle < b->cycle;
    return a->key != b->key ? a->key < b->key : a->sequence < b->sequence;
}

static void heap_put(events *e, uint32_t index) {
    uint32_t *h = heap(e), at = e->heap_count++;
    while (at > 0 && earlier(&pool(e)[index], &pool(e)[h[(at - 1) / 2]])) {
        h[at] = h[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    h[at] = index;
}

static uint32_t heap_take(events *e) {
    uint32_t *h = heap(e), top = h[0], last = h[--e->heap_count], at = 0;
    for (;;) {
        uint32_t child = 2 * at + 1;
        if (child >= e->heap_count) break;
        if (child + 1 < e->heap_count && earlier(&pool(e)[h[child + 1]], &pool(e)[h[child]])) child++;
        if (!earlier(&pool(e)[h[child]], &pool(e)[last])) break;
        h[at] = h[child];
        at = child;
    }
    h[at] = last;
    return top;
}

int events_put(events *e, uint64_t cycle, uint32_t stage, uint32_t unit, uint32_t value) {
    const uint32_t index = e->free, slot = (uint32_t)(cycle % EVENTS_WHEEL);
    event *entry;
    uint32_t *link;
    if (index == GPUMP_NONE) return -1;
    entry = &pool(e)[index];
    e->free = entry->next;
    e->count++;
    entry->cycle = cycle;
    entry->sequence = e->sequence++;
    entry->key = stage << 24 | unit;
    entry->value = value;
    if (cycle - e->base >= EVENTS_WHEEL) {
        heap_put(e, index);
        return 0;
    }
    link = &e->first[slot];
    while (*link != GPUMP_NONE && pool(e)[*link].key <= entry->key) link = &pool(e)[*link].next;
    entry->next = *link;
    *link = index;
    e->taken[slot / 64] |= UINT64_C(1) << slot % 64;
    e->summary |= UINT64_C(1) << slot / 64;
    return 0;
}

/* The wheel's next cycle. Slots from base's on lie in this turn of the wheel, those before it in the next. */
static uint64_t wheel_next(const events *e) {
    const uint32_t start = (uint32_t)(e->base % EVENTS_WHEEL), word = start / 64;
    uint64_t words, bits = e->taken[word] >> start % 64;
    uint32_t slot;
    if (!e->summary) return EVENTS_NEVER;
    if (bits) return e->base + gpump_bits_lowest64(bits);
    words = word < 63 ? e->summary >> (word + 1) << (word + 1) : 0;
    if (!words) words = e->summary;
    slot = gpump_bits_lowest64(words);
    slot = slot * 64 + gpump_bits_lowest64(e->taken[slot]);
    return e->base + (slot - start) % EVENTS_WHEEL;
}

uint64_t events_next(const events *e) {
    const uint64_t wheel = wheel_next(e);
    const uint64_t far = e->heap_count ? pool(e)[heap(e)[0]].cycle : EVENTS_NEVER;
    return wheel < far ? wheel : far;
}

int events_take(events *e, uint64_t until, event *taken) {
    const uint64_t cycle = events_next(e);
    const uint32_t slot = (uint32_t)(cycle % EVENTS_WHEEL);
    uint32_t index;
    if (cycle == EVENTS_NEVER || cycle > until) {
        if (until > e->base && until != EVENTS_NEVER) e->base = until;
        return 0;
    }
    e->base = cycle;
    index = e->first[slot];
    if (index != GPUMP_NONE && pool(e)[index].cycle != cycle) index = GPUMP_NONE;
    if (e->heap_count && (index == GPUMP_NONE || earlier(&pool(e)[heap(e)[0]], &pool(e)[index]))) {
        index = heap_take(e);
    } else if ((e->first[slot] = pool(e)[index].next) == GPUMP_NONE) {
        e->taken[slot / 64] &= ~(UINT64_C(1) << slot % 64);
        if (!e->taken[slot / 64]) e->summary &= ~(UINT64_C(1) << slot / 64);
    }
    *taken = pool(e)[index];
    pool(e)[index].next = e->free;
    e->free = index;
    e->count--;
    return 1;
}
