/* policies_command: `minigpu policies`, the experiment of victim_experiment.h as tables. */
#ifndef MINIGPU_POLICIES_COMMAND_H
#define MINIGPU_POLICIES_COMMAND_H

#include "options.h"

extern const option_command policies_command;

#endif
