/* init_command: `minigpu init`, a first launch file for the kernels of a PTX file. */
#ifndef MINIGPU_INIT_COMMAND_H
#define MINIGPU_INIT_COMMAND_H

#include "options.h"

extern const option_command init_command;

#endif
