/* link_options: the options of the fault unit, which serves faults over a link. They fill faults_options. */
#ifndef MINIGPU_LINK_OPTIONS_H
#define MINIGPU_LINK_OPTIONS_H

#include "options.h"

extern const option_row fault_unit_options[];
extern const option_rule fault_unit_rules[];

#endif
