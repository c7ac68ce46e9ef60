/* error_options: the options of errors and exceptions, which fill errors_options, and their rules. */
#ifndef MINIGPU_ERROR_OPTIONS_H
#define MINIGPU_ERROR_OPTIONS_H

#include "machine/machine_options.h"
#include "options.h"

extern const option_row error_options[];
extern const option_rule error_rules[];

#endif
