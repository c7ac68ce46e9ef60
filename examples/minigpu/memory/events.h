/* events: a timing wheel, the clock of the queued memory model (memory_model 1).
 *
 * Events of one cycle come out in the order (stage, unit, order of entry), so a run does not depend on how the host
 * mixes its calls. Cycles less than EVENTS_WHEEL ahead go into the wheel, later ones into a heap. All state is one flat
 * block without pointers: a byte copy is a checkpoint. */
#ifndef MINIGPU_EVENTS_H
#define MINIGPU_EVENTS_H

#include <stddef.h>
#include <stdint.h>

#define EVENTS_WHEEL 4096u
#define EVENTS_NEVER UINT64_MAX

typedef struct event {
    uint64_t cycle, sequence;
    uint32_t key;   /* stage << 24 | unit */
    uint32_t value; /* the host's */
    uint32_t next;
    uint32_t unused;
} event;

typedef struct events {
    uint64_t base;     /* no event is earlier than this cycle */
    uint64_t sequence; /* of the next event */
    uint64_t summary;  /* bit i: word i of `taken` is not 0 */
    uint64_t taken[EVENTS_WHEEL / 64];
    uint32_t first[EVENTS_WHEEL];
    uint32_t capacity, free, heap_count, count;
} events; /* behind it: event[capacity], then the heap: uint32_t[capacity] */

/* Returns the bytes of a wheel with room for `capacity` events, a multiple of 8. */
size_t events_bytes(uint32_t capacity);
/* Makes an empty wheel in `memory`, 8-byte aligned, at cycle 0. */
events *events_init(void *memory, uint32_t capacity);
/* Enters an event. `cycle` must not lie before the last one taken; stage 0 to 255, unit below 2^24. Returns 0, or -1
 * when `capacity` events wait already. */
int events_put(events *e, uint64_t cycle, uint32_t stage, uint32_t unit, uint32_t value);
/* Returns the cycle of the next event; EVENTS_NEVER when there is none. */
uint64_t events_next(const events *e);
/* Takes the next event out into *taken if its cycle is at most `until`. Returns 1 when it did. */
int events_take(events *e, uint64_t until, event *taken);

static inline uint32_t event_stage(const event *e) { return e->key >> 24; }
#endif
