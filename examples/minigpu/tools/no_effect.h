/* no_effect: requests of the command line, or of MINIGPU, that had no effect. */
#ifndef MINIGPU_NO_EFFECT_H
#define MINIGPU_NO_EFFECT_H

#include <stdio.h>

#include "tools/run_options.h"

/* What the machines of a program have done so far; all zero at first. */
typedef struct effects_seen {
    uint32_t runs, preempted, vacated, in_place_alone, shared, in_turn; /* machines to which that happened */
    uint64_t cycles, preempt_cycle;                                     /* the longest run; the cycle of --preempt */
    uint64_t checks, errs, traps;                                       /* the most candidates of a run */
} effects_seen;
/* Adds a machine that has run to *seen. */
void effects_note(effects_seen *seen, const machine *m);
/* Writes "minigpu: no effect: --OPTION: reason" for each request that took no effect in any run, and a line when
 * --partition had nothing to divide. --threads has no effect where the SMs advance in turn (machine/window.h). */
void no_effect_report(const run_arguments *arguments, const effects_seen *seen, FILE *file);

#endif
