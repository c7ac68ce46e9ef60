/* sweep_command: `minigpu sweep`, one launch file with every combination of values of some options, as a table. */
#ifndef MINIGPU_SWEEP_COMMAND_H
#define MINIGPU_SWEEP_COMMAND_H

#include "options.h"

extern const option_command sweep_command;

#endif
