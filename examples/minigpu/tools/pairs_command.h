/* pairs_command: minigpu pairs, a table of pairs of kernels alone and together. */
#ifndef MINIGPU_PAIRS_COMMAND_H
#define MINIGPU_PAIRS_COMMAND_H

#include "options.h"

extern const option_command pairs_command;

#endif
