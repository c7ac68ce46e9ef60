/* Lin chapter 3: what GPUDuet and Virtual Thread cost. Readings: docs/papers.md, "GPUDuet and Virtual Thread". */
#include <string.h>

#include "gpump.h"
#include "reproduce.h"

static void storage(const reproduce_context *context, const char *id, reproduce_result *result) {
    const int is_duet = !strcmp(id, "L.storage.duet");
    gpump_duet_config config;
    gpump_duet_storage parts;
    uint64_t bits;
    (void)context;
    if (gpump_duet_config_preset(&config, is_duet ? "maxwell_duet" : "virtual_thread") ||
        gpump_duet_bits(&config, &bits, &parts, NULL)) {
        reproduce_failed(result, "no storage");
        return;
    }
    reproduce_number(result, (double)bits / 8, 0);
    reproduce_note(result, "and %u bits that the paper does not count", (unsigned)parts.unprinted_bits);
}

const reproduce_row rows_duet[] = {{"L.storage.duet", storage}, {"L.storage.vt", storage}, {NULL, NULL}};
