/* duet_options: --duet, which fills machine_options, and its rules. */
#ifndef MINIGPU_DUET_OPTIONS_H
#define MINIGPU_DUET_OPTIONS_H

#include "options.h"

extern const option_row duet_options[];
extern const option_rule duet_rules[];

#endif
