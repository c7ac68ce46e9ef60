/* recovery: what a run reports of errors and exceptions (parts/errors/errors.h). */
#ifndef MINIGPU_RECOVERY_H
#define MINIGPU_RECOVERY_H

#include <jansson.h>

#include "tools/report.h"

/* The cycles that the launch takes without regions, errors and traps, which its energy is compared with. sms: as --sms,
 * 0 for none. Returns 0, or -1 with the reason in error. */
int recovery_baseline(const char *path, uint32_t sms, const machine_options *options, uint64_t *cycles,
                      char error[LAUNCH_ERROR_BYTES]);
/* The counters of all SMs. */
void recovery_statistics(const machine *m, gpump_restart_statistics *statistics);
/* What errors and exceptions have cost; nothing where there can be none. */
void recovery_text(const run_result *result, FILE *file);
/* The same as an object; NULL where there can be none. */
json_t *recovery_json(const run_result *result);

#endif
