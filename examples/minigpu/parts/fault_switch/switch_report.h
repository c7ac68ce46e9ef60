/* switch_report: the report on blocks that have left on a fault. */
#ifndef MINIGPU_SWITCH_REPORT_H
#define MINIGPU_SWITCH_REPORT_H

#include "parts/fault_switch/fault_switch.h"

/* Writes the counters of all SMs. */
void switch_report(const machine *m, FILE *file);
/* Adds them as member "blocks_switched". */
void switch_report_json(const machine *m, struct json_t *members);

#endif
