/* run_command: `minigpu run`. */
#ifndef MINIGPU_RUN_COMMAND_H
#define MINIGPU_RUN_COMMAND_H

#include "options.h"

extern const option_command command_run;

#endif
