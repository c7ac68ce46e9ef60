/* shared_log: what a warp overwrites in shared memory, so that it can go back over it (docs/restart.md).
 *
 * Without help, regions end wherever a warp overwrites what it has read in shared memory. Here shared memory itself can
 * go back, so those cuts are left out. Three kinds of hardware do that. All three take back only what the warp itself
 * has stored since its restart PC: between two barriers no other warp of a kernel without races looks at it. So regions
 * still end at barriers. They differ in what they cost:
 *
 *   saved      The block's shared memory is copied at a boundary behind which it is overwritten: once per block behind
 *              a barrier, and once per warp elsewhere. One copy engine per SM copies SHARED_COPY_BYTES a cycle.
 *   buffered   Every word of shared memory exists twice, and a bit says which one is valid. Blocks need twice the
 *              shared memory, so fewer of them fit an SM.
 *   versioned  Overwritten words go to a log. A store reads them first, and so takes its banks twice as long.
 *
 * What is restored is the same for all three, and is kept here as the log of the third. An SM's log has as many words
 * as its shared memory. A warp that finds it full cannot go back before its next boundary; one whose error is still to
 * be detected goes on into a reserve of the same size. */
#ifndef MINIGPU_SHARED_LOG_H
#define MINIGPU_SHARED_LOG_H

#include "state/state.h"

enum { SHARED_COPY_BYTES = 128 }; /* what 32 banks give in a cycle */

typedef enum shared_restart {
    SHARED_CUTS = 0, /* regions end where shared memory is overwritten */
    SHARED_SAVED,
    SHARED_BUFFERED,
    SHARED_VERSIONED,
    SHARED_RESTARTS
} shared_restart;
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
    uint32_t address; /* in the SM's shared memory */
    uint32_t bytes;   /* up to 4 */
    uint32_t before;  /* the warp's word before it; NONE. Free words are linked through it, too */
    uint8_t old[4];
} shared_log_word;
typedef struct shared_log {
    shared_log_statistics statistics;
    uint64_t copied_cycle;          /* then the copy engine is free */
    uint32_t way, free, used, room; /* `room`: words without the reserve */
    uint32_t newest[64], mark[64];  /* by warp slot: the last word of its log, and that at its short restart PC */
    shared_log_word words[1];       /* twice as many as shared memory has */
} shared_log;

/* Marks the boundaries behind which shared memory is overwritten, as BOUNDARY_OVERWRITES. Returns 0; -1: no memory. */
int shared_log_prepare(const kernel_program *program, issue_info *info);
/* Gives every SM its log, if m->shared_restart says so. Returns 0, or -1 with the reason in error. */
int shared_log_make(machine *m, char error[LAUNCH_ERROR_BYTES]);
/* Sums up the SMs. */
void shared_log_sum(const machine *m, shared_log_statistics *statistics);

/* ---- called only where an SM has a log ---- */

/* A store of a warp is about to take effect. */
void shared_log_store(machine *m, sm *s, const in_flight *r);
/* A warp stands behind a boundary: it will not go back further, but to its sparse restart PC from a short one. */
void shared_log_boundary(sm *s, uint32_t slot, int is_short);
/* A warp goes back, and takes back what it has stored. */
void shared_log_undo(sm *s, uint32_t slot, uint32_t region);
/* Must a copy be made before the boundary at `pc` is crossed? */
static inline int shared_log_copies(const sm *s, const kernel *k, uint32_t pc) {
    return s->shared_log && s->shared_log->way == SHARED_SAVED && k->info[pc].is_boundary == BOUNDARY_OVERWRITES;
}
/* The copy of a block's shared memory. Returns how many cycles from now on it is complete. */
uint64_t shared_log_copy(sm *s, uint32_t bytes);

#endif
