/* fault_options: the options of the fault unit. They fill faults_options. */
#ifndef MINIGPU_FAULT_OPTIONS_H
#define MINIGPU_FAULT_OPTIONS_H

#include "options.h"

extern const option_row fault_unit_options[];

#endif
