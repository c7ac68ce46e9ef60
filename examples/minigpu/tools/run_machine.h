/* run_machine: runs a built machine to its end, shows the progress, and checks the results. */
#ifndef MINIGPU_RUN_MACHINE_H
#define MINIGPU_RUN_MACHINE_H

#include "timeline.h"
#include "tools/report.h"

#define EXIT_RIGHT 0
#define EXIT_WRONG 1
#define EXIT_BAD_INPUT 2
#define EXIT_INTERRUPTED 130 /* the exit status that shells use for a program that Ctrl-C ended */

/* Runs a built machine to its end and checks it. Returns the exit status. *result points into the machine and to
 * *checks, which the caller frees. *recorded, unless recorded is NULL, is set to the timeline of the run, which the
 * caller frees (NULL: memory is out). */
int run_machine(machine *m, const launch_file *launch, timeline **recorded, run_result *result, kernel_check **checks);
/* Reports that a file could not be written, and why (errno). Returns EXIT_BAD_INPUT. */
int cannot_write(const char *path);
/* Reports before the run that a file (NULL: none) cannot be written. Returns an exit status. */
int try_to_write(const char *path);

#endif
