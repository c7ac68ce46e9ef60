/* machine: builds a mini-GPU from a launch file, runs it, and says what came of it. Whoever uses the mini-GPU includes
 * this; its own files include state/state.h. */
#ifndef MINIGPU_MACHINE_H
#define MINIGPU_MACHINE_H

#include "machine/machine_options.h"
#include "state/state.h"

/* Builds a machine for a launch file: reads its PTX, lays out device memory, checks that every kernel fits. Returns
 * NULL with the reason in error (file:line:column: ...). The launch file must outlive the machine. */
machine *machine_build(launch_file *launch, const machine_options *options, char error[LAUNCH_ERROR_BYTES]);
void machine_free(machine *m);
/* Runs until every kernel is done, or until cycle `until`; with options.threads, until the window ends in which that
 * lies. Returns 1 when done, 0 when it stopped there, -1 on an error (m->error). */
int machine_run(machine *m, uint64_t until);
/* Returns the cycle, from m->now on, in which something happens next. A caller that runs a machine in stretches counts
 * them from there, because idle cycles before it cost no time. */
uint64_t machine_next_cycle(const machine *m);
/* Returns a hash of the state: memory, registers, shared memory, caches, gpump's blocks, cycle. */
uint64_t machine_hash(const machine *m);
/* Returns a hash of the launch file's buffers and of what the kernels have printed. */
uint64_t machine_result_hash(const machine *m, const launch_file *launch);
/* Writes who waits for what. */
void machine_dump(const machine *m, void *file);

#endif
