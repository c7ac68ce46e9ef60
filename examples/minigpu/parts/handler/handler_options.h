/* handler_options: the options of page-fault handlers as code, which fill faults_options. */
#ifndef MINIGPU_HANDLER_OPTIONS_H
#define MINIGPU_HANDLER_OPTIONS_H

#include "options.h"

extern const option_row handler_options[];
extern const option_rule handler_rules[];

#endif
