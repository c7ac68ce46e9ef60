/* contradictions: which options of `minigpu run` need each other, and which exclude each other. */
#ifndef MINIGPU_CONTRADICTIONS_H
#define MINIGPU_CONTRADICTIONS_H

#include "machine/machine.h"

/* Options of `minigpu run` that are no machine_options. */
typedef struct run_options {
    uint64_t limit_ns;   /* --limit; NEVER: not given */
    uint64_t late_price; /* --late-price; 0: not given */
    int vacate;          /* --vacate was given */
} run_options;

/* Returns what is wrong with these options together, the first contradiction that the table has; NULL: nothing. */
const char *contradiction(const machine_options *o, const run_options *run);

#endif
