/* lists: the lists of `minigpu --list NAME`. */
#ifndef MINIGPU_LISTS_H
#define MINIGPU_LISTS_H

#include "options.h"

extern const option_list lists[];

#endif
