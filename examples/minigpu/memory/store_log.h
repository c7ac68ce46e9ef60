/* store_log: one SM's stores to global memory in the present window (machine/window.h), which other SMs do not see yet.
 *
 * The log holds two views of the same stores. One is the lines that the stores have touched, as the SM sees them at
 * once. The other is the stores in order, with their cycles, which are applied to memory when the window ends. The log
 * is one flat block without pointers. */
#ifndef MINIGPU_STORE_LOG_H
#define MINIGPU_STORE_LOG_H

#include <stddef.h>
#include <stdint.h>

#include "launch/config.h"

#define STORE_LOG_NEVER UINT64_MAX

/* One store of adjacent bytes, or one atomic warp instruction (lanes is not 0). Its data follow. */
typedef struct store_entry {
    uint64_t cycle;
    uint64_t address; /* of a store; an atomic's addresses are in its data */
    uint32_t bytes;   /* of data */
    uint32_t lanes;   /* of an atomic */
} store_entry;

typedef struct store_log {
    uint64_t touched;    /* bit (line modulo 64): the log has such a line */
    uint64_t next_cycle; /* cycle of the first entry that was not taken; STORE_LOG_NEVER */
    uint32_t lines, line_capacity;
    uint32_t table_mask;
    uint32_t bytes, byte_capacity; /* of the entries */
    uint32_t taken;                /* bytes of entries that were taken */
} store_log;                       /* followed by line numbers, the table of their places, their data, the entries */

/* Returns the bytes of a log for windows of `cycles` cycles. An SM checks one 128-byte segment per cycle. waiting: the
 * instructions whose checks were made before the window and may all end in it; at least 1. */
size_t store_log_bytes(uint32_t cycles, uint32_t waiting);
/* Makes an empty log in `memory`, 8-byte aligned. */
store_log *store_log_init(void *memory, uint32_t cycles, uint32_t waiting);
/* Empties the log. */
void store_log_clear(store_log *log);

/* Returns whether the log may hold the line. */
static inline int store_log_may_hold(const store_log *log, uint64_t line) { return log->touched >> (line & 63) & 1; }
/* Returns the line as the SM sees it; NULL when the SM has not written to the line. */
uint8_t *store_log_line(const store_log *log, uint64_t line);
/* Returns a line that is about to be written. `memory` holds the line's bytes in memory, which a new line copies. */
uint8_t *store_log_open(store_log *log, uint64_t line, const uint8_t *memory);

/* Enters a store or an atomic. Returns the place of its data, 8-byte aligned. */
uint8_t *store_log_put(store_log *log, uint64_t cycle, uint64_t address, uint32_t bytes, uint32_t lanes);
/* Takes the next entry of this cycle, in order; NULL when there is none. Its data follow it. */
const store_entry *store_log_take(store_log *log, uint64_t cycle);
static inline const uint8_t *store_entry_data(const store_entry *e) { return (const uint8_t *)(e + 1); }

#endif
