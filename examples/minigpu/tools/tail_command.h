/* tail_command: minigpu tail: how long requests take beside a batch kernel, for every partition and way of moving. */
#ifndef MINIGPU_TAIL_COMMAND_H
#define MINIGPU_TAIL_COMMAND_H

#include "options.h"

extern const option_command tail_command;

#endif
