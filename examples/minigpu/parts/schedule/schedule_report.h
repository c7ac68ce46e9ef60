/* schedule_report: what the scheduler of SMs has counted. */
#ifndef MINIGPU_SCHEDULE_REPORT_H
#define MINIGPU_SCHEDULE_REPORT_H

#include <stdio.h>

#include "state/state.h"

/* Writes one line of text; adds all counters of gpump_scheduler_statistics to the report in JSON. */
void schedule_report(const machine *m, FILE *file);
void schedule_report_json(const machine *m, struct json_t *members);

#endif
