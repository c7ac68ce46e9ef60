/* options: see options.h. */
#include "tools/options.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int option_number(const char *option, const char *text, uint64_t low, uint64_t high, uint64_t *value) {
    char *end;
    errno = 0;
    *value = strtoull(text, &end, 10);
    if (*text >= '0' && *text <= '9' && !*end && !errno && *value >= low && *value <= high) return 0;
    fprintf(stderr, "minigpu: %s wants a number from %" PRIu64 " to %" PRIu64 ", not \"%s\"\n", option, low, high,
            text);
    return -1;
}

int option_microseconds(const char *option, const char *text, double low, uint64_t *ns) {
    char *end;
    double us = strtod(text, &end);
    if (end != text && !*end && us >= low && us <= 1e6) {
        *ns = (uint64_t)(us * 1000);
        return 0;
    }
    fprintf(stderr, "minigpu: %s wants microseconds from %g to 1000000, not \"%s\"\n", option, low, text);
    return -1;
}

int option_choice(const char *option, const char *text, option_names names, uint32_t *index) {
    uint32_t i;
    for (i = 0; names(i); i++)
        if (strcmp(names(i), text) == 0) {
            *index = i;
            return 0;
        }
    fprintf(stderr, "minigpu: %s wants ", option);
    for (i = 0; names(i); i++) fprintf(stderr, "%s%s", i == 0 ? "" : names(i + 1) ? ", " : " or ", names(i));
    fprintf(stderr, ", not \"%s\"\n", text);
    return -1;
}

int option_misuse(const char *command, const char *what, const char *value) {
    if (what)
        fprintf(stderr, "minigpu: %s: %s%s%s%s\n", command, what, value ? " \"" : "", value ? value : "",
                value ? "\"" : "");
    fprintf(stderr, "minigpu %s --help lists its options\n", command);
    return 2;
}
