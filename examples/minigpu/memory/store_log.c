#include "memory/store_log.h"

#include <string.h>

#define NONE GPUMP_NONE
#define LANES 32u
/* A warp instruction writes at most 32 bytes per lane. An atomic keeps its addresses and up to three operands. */
#define ENTRY_BYTES_MAX (LANES * (sizeof(store_entry) + 32) + 4 * LANES * 8)

static uint32_t power_of_two(uint32_t at_least) {
    uint32_t power = 1;
    while (power < at_least) power *= 2;
    return power;
}
/* Returns the most lines of a window: the segments checked in the window, plus those of the instructions that waited.
 */
static uint32_t lines_for(uint32_t cycles, uint32_t waiting) { return cycles + waiting * LANES; }

static uint64_t *numbers(const store_log *log) { return (uint64_t *)(uintptr_t)(log + 1); }
static uint8_t *data(const store_log *log) { return (uint8_t *)(uintptr_t)(numbers(log) + log->line_capacity); }
static uint8_t *entries(const store_log *log) { return data(log) + (size_t)log->line_capacity * SEGMENT_BYTES; }
static uint32_t *table(const store_log *log) { return (uint32_t *)(void *)(entries(log) + log->byte_capacity); }

size_t store_log_bytes(uint32_t cycles, uint32_t waiting) {
    const size_t lines = lines_for(cycles, waiting);
    return sizeof(store_log) + lines * (8 + SEGMENT_BYTES) + (size_t)(cycles + waiting) * ENTRY_BYTES_MAX +
           power_of_two((uint32_t)lines * 2) * sizeof(uint32_t);
}

store_log *store_log_init(void *memory, uint32_t cycles, uint32_t waiting) {
    store_log *log = (store_log *)memory;
    memset(log, 0, sizeof *log);
    log->line_capacity = lines_for(cycles, waiting);
    log->byte_capacity = (uint32_t)((cycles + waiting) * ENTRY_BYTES_MAX);
    log->table_mask = power_of_two(log->line_capacity * 2) - 1;
    log->next_cycle = STORE_LOG_NEVER;
    memset(table(log), 0xff, (log->table_mask + 1) * sizeof(uint32_t));
    return log;
}

/* Returns the place of a line in the table, or the place where it would be. */
static uint32_t place_of(const store_log *log, uint64_t line) {
    uint32_t place = (uint32_t)(line * UINT64_C(0x9e3779b97f4a7c15) >> 32) & log->table_mask;
    while (table(log)[place] != NONE && numbers(log)[table(log)[place]] != line) place = (place + 1) & log->table_mask;
    return place;
}

void store_log_clear(store_log *log) {
    if (log->lines > log->table_mask / 64)
        memset(table(log), 0xff, (log->table_mask + 1) * sizeof(uint32_t));
    else /* the latest first: each is then the end of its chain */
        while (log->lines) table(log)[place_of(log, numbers(log)[--log->lines])] = NONE;
    log->touched = 0;
    log->next_cycle = STORE_LOG_NEVER;
    log->lines = log->bytes = log->taken = 0;
}

uint8_t *store_log_line(const store_log *log, uint64_t line) {
    uint32_t found;
    if (!store_log_may_hold(log, line)) return NULL;
    found = table(log)[place_of(log, line)];
    return found == NONE ? NULL : data(log) + (size_t)found * SEGMENT_BYTES;
}

uint8_t *store_log_open(store_log *log, uint64_t line, const uint8_t *memory) {
    uint8_t *found = store_log_line(log, line);
    if (found) return found;
    found = data(log) + (size_t)log->lines * SEGMENT_BYTES;
    table(log)[place_of(log, line)] = log->lines;
    numbers(log)[log->lines++] = line;
    log->touched |= UINT64_C(1) << (line & 63);
    memcpy(found, memory, SEGMENT_BYTES);
    return found;
}

uint8_t *store_log_put(store_log *log, uint64_t cycle, uint64_t address, uint32_t bytes, uint32_t lanes) {
    store_entry *e = (store_entry *)(void *)(entries(log) + log->bytes);
    e->cycle = cycle;
    e->address = address;
    e->bytes = bytes;
    e->lanes = lanes;
    if (log->taken == log->bytes) log->next_cycle = cycle;
    log->bytes += (uint32_t)sizeof *e + ((bytes + 7) & ~7u);
    return (uint8_t *)(e + 1);
}

const store_entry *store_log_take(store_log *log, uint64_t cycle) {
    const store_entry *e = (const store_entry *)(const void *)(entries(log) + log->taken);
    if (log->next_cycle != cycle) return NULL;
    log->taken += (uint32_t)sizeof *e + ((e->bytes + 7) & ~7u);
    log->next_cycle = log->taken == log->bytes
                          ? STORE_LOG_NEVER
                          : ((const store_entry *)(const void *)(entries(log) + log->taken))->cycle;
    return e;
}
