/* demo_command: `minigpu demo`, two kernels and three ways of preempting one for the other. */
#ifndef MINIGPU_DEMO_COMMAND_H
#define MINIGPU_DEMO_COMMAND_H

#include "options.h"

extern const option_command demo_command;
/* The program as it was called, for lines that can be typed again. */
extern const char *demo_program;

#endif
