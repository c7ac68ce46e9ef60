/* no_effect: requests of the command line that had no effect, because the run ended first. */
#ifndef MINIGPU_NO_EFFECT_H
#define MINIGPU_NO_EFFECT_H

#include <stdio.h>

#include "tools/run_options.h"

/* Writes "minigpu: no effect: --OPTION: reason" for each request that took no effect before the run ended. */
void no_effect_report(const run_arguments *arguments, const machine *m, FILE *file);

#endif
