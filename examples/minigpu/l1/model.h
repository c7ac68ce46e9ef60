/* model: an L1 behind the interface l1.h, as one table of functions. associative/ is the L1 that is there. Another one
 * is a folder l1/NAME with its table NAME_l1 and one line in launch/l1_models.def. tests/minigpu/own_l1.sh adds one.
 *
 * An L1 decides which of its places holds which line of memory, and which place gives way. It holds no data, because
 * values always come from device memory. The load-store unit (sm/memory_path.c) has all the rest: the loads that wait
 * for a line (first_waiter and pending of a place), the stores that only a place holds (dirty), and the instructions
 * that bypass the L1. A line is the address of a segment, divided by SEGMENT_BYTES. */
#ifndef MINIGPU_L1_MODEL_H
#define MINIGPU_L1_MODEL_H

#include "base/arena.h"
#include "launch/config.h"
#include "memory/cache.h"

/* The functions of an L1. `l1` is the result of `make`. */
typedef struct l1_model {
    const char *name;
    /* Makes an empty L1 in the arena. Returns NULL when the arena is full. */
    void *(*make)(arena *a, const minigpu_config *config);
    /* Returns the place that holds the line, or for which the line is on its way; NULL: none. */
    cache_line *(*find)(void *l1, uint64_t line);
    /* Returns the place that an absent line would get; NULL: the line has to wait for a reply. A place for which loads
     * wait (pending) never gives way. The load-store unit may ask without a fill behind it, and asks again later. */
    cache_line *(*victim)(void *l1, uint64_t line);
    /* Lets the place hold the line from now on. The fill counts as a use. */
    void (*fill)(void *l1, cache_line *place, uint64_t line);
    /* Reports a use of the place: a load that hits, or waits for its line, or a store that the L1 keeps. */
    void (*use)(void *l1, cache_line *place);
    /* Returns the line of a place; NO_LINE: the place is empty. */
    uint64_t (*line_of)(const void *l1, const cache_line *place);
    /* Empties a place for which no load waits. Its data are in memory. */
    void (*drop)(void *l1, cache_line *place);
    /* Returns the place of a number, counted from 0; NULL: there are no more places. */
    cache_line *(*place)(void *l1, uint32_t number);
    /* Returns the number of a place. */
    uint32_t (*number)(const void *l1, const cache_line *place);
    /* Makes an L1 for which no load waits as it was when it was made. */
    void (*empty)(void *l1);
    /* Returns the hash, extended by the L1's state. */
    uint64_t (*hash)(const void *l1, uint64_t hash);
} l1_model;

#define NO_LINE UINT64_MAX

#define L1_MODEL(name) extern const l1_model name##_l1;
#include L1_MODELS_LIST
#undef L1_MODEL

#endif
