/* page_options: the options of absent pages and of page checks, which fill machine_options, and their rules. */
#ifndef MINIGPU_PAGE_OPTIONS_H
#define MINIGPU_PAGE_OPTIONS_H

#include "options.h"

extern const option_row page_options[];
extern const option_rule page_rules[];

#endif
