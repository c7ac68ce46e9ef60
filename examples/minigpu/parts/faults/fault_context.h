/* fault_context: the sections of a context that a warp has which has faulted: its replay queue, and the operands that
 * the log keeps for it. */
#ifndef MINIGPU_FAULT_CONTEXT_H
#define MINIGPU_FAULT_CONTEXT_H

#include "state/state.h"

void faults_put_sections(machine *m, const warp *w, gpump_context_writer *writer);
void faults_get_sections(machine *m, warp *w, gpump_context_reader *reader);

#endif
