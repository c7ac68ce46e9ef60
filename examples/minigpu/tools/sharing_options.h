/* sharing_options: the options of `run`, `corun` and `tail` about a group of kernels (parts/corun/corun_options.h). */
#ifndef MINIGPU_SHARING_OPTIONS_H
#define MINIGPU_SHARING_OPTIONS_H

#include <getopt.h>

#include "parts/corun/corun_options.h"

#define SHARING_LONGS                                                                    \
    {"move", required_argument, NULL, 'Z'}, {"places", required_argument, NULL, 'Z'},    \
        {"window", required_argument, NULL, 'Z'}, {"in-turn", no_argument, NULL, 'Z'}, { \
        "unsampled", no_argument, NULL, 'Z'                                              \
    }
#define SHARING_USAGE                                                                                                 \
    "  --move NAME        how blocks above their kernel's cap leave: drain (default), switch, flush, chimera (block " \
    "by "                                                                                                             \
    "block,\n"                                                                                                        \
    "                     what costs least), or park (switched, and what nobody needs stays in place)\n"              \
    "  --places N         kernels that share the SMs at once (default: all); one more of higher priority takes the "  \
    "place of\n"                                                                                                      \
    "                     the member of the lowest priority, whose blocks leave by --move\n"                          \
    "  --window CYCLES    while they run, what kernels ask for is looked at so often (default: never); two windows "  \
    "in a "                                                                                                           \
    "row\n"                                                                                                           \
    "                     that speak for another class, and all are measured anew\n"                                  \
    "  --in-turn          kernels are measured one after the other on all SMs, not at once on a part of them each\n"  \
    "  --unsampled        the policy decides at once, without measuring (spatial, even, leftover, green, mps, mig, "  \
    "blocks)\n"

/* One of SHARING_LONGS. Returns 0, or 2 after a report. */
int sharing_option(const char *name, const char *value, corun_options *options);

#endif
