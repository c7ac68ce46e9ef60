/* tail_command: `minigpu tail`, the latency of requests beside a batch kernel, for every partition and technique. */
#ifndef MINIGPU_TAIL_COMMAND_H
#define MINIGPU_TAIL_COMMAND_H

#include "options.h"

extern const option_command tail_command;

#endif
