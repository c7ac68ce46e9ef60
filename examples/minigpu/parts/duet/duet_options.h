/* duet_options: --duet, which fills machine_options. */
#ifndef MINIGPU_DUET_OPTIONS_H
#define MINIGPU_DUET_OPTIONS_H

#include "options.h"

extern const option_row duet_options[];

#endif
