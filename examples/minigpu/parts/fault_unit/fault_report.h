/* fault_report: the report on the fault unit and on aborted processes. */
#ifndef MINIGPU_FAULT_REPORT_H
#define MINIGPU_FAULT_REPORT_H

#include "parts/fault_unit/fault_unit.h"

/* Writes the counters of the unit, and why processes were aborted. */
void fault_report(const machine *m, FILE *file);
/* Adds them as members "fault_unit" and "aborts". */
void fault_report_json(const machine *m, struct json_t *members);

#endif
