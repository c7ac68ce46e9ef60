/* races: words of global memory that two blocks of one kernel access so that the result depends on their order. Such a
 * result may change when blocks are preempted, and may also change without a preemption. The detector finds only races
 * that show in the order of this run. Limits: it does not recognise synchronisation of blocks by atomics, and does not
 * distinguish the warps of one block. */
#ifndef MINIGPU_RACES_H
#define MINIGPU_RACES_H

#include <stdio.h>

#include "machine/machine.h"

typedef enum race_kind {
    RACE_WRITES, /* two blocks write different values */
    RACE_READ,   /* one block reads a word that another changes */
    RACE_FLOAT,  /* two blocks add in floating point */
    RACE_OLD,    /* two blocks use the old value of an atomic, or mix atomics */
    RACE_KINDS
} race_kind;

/* Words with the same kind of race between the same two lines of one kernel. */
typedef struct race {
    uint32_t kernel; /* index */
    uint32_t kind;
    uint32_t lines[2]; /* in the PTX file: line of the earlier access, line of the later one */
    uint64_t words;
    uint64_t address; /* of the first such word */
    uint64_t blocks[2];
} race;

typedef struct race_log race_log;

/* Watches a machine that has been built and not run. Costs 32 bytes for each word of its buffers. Words are as large as
 * the smallest access, at most 4 bytes. Returns NULL with the reason in error. */
race_log *races_watch(machine *m, char error[LAUNCH_ERROR_BYTES]);
/* Returns the index-th race in the order of discovery; NULL past the last. */
const race *races_at(const race_log *log, uint32_t index);
/* Returns the meaning of a kind, as a sentence without subject. */
const char *race_text(uint32_t kind);
/* Writes "buffer NAME, element N" for an address. */
void races_place(const race_log *log, uint64_t address, char *text, size_t bytes);
void races_report(const race_log *log, FILE *file);
void races_free(race_log *log);

#endif
