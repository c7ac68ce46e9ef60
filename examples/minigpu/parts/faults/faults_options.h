/* faults_options: the options of faulting accesses, which fill faults_options, and their rules. */
#ifndef MINIGPU_FAULTS_OPTIONS_H
#define MINIGPU_FAULTS_OPTIONS_H

#include "machine/machine_options.h"
#include "options.h"

extern const option_row faults_option_rows[];
extern const option_rule faults_rules[];

#endif
