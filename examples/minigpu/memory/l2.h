/* l2: the banks of the L2 cache in the queued memory model: input queue, tag and data port, MSHRs with merges, write
 * back of dirty lines before their place is filled, and slots of the reply queue. Write-back, write-allocate (Lin Table
 * 4.1).
 *
 * The host reports arrivals (l2_put), and lets a bank begin with its first request when l2_next says so (l2_start). The
 * host carries the resulting reads and writes to DRAM, and reports lines that arrive (l2_fill) and reply slots that
 * become free (l2_reply_sent). A bank whose first request lacks something stays blocked until one of these reports, or
 * room in DRAM; no request passes the first. All cycles are the network's. The state is one flat block without
 * pointers. Lines are counted within the bank. */
#ifndef MINIGPU_L2_H
#define MINIGPU_L2_H

#include <stddef.h>
#include <stdint.h>

#define L2_NEVER UINT64_MAX

typedef struct l2_config {
    uint32_t banks, sets, ways; /* sets and ways of each bank */
    uint32_t queue_entries;     /* of each bank */
    uint32_t mshrs, merges;     /* of each bank: lines in flight; requests that wait for one of them */
    uint32_t data_cycles;       /* cycles of the data port for one line */
    uint32_t latency_cycles;    /* from start or fill to the reply queue */
    uint32_t reply_slots;       /* of each bank: replies in its pipeline and in its queue */
    uint32_t store_fetches;     /* 1: a store to a part of an absent line reads the line; 0: byte masks are kept */
    uint32_t packets;           /* names of requests are below this number */
} l2_config;

typedef enum l2_kind { L2_LOAD, L2_STORE, L2_STORE_WHOLE, L2_ATOMIC } l2_kind;

typedef struct l2_request {
    uint64_t line, arrives;
    uint32_t packet, kind; /* l2_kind */
} l2_request;

typedef enum l2_outcome {
    L2_IDLE,    /* the bank has no request */
    L2_BLOCKED, /* the first request waits for a reply slot, an MSHR, a line of its set, or room in DRAM */
    L2_REPLY,   /* the request is answered at reply_cycle */
    L2_MERGED,  /* the request waits for a line in flight */
    L2_FETCH    /* its line must be read; l2_fill(bank, place) reports the arrival */
} l2_outcome;

typedef struct l2_started {
    l2_request request;
    uint64_t reply_cycle;
    uint64_t written_back; /* a line that goes to DRAM first; L2_NEVER: none */
    uint32_t place;        /* L2_FETCH */
    uint32_t is_hit;
} l2_started;

typedef struct l2_line {
    uint64_t line;                        /* + 1; 0: empty */
    uint64_t stamp;                       /* time of its last use */
    uint32_t first_waiting, last_waiting; /* packets; NONE */
    uint32_t waiting;                     /* waiting requests; above 0: the line is in flight */
    uint32_t dirty;
} l2_line;

typedef struct l2_unit {
    uint64_t free_at;
    uint32_t head, count;
    uint32_t mshrs_used, replies;     /* slots taken */
    uint32_t first_ready, last_ready; /* packets whose line has arrived and that have no reply slot yet */
    uint32_t blocked, unused;
} l2_unit;

typedef struct l2 {
    l2_config config;
    uint64_t clock;
} l2; /* followed by l2_unit[banks], l2_line[banks][sets][ways], l2_request[banks][queue_entries], uint32_t[packets] */

size_t l2_bytes(const l2_config *config);
/* Makes an empty cache in `memory`, 8-byte aligned. */
l2 *l2_init(void *memory, const l2_config *config);
static inline l2_unit *l2_units(const l2 *c) { return (l2_unit *)(uintptr_t)(c + 1); }
/* Appends a request to a bank's queue. The queue must have room, and `arrives` must not fall. */
void l2_put(l2 *c, uint32_t bank, const l2_request *request);
/* Returns when the bank can begin with its first request; L2_NEVER: it has no request. */
uint64_t l2_next(const l2 *c, uint32_t bank);
/* Lets the bank begin with its first request. dram_room: free entries of the bank's channel. */
l2_outcome l2_start(l2 *c, uint64_t now, uint32_t bank, uint32_t dram_room, l2_started *started);
/* Reports that a line has arrived. The requests that wait for it become ready. */
void l2_fill(l2 *c, uint32_t bank, uint32_t place);
/* Takes the next ready packet and gives it a reply slot; its reply is in the queue latency_cycles later. GPUMP_NONE: no
 * packet is ready, or no slot is free. */
uint32_t l2_take_ready(l2 *c, uint32_t bank);
/* Reports that a reply has left the bank's queue. */
void l2_reply_sent(l2 *c, uint32_t bank);
/* Returns the request that asked for the line in flight to this place. */
uint32_t l2_first_waiting(const l2 *c, uint32_t place);
uint64_t l2_hash(const l2 *c, uint64_t hash);
#endif
