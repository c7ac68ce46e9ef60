/* machine: builds a mini-GPU from a launch file, runs it, and reports the result. Programs that use the
 * mini-GPU include this header. The mini-GPU's own files include state/state.h. */
#ifndef MINIGPU_MACHINE_H
#define MINIGPU_MACHINE_H

#include "machine/machine_options.h"
#include "state/state.h"

/* Builds a machine for a launch file: reads its PTX, lays out device memory, checks that every kernel fits. Returns
 * NULL with the reason in error (file:line:column: ...), and an empty error otherwise. The launch file must outlive the
 * machine. */
machine *machine_build(launch_file *launch, const machine_options *options, char error[LAUNCH_ERROR_BYTES]);
void machine_free(machine *m);
/* Fills *gpu with the GPU of the machine that machine_build would build: the preset, with the launch file's and the
 * options' numbers. Returns -1 with the reason in error. */
int machine_choose_gpu(launch_file *launch, const machine_options *options, gpump_gpu *gpu,
                       char error[LAUNCH_ERROR_BYTES]);
/* Runs until every kernel is done, or until cycle `until`. With options.threads, the run stops at the end of
 * the window with that cycle. Returns 1 when all kernels are done, 0 at `until`, -1 on an error (m->error). */
int machine_run(machine *m, uint64_t until);
/* Returns the next cycle with an event, m->now at the earliest. A caller that runs a machine in stretches
 * counts each stretch from this cycle, because the idle cycles before it cost no host time. */
uint64_t machine_next_cycle(const machine *m);
/* Returns a hash of the state: memory, registers, shared memory, caches, gpump's blocks, cycle. */
uint64_t machine_hash(const machine *m);
/* Returns a hash of the launch file's buffers and of what the kernels have printed. */
uint64_t machine_result_hash(const machine *m, const launch_file *launch);
/* Writes what each warp and block waits for. */
void machine_dump(const machine *m, void *file);

#endif
