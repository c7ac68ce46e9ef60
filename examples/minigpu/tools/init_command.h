/* minigpu init: a launch file to begin with, from what a PTX file says of its kernels. */
#ifndef MINIGPU_INIT_COMMAND_H
#define MINIGPU_INIT_COMMAND_H

#include "options.h"

extern const option_command init_command;

#endif
