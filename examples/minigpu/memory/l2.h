/* l2: the banks of the L2 cache in the queued memory model: input queue, tag and data port, MSHRs with merges, write
 * back of dirty lines before their place is filled, and slots of the reply queue.
 *
 * Write-back, write-allocate (Lin Table 4.1). The host says what has come in (l2_put), lets a bank begin with its first
 * request when l2_next says so (l2_start), carries what that asks for to DRAM, and says when lines (l2_fill) and reply
 * slots (l2_reply_sent) are there. A bank whose first request lacks something stays blocked until one of these or room
 * in DRAM; nothing passes the first request. All cycles are the network's. All state is one flat block without
 * pointers; lines are counted within the bank. */
#ifndef MINIGPU_L2_H
#define MINIGPU_L2_H

#include <stddef.h>
#include <stdint.h>

#define L2_NEVER UINT64_MAX

typedef struct l2_config {
    uint32_t banks, sets, ways; /* sets and ways of each bank */
    uint32_t queue_entries;     /* of each bank */
    uint32_t mshrs, merges;     /* lines on their way to each bank; requests that wait for one of them */
    uint32_t data_cycles;       /* the data port is busy for one line */
    uint32_t latency_cycles;    /* from start, or fill, to the reply queue */
    uint32_t reply_slots;       /* of each bank: in the pipeline and in the queue */
    uint32_t store_fetches; /* 1: a store of a part of a line that is absent reads the line; 0: byte masks are kept */
    uint32_t packets;       /* names of requests are below this */
} l2_config;

typedef enum l2_kind { L2_LOAD, L2_STORE, L2_STORE_WHOLE, L2_ATOMIC } l2_kind;

typedef struct l2_request {
    uint64_t line, arrives;
    uint32_t packet, kind; /* l2_kind */
} l2_request;

typedef enum l2_outcome {
    L2_IDLE,    /* nothing was there */
    L2_BLOCKED, /* the first request waits for a reply slot, an MSHR, a line of its set, or room in DRAM */
    L2_REPLY,   /* it is answered at reply_cycle */
    L2_MERGED,  /* it waits for a line that is on its way */
    L2_FETCH    /* its line must be read: l2_fill(bank, place) when it is there */
} l2_outcome;

typedef struct l2_started {
    l2_request request;
    uint64_t reply_cycle;
    uint64_t written_back; /* this line goes to DRAM first; L2_NEVER: none */
    uint32_t place;        /* L2_FETCH */
    uint32_t is_hit;
} l2_started;

typedef struct l2_line {
    uint64_t line;                        /* + 1; 0: empty */
    uint64_t stamp;                       /* of its last use */
    uint32_t first_waiting, last_waiting; /* packets; NONE */
    uint32_t waiting;                     /* how many; above 0: the line is on its way */
    uint32_t dirty;
} l2_line;

typedef struct l2_unit {
    uint64_t free_at;
    uint32_t head, count;
    uint32_t mshrs_used, replies;     /* slots taken */
    uint32_t first_ready, last_ready; /* packets whose line has come and that have no reply slot yet */
    uint32_t blocked, unused;
} l2_unit;

typedef struct l2 {
    l2_config config;
    uint64_t clock;
} l2; /* behind it: l2_unit[banks], l2_line[banks][sets][ways], l2_request[banks][queue_entries], uint32_t[packets] */

size_t l2_bytes(const l2_config *config);
/* Makes an empty cache in `memory`, 8-byte aligned. */
l2 *l2_init(void *memory, const l2_config *config);
static inline l2_unit *l2_units(const l2 *c) { return (l2_unit *)(uintptr_t)(c + 1); }
/* Puts a request at the end of a bank's queue; there must be room, and `arrives` must not fall. */
void l2_put(l2 *c, uint32_t bank, const l2_request *request);
/* Returns when the bank can begin with its first request; L2_NEVER: it has none. */
uint64_t l2_next(const l2 *c, uint32_t bank);
/* Lets the bank begin with its first request, `dram_room` being the free entries of its channel. */
l2_outcome l2_start(l2 *c, uint64_t now, uint32_t bank, uint32_t dram_room, l2_started *started);
/* A line has come: those who wait for it become ready. */
void l2_fill(l2 *c, uint32_t bank, uint32_t place);
/* Takes the next packet that is ready and gives it a reply slot; GPUMP_NONE: none is ready, or no slot is free. Its
 * reply is in the queue latency_cycles later. */
uint32_t l2_take_ready(l2 *c, uint32_t bank);
/* A reply has left the bank's queue. */
void l2_reply_sent(l2 *c, uint32_t bank);
/* The request that asked for the line on its way to this place. */
uint32_t l2_first_waiting(const l2 *c, uint32_t place);
uint64_t l2_hash(const l2 *c, uint64_t hash);
#endif
