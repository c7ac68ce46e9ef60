/* request: what SMs and the memory behind their L1 tell each other, for both models of that memory (memory.h). */
#ifndef MINIGPU_REQUEST_H
#define MINIGPU_REQUEST_H

#include <stdint.h>

typedef enum request_kind {
    REQUEST_LOAD,
    REQUEST_STORE,
    REQUEST_ATOMIC,
    REQUEST_SAVE,    /* a segment of a context that is being saved ... */
    REQUEST_RESTORE, /* ... or restored: only when nobody else of the SM wants the network */
    REQUEST_WRITE_BACK
} request_kind;
typedef enum request_hit { HIT_NONE, HIT_L1, HIT_L2, HIT_DRAM } request_hit;

/* A request as it leaves an SM: always for one 128-byte line. */
typedef struct memory_packet {
    uint64_t address; /* of the line, in bytes */
    uint32_t token;   /* the SM's name for it: the reply brings it back */
    uint32_t kind;    /* request_kind */
    uint32_t kernel;  /* kernel number, from 1; contexts carry that of their block */
    uint32_t bytes;   /* of the line that a store or atomic names: its words, 4 to 128 */
} memory_packet;

typedef struct memory_reply {
    uint32_t token;
    uint32_t hit; /* request_hit: who had the line */
} memory_reply;

/* Sums since the first cycle. */
typedef struct memory_statistics {
    uint64_t requests;      /* that have left an SM, contexts among them */
    uint64_t l2_hits;       /* lines, those whose fill was still on its way among them */
    uint64_t l2_misses;     /* lines */
    uint64_t dram_bytes;    /* read and written */
    uint64_t network_bytes; /* whole flits, both directions */
} memory_statistics;

/* What a request carries on the network: its data, or only its address; and its reply likewise. */
static inline int request_carries_data(uint32_t kind) { return kind != REQUEST_LOAD && kind != REQUEST_RESTORE; }
static inline int request_returns_data(uint32_t kind) {
    return kind == REQUEST_LOAD || kind == REQUEST_ATOMIC || kind == REQUEST_RESTORE;
}
/* Contexts go when nobody else wants the network. */
static inline int request_is_context(uint32_t kind) { return kind == REQUEST_SAVE || kind == REQUEST_RESTORE; }

#endif
