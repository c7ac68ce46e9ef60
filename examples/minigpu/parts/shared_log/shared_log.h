/* shared_log: the old values of words that a warp overwrites in shared memory, so that the warp can go back before its
 * stores (docs/restart.md).
 *
 * Without help, regions end wherever a warp overwrites a word of shared memory that it has read. Here shared memory
 * itself can go back, so those cuts are left out. Three kinds of hardware do that. All three take back only what the
 * warp itself has stored since its restart PC: between two barriers no other warp of a kernel without races looks at
 * it. So regions still end at barriers. They differ in what they cost:
 *
 *   saved      The block's shared memory is copied at a boundary behind which it is overwritten: once per block behind
 *              a barrier, and once per warp elsewhere. One copy engine per SM copies SHARED_COPY_BYTES a cycle.
 *   buffered   Every word of shared memory exists twice, and a bit says which one is valid. Blocks need twice the
 *              shared memory, so fewer of them fit an SM.
 *   versioned  Overwritten words go to a log. A store reads them first, and so takes its banks twice as long.
 *
 * The restored values are the same for all three, so all three use the log of the third here. An SM's log has as many
 * words as its shared memory. A warp that finds it full cannot go back before its next boundary; one whose error is
 * still to be detected goes on into a reserve of the same size. */
#ifndef MINIGPU_SHARED_LOG_H
#define MINIGPU_SHARED_LOG_H

#include "machine/machine_options.h"
#include "state/state.h"

enum { SHARED_COPY_BYTES = 128 }; /* what 32 banks give in a cycle */

/* "cuts", "saved", "buffered", "versioned"; NULL past the last. */
const char *shared_restart_name(uint32_t index);

/* Of all SMs. */
typedef struct shared_log_statistics {
    uint64_t words;        /* that were overwritten, and logged */
    uint64_t undone;       /* of them taken back */
    uint64_t most;         /* words of one SM at a time */
    uint64_t full;         /* stores that found no room */
    uint64_t copies;       /* with SHARED_SAVED */
    uint64_t copied_bytes; /* with SHARED_SAVED */
} shared_log_statistics;

typedef struct shared_log_word {
    uint32_t address; /* in the shared memory of the warp's block */
    uint32_t bytes;   /* up to 4 */
    uint32_t before;  /* the warp's word before it; NONE. Free words are linked through it, too */
    uint8_t old[4];
} shared_log_word;
typedef struct shared_log {
    shared_log_statistics statistics;
    uint64_t copied_cycle;             /* then the copy engine is free */
    uint32_t way, free, used, room;    /* `room`: words without the reserve */
    uint32_t newest[WARP_NUMBERS_MAX]; /* by the warp's number: the last word of its log, */
    uint32_t mark[WARP_NUMBERS_MAX];   /* and that at its short restart PC */
    shared_log_word words[1];          /* twice as many as shared memory has */
} shared_log;

/* NULL: regions end where shared memory is overwritten. */
static inline shared_log *shared_log_of(const sm *s) { return (shared_log *)s->of_part[PART_shared_log]; }
/* Sums up the SMs. */
void shared_log_sum(const machine *m, shared_log_statistics *statistics);

#endif
