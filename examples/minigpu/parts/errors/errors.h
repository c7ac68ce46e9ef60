/* errors: instructions that go wrong, and what their warps do about it (iGPU 4.1, 4.3, 5.5).
 *
 * A circuit below its safe voltage computes a wrong result now and then (--errors, --detection). Here one bit of a
 * result, or of an access's address or data, is really flipped, and the circuit notices some cycles later. The warp
 * then goes back to the start of its short region (restart.h), and executes the region again. Until an instruction is
 * verified, stores behind it wait in a store queue, and nothing that cannot be undone issues: boundaries, barriers,
 * atomics, ends. Between such an effect and the boundary behind it, a warp executes with full margin and never errs; so
 * do control instructions, as in the paper.
 *
 * Arithmetic may raise exceptions (--trap). The warp goes back as well, and the instruction is emulated when it comes
 * there again. gpump_restart decides; this file makes errors and exceptions happen, and carries its answers out. */
#ifndef MINIGPU_ERRORS_H
#define MINIGPU_ERRORS_H

#include "parts/errors/error_facts.h"

/* What may go wrong. */
typedef struct errors_options {
    const char *detection;   /* a preset of gpump_restart: "razor2", ...; NULL: no errors */
    uint64_t rate_q32;       /* errors per warp instruction, times 2^32; NEVER: the detection's */
    uint64_t at, interval;   /* that instruction errs, or traps (ERRORS_TRAP_AT), counted from 1 over all SMs, and every
                              * N-th behind it; NEVER, 0 */
    uint32_t latency_cycles; /* of the detection; NONE: the preset's */
    uint32_t traps;          /* ERRORS_TRAP_... */
    uint32_t cure;           /* gpump_restart_cure: of a live-lock */
    uint32_t patch;          /* gpump_restart_patch */
    uint32_t no_store_queue; /* 1: tests: stores do not wait for verification */
    uint32_t lines[ERRORS_LINES]; /* of ERRORS_TRAP_LINES, from 1; 0: none */
    uint32_t unused;
} errors_options;
void errors_options_default(errors_options *options);

/* Do the options want errors or traps? */
int errors_wanted(const errors_options *options);
/* Gives every SM what it needs for regions, errors and traps; nothing where kernels have no regions. Returns 0, or -1
 * with the reason in error. */
int errors_make(machine *m, const errors_options *options, char error[LAUNCH_ERROR_BYTES]);

/* At the start of a cycle, before anything takes effect: errors are detected, stores leave the store queue. */
void errors_cycle(machine *m, sm *s);
/* The next cycle in which it has something to do; NEVER. */
uint64_t errors_next(const sm *s);

#endif
