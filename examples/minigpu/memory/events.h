/* events: a timing wheel, the clock of the queued memory model (memory_model 1).
 *
 * Events of one cycle are taken in the order (stage, unit, order of entry), so a run does not depend on the order of
 * the host's calls. Cycles less than EVENTS_WHEEL ahead are in the wheel, later ones in a heap. The state is one flat
 * block without pointers: a byte copy is a checkpoint. */
#ifndef MINIGPU_EVENTS_H
#define MINIGPU_EVENTS_H

#include <stddef.h>
#include <stdint.h>

#include "gpump_once.h"

#define EVENTS_WHEEL 4096u
#define EVENTS_NEVER UINT64_MAX

typedef struct event {
    uint64_t cycle, sequence;
    uint32_t key;   /* stage << 24 | unit */
    uint32_t value; /* what events_put was given, for the model that takes the event */
    uint32_t next;
    uint32_t unused;
} event;

typedef struct events {
    uint64_t base;     /* no event is earlier than this cycle */
    uint64_t sequence; /* number of the next event */
    uint64_t summary;  /* bit i: word i of `taken` is not 0 */
    uint64_t taken[EVENTS_WHEEL / 64];
    uint32_t first[EVENTS_WHEEL];
    uint32_t capacity, free, heap_count, count;
} events; /* followed by event[capacity], then the heap: uint32_t[capacity] */

/* Returns the bytes of a wheel with room for `capacity` events, a multiple of 8. */
size_t events_bytes(uint32_t capacity);
/* Makes an empty wheel in `memory`, 8-byte aligned, at cycle 0. */
events *events_init(void *memory, uint32_t capacity);
static inline event *events_pool(const events *e) { return (event *)(uintptr_t)(e + 1); }
static inline uint32_t event_stage(const event *e) { return e->key >> 24; }

/* The heap of the events beyond the wheel. put enters the event of an index. next_cycle returns the cycle of the first
 * event, which must exist. take removes the first event if it precedes the event of an index (GPUMP_NONE: always), and
 * otherwise returns GPUMP_NONE. */
void events_far_put(events *e, uint32_t index);
uint64_t events_far_next(const events *e);
uint32_t events_far_take(events *e, uint32_t index);

/* Enters an event. `cycle` must not precede the last event taken; stage 0 to 255, unit below 2^24. Returns 0, or -1
 * when `capacity` events wait. */
static inline int events_put(events *e, uint64_t cycle, uint32_t stage, uint32_t unit, uint32_t value) {
    const uint32_t index = e->free, slot = (uint32_t)(cycle % EVENTS_WHEEL), key = stage << 24 | unit;
    event *pool = events_pool(e), *entry;
    uint32_t *link, next;
    if (index == GPUMP_NONE) return -1;
    entry = &pool[index];
    e->free = entry->next;
    e->count++;
    entry->cycle = cycle;
    entry->sequence = e->sequence++;
    entry->key = key;
    entry->value = value;
    if (cycle - e->base >= EVENTS_WHEEL) {
        events_far_put(e, index);
        return 0;
    }
    link = &e->first[slot];
    while ((next = *link) != GPUMP_NONE && pool[next].key <= key) link = &pool[next].next;
    entry->next = next;
    *link = index;
    e->taken[slot / 64] |= UINT64_C(1) << slot % 64;
    e->summary |= UINT64_C(1) << slot / 64;
    return 0;
}

/* Returns the wheel's next cycle. Slots from base's on belong to this turn of the wheel, slots before it to the next
 * turn. */
static inline uint64_t events_wheel_next(const events *e) {
    const uint32_t start = (uint32_t)(e->base % EVENTS_WHEEL), word = start / 64;
    const uint64_t bits = e->taken[word] >> start % 64;
    uint64_t words;
    uint32_t slot;
    if (bits) return e->base + gpump_bits_lowest64(bits);
    if (!e->summary) return EVENTS_NEVER;
    words = word < 63 ? e->summary >> (word + 1) << (word + 1) : 0;
    if (!words) words = e->summary;
    slot = gpump_bits_lowest64(words);
    slot = slot * 64 + gpump_bits_lowest64(e->taken[slot]);
    return e->base + (slot - start) % EVENTS_WHEEL;
}

/* Returns the cycle of the next event; EVENTS_NEVER when there is none. */
static inline uint64_t events_next(const events *e) {
    const uint64_t wheel = events_wheel_next(e), far = e->heap_count ? events_far_next(e) : EVENTS_NEVER;
    return wheel < far ? wheel : far;
}

/* Moves the wheel to a cycle that the next event does not precede. */
static inline void events_reach(events *e, uint64_t cycle) {
    if (cycle > e->base) e->base = cycle;
}

/* Removes the next event, whose cycle (events_next) the caller knows, into *taken. */
static inline void events_take_at(events *e, uint64_t cycle, event *taken) {
    const uint32_t slot = (uint32_t)(cycle % EVENTS_WHEEL);
    event *pool = events_pool(e);
    uint32_t index, far;
    e->base = cycle;
    index = e->first[slot];
    if (index != GPUMP_NONE && pool[index].cycle != cycle) index = GPUMP_NONE;
    if (e->heap_count && (far = events_far_take(e, index)) != GPUMP_NONE) {
        index = far;
    } else if ((e->first[slot] = pool[index].next) == GPUMP_NONE) {
        e->taken[slot / 64] &= ~(UINT64_C(1) << slot % 64);
        if (!e->taken[slot / 64]) e->summary &= ~(UINT64_C(1) << slot / 64);
    }
    *taken = pool[index];
    pool[index].next = e->free;
    e->free = index;
    e->count--;
}

/* Removes the next event into *taken if its cycle is at most `until`. Returns 1 when it did. */
static inline int events_take(events *e, uint64_t until, event *taken) {
    const uint64_t cycle = events_next(e);
    if (cycle == EVENTS_NEVER || cycle > until) {
        if (until != EVENTS_NEVER) events_reach(e, until);
        return 0;
    }
    events_take_at(e, cycle, taken);
    return 1;
}
#endif
