/* races: words that two blocks of one kernel, or two warps of one block, touch so that the result depends on their
 * order. Such a result may change when blocks are preempted, and may also change without a preemption. Of blocks, words
 * of global memory are watched; of warps, words of global and of shared memory between two barriers of their block.
 * Only races that show in the order of this run are found. Limits: synchronisation by atomics, flags and barrier
 * objects is not recognised; a barrier of some warps of a block counts as one of all; accesses through textures,
 * surfaces and matrix instructions are not watched, nor what an asynchronous copy writes. */
#ifndef MINIGPU_RACES_H
#define MINIGPU_RACES_H

#include <stdio.h>

#include "machine/machine.h"

typedef enum race_kind {
    RACE_WRITES, /* two write different values */
    RACE_READ,   /* one reads what another changes */
    RACE_FLOAT,  /* two add in floating point */
    RACE_OLD,    /* two use the old value of an atomic, or mix atomics */
    RACE_KINDS
} race_kind;

/* Words with the same kind of race between the same two lines of one kernel. */
typedef struct race {
    uint32_t kernel; /* index */
    uint32_t kind;
    uint32_t lines[2]; /* in the PTX file: line of the earlier access, line of the later one */
    uint32_t within;   /* 0: between two blocks; 1: between two warps of a block */
    uint32_t space;    /* memory_space: SPACE_GLOBAL or SPACE_SHARED */
    uint64_t words;    /* numbers, as the accesses have them: a 64-bit one is one word */
    uint64_t address;  /* of the first such word */
    uint64_t blocks[2];
    uint32_t warps[2]; /* within a block */
} race;

typedef struct race_log race_log;

/* Watches a machine that has been built and not run. Costs 64 bytes for each word of its buffers (words are as small as
 * the smallest access, at most 4 bytes) and 16 bytes for each block. Returns NULL with the reason in error. */
race_log *races_watch(machine *m, char error[LAUNCH_ERROR_BYTES]);
/* Returns the index-th race in the order of discovery; NULL past the last. */
const race *races_at(const race_log *log, uint32_t index);
/* The kind of race, as a sentence without subject. */
const char *race_text(const race *one);
/* "buffer NAME, element N" of its address. */
void races_place(const race_log *log, const race *one, char *text, size_t bytes);
void races_report(const race_log *log, FILE *file);
void races_free(race_log *log);

#endif
