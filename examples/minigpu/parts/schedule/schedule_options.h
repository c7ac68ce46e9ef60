/* schedule_options: the options of a scheduler of processes, which fill machine_options, and their rules. */
#ifndef MINIGPU_SCHEDULE_OPTIONS_H
#define MINIGPU_SCHEDULE_OPTIONS_H

#include "machine/machine_options.h"
#include "options.h"

extern const option_row schedule_options[];
extern const option_rule schedule_rules[];

#endif
