/* engine: the mini-GPU as a WebAssembly module. A page holds an instance per machine, and calls these functions.
 *
 * An experiment is the command line of `minigpu run`, and the files that it reads. Everything that the functions have
 * to say goes to standard output as JSON, errors to standard error as text; the caller supplies both (page/wasi.js). A
 * copy of the instance's memory is a checkpoint: engine_used says how much of the arena it must hold.
 *
 * Cycles are doubles, which hold every whole number below 2^53: JavaScript has no other number that is as fast. */
#ifndef PLAYGROUND_ENGINE_H
#define PLAYGROUND_ENGINE_H

#include <stdint.h>

#define ENGINE(type) __attribute__((visibility("default"))) type

/* Returns a buffer of `bytes` bytes for text that the caller passes; NULL when memory is out. The next call frees it.
 */
ENGINE(char *) engine_text(uint32_t bytes);
/* Builds the machine of a command line: `count` words in the buffer, each ended by a 0, the first of them "run".
 * Returns 0, or 2 after a report of bad input on standard error. */
ENGINE(int) engine_open(uint32_t count);
/* Writes a launch file for the PTX file whose name is in the buffer, as `minigpu init` does. Returns its exit status.
 */
ENGINE(int) engine_init(void);
/* Runs until a cycle, or until every kernel has ended. Returns 1 at the end, 0 when it stopped before, -1 on an error
 * (engine_look has it). */
ENGINE(int) engine_run(double until);
/* Returns the cycle at which the machine stands. */
ENGINE(double) engine_now(void);
/* Lets another policy decide from now on: its name is in the buffer. deadline_ns below 0: none. Returns 0, or -1: there
 * is no such policy, or this machine was built without --victims. */
ENGINE(int) engine_policy(double deadline_ns);
/* Lets blocks leave by a technique from now on, by its number. */
ENGINE(void) engine_technique(uint32_t technique);
/* Returns the cycle at which a request for room comes first: of --preempt, or the arrival of a kernel above another
 * one's priority. Below 0: no request is known. */
ENGINE(double) engine_request_cycle(void);

/* Writes what does not change: GPU, kernels, names of policies, techniques and schemes. */
ENGINE(void) engine_describe(void);
/* Writes what the machine looks like now: blocks with their ranges of registers and shared memory, kernels, requests,
 * victims with estimates and outcome, counters. */
ENGINE(void) engine_look(void);
/* Writes the report of `minigpu run --json`, with results checked if the run has ended. Returns its exit status. */
ENGINE(int) engine_report(void);
/* Writes the page of `minigpu run --html`, to the file whose name is in the buffer. Ends the recording of the run: go
 * back to a checkpoint to go on. Returns 0, or -1. */
ENGINE(int) engine_page(void);
/* Returns a hash of the machine's state (its low 32 bits). */
ENGINE(uint32_t) engine_hash(void);
/* The arena: its address, and how many bytes of it are used; it ends at `engine_arena_end`. */
ENGINE(uint32_t) engine_arena(void);
ENGINE(uint32_t) engine_used(void);
ENGINE(uint32_t) engine_arena_end(void);

#endif
