/* demo_command: `minigpu demo`, two kernels and three techniques of preempting one for the other. */
#ifndef MINIGPU_DEMO_COMMAND_H
#define MINIGPU_DEMO_COMMAND_H

#include "options.h"

extern const option_command demo_command;
/* The program's name as the user typed it, for printed commands. */
extern const char *demo_program;

#endif
