/* arena: all memory of one machine in one mapping that never moves.
 *
 * Everything that changes while a machine runs is taken from its arena before the first cycle; nothing is allocated
 * afterwards. So the whole machine can be copied in two ways, and both copies go on exactly alike:
 *   - fork(2): the mapping is private, pages are copied when one side writes them;
 *   - arena_checkpoint / arena_restore: the used bytes out to a buffer and back to the same addresses. */
#ifndef MINIGPU_ARENA_H
#define MINIGPU_ARENA_H

#include <stddef.h>
#include <stdint.h>

/* Vectors of the host that lie in one cache line each. */
#define LINE_ALIGNED __attribute__((aligned(64)))
/* What one thread writes while another reads what lies before it: a processor fetches lines in pairs. */
#define ARENA_ALIGNMENT 128
#define PAIR_ALIGNED __attribute__((aligned(ARENA_ALIGNMENT)))

typedef struct arena {
    uint8_t *base; /* start of the mapping, page aligned */
    size_t bytes;  /* size of the mapping */
    size_t used;   /* bytes handed out so far */
} arena;

/* Maps `bytes` of zeroed memory; the first arena of a process gets the same address in every run where the system
 * allows it. Returns 0, or -1 when the system refuses. Pages cost memory only once they are written. */
int arena_open(arena *a, size_t bytes);
/* Gives the mapping back. */
void arena_close(arena *a);
/* Hands out `bytes` of zeroed memory, aligned to ARENA_ALIGNMENT bytes; NULL when the arena is full. */
void *arena_take(arena *a, size_t bytes);
/* The same for `count` elements of `element_bytes`; NULL also when the product overflows. */
void *arena_take_array(arena *a, size_t count, size_t element_bytes);
/* Copies the used bytes to a new buffer (free() it); NULL when out of memory. */
void *arena_checkpoint(const arena *a);
/* Puts such a copy back; the arena must not have handed out anything since. */
void arena_restore(arena *a, const void *checkpoint);

#endif
