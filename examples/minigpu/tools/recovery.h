/* recovery: the report on errors and exceptions (parts/errors/errors.h). */
#ifndef MINIGPU_RECOVERY_H
#define MINIGPU_RECOVERY_H

#include <jansson.h>

#include "tools/report.h"

/* Measures the cycles of the launch without regions, errors and traps, the baseline of its energy. sms: as --sms; 0:
 * not given. Returns 0, or -1 with the reason in error. */
int recovery_baseline(const char *path, uint32_t sms, const machine_options *options, uint64_t *cycles,
                      char error[LAUNCH_ERROR_BYTES]);
/* Sums the counters of all SMs. */
void recovery_statistics(const machine *m, gpump_restart_statistics *statistics);
/* Writes the cost of errors and exceptions; nothing for a machine without them. */
void recovery_text(const run_result *result, FILE *file);
/* Returns the cost of errors and exceptions as an object; NULL for a machine without them. */
json_t *recovery_json(const run_result *result);

#endif
