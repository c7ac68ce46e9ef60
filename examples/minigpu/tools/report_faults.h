/* report_faults: what the fault unit has done, and processes that were aborted, for reports. */
#ifndef MINIGPU_REPORT_FAULTS_H
#define MINIGPU_REPORT_FAULTS_H

#include <stdio.h>

#include <jansson.h>

#include "machine/machine.h"

/* Writes the counters of Tanasic Fig. 6.2 and every aborted process; nothing where there is no link. */
void report_fault_unit(const machine *m, const launch_file *launch, FILE *file);
/* The same as members "fault_unit" and "aborts" of a report. */
void report_fault_unit_json(const machine *m, const launch_file *launch, json_t *root);
/* Writes which warp wanted each absent page of code first, with its PTX line; nothing where code is always there. */
void report_code_pages(const machine *m, FILE *file);
/* The same as an array; NULL: no memory. */
json_t *report_code_pages_json(const machine *m);

#endif
