/* recovery: the options that make instructions err and trap, and what a run says of it (parts/errors/errors.h). */
#ifndef MINIGPU_RECOVERY_H
#define MINIGPU_RECOVERY_H

#include <jansson.h>

#include "tools/report.h"

/* Reads the value of --regions: WHAT, or WHAT:SHARED. Returns 0, or -1 after a report. */
int recovery_regions(const char *text, machine_options *options);
/* Reads the value of one of the options --errors, --detection, --error-at, --trap and --cure. Returns 0, or -1 after a
 * report. */
int recovery_option(const char *name, const char *text, machine_options *options);
/* An option without the one that gives it a meaning: what is wrong, or NULL. Kernels get regions where errors or traps
 * need them. */
const char *recovery_contradiction(machine_options *options);
/* The cycles that the launch takes without regions, errors and traps, which its energy is compared with. Returns 0, or
 * -1 with the reason in error. */
int recovery_baseline(const char *path, const machine_options *options, uint64_t *cycles,
                      char error[LAUNCH_ERROR_BYTES]);
/* The counters of all SMs. */
void recovery_statistics(const machine *m, gpump_restart_statistics *statistics);
/* What errors and exceptions have cost; nothing where there can be none. */
void recovery_text(const run_result *result, FILE *file);
/* The same as an object; NULL where there can be none. */
json_t *recovery_json(const run_result *result);

#endif
