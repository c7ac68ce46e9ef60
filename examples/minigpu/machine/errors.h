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

#include "machine/state.h"

/* What arithmetic traps on: bits. */
enum {
    ERRORS_TRAP_DIVISION = 1, /* an integer divided by zero */
    ERRORS_TRAP_INVALID = 2   /* a NaN of operands that are none */
};

/* What may go wrong. */
typedef struct errors_options {
    const char *detection; /* a preset of gpump_restart: "razor2", ...; NULL: no errors */
    uint64_t rate_q32;     /* errors per warp instruction, times 2^32; NEVER: the detection's */
    uint64_t at, interval; /* that instruction errs, counted from 1 over all SMs, and every N-th behind it; NEVER, 0 */
    uint32_t latency_cycles; /* of the detection; NONE: the preset's */
    uint32_t traps;          /* ERRORS_TRAP_... */
    uint32_t cure;           /* gpump_restart_cure: of a live-lock */
    uint32_t patch;          /* gpump_restart_patch */
    uint32_t no_store_queue; /* 1: tests: stores do not wait for verification */
    uint32_t unused;
} errors_options;
void errors_options_default(errors_options *options);

/* Do the options want errors or traps? */
int errors_wanted(const errors_options *options);
/* Says which instructions wait for verification, and for stores. */
void errors_prepare(const kernel_program *program, issue_info *info);
/* Gives every SM what it needs for regions, errors and traps; nothing where kernels have no regions. Returns 0, or -1
 * with the reason in error. */
int errors_make(machine *m, const errors_options *options, char error[LAUNCH_ERROR_BYTES]);

/* At the start of a cycle, before anything takes effect: errors are detected, stores leave the store queue. */
void errors_cycle(machine *m, sm *s);
/* The next cycle in which it has something to do; NEVER. */
uint64_t errors_next(const sm *s);

/* Each function below is called only where an SM has `errors`. */

/* An instruction has its operands, and its results if it computes: it may err, and raise exceptions. */
void errors_operands_read(machine *m, sm *s, in_flight *r, const lanes_operand *sources);
/* A memory instruction goes to the load-store unit. Returns 1 when it waits in the store queue first. */
int errors_queues_store(machine *m, sm *s, uint32_t record);
/* An instruction issues. */
void errors_issued(sm *s, warp *w, const issue_info *info);
/* Arithmetic ends: what it did is unverified. */
void errors_executed(machine *m, sm *s, const in_flight *r);
/* An instruction has ended; its record is free, and still has what it did. */
void errors_ended(machine *m, sm *s, const in_flight *r);
/* The warp forgets what it has in flight. */
void errors_forget(sm *s, warp *w);
/* An access has been coalesced: where its address is wrong because of an error, it does nothing. */
void errors_drop_wild(machine *m, const sm *s, in_flight *r);
/* Is it the fault of an undetected error that this instruction makes no sense? */
static inline int errors_excuse(const machine *m, const in_flight *r) {
    const sm *s = m->sms[m->blocks[r->block].sm];
    return s->errors && gpump_restart_errs(s->restart, m->warps[r->warp].slot);
}
/* Is all that the warp has executed verified? */
static inline int errors_verified(const warp *w) { return !w->speculates; }

#endif
