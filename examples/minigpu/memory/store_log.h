/* store_log: what one SM has written to global memory in the present window (machine/window.h), and has not crossed
 * yet.
 *
 * Two views of the same stores: the lines that they have touched, as the SM sees them at once, and the stores in their
 * order, with their cycles, to be applied to memory when the window ends. One flat block without pointers. */
#ifndef MINIGPU_STORE_LOG_H
#define MINIGPU_STORE_LOG_H

#include <stddef.h>
#include <stdint.h>

#include "launch/config.h"

#define STORE_LOG_NEVER UINT64_MAX

/* One store of neighbouring bytes, or one atomic warp instruction (lanes not 0). Its data follow. */
typedef struct store_entry {
    uint64_t cycle;
    uint64_t address; /* of a store */
    uint32_t bytes;   /* of data */
    uint32_t lanes;   /* of an atomic */
} store_entry;

typedef struct store_log {
    uint64_t touched;    /* bit (line modulo 64): such a line is here */
    uint64_t next_cycle; /* of the first entry not taken; STORE_LOG_NEVER */
    uint32_t lines, line_capacity;
    uint32_t table_mask;
    uint32_t bytes, byte_capacity; /* of the entries */
    uint32_t taken;                /* bytes of entries */
} store_log;                       /* behind it: line numbers, the table of their places, their data, the entries */

/* Returns the bytes of a log for windows of so many cycles. An SM checks one 128-byte segment per cycle, so what it
 * writes in a window is bounded. */
size_t store_log_bytes(uint32_t cycles);
/* Makes an empty log in `memory`, 8-byte aligned. */
store_log *store_log_init(void *memory, uint32_t cycles);
/* The log forgets everything. */
void store_log_clear(store_log *log);

/* May the line be here? */
static inline int store_log_may_hold(const store_log *log, uint64_t line) { return log->touched >> (line & 63) & 1; }
/* Returns the line as the SM sees it; NULL when the SM has not written to it. */
uint8_t *store_log_line(const store_log *log, uint64_t line);
/* The same for a line that is about to be written; `memory` is what memory has of it. */
uint8_t *store_log_open(store_log *log, uint64_t line, const uint8_t *memory);

/* Enters a store or an atomic. Returns where its data go, 8-byte aligned. */
uint8_t *store_log_put(store_log *log, uint64_t cycle, uint64_t address, uint32_t bytes, uint32_t lanes);
/* Takes the next entry of this cycle, in their order; NULL when there is none. Its data lie behind it. */
const store_entry *store_log_take(store_log *log, uint64_t cycle);
static inline const uint8_t *store_entry_data(const store_entry *e) { return (const uint8_t *)(e + 1); }

#endif
