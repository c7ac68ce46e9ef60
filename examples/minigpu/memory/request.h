/* request: requests and replies between SMs and the memory behind their L1s, for both models of that memory
 * (memory.h). */
#ifndef MINIGPU_REQUEST_H
#define MINIGPU_REQUEST_H

#include <stdint.h>

typedef enum request_kind {
    REQUEST_LOAD,
    REQUEST_STORE,
    REQUEST_ATOMIC,
    REQUEST_SAVE,    /* a segment of a context that is being saved ... */
    REQUEST_RESTORE, /* ... or restored; both wait until no other request of the SM needs the network */
    REQUEST_WRITE_BACK
} request_kind;
typedef enum request_hit { HIT_NONE, HIT_L1, HIT_L2, HIT_DRAM } request_hit;

/* A request as it leaves an SM, always for one 128-byte line. */
typedef struct memory_packet {
    uint64_t address; /* of the line, in bytes */
    uint32_t token;   /* the SM's name for the request, which the reply repeats */
    uint32_t kind;    /* request_kind */
    uint32_t kernel;  /* kernel number, from 1; for contexts, the kernel of the block */
    uint32_t bytes;   /* bytes of the line that a store or atomic changes: its words, 4 to 128 */
} memory_packet;

typedef struct memory_reply {
    uint32_t token;
    uint32_t hit; /* request_hit: where the line was found */
} memory_reply;

/* Sums over all cycles. */
typedef struct memory_statistics {
    uint64_t requests;      /* requests that have left an SM, those of contexts included */
    uint64_t l2_hits;       /* lines, including lines whose fill was in flight */
    uint64_t l2_misses;     /* lines */
    uint64_t dram_bytes;    /* read and written */
    uint64_t network_bytes; /* whole flits, both directions */
} memory_statistics;

/* Whether a request carries data on the network or only its address, and likewise its reply. */
static inline int request_carries_data(uint32_t kind) { return kind != REQUEST_LOAD && kind != REQUEST_RESTORE; }
static inline int request_returns_data(uint32_t kind) {
    return kind == REQUEST_LOAD || kind == REQUEST_ATOMIC || kind == REQUEST_RESTORE;
}
/* Requests for which an SM's input may have no room. */
enum { MEMORY_FULL = 1, MEMORY_FULL_OF_DATA = 2 }; /* any request; one that carries data */

/* Returns whether a request belongs to a context. Such requests wait until no other request needs the network. */
static inline int request_is_context(uint32_t kind) { return kind == REQUEST_SAVE || kind == REQUEST_RESTORE; }

#endif
