/* dram: one memory channel: banks with an open row each, and an FR-FCFS scheduler.
 *
 * Of the waiting requests, the one whose data could begin first goes first (row hits do), and among equals the oldest.
 * A pick fixes the cycles of its precharge, activate and column commands. Picks happen so late that the longest of
 * these sequences is just hidden behind the preceding data. All cycles are the channel's command clock. The state is
 * one flat block without pointers. */
#ifndef MINIGPU_DRAM_H
#define MINIGPU_DRAM_H

#include <stddef.h>
#include <stdint.h>

#define DRAM_NEVER UINT64_MAX

typedef struct dram_config {
    uint32_t queue_entries;
    uint32_t banks;         /* a power of two */
    uint32_t lines_per_row; /* a power of two */
    uint32_t line_cycles;   /* T: cycles of the data bus for one line */
    uint32_t idle_cycles;   /* at least so many cycles of the data bus carry nothing after each line */
    uint32_t in_order;      /* 1: first come, first served (the negative control) */
    /* Timings of GDDR5 by their usual names, in cycles of the command clock. */
    uint32_t rrd, rcd, ras, rp, rc, cl, wl, cdlr, wr;
} dram_config;

typedef struct dram_bank {
    uint64_t row;          /* the open row; DRAM_NEVER: none */
    uint64_t activate_at;  /* the earliest next activate, from RC and RP */
    uint64_t precharge_at; /* the earliest precharge, from RAS and WR */
    uint64_t column_at;    /* the earliest column command to the open row, from RCD */
} dram_bank;

typedef struct dram_entry {
    uint64_t row, arrived;
    uint32_t bank, item, is_write, unused;
} dram_entry;

typedef struct dram {
    dram_config config;
    uint64_t last_activate;       /* cycle + 1; 0: none yet */
    uint64_t read_at, write_at;   /* the earliest next column command of each kind */
    uint64_t data_end;            /* the first cycle at which other data may pass on the bus */
    uint64_t reads, writes, hits; /* lines, and lines that found their row open */
    uint64_t latency_cycles;      /* summed over lines, from arrival to the end of the data */
    uint32_t count;
    uint32_t waiting_writes; /* writes among the waiting requests */
} dram;                      /* followed by dram_bank[banks], dram_entry[queue_entries] from the oldest on */

/* Sets the timings to those of GPGPU-Sim's GDDR5 (RRD 6, RCD 12, RAS 28, RP 12, RC 40, CL 12, WL 4, CDLR 5, WR 12), 128
 * entries, 16 banks and rows of 2 KB. The host sets line_cycles. */
void dram_config_gddr5(dram_config *config);
size_t dram_bytes(const dram_config *config);
/* Makes an idle channel in `memory`, 8-byte aligned. */
dram *dram_init(void *memory, const dram_config *config);
static inline uint32_t dram_room(const dram *d) { return d->config.queue_entries - d->count; }
/* Adds a request for a line, whose number counts within the channel. The queue must have room. */
void dram_put(dram *d, uint64_t now, uint64_t line, uint32_t is_write, uint32_t item);
/* Returns the cycle of the next pick, at least `now`; DRAM_NEVER: no request waits. */
uint64_t dram_next(const dram *d, uint64_t now);
/* Picks the next request and removes it from the queue. Sets *picked, and *end to the cycle at which its last data
 * passes. A request must be waiting. */
void dram_pick(dram *d, uint64_t now, dram_entry *picked, uint64_t *end);
#endif
