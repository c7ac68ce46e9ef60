/* share_command: minigpu share. */
#ifndef MINIGPU_SHARE_COMMAND_H
#define MINIGPU_SHARE_COMMAND_H

#include "options.h"

extern const option_command share_command;

#endif
