#include "tools/sharing_options.h"

#include <string.h>

#include "tools/options.h"

static const char *const moves[] = {"drain", "switch", "flush", "chimera", "park", NULL};
static const char *move_name(uint32_t index) { return moves[index]; }

int sharing_option(const char *name, const char *value, corun_options *options) {
    uint32_t which = 0;
    uint64_t number = 0;
    if (!strcmp(name, "move")) {
        if (option_choice("--move", value, move_name, &which)) return 2;
        options->parks = !strcmp(value, "park");
        options->leave = which ? gpump_victim_find(options->parks ? "switch" : value) : NULL;
    } else if (!strcmp(name, "places")) {
        if (option_number("--places", value, 1, GPUMP_PARTITION_KERNELS, &number)) return 2;
        options->places = (uint32_t)number;
    } else if (!strcmp(name, "window")) {
        if (option_number("--window", value, 1, 1000000000, &number)) return 2;
        options->window_cycles = (uint32_t)number;
    } else if (!strcmp(name, "in-turn")) {
        options->in_turn = 1;
    } else {
        options->unsampled = 1;
    }
    return 0;
}
