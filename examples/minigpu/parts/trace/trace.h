/* trace: what a machine shows to an observer, told to a timeline (examples/report/timeline.h).
 *
 * One group of rows per SM, one row per block slot, and a row per process with its kernels. The timeline lies outside
 * the arena and changes nothing; while machine.trace is NULL nobody looks, and each call site is one test of that
 * pointer. Callers of everything but trace_open make that test. */
#ifndef MINIGPU_TRACE_H
#define MINIGPU_TRACE_H

#include "state/state.h"
#include "timeline.h"

/* Begins to observe a machine, at any cycle, and sets machine.trace. `launch` names the processes; NULL: their first
 * kernels do. Returns 0, or -1 when there is no memory. */
int trace_open(machine *m, const launch_file *launch);
/* Ends it: machine.trace becomes NULL. Returns the timeline, closed; timeline_free releases it. */
timeline *trace_close(machine *m);

/* A block is in another phase. Nothing happens when nobody observes. */
void trace_block(const machine *m, const block *b, timeline_phase phase);
/* What the cost estimates say of blocks that are about to be told to leave, in this order, one SM's. */
void trace_estimate(machine *m, const sm *s, const gpump_block_choice *choices, uint32_t count,
                    timeline_estimate *estimates);
/* These blocks have been told to leave for kernel number for_kernel (0: nobody; under --schedule the scheduler knows).
 */
void trace_victims(machine *m, const sm *s, const gpump_block_choice *choices, uint32_t count, uint32_t for_kernel,
                   const timeline_estimate *estimates);
/* A block's room is free. */
void trace_left(const machine *m, const block *b, const gpump_sm_action *action);
void trace_arrives(const machine *m, uint32_t kernel);
void trace_ends(const machine *m, uint32_t kernel);
/* A sample of occupancy, issue slots and memory traffic is due. */
void trace_sample(const machine *m);

#endif
