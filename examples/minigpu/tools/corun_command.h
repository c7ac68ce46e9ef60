/* corun_command: minigpu corun, kernels that share SMs beside the same kernels alone. */
#ifndef MINIGPU_CORUN_COMMAND_H
#define MINIGPU_CORUN_COMMAND_H

#include "options.h"

extern const option_command corun_command;

#endif
