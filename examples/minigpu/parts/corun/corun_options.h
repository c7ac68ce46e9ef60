/* corun_options: the options of kernels that share SMs as a group, which fill corun_options, and their rules. */
#ifndef MINIGPU_CORUN_OPTIONS_H
#define MINIGPU_CORUN_OPTIONS_H

#include "machine/machine_options.h"
#include "options.h"

/* Bits of the commands in option_row.commands. */
enum { COMMAND_RUN = 1, COMMAND_CORUN = 2, COMMAND_TAIL = 4, COMMAND_PAIRS = 8 };

extern const option_row corun_option_rows[];
/* --leave for blocks of a group alone. */
extern const option_row corun_leave_rows[];
enum { CORUN_RULES_OF_RUN = 3 }; /* so many of corun_rules, the first ones, are of run alone */
extern const option_rule corun_rules[];

/* Returns the index-th way in which blocks above their kernel's cap leave; NULL past the last. */
const char *corun_leave_name(uint32_t index);
/* Sets how blocks above their kernel's cap leave: drain, switch, flush, chimera or park. Returns 0, or 2 after a
 * report. */
int corun_set_leave(const char *technique, corun_options *options);

#endif
