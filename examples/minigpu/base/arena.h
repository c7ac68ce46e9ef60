/* arena: all memory of one machine, in one mapping that never moves.
 *
 * Everything that changes while a machine runs is taken from its arena before the first cycle. Nothing is allocated
 * afterwards. The whole machine can therefore be copied in two ways, and both copies continue alike:
 *
 *   - fork(2): the mapping is private, and pages are copied when one side writes them.
 *   - arena_checkpoint and arena_restore: the used bytes go to a buffer, and back to the same addresses. */
#ifndef MINIGPU_ARENA_H
#define MINIGPU_ARENA_H

#include <stddef.h>
#include <stdint.h>

/* Arrays whose elements lie in one cache line each. */
#define LINE_ALIGNED __attribute__((aligned(64)))
/* Separates what one thread writes from what another thread reads, by two lines, because processors fetch lines in
 * pairs. */
#define ARENA_ALIGNMENT 128
#define PAIR_ALIGNED __attribute__((aligned(ARENA_ALIGNMENT)))

typedef struct arena {
    uint8_t *base; /* start of the mapping, page aligned */
    size_t bytes;  /* size of the mapping */
    size_t used;   /* bytes taken so far */
} arena;

/* Maps `bytes` of zeroed memory. The first arena of a process has the same address in every run where the system allows
 * it. Pages cost memory only once they are written. Returns 0, or -1 when the system refuses. */
int arena_open(arena *a, size_t bytes);
/* Unmaps the arena. */
void arena_close(arena *a);
/* Takes `bytes` of zeroed memory, aligned to ARENA_ALIGNMENT bytes; NULL when the arena is full. */
void *arena_take(arena *a, size_t bytes);
/* Takes `count` elements of `element_bytes`; NULL also when the product overflows. */
void *arena_take_array(arena *a, size_t count, size_t element_bytes);
/* Takes the same for a large array of which few places will be touched. The host gives it small pages, because clearing
 * a huge page for each place costs more. */
void *arena_take_sparse(arena *a, size_t count, size_t element_bytes);
/* Copies the used bytes to a new buffer, which the caller frees; NULL when memory is out. */
void *arena_checkpoint(const arena *a);
/* Copies a checkpoint back. Nothing may have been taken from the arena since. */
void arena_restore(arena *a, const void *checkpoint);

#endif
