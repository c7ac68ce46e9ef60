/* report_faults: the report on the fault unit and on aborted processes. */
#ifndef MINIGPU_REPORT_FAULTS_H
#define MINIGPU_REPORT_FAULTS_H

#include <stdio.h>

#include <jansson.h>

#include "machine/machine.h"

/* Writes the counters of Tanasic Fig. 6.2 and every aborted process; nothing without a link. */
void report_fault_unit(const machine *m, const launch_file *launch, FILE *file);
/* Adds them as members "fault_unit" and "aborts" to a report. */
void report_fault_unit_json(const machine *m, const launch_file *launch, json_t *root);
/* Writes the first warp that asked for each absent page of code, with its PTX line; nothing when code is always
 * present. */
void report_code_pages(const machine *m, FILE *file);
/* Returns the absent pages of code as an array; NULL when memory is out. */
json_t *report_code_pages_json(const machine *m);

#endif
