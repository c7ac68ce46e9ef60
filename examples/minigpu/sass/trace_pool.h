/* trace_pool: the memory of the blocks of a traced kernel. It is taken piece by piece and freed at once, when the
 * kernel has ended; whoever has a piece that is no longer needed keeps it for the next use. From the second chunk on
 * the pool asks the system for huge pages: each page of 4 KB that a machine meets costs a fault, and most memory of a
 * run from a trace lies here. */
#ifndef MINIGPU_TRACE_POOL_H
#define MINIGPU_TRACE_POOL_H

#include <stddef.h>
#include <stdint.h>

typedef struct trace_pool_chunk trace_pool_chunk;

/* Begins with zeros. */
typedef struct trace_pool {
    trace_pool_chunk *chunks; /* the last one first */
    uint8_t *at;              /* the rest of that one, and its bytes */
    size_t left;
} trace_pool;

/* Returns `bytes` of memory, aligned to TRACE_POOL_ALIGNMENT, with any content; NULL when memory is out. */
void *trace_pool_take(trace_pool *p, size_t bytes);
/* Makes an array of the pool larger. Returns its place, where its first `old_bytes` are as before; NULL when memory is
 * out: then it is as it was. */
void *trace_pool_grow(trace_pool *p, void *array, size_t old_bytes, size_t bytes);
/* Frees all that has been taken. */
void trace_pool_close(trace_pool *p);

#define TRACE_POOL_ALIGNMENT 64u

#endif
