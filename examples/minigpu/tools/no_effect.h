/* no_effect: requests that a run has not met. A run that ends before what it was asked for says so. */
#ifndef MINIGPU_NO_EFFECT_H
#define MINIGPU_NO_EFFECT_H

#include <stdio.h>

#include "tools/run_options.h"

/* Writes a line "minigpu: no effect: --OPTION: reason" for each request that a run that has ended did not come to. */
void no_effect_report(const run_arguments *arguments, const machine *m, FILE *file);

#endif
